#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The messages of a thread, or the replies to a message.
    @MainActor @Observable public final class PostsModel: CommandSender {
        /// What the posts belong to.
        public enum Place: Hashable, Sendable {
            case thread(ThreadID)
            case replies(to: MessageID, in: ThreadID)
        }

        /// What the posts belong to.
        public let place: Place
        /// What the user is writing.
        public var draft = ""
        /// What went wrong.
        public var feedback: Feedback?
        /// The message that the replies answer; nil for a thread, and while the message cannot be
        /// read.
        public private(set) var root: Post?
        /// Whether the user can see the screen; false, for example, while the app is in the
        /// background.
        public var isOnScreen = true
        /// Whether an earlier page is being read.
        public private(set) var isLoadingEarlier = false

        @ObservationIgnored let chat: any UserChat
        @ObservationIgnored private let attempts = Attempts()
        private let outbox: OutboxModel
        private let threads: ThreadsModel
        private let timeline: LiveTimeline

        init(_ chat: any UserChat, _ outbox: OutboxModel, _ threads: ThreadsModel, _ place: Place) {
            (self.chat, self.outbox, self.threads, self.place) = (chat, outbox, threads, place)
            switch place {
            case .thread(let thread): timeline = chat.liveTimeline(of: thread)
            case .replies(let message, _): timeline = chat.liveReplies(to: message)
            }
        }

        /// The posts, oldest first; those that wait are last.
        public var rows: [PostRow] {
            var items: [PostID: [OutboxItem]] = [:]
            for item in outbox.items { if let post = item.post { items[post, default: []].append(item) } }
            return timeline.messages.map {
                PostRow(post: $0, items: items[$0.id] ?? [], isMine: $0.author.id == chat.user)
            }
        }

        /// Whether earlier posts can be read.
        public var hasEarlier: Bool { timeline.hasEarlier }
        /// Whether nothing has been read yet.
        public var isLoading: Bool { if case .loading = timeline.state { true } else { false } }
        /// Why the posts are no longer kept current.
        public var failure: Feedback? { timeline.state.error.map { Feedback(failure: $0) } }

        /// Keeps the posts current, and marks the messages of a thread as read, until the task is
        /// cancelled.
        ///
        /// To be called while the screen is shown.
        public func follow() async {
            async let following: Void = attempts.repeating { await self.timeline.follow() }
            switch place {
            case .thread(let thread): await markShownAsRead(thread)
            case .replies(let message, let thread): await followRoot(message, chat.liveTimeline(of: thread))
            }
            await following
        }

        /// Reads the posts again after a ``failure``.
        public func tryAgain() { attempts.tryAgain() }

        /// Reads an earlier page.
        public func loadEarlier() async {
            guard !isLoadingEarlier else { return }
            isLoadingEarlier = true
            defer { isLoadingEarlier = false }
            do { try await timeline.loadEarlier() } catch { feedback = Feedback(error) }
        }

        // MARK: Writing

        /// Posts the draft.
        public func post() async {
            let text = draft
            guard !text.isBlank else { return }
            draft = ""
            let isKept =
                switch place {
                case .thread(let thread): await send(.postMessage(thread: thread, body: text, by: chat.user))
                case .replies(let message, _): await send(.reply(to: message, body: text, by: chat.user))
                }
            // Nothing that the user wrote is lost.
            if !isKept, draft.isEmpty { draft = text }
        }

        /// Replaces the text of an own post, wherever it is: at the server, or in the outbox.
        ///
        /// - Returns: Whether the text is kept; otherwise ``feedback`` says why it is not.
        @discardableResult public func edit(_ row: PostRow, _ text: String) async -> Bool {
            guard !text.isBlank else { return false }
            return await attempt { try await $0.edit(row.post, body: text, mentions: row.post.mentions) }
        }

        /// Takes an own post back: out of the outbox, or at the server.
        public func retract(_ row: PostRow) async { await attempt { try await $0.retract(row.post) } }

        /// Adds a reaction, or takes the user's own one back.
        public func toggle(_ emoji: String, on row: PostRow) async {
            let isMine = row.post.reactions.contains { $0.emoji == emoji && $0.isMine }
            await send(
                isMine ? .unreact(row.id, emoji: emoji, by: chat.user) : .react(row.id, emoji: emoji, by: chat.user))
        }

        /// Sends what was rejected of a post again.
        public func retry(_ row: PostRow) { changeRejected(of: row) { try outbox.sendAgain($0) } }

        /// Takes what was rejected of a post back.
        public func dismiss(_ row: PostRow) { changeRejected(of: row) { try outbox.takeBack($0) } }

        private func changeRejected(of row: PostRow, _ body: (OutboxItem) throws -> Void) {
            feedback = nil
            for item in row.items where item.rejection != nil {
                // With a post, what was stopped with it is sent again: it can have been sent
                // meanwhile.
                do { try body(item) } catch OutboxRefusal.alreadySent {} catch OutboxRefusal.unknownItem {} catch {
                    feedback = Feedback(error)
                }
            }
        }

        // MARK: The thread

        /// Moves the read marker whenever the screen shows unread messages, until the task is
        /// cancelled.
        private func markShownAsRead(_ thread: ThreadID) async {
            var marked: Position = 0
            for await position in Observations({ self.lastShown(in: thread) }) {
                guard let position, position > marked else { continue }
                do {
                    try await chat.enqueue(.markRead(thread: thread, upTo: position, by: chat.user))
                    // Without a network the unread count stays, and the same position must not be
                    // sent again.
                    marked = position
                } catch { feedback = Feedback(error) }
            }
        }

        /// Returns the position of the last message on the screen; nil if no message on it is
        /// unread.
        private func lastShown(in thread: ThreadID) -> Position? {
            guard isOnScreen, let thread = threads.thread(thread), thread.unreadCount > 0,
                let last = timeline.messages.last(where: { !$0.isPending })?.position, last > thread.readUpTo
            else { return nil }
            return last
        }

        /// Keeps ``root`` current until the task is cancelled.
        ///
        /// - Parameter around: The view of the thread. The message may be older than what it shows:
        ///   it is then read again after each change of the thread.
        private func followRoot(_ message: MessageID, _ around: LiveTimeline) async {
            async let following: Void = attempts.repeating { await around.follow() }
            for await messages in Observations({ around.messages }) {
                if let shown = messages.last(where: { $0.id == .message(message) }) {
                    root = shown
                    continue
                }
                do { root = try await chat.post(.message(message)) } catch {
                    // It may be erased, or the user may not read it any more.
                    (root, feedback) = (nil, Feedback(error) ?? feedback)
                }
            }
            await following
        }

        /// Reports a post to the moderators.
        public func report(_ row: PostRow, reason: String) async {
            await send(.report(row.id, reason: reason, by: chat.user))
        }
    }

    /// A post, and the commands of the outbox about it.
    public struct PostRow: Identifiable, Sendable {
        /// The post as it is shown, with the edits that wait.
        public var post: Post
        /// The commands of the outbox about it, in the order of sending.
        public var items: [OutboxItem]
        /// Whether the user wrote it.
        public var isMine: Bool

        /// The id of the post, which stays when the server has it.
        public var id: PostID { post.id }

        /// Whether something about it waits for the server.
        public var isWaiting: Bool { rejection == nil && (post.isPending || !items.isEmpty) }

        /// Why the post, or a change of it, was rejected.
        public var rejection: Feedback? { items.lazy.compactMap(\.rejection).first.map { Feedback($0) } }

        /// Whether it can be edited.
        public var canEdit: Bool { isMine && !post.isRetracted && !post.isRemoved && post.body != nil }
    }

    extension String {
        /// Whether it has nothing but white space.
        var isBlank: Bool { allSatisfy(\.isWhitespace) }
    }
#endif
