#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The commands that the server does not have yet, or has rejected.
    @MainActor @Observable public final class OutboxModel {
        /// Why a command could not be changed.
        public var feedback: Feedback?

        @ObservationIgnored private let attempts = Attempts()
        private let outbox: LiveOutbox

        /// Creates the outbox of a chat, with the first 500 commands; the others wait unseen.
        init(_ chat: any UserChat) { outbox = chat.liveOutbox(limit: 500) }

        /// The commands that wait or were rejected, in the order of sending.
        public var items: [OutboxItem] { outbox.items }
        /// The commands that wait.
        public var pending: [OutboxItem] { outbox.pending }
        /// Whether the outbox has more than ``items``.
        public var hasMore: Bool { outbox.hasMore }
        /// Why the outbox is no longer kept current.
        public var failure: Feedback? { outbox.state.error.map { Feedback(failure: $0) } }

        /// The commands that were rejected, and the reason of each.
        public var rejected: [(item: OutboxItem, reason: Feedback)] {
            items.compactMap { item in item.rejection.map { (item, Feedback($0)) } }
        }

        /// Keeps the outbox current until the task is cancelled or the client is closed.
        func follow() async { await attempts.repeating { await self.outbox.follow() } }

        /// Reads the outbox again after a ``failure``.
        public func tryAgain() { attempts.tryAgain() }

        /// Sends a rejected command again, and what was stopped with it.
        public func retry(_ item: OutboxItem) { show { try sendAgain(item) } }

        /// Takes a command back that was never sent, or was rejected.
        public func withdraw(_ item: OutboxItem) { show { try takeBack(item) } }

        private func show(_ change: () throws -> Void) {
            do {
                try change()
                feedback = nil
            } catch { feedback = Feedback(error) }
        }

        // MARK: Changes whose errors the caller shows

        /// Sends a rejected command again, and what was stopped with it.
        func sendAgain(_ item: OutboxItem) throws { try outbox.sendAgain(item) }

        /// Takes a command back that was never sent, or was rejected.
        func takeBack(_ item: OutboxItem) throws { try outbox.withdraw(item) }
    }
#endif
