public import ChatDomain
public import EventJournal

/// What verified evidence shows.
public struct EvidenceReport: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The head of the tree that contains the events.
    public var head: TreeHead
    /// The numbers of the events within the thread, none of which is missing.
    public var numbers: ClosedRange<UInt64>
    /// The positions of the first and the last event.
    public var positions: ClosedRange<Position>
    /// The number of records with a digest in the place of their content.
    ///
    /// The content was erased, or is withheld: the parts do not show which.
    public var withoutContentCount: UInt64
    /// The number of registrations and changes of usernames.
    public var registrationCount: UInt64
    /// The readers whose current membership is shown by an event of the thread.
    public var provenReaders: [EvidenceReader]
    /// The readers whom only the host of the journal states.
    public var statedReaders: [EvidenceReader]

    /// Whether the events begin with the thread's first one.
    public var beginsWithFirstEvent: Bool { numbers.lowerBound == 1 }
}

/// Verifies evidence part by part, without the journal.
///
/// Give it every part in order, then take the report:
///
/// ```swift
/// var verification = EvidenceVerification(against: checkpoint)
/// for part in parts { try verification.add(part) }
/// let report = try verification.report(readers: readers)
/// ```
///
/// Memory grows with the number of different users in the parts, and with nothing else.
public struct EvidenceVerification: Sendable {
    private let head: TreeHead
    private var cover: TreeCover
    private var thread: ThreadID?
    private var numbers: ClosedRange<UInt64>?
    private var positions: ClosedRange<Position>?
    private var withoutContentCount: UInt64 = 0
    private var registrationCount: UInt64 = 0
    /// The users whom an event of the thread names.
    private var users: Set<UserID> = []
    /// The positions of the joins that no departure follows, by user.
    private var joins: [UserID: Position] = [:]
    private var registeredUsers: Set<UserID> = []

    /// Creates a verification against a head that the caller trusts.
    ///
    /// - Parameters:
    ///   - head: The head that the parts must lead to.
    ///   - position: A disclosed record whose inclusion proof is wanted; nil for none.
    public init(against head: TreeHead, provingRecordAt position: Position? = nil) {
        self.head = head
        cover = TreeCover(of: head, provingRecordAt: position)
    }

    /// Adds the next part, from left to right.
    ///
    /// - Returns: The event of a record. It is proven only when ``report(readers:)`` returns.
    /// - Throws: `ProofError` if the part is not one of the tree in its place, or if the record is
    ///   neither the thread's event with the next number nor a registration or change of a
    ///   username.
    @discardableResult
    public mutating func add(_ part: TreePart) throws(ProofError) -> RecordedEvent? {
        try cover.append(part)
        guard case .record(let position, let record) = part else { return nil }
        let event: ChatEvent
        do throws(EventDecodingError) {
            event = try ChatEvent(keptBytes: record.kept, erasableBytes: record.erasable)
        } catch {
            throw ProofError("The record at position \(position) is no event: \(error)")
        }
        if event.isErased { withoutContentCount += 1 }
        switch (event.kind, event.user) {
        case (.userRegistered, let user?), (.usernameChanged, let user?): addRegistration(of: user)
        default: try add(event, at: position)
        }
        return RecordedEvent(position: position, event: event)
    }

    /// Returns what the parts show.
    ///
    /// - Parameter readers: The users who could read the thread, as the host states.
    /// - Throws: `ProofError` if the parts do not lead to the root of the head, if no part is an
    ///   event of a thread, if a registration is of a user whom nothing else names, or if the
    ///   readers contradict the events.
    public func report(readers: [EvidenceReader]) throws(ProofError) -> EvidenceReport {
        try cover.verify()
        guard let thread, let numbers, let positions else { throw ProofError("No record is an event of a thread.") }
        var stated: [UserID: EvidenceReader] = [:]
        for reader in readers {
            guard reader.since <= positions.upperBound, stated.updateValue(reader, forKey: reader.user) == nil else {
                throw ProofError("The reader \(reader.user) is stated twice, or after the last event.")
            }
        }
        for (user, join) in joins where stated[user]?.since != join {
            throw ProofError("The user \(user) joined at position \(join), and is not among the readers since then.")
        }
        if let user = registeredUsers.first(where: { !users.contains($0) && stated[$0] == nil }) {
            throw ProofError(
                "A record registers or names the user \(user), whom no event of the thread and no reader names.")
        }
        let isProven = { (reader: EvidenceReader) in joins[reader.user] == reader.since }
        return EvidenceReport(
            thread: thread, head: head, numbers: numbers, positions: positions,
            withoutContentCount: withoutContentCount,
            registrationCount: registrationCount, provenReaders: readers.filter(isProven),
            statedReaders: readers.filter { !isProven($0) })
    }

    /// Returns the inclusion proof of the record that was chosen at the creation.
    ///
    /// - Throws: `ProofError` if the parts do not lead to the root of the head, or none of them is
    ///   that record.
    public func inclusionProof() throws(ProofError) -> InclusionProof { try cover.inclusionProof() }

    private mutating func addRegistration(of user: UserID) {
        registrationCount += 1
        registeredUsers.insert(user)
    }

    private mutating func add(_ event: ChatEvent, at position: Position) throws(ProofError) {
        guard let itsThread = event.thread, let number = event.threadNumber, number > 0 else {
            throw ProofError(
                "The record at position \(position) is neither an event with a number in a thread nor a registration.")
        }
        guard itsThread == thread ?? itsThread else {
            throw ProofError("The record at position \(position) is of another thread than those before.")
        }
        if let last = numbers?.upperBound, last == .max || number != last + 1 {
            throw ProofError(
                "The event at position \(position) has the number \(number) in the thread, after number \(last).")
        }
        thread = itsThread
        numbers = (numbers?.lowerBound ?? number)...number
        positions = (positions?.lowerBound ?? position)...position
        users.formUnion(event.users)
        switch (event.kind, event.user) {
        case (.threadJoined, let user?): joins[user] = position
        case (.threadLeft, let user?), (.memberRemoved, let user?): joins[user] = nil
        default: break
        }
    }
}
