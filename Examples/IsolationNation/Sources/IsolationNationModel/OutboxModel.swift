#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// What the user wrote and the server does not have yet.
    @MainActor @Observable public final class OutboxModel {
        /// The maximum number of commands that are shown; the others wait unseen.
        static let limit = 500

        /// The commands that wait or were rejected, in the order of sending.
        public private(set) var items: [OutboxItem] = []
        /// Whether more than these wait.
        public private(set) var hasMore = false
        /// Why the outbox cannot be read or changed.
        public var notice: Notice?

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
            while !Task.isCancelled {
                // Before the outbox is read, so that no change is missed.
                let changes = client.outboxChanges
                guard read() else { return }
                // It ends when this task was too slow.
                for await change in changes {
                    apply(change)
                    if hasMore, items.count < Self.limit / 2, !read() { return }
                }
            }
        }

        /// Sends a rejected command again, and what was stopped with it.
        public func retry(_ item: OutboxItem) { change { try $0.replace(item.id, by: item.request) } }

        /// Takes a command back that was never sent, or was rejected; returns whether it was.
        @discardableResult public func withdraw(_ item: OutboxItem) -> Bool { change { try $0.withdraw(item.id) } }

        /// Gives a command that was never sent, or was rejected, another text, and has it sent; returns whether it was possible.
        @discardableResult func setText(_ text: String, of item: OutboxItem) -> Bool {
            guard let request = item.request(withText: text) else { return false }
            return change { try $0.replace(item.id, by: request) }
        }

        /// Changes the outbox; returns false if it was too late: the server has the command, or may have it.
        @discardableResult private func change(_ body: (ChatClient) throws -> Void) -> Bool {
            guard let client else { return false }
            do {
                notice = nil
                try body(client)
            } catch OutboxRefusal.unknownItem, OutboxRefusal.alreadySent {
                return false
            } catch { notice = Notice(error) }
            return true
        }

        /// Reads the outbox; returns whether it could be read.
        private func read() -> Bool {
            guard let client else { return false }
            do throws(ClientError) {
                let read = try client.outbox(limit: Self.limit + 1)
                (items, hasMore) = (Array(read.prefix(Self.limit)), read.count > Self.limit)
                return true
            } catch {
                notice = Notice(error)
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
