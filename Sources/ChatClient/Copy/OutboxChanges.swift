#if Client || canImport(SQLite3)
    public import ChatLive

    /// What happens to the commands of an outbox.
    ///
    /// It ends when the client is closed, and for a task that is more than 1,000 changes of the
    /// copy behind.
    public struct OutboxChanges: AsyncSequence, Sendable {
        /// A change of one command.
        public typealias Element = OutboxChange
        /// There are no errors.
        public typealias Failure = Never

        let changes: AsyncStream<CopyChanges>

        /// Returns an iterator; one at a time.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(changes: changes.makeAsyncIterator()) }

        /// An iterator over the changes.
        public struct AsyncIterator: AsyncIteratorProtocol {
            var changes: AsyncStream<CopyChanges>.AsyncIterator
            private var waiting: ArraySlice<OutboxChange> = []

            init(changes: AsyncStream<CopyChanges>.AsyncIterator) { self.changes = changes }

            /// Returns the next change; nil at the end.
            public mutating func next() async -> OutboxChange? { await next(isolation: #isolation) }

            /// Returns the next change; nil at the end.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> OutboxChange? {
                while waiting.isEmpty {
                    guard let change = await changes.next(isolation: actor) else { return nil }
                    waiting = change.outbox[...]
                }
                return waiting.removeFirst()
            }
        }
    }

    /// Why the outbox refuses to change an item.
    public enum OutboxRefusal: Error, Hashable, Sendable {
        /// The item was confirmed or withdrawn.
        case unknownItem
        /// The command was sent, and the server may have executed it: send a new one that changes
        /// or retracts what it did.
        case alreadySent
        /// The new command is about something else than the one that waits.
        case anotherKind
        /// Commands wait, which would be lost.
        case itemsPending(Int)
    }

    extension OutboxRefusal: ChatFailure {
        /// Nil: no rule of the chat is concerned.
        public var rejection: Rejection? { nil }

        /// The code and a sentence for people.
        public var description: String {
            switch self {
            case .unknownItem: "unknownItem: It is no longer in the outbox: the server has it, or it was withdrawn."
            case .alreadySent:
                "alreadySent: It was sent, and the server may have it. Edit or retract it once it is confirmed."
            case .anotherKind: "anotherKind: Only a command about the same thing can replace it."
            case .itemsPending(let count): "itemsPending: \(count) commands wait to be sent, and would be lost."
            }
        }
    }
#endif
