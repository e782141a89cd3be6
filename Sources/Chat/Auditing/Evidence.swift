public import ChatDomain
public import EventJournal

/// The selection of a thread's events for a reader without the journal.
///
/// ``ChatStore/evidence(of:in:at:withRegistrations:)`` makes it, and
/// ``ChatStore/forEachPart(of:_:)`` delivers the records and the hashes of all others.
/// ``EvidenceVerification`` verifies them.
public struct Evidence: Hashable, Sendable {
    /// The thread.
    public let thread: ThreadID
    /// The head of the tree that the evidence is verified against.
    public let head: TreeHead
    /// The positions of the thread's events, ascending; at least one.
    public let positions: [Position]
    /// The numbers of these events within the thread, without a gap.
    public let numbers: ClosedRange<UInt64>
    /// The positions of the registrations and changes of usernames, ascending.
    public let registrations: [Position]
    /// The users who could read the thread after its last event here, as the store knows them.
    public let readers: [EvidenceReader]
}

/// A user who could read a thread.
public struct EvidenceReader: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserID
    /// The position at which the user joined, or became an operator of the community.
    public var since: Position

    /// Creates a reader.
    public init(user: UserID, since: Position) {
        self.user = user
        self.since = since
    }
}

extension ChatStore {
    /// Selects the events of a thread, so that a reader without the journal can verify that none
    /// between the first and the last is missing.
    ///
    /// The events are those with a number in the thread. Read markers and reports have none, and
    /// are not part of the evidence. For the host: no viewer's rights apply.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - positions: The events at these positions; nil for all events of the thread up to `size`.
    ///   - size: The size of the tree; nil for the durable position.
    ///   - withRegistrations: Whether to add the registrations and the changes of usernames, up to
    ///     the last event, of the users whom these events name and of the readers.
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread`;
    ///   ``ChatError/incompleteThread(before:)``; ``ChatError/journal(_:)`` with `outOfRange` if
    ///   the thread has no event at the positions or the size is no position, and as
    ///   ``treeHead(at:)``; ``ChatError`` if a record cannot be read or decoded.
    /// - Complexity: Reads the journal once, and once more with registrations, and as
    ///   ``treeHead(at:)``.
    public func evidence(
        of thread: ThreadID, in positions: ClosedRange<Position>? = nil, at size: Position? = nil,
        withRegistrations: Bool = false
    ) throws(ChatError) -> Evidence {
        let end = try treeLog().durablePosition
        let head = try treeHead(at: size ?? end)
        // Throws for an unknown thread.
        _ = try reader(as: .host, asOf: .position(head.size)).thread(thread)
        if let positions, positions.upperBound > head.size {
            let message = "The tree has the positions from 1 to \(head.size), not \(positions.upperBound)."
            throw .journal(JournalError(.outOfRange, message, positions: positions))
        }
        let wanted = positions ?? 1...max(head.size, 1)
        var found = EvidenceEvents()
        try forEachEvent(
            after: max(wanted.lowerBound, 1) - 1, upTo: wanted.upperBound,
            matching: EventFilter(as: .host, threads: [thread])
        ) { event, stop in
            found.add(event)
            stop = found.hasGap
        }
        guard !found.hasGap else { throw .incompleteThread(before: found.last) }
        guard let numbers = found.numbers else {
            throw .journal(JournalError(.outOfRange, "The thread has no event at these positions.", positions: wanted))
        }
        let readers = try readers(of: thread, asOf: .position(found.last)).map {
            EvidenceReader(user: $0.user.id, since: $0.since)
        }
        var registrations: [Position] = []
        if withRegistrations {
            let filter = EventFilter(
                as: .host, users: found.users.union(readers.map(\.user)), kinds: [.userRegistered, .usernameChanged])
            try forEachEvent(upTo: found.last, matching: filter) { event, _ in
                registrations.append(event.position)
            }
        }
        return Evidence(
            thread: thread, head: head, positions: found.positions, numbers: numbers, registrations: registrations,
            readers: readers)
    }

    /// Calls a closure with the parts of the tree, from left to right: the records of the evidence,
    /// and the hash of each maximal subtree without one.
    ///
    /// A content that was erased since the selection is not delivered.
    ///
    /// - Parameters:
    ///   - evidence: The selection, made by this store.
    ///   - body: Receives each part; ends the call by setting `stop`.
    /// - Throws: ``ChatError/journal(_:)`` as ``treeHead(at:)``.
    /// - Complexity: Reads the journal up to the size of the tree once.
    public func forEachPart(of evidence: Evidence, _ body: (_ part: TreePart, _ stop: inout Bool) -> Void)
        throws(ChatError)
    {
        let log = try treeLog()
        let positions = (evidence.positions + evidence.registrations).sorted()
        var stop = false
        try wrappingErrors(
            of: log.forEachTreePart(of: evidence.head.size, disclosing: positions) { part in
                body(part, &stop)
                return !stop
            })
    }
}

/// The events of a thread that have a number in it, as they are found.
private struct EvidenceEvents {
    private(set) var positions: [Position] = []
    private(set) var numbers: ClosedRange<UInt64>?
    /// The users whom the events name.
    private(set) var users: Set<UserID> = []
    /// Whether the number of the last event does not follow that of the one before.
    private(set) var hasGap = false

    /// The position of the last event.
    var last: Position { positions.last ?? 0 }

    mutating func add(_ event: RecordedEvent) {
        guard let number = event.threadNumber else { return }
        positions.append(event.position)
        hasGap = numbers.map { number != $0.upperBound &+ 1 } ?? false
        numbers = (numbers?.lowerBound ?? number)...max(number, numbers?.upperBound ?? number)
        users.formUnion(event.event.users)
    }
}

extension ChatEvent {
    /// The users whom the event names, except for one who is blocked.
    var users: [UserID] { [user, otherActor].compactMap(\.self) }
}

extension EvidenceReader {
    /// The text form: a line `reader ID SINCE` without a line feed.
    public var text: String { "\(Self.word) \(user) \(since)" }

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - text: The line, without a line feed.
    ///   - line: The number of the line, for the error.
    /// - Throws: `ProofTextError` unless the line has the word, a user's id in lower case and a
    ///   position in decimal digits without leading zeros.
    public init(parsing text: String, line: Int) throws(ProofTextError) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        // The comparison with the canonical text rejects capitals, signs and leading zeros.
        guard words.count == 3, let user = UserID(String(words[1])), let since = Position(words[2]), since > 0,
            case let reader = EvidenceReader(user: user, since: since), reader.text == text
        else { throw ProofTextError(line: line, "not 'reader', a user's id and a position") }
        self = reader
    }

    /// The first word of the text form.
    package static let word = "reader"
}
