import Columns

/// Blocks of users by users.
extension RuleState {
    /// The maximum number of users whom a user has blocked at a time, which bounds the cost of
    /// their unread counts.
    static var maximumBlockCount: UInt64 { 1_000 }

    func setBlock(
        _ command: borrowing ChatCommand, _ isBlocked: Bool, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireActor(command.actorID, ids)
        let user = try requirePerson(command.userID, for: actor, isBlock: true, ids, envelope)
        guard self.isBlocked(user, by: actor) != isBlocked, user != actor else { return .unchanged }
        if isBlocked { try requireNotErased(user, envelope) }
        if isBlocked, hasMaximumBlocks(actor), !envelope.isAudit { throw .tooManyBlocks }
        var row = envelope.row(isBlocked ? .userBlocked : .userUnblocked)
        (row.user, row.secondID) = (command.actorID.bits, command.userID.bits)
        batch.append(row, .none, EventIndexes(user: actor, second: user))
        return .append
    }

    /// Whether a user has blocked as many others as the rules allow.
    func hasMaximumBlocks(_ user: Int) -> Bool { community.blockCounts[user] >= Self.maximumBlockCount }

    func isBlocked(_ user: Int, by blocker: Int) -> Bool {
        community.blockPairs.find(blocker, user).map { community.blocks[$0] != 0 } ?? false
    }
}

extension CommunityState {
    /// Sets or ends a block.
    mutating func setBlock(_ user: Int, by blocker: Int, _ isBlocked: Bool) {
        let (pair, isNew) = blockPairs.insert(blocker, user)
        if isNew { blocks.append(0) }
        let value: UInt8 = isBlocked ? 1 : 0
        // Wrapping: a checkpoint can contain any block, and nothing may trap.
        blockCounts[blocker] = blockCounts[blocker] &+ UInt64(value) &- UInt64(blocks[pair])
        blocks[pair] = value
    }
}
