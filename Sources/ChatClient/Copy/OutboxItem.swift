#if Client || canImport(SQLite3)
    public import ChatDomain
    public import ChatLive
    public import ChatValues

    /// A command that waits in the outbox of a client.
    public struct OutboxItem: Hashable, Sendable, Identifiable {
        /// The number of the item, which grows with every command of the outbox.
        public let id: Int64
        /// The command, with the id that the client has made for what it creates.
        public let request: CommandRequest
        /// The time at which it was written, by the clock of the device.
        public let writtenAt: Timestamp
        /// Whether it waits, or was rejected.
        public let state: State
        /// Whether it was sent at least once; the server may have executed it.
        public let wasSent: Bool

        /// The state of an item.
        public enum State: Hashable, Sendable {
            /// It waits for the server, or for an answer.
            case queued
            /// A rule has rejected it, or the command that it depends on.
            case rejected(Rejection)
        }
    }

    /// What a screen shows of the command.
    extension OutboxItem {
        /// The kind of the command, such as `postMessage`; a later version may have more.
        public var kind: String { request.command.kind.form.name }

        /// The post that the command creates, or else the one that it is about; nil if it is about
        /// none.
        public var post: PostID? {
            createdPost ?? (request.command.kind.form.concernsPost ? request.command.post : nil)
        }

        /// The message or reply that the command creates; nil for other commands.
        public var createdPost: PostID? { request.command.createdPost }

        /// The thread that the command names; nil for others, such as a reply, which names a
        /// message.
        public var thread: ThreadID? {
            request.command.kind.form.fields.contains(.thread) ? request.command.threadID : nil
        }

        /// The text of a message, a reply or an edit; nil for other commands.
        public var text: String? { writesPost ? request.command.text : nil }

        /// Returns the same command with another text, to replace the item by; nil if it has no
        /// text.
        public func request(withText text: String) -> CommandRequest? {
            guard writesPost else { return nil }
            var request = request
            request.command.text = text
            return request
        }

        private var writesPost: Bool { [.postMessage, .reply, .edit].contains(request.command.kind) }
    }

    /// What has happened to a command of the outbox, with the item as it is afterwards.
    public enum OutboxChange: Hashable, Sendable {
        /// It is durable on this device, and waits.
        case queued(OutboxItem)
        /// It is being sent.
        case sending(OutboxItem)
        /// The server has executed it.
        case confirmed(OutboxItem, Receipt)
        /// A rule has rejected it, or the command that it depends on; it stays in the outbox until
        /// it is withdrawn or sent again.
        case rejected(OutboxItem, Rejection)
        /// It was taken back before it was sent, or after it was rejected.
        case withdrawn(OutboxItem)
    }

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
