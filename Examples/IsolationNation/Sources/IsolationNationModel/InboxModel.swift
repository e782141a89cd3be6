#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The inbox of the user: replies, mentions, reactions, invitations, and the acts of
    /// moderators.
    @MainActor @Observable public final class InboxModel: CommandSender {
        /// What went wrong.
        public var feedback: Feedback?

        @ObservationIgnored let chat: any UserChat
        @ObservationIgnored private let attempts = Attempts()
        private let inbox: LiveInbox

        init(_ chat: any UserChat) {
            self.chat = chat
            inbox = chat.liveInbox()
        }

        /// The entries, newest first.
        public var entries: [InboxEntry] { inbox.entries }
        /// The number of unread entries.
        public var unreadCount: Int { inbox.unread?.count ?? 0 }
        /// Whether nothing has been read yet.
        public var isLoading: Bool { inbox.state.value == nil }
        /// Why the inbox is no longer kept current.
        public var failure: Feedback? { inbox.state.error.map { Feedback(failure: $0) } }

        /// Keeps the inbox current until the task is cancelled.
        func follow() async { await attempts.repeating { await self.inbox.follow() } }

        /// Reads the inbox again after a ``failure``.
        public func tryAgain() { attempts.tryAgain() }

        /// Marks all entries as read.
        public func markRead() async {
            guard unreadCount > 0, let newest = entries.first?.position else { return }
            await send(.markInboxRead(upTo: newest, by: chat.user))
        }

        /// Accepts the invitation of an entry: joins the thread.
        public func accept(_ entry: InboxEntry) async {
            await send(.acceptInvitation(thread: entry.thread, by: chat.user))
        }

        /// Declines the invitation of an entry.
        public func decline(_ entry: InboxEntry) async {
            await send(.declineInvitation(thread: entry.thread, by: chat.user))
        }
    }
#endif
