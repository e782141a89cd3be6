#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The threads of the user, with their unread counts, and the postcode.
    @MainActor @Observable public final class ThreadsModel: CommandSender {
        /// What went wrong.
        public var feedback: Feedback?

        @ObservationIgnored let chat: any UserChat
        @ObservationIgnored private let attempts = Attempts()
        private let outbox: OutboxModel
        private let user: LiveUser

        init(_ chat: any UserChat, _ outbox: OutboxModel) {
            (self.chat, self.outbox) = (chat, outbox)
            user = chat.liveUser()
        }

        /// The name of the user.
        public var username: String { user.user?.username ?? "" }
        /// The postcode of the user; nil if there is none.
        public var postcode: Postcode? { user.user?.postcode }
        /// Whether nothing has been read yet.
        public var isLoading: Bool { user.user == nil }
        /// Why the threads are no longer kept current.
        public var failure: Feedback? { user.state.error.map { Feedback(failure: $0) } }

        /// The threads, the one with the latest message first.
        public var threads: [UserThread] {
            (user.user?.threads ?? []).sorted {
                ($0.lastMessage?.position ?? $0.since) > ($1.lastMessage?.position ?? $1.since)
            }
        }

        /// The number of unread messages of all threads.
        public var unreadCount: Int { threads.reduce(0) { $0 + $1.unreadCount } }

        /// Whether the user has to be asked for a postcode.
        public var needsPostcode: Bool { !isLoading && postcode == nil && !isPostcodeWaiting }
        /// Whether a postcode waits for the server.
        public var isPostcodeWaiting: Bool { outbox.pending.contains { $0.kind == "setPostcode" } }

        /// Returns the present state of a thread; nil if the user is no member.
        public func thread(_ id: ThreadID) -> UserThread? { user.user?.threads.first { $0.id == id } }

        /// Keeps the threads current until the task is cancelled.
        func follow() async { await attempts.repeating { await self.user.follow() } }

        /// Reads the threads again after a ``failure``.
        public func tryAgain() { attempts.tryAgain() }

        /// Sets the postcode, and joins the thread of its district; returns whether it is on its
        /// way.
        @discardableResult public func setPostcode(_ text: String) async -> Bool {
            guard Postcode(text) != nil else {
                feedback = .invalidPostcode
                return false
            }
            return await send(.setPostcode(postcode: text, by: chat.user))
        }

        /// Sets what of a thread notifies the user.
        public func setNotifications(_ level: NotificationLevel, of thread: ThreadID) async {
            await send(.setNotifications(thread: thread, level: level, by: chat.user))
        }

        /// Leaves a thread.
        public func leave(_ thread: ThreadID) async { await send(.leaveThread(thread: thread, by: chat.user)) }
    }

    extension UserThread {
        /// The name of the thread; of a direct one, the names of the others.
        ///
        /// - Parameter user: The user who sees it.
        public func title(for user: UserID) -> String {
            if let name { return name }
            guard let people else { return "…" }
            return people.filter { $0.id != user }.map { $0.username ?? "…" }.joined(separator: ", ")
        }
    }

    extension Feedback {
        static let invalidPostcode = Feedback(
            code: Rejection.Code.invalidPostcode.rawValue, "This is not a postcode, such as SW1A 1AA.")
    }
#endif
