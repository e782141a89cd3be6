package import Columns

/// Erasures, which only the host program orders.
///
/// What an erased user does afterwards is rejected by ``requireActor(_:_:)`` in Users.swift.
extension RuleState {
    /// Decides the erasure of all content that a user wrote or was given.
    ///
    /// The caller carries it out once the event is durable.
    ///
    /// - Parameters:
    ///   - reason: A code of 1 to 32 lower-case ASCII letters, digits and hyphens.
    ///   - batch: Receives the event `userErased`.
    /// - Returns: `unchanged` if the user is erased already.
    /// - Throws: `unknownUser`, `invalidReason`.
    package func eraseUser(
        _ userID: UserID, reason: String, _ ids: Identities, at now: Timestamp, into batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireRegistered(userID, ids)
        guard ErasureReason.isValid(reason) else { throw .invalidErasureReason }
        guard !users[user].isErased else { return .unchanged }
        var row = erasureRow(.userErased, at: now)
        row.user = userID.bits
        batch.append(row, .erasure(reason: reason, positions: nil), EventIndexes(user: user))
        return .append
    }

    /// Decides the erasure of the content of events.
    ///
    /// - Parameters:
    ///   - positions: Positions that ``checkErasure(of:reason:)`` accepts, alone or as a part of
    ///     others.
    ///   - reason: As for ``eraseUser(_:reason:_:at:into:)``.
    ///   - batch: Receives the event `contentErased`.
    /// - Precondition: There are 1 to ``ChatEvent/maximumErasedRangeCount`` ranges, none beyond the
    ///   head.
    package func eraseContent(
        of positions: PositionSet, reason: String, at now: Timestamp, into batch: inout EventBatch
    ) {
        guard let last = positions.ranges.last, last.upperBound <= head,
            positions.ranges.count <= ChatEvent.maximumErasedRangeCount
        else {
            preconditionFailure("an event of an erasure has 1 to \(ChatEvent.maximumErasedRangeCount) ranges of events")
        }
        var row = erasureRow(.contentErased, at: now)
        row.number = last.upperBound
        batch.append(row, .erasure(reason: reason, positions: positions))
    }

    /// Throws unless the content of events can be erased.
    ///
    /// - Parameter positions: Any number of ranges.
    /// - Throws: `invalidPosition` for no position or one that no event has, `invalidReason`.
    package func checkErasure(of positions: PositionSet, reason: String) throws(Rejection) {
        guard let first = positions.ranges.first, let last = positions.ranges.last, first.lowerBound >= 1,
            last.upperBound <= head
        else {
            throw .invalidPosition
        }
        guard ErasureReason.isValid(reason) else { throw .invalidErasureReason }
    }

    /// The positions of the events that order erasures, ascending.
    package var erasures: PackedColumn<Position> { community.erasures }

    private func erasureRow(_ kind: EventKind, at now: Timestamp) -> EventRow {
        EventEnvelope(recordedAt: recordingTime(at: now), origin: .native, hasCorrelation: false).row(kind)
    }

    /// Forgets what the rules know of a user's content, and frees their username and subject.
    ///
    /// From now on ``requireActor(_:_:)`` rejects what the user does.
    mutating func forget(_ user: Int) {
        let owner = UInt32(truncatingIfNeeded: user + 1)
        let (name, subject) = (Int(users[user].oneBasedFoldKey) - 1, Int(users[user].oneBasedSubject) - 1)
        if name >= 0, usernameOwners[name] == owner { usernameOwners[name] = 0 }
        if subject >= 0, subjectOwners[subject] == owner { subjectOwners[subject] = 0 }
        (users[user].username, users[user].postcode) = (nil, nil)
        (users[user].oneBasedFoldKey, users[user].oneBasedFoldKeyAtRegistration, users[user].oneBasedSubject) = (
            0, 0, 0
        )
        users[user].isErased = true
    }
}
