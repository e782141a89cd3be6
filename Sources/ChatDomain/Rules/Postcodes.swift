import Columns

/// Postcodes.
extension RuleState {
    func setPostcode(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let user = try requireActor(command.actorID, ids)
        guard let postcode = envelope.recorded?.postcode ?? Postcode(command.text) else {
            throw Postcode.isForcesNumber(command.text) ? .forcesNumber : .invalidPostcode
        }
        // An audit also compares the thread of the postcode that the user has.
        guard users[user].postcode != postcode || envelope.isAudit else { return .unchanged }
        let threadID = ThreadID(postcode.outwardCode)
        var row = envelope.row(.postcodeSet)
        (row.user, row.thread) = (command.actorID.bits, threadID.bits)
        batch.append(row, .postcode(postcode), EventIndexes(user: user))
        guard let thread = existingThread(threadID, ids) else {
            appendOpening(threadID, .none, command.actorID, user, envelope, &batch)
            return .append
        }
        // A banned user, or a locked or closed thread, is no reason to reject the postcode.
        if !isMember(user, of: thread, ids), lockOrBanRejection(user, thread, at: envelope.recordedAt, ids) == nil {
            appendJoin(command.actorID, user, thread, ids, envelope, &batch)
        }
        return .append
    }
}
