public import ChatDomain
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Executes a command and waits, without holding a thread, until its answer is durable.
    ///
    /// Cancelling the task works until the command is decided; afterwards the receipt is delivered.
    ///
    /// - Parameters:
    ///   - command: What is to happen.
    ///   - correlation: The caller's own id for what this belongs to, 1 to 256 bytes; the events keep it.
    /// - Returns: What was appended, once it is durable under the store's mode.
    /// - Throws: ``ChatError/rejected(_:)`` if the command broke a rule, once everything that the refusal rests on is durable; ``ChatError/journal(_:)`` if
    ///   the journal has failed, in which case nobody can say whether the command took effect: send it again, with the same id, after reopening.
    @discardableResult
    public func execute(_ command: ChatCommand, correlation: String? = nil) async throws(ChatError) -> Receipt {
        try await execute(CommandRequest(command, correlation: correlation))
    }

    /// Executes a command and blocks the thread until its answer is durable; otherwise as the asynchronous form.
    @discardableResult
    public func execute(_ command: ChatCommand, correlation: String? = nil) throws(ChatError) -> Receipt {
        try execute(CommandRequest(command, correlation: correlation))
    }

    /// Executes a command with what goes with it, and waits without holding a thread; otherwise as the form for a command alone.
    @discardableResult
    public func execute(_ request: CommandRequest) async throws(ChatError) -> Receipt {
        try await execute([request])[0].receipt()
    }

    /// Executes a command with what goes with it, and blocks the thread until its answer is durable.
    @discardableResult
    public func execute(_ request: CommandRequest) throws(ChatError) -> Receipt {
        try execute([request])[0].receipt()
    }

    /// Executes commands one after another as one commit, and waits, without holding a thread, until their answers are durable.
    ///
    /// Each command sees those before it. A refused one appends nothing and stops nobody. After a crash all the events of the batch are there, or none is.
    ///
    /// - Parameter batch: The commands, whose text may take up to 32 MiB in all.
    /// - Returns: One answer for each, in their order.
    /// - Throws: ``ChatError/batchTooLarge`` before anything is decided; ``ChatError/journal(_:)`` if the commit failed, for all of them.
    public func execute(_ batch: [CommandRequest]) async throws(ChatError) -> [Result<Receipt, Rejection>] {
        if Task.isCancelled { throw .cancelled }
        let decided = try decide(batch)
        do { try await log.waitUntilDurable(decided.through) } catch { throw .journal(error) }
        readSide.apply(log, through: decided.through)
        return try answers(to: decided)
    }

    /// Executes commands as one commit and blocks the thread until their answers are durable; otherwise as the asynchronous form.
    public func execute(_ batch: [CommandRequest]) throws(ChatError) -> [Result<Receipt, Rejection>] {
        try durableAnswers(to: try decide(batch))
    }

    /// Executes commands that are made from the very state on which they are decided, as one commit, and blocks the thread until their answers are durable.
    ///
    /// Everything decided before is made durable and applied first, while no other command is decided: the read models are then those of the decider.
    ///
    /// - Parameter makeBatch: Makes the commands from the read models.
    func execute(making makeBatch: (borrowing ReadModels) -> [CommandRequest]) throws(ChatError) -> [Result<Receipt, Rejection>] {
        let result: Result<Decided, ChatError> = decider.withLock { decider in
            do throws(ChatError) {
                try applyEverything(decider)
                let batch = readSide.withShared { makeBatch($0.models) }
                return .success(try decide(batch, try Self.checkedByteCount(of: batch), &decider))
            } catch {
                return .failure(error)
            }
        }
        return try durableAnswers(to: try result.get())
    }

    /// Waits until everything decided is durable, and applies it.
    func applyEverything(_ decider: borrowing Decider) throws(ChatError) {
        if let failure = decider.failure { throw .journal(failure) }
        let head = decider.rules.head
        try wrapping { () throws(JournalError) in try log.waitUntilDurable(head) }
        readSide.apply(log, through: head)
    }

    private func durableAnswers(to decided: consuming Decided) throws(ChatError) -> [Result<Receipt, Rejection>] {
        let through = decided.through
        try wrapping { () throws(JournalError) in try log.waitUntilDurable(through) }
        readSide.apply(log, through: through)
        return try answers(to: decided)
    }
}

extension Result where Success == Receipt, Failure == Rejection {
    fileprivate func receipt() throws(ChatError) -> Receipt {
        switch self {
        case .success(let receipt): return receipt
        case .failure(let rejection): throw .rejected(rejection)
        }
    }
}

/// What was decided on a batch; the answers may be given once everything up to a position is durable.
private struct Decided {
    var answers: [Result<Receipt, Rejection>] = []
    /// Which of the answers are yet to be read from the log, and where.
    var duplicates: [(answer: Int, positions: ClosedRange<Position>, request: CommandRequest)] = []
    var through: Position = 0

    /// Makes the answer to the next command, and puts its events into the commit.
    mutating func take(_ outcome: Decider.Outcome, of request: CommandRequest, _ decider: inout Decider) throws(JournalError) {
        switch outcome {
        case .appended(let rows):
            try decider.encode(rows, of: request)
            answers.append(.success(Receipt(rows, of: decider.batch, request)))
        case .unchanged: answers.append(.success(Receipt(from: decider.rules.head)))
        case .duplicate(let positions):
            duplicates.append((answers.count, positions, request))
            answers.append(.success(Receipt()))
        case .refused(let rejection): answers.append(.failure(rejection))
        }
    }

    /// Counts the commands; not before their commit is there.
    func count(in commands: inout CommandStatistics) {
        for answer in answers {
            switch answer {
            case .success(let receipt): if receipt.positions == nil { commands.unchanged &+= 1 } else { commands.appended &+= 1 }
            case .failure(let rejection): commands.refused[rejection.code, default: 0] &+= 1
            }
        }
        // Their answers have no positions yet.
        commands.unchanged &-= UInt64(duplicates.count)
        commands.duplicates &+= UInt64(duplicates.count)
    }
}

extension ChatStore {
    private func decide(_ batch: [CommandRequest]) throws(ChatError) -> Decided {
        let byteCount = try Self.checkedByteCount(of: batch)
        // The closure of a lock cannot throw a typed error here without losing it, so the result carries it.
        let result: Result<Decided, ChatError> = decider.withLock { decider in
            do throws(ChatError) { return .success(try decide(batch, byteCount, &decider)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    private static func checkedByteCount(of batch: [CommandRequest]) throws(ChatError) -> Int {
        let byteCount = maximumByteCount(of: batch.span)
        guard byteCount <= 32 << 20, batch.count <= 65_536 else { throw .batchTooLarge }
        return byteCount
    }

    private func decide(_ batch: [CommandRequest], _ byteCount: Int, _ decider: inout Decider) throws(ChatError) -> Decided {
        if let failure = decider.failure { throw .journal(failure) }
        guard !decider.rules.hasUnknownEvents else { throw .newerEvents }
        let before = decider.rules.head
        let decided: Decided
        do throws(JournalError) {
            decided = try stage(batch, byteCount, &decider)
            if decided.through > before {
                // Before the append: what the log says is durable has been pushed.
                readSide.push(decider.batch)
                _ = try log.append(decider.draft, expecting: before)
            }
        } catch {
            // The rules have run ahead of a commit that does not exist: nothing is decided on them any more, and no query sees it.
            decider.failure = error
            throw .journal(error)
        }
        decided.count(in: &decider.commands)
        if decided.through >= decider.nextCheckpoint { beginCheckpoint(&decider) }
        return decided
    }

    /// Decides one command after another, applies their events to the rules, and puts them into the draft of the commit.
    ///
    /// Room is made before anything is decided, for the most that all of the batch may take or, where there is not that much, for one command after another: making it may
    /// take a sync. The identities are locked for a part of the batch at a time; the decider keeps the order.
    private func stage(_ batch: [CommandRequest], _ byteCount: Int, _ decider: inout Decider) throws(JournalError) -> Decided {
        decider.begin()
        let hasRoomForAll = try decider.makeRoom(byteCount, in: log)
        // A span lends the commands; a loop over the array would copy each.
        let requests = batch.span
        var decided = Decided()
        decided.answers.reserveCapacity(requests.count)
        var start = 0
        while start < requests.count {
            let part = requests.extracting(start..<min(requests.count, start + (hasRoomForAll ? Self.partCount : 1)))
            // One command has been asked for already.
            let hasRoom =
                if hasRoomForAll || requests.count == 1 { hasRoomForAll } else {
                    try decider.makeRoom(Self.maximumByteCount(of: part), in: log)
                }
            readSide.withIdentities { identities in
                if part.count > 1 { identities.prefetch(part) }
                for index in part.indices {
                    let now = clock.now()
                    let freshID = part[index].command.needsID ? ids.makeID(at: now) : 0
                    decider.decide(part[index], &identities, at: now, freshID: freshID, hasRoom: hasRoom)
                }
            }
            for index in part.indices { try decided.take(decider.outcomes[start + index], of: part[index], &decider) }
            start += part.count
        }
        decided.through = decider.rules.head
        return decided
    }

    private static func maximumByteCount(of requests: Span<CommandRequest>) -> Int {
        requests.indices.reduce(0) { $0 + requests[$1].maximumByteCount }
    }

    /// The commands that are decided in one exclusive section: amortises locking, and bounds how long a query waits.
    private static let partCount = 64

    /// Gives the answers, now that everything that they rest on is durable.
    private func answers(to decided: consuming Decided) throws(ChatError) -> [Result<Receipt, Rejection>] {
        for (answer, positions, request) in decided.duplicates {
            // An opening whose join is missing can be the last event.
            let positions = positions.clamped(to: 1...decided.through)
            let first = zip(positions, try events(at: positions)).map { RecordedEvent(position: $0, event: $1) }
            decided.answers[answer] = .success(Receipt(duplicateOf: first.compactMap { $0.shown(toCallerOf: request) }))
        }
        return decided.answers
    }
}

extension ChatCommand {
    /// Whether the store has to make the id of what the command creates.
    fileprivate var needsID: Bool {
        switch self {
        case .registerUser(user: nil, username: _, subject: _), .openThread(thread: nil, name: _, by: _),
            .postMessage(message: nil, thread: _, author: _, body: _), .reply(reply: nil, message: _, author: _, body: _),
            .startSession(user: _, session: nil, device: _):
            true
        default: false
        }
    }
}

extension CommandRequest {
    /// An upper bound of what the command's events take in a commit, from the text that it brings and the fixed fields of the events that it may come to.
    var maximumByteCount: Int {
        let text: Int
        switch command {
        case .registerUser(_, let username, let subject): text = 4 * username.utf8.count + (subject?.utf8.count ?? 0)
        case .changeUsername(_, let username): text = 4 * username.utf8.count
        case .setPostcode: text = 8
        case .openThread(_, let name, _): text = name.utf8.count
        case .postMessage(_, _, _, let body), .reply(_, _, _, let body), .edit(_, _, let body): text = body.utf8.count
        case .startSession(_, _, let device): text = device.utf8.count
        case .joinThread, .leaveThread, .retract, .markRead, .endSession: text = 0
        }
        let eventCount =
            switch command {
            case .setPostcode, .openThread: 3
            default: 1
            }
        // Longer text is refused by the rules, and a refused command takes no room.
        return min(text, 66_000) + eventCount * (128 + min(correlation?.utf8.count ?? 0, 256))
    }
}
