#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatValues

    /// What the output has said of each command of an outbox, so that it says every change once.
    struct OutboxReport {
        /// The commands that wait, as far as it was said.
        private var waiting: Set<OutboxItem.ID> = []
        /// The commands that were rejected, and are still in the outbox.
        private var rejected: Set<OutboxItem.ID> = []
        /// The commands that this process has withdrawn; earlier changes of them can still arrive.
        private var withdrawn: Set<OutboxItem.ID> = []

        /// Whether no command waits.
        var isDrained: Bool { waiting.isEmpty }
        /// Whether no command is left, of those that wait and those that were rejected.
        var isEmpty: Bool { waiting.isEmpty && rejected.isEmpty }

        /// Notes a change, and returns what is to be said of it; nil if that was said.
        ///
        /// - Parameter line: The line of the input with the command.
        mutating func apply(_ change: OutboxChange, line: Int? = nil) -> OutboxLine? {
            switch change {
            case .queued(let item), .sending(let item), .confirmed(let item, _), .rejected(let item, _):
                if withdrawn.contains(item.id) { return nil }
            // It is the last change of the item.
            case .withdrawn(let item): if withdrawn.remove(item.id) != nil { return nil }
            }
            switch change {
            case .queued(let item):
                // One that was rejected is queued again if it, or what it depends on, was replaced.
                rejected.remove(item.id)
                return waiting.insert(item.id).inserted ? OutboxLine(item.id, .queued(item.request), line: line) : nil
            case .sending(let item): return waiting.contains(item.id) ? OutboxLine(item.id, .sending) : nil
            case .confirmed(let item, let receipt):
                return waiting.remove(item.id) != nil ? OutboxLine(item.id, .confirmed(receipt)) : nil
            case .rejected(let item, let rejection):
                waiting.remove(item.id)
                return rejected.insert(item.id).inserted ? OutboxLine(item.id, .rejected(rejection)) : nil
            case .withdrawn(let item):
                let wasWaiting = waiting.remove(item.id) != nil
                return rejected.remove(item.id) != nil || wasWaiting ? OutboxLine(item.id, .withdrawn) : nil
            }
        }

        /// Notes that this process has withdrawn a command, and returns what is to be said of it.
        mutating func withdraw(_ item: OutboxItem.ID) -> OutboxLine {
            waiting.remove(item)
            rejected.remove(item)
            withdrawn.insert(item)
            return OutboxLine(item, .withdrawn)
        }

        /// Notes an item of the outbox, and returns what is to be said of it.
        mutating func apply(_ item: OutboxItem) -> OutboxLine? {
            switch item.state {
            case .queued: apply(.queued(item))
            case .rejected(let rejection): apply(.rejected(item, rejection))
            }
        }

        /// Notes which items the whole outbox has, and returns what is to be said of the others.
        ///
        /// What waited and is gone was confirmed, because what was withdrawn was noted.
        mutating func end(allBut present: Set<OutboxItem.ID>) -> [OutboxLine] {
            let gone = waiting.subtracting(present).sorted()
            waiting.subtract(gone)
            rejected.formIntersection(present)
            return gone.map { OutboxLine($0, .confirmed(nil)) }
        }
    }

    /// What the user would lose with an outbox.
    struct OutboxLoss: CustomStringConvertible {
        private var waiting = 0
        private var rejected = 0

        /// Whether the user wrote nothing of it.
        var isEmpty: Bool { waiting + rejected == 0 }

        /// Counts an item, if the user wrote it.
        mutating func add(_ item: OutboxItem) {
            guard item.isWritten else { return }
            if item.state == .queued { waiting += 1 } else { rejected += 1 }
        }

        var description: String { "\(waiting) waiting and \(rejected) rejected are lost." }
    }

    extension ChatClient {
        /// What the user would lose with the outbox.
        func outboxLoss() throws -> OutboxLoss {
            var loss = OutboxLoss()
            try forEachItem { loss.add($0) }
            return loss
        }

        /// Calls a function with every command of the outbox, those that wait and those that were
        /// rejected, in their order.
        func forEachItem(_ body: (OutboxItem) throws -> Void) throws {
            var last: OutboxItem.ID = 0
            while true {
                let page = try outbox(after: last, limit: 1_000)
                for item in page { try body(item) }
                guard let end = page.last?.id else { return }
                last = end
            }
        }
    }

    extension OutboxItem {
        /// Whether the user wrote it; marks are not what the user wrote.
        var isWritten: Bool { ![.markRead, .markInboxRead].contains(request.command.kind) }
    }

    /// A line of the output about a command of the outbox.
    struct OutboxLine: Encodable, Equatable {
        enum State: Equatable {
            case queued(CommandRequest)
            case sending
            /// The receipt is nil if the change was missed.
            case confirmed(Receipt?)
            case rejected(Rejection)
            case withdrawn
        }

        let item: OutboxItem.ID
        let state: State
        let line: Int?

        init(_ item: OutboxItem.ID, _ state: State, line: Int? = nil) {
            (self.item, self.state, self.line) = (item, state, line)
        }

        private enum CodingKeys: CodingKey { case item, state, line, command, receipt, rejection }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(item, forKey: .item)
            try container.encodeIfPresent(line, forKey: .line)
            switch state {
            case .queued(let request):
                try container.encode("queued", forKey: .state)
                try container.encode(request, forKey: .command)
            case .sending: try container.encode("sending", forKey: .state)
            case .confirmed(let receipt):
                try container.encode("confirmed", forKey: .state)
                try container.encodeIfPresent(receipt, forKey: .receipt)
            case .rejected(let rejection):
                try container.encode("rejected", forKey: .state)
                try container.encode(rejection, forKey: .rejection)
            case .withdrawn: try container.encode("withdrawn", forKey: .state)
            }
        }
    }

    /// A line of the output about the connection.
    struct ConnectionLine: Encodable, Equatable {
        let connection: String
        var problem: String?
        /// The seconds until the client tries again.
        var seconds: Double?

        init(_ state: ConnectionState) {
            connection = state.name
            switch state {
            case .idle, .connecting, .connected: break
            case .waiting(let error, let duration): (problem, seconds) = ("\(error)", duration / .seconds(1))
            case .stopped(let reason): problem = "\(reason)"
            }
        }
    }

    extension ConnectionState {
        /// A word for the state.
        var name: String {
            switch self {
            case .idle: "idle"
            case .connecting: "connecting"
            case .connected: "connected"
            case .waiting: "waiting"
            case .stopped: "stopped"
            }
        }
    }
#endif
