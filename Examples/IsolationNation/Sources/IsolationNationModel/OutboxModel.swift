#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The commands that the server does not have yet, or has rejected.
    @MainActor @Observable public final class OutboxModel {
        /// The maximum number of commands that are shown; the others wait unseen.
        static let limit = 500

        /// The commands that wait or were rejected, in the order of sending.
        public private(set) var items: [OutboxItem] = []
        /// Whether the outbox has more than ``items``.
        public private(set) var hasMore = false
        /// Why the outbox is no longer kept current.
        public private(set) var failure: Notice?
        /// Why a command could not be changed.
        public var notice: Notice?

        @ObservationIgnored private let attempts = Attempts()
        @ObservationIgnored private let client: ChatClient?

        /// Creates the outbox of a client; nil for a chat that has none, such as that of a store.
        init(_ client: ChatClient?) { self.client = client }

        /// The commands that wait.
        public var pending: [OutboxItem] { items.filter { $0.state == .queued } }

        /// The commands that were rejected, and the reason of each.
        public var rejected: [(item: OutboxItem, reason: Notice)] {
            items.compactMap { item in item.rejection.map { (item, Notice($0)) } }
        }

        /// Keeps the outbox current until the task is cancelled or the client is closed.
        func follow() async {
            guard let client else { return }
            await attempts.repeating { await self.follow(client) }
        }

        /// Reads the outbox again after a ``failure``.
        public func tryAgain() { attempts.tryAgain() }

        /// Sends a rejected command again, and what was stopped with it.
        public func retry(_ item: OutboxItem) { show { try sendAgain(item) } }

        /// Takes a command back that was never sent, or was rejected.
        public func withdraw(_ item: OutboxItem) { show { try takeBack(item) } }

        // MARK: Changes whose errors the caller shows

        /// Sends a rejected command again, and what was stopped with it.
        func sendAgain(_ item: OutboxItem) throws { try client?.replace(item.id, by: item.request) }

        /// Takes a command back that was never sent, or was rejected.
        func takeBack(_ item: OutboxItem) throws { try client?.withdraw(item.id) }

        private func show(_ change: () throws -> Void) {
            do {
                try change()
                notice = nil
            } catch { notice = Notice(error) }
        }

        // MARK: Reading

        /// Keeps the outbox current until it cannot be read, the task is cancelled, or the client
        /// is closed.
        private func follow(_ client: ChatClient) async {
            while !Task.isCancelled {
                // Before the outbox is read, so that no change is missed.
                let changes = client.outboxChanges
                guard read(client) else { return }
                // It ends when this task was too slow.
                for await change in changes {
                    apply(change)
                    if hasMore, items.count < Self.limit / 2, !read(client) { return }
                }
            }
        }

        /// Reads the outbox; returns whether it could be read.
        private func read(_ client: ChatClient) -> Bool {
            do throws(ClientError) {
                let read = try client.outbox(limit: Self.limit + 1)
                (items, hasMore) = (Array(read.prefix(Self.limit)), read.count > Self.limit)
                failure = nil
                return true
            } catch {
                failure = Notice(error)
                return false
            }
        }

        private func apply(_ change: OutboxChange) {
            switch change {
            case .queued(let item), .sending(let item), .rejected(let item, _):
                if let index = items.firstIndex(where: { $0.id >= item.id }) {
                    if items[index].id == item.id { items[index] = item } else { items.insert(item, at: index) }
                } else if !hasMore {
                    items.append(item)
                }
                if items.count > Self.limit {
                    items.removeLast()
                    hasMore = true
                }
            case .confirmed(let item, _), .withdrawn(let item): items.removeAll { $0.id == item.id }
            }
        }
    }

    extension OutboxItem {
        /// The rule that rejected it; nil while it waits.
        var rejection: Rejection? { if case .rejected(let rejection) = state { rejection } else { nil } }
    }
#endif
