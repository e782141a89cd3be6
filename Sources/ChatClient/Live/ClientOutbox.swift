#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatLive
    internal import ChatValues

    /// The outbox of a client, of which a view shows the first commands.
    struct ClientOutbox: LiveOutboxSource {
        let client: ChatClient
        let limit: Int

        func load() async throws(LiveFailure) -> LiveLoad<[OutboxItem], OutboxChange> {
            // Before the outbox is read, so that no change is missed.
            let changes = client.outboxChanges.makeAsyncIterator()
            let found = try await items(after: 0)
            return LiveLoad(found.items, hasEarlier: found.hasMore, effects: Effects(changes: changes))
        }

        @concurrent func items(after item: OutboxItem.ID) async throws(LiveFailure) -> (
            items: [OutboxItem], hasMore: Bool
        ) {
            do throws(ClientError) {
                let found = try client.outbox(after: item, limit: limit + 1)
                return (Array(found.prefix(limit)), found.count > limit)
            } catch { throw LiveFailure(error, isEnd: error.storage == .closed) }
        }

        func withdraw(_ item: OutboxItem.ID) throws { try client.withdraw(item) }
        func replace(_ item: OutboxItem.ID, by request: CommandRequest) throws {
            try client.replace(item, by: request)
        }

        private struct Effects: LiveEffects {
            var changes: OutboxChanges.AsyncIterator

            mutating func next() async throws(LiveFailure) -> LiveEffect<OutboxChange>? {
                if let change = await changes.next(isolation: #isolation) { return .change(change) }
                // A sequence that was too slow has ended.
                return Task.isCancelled ? nil : .reload(.outdated)
            }
        }
    }
#endif
