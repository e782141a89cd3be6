import Columns

/// Custom events, which the host program defines.
extension RuleState {
    func custom(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let event = ids.customEvents.find(id) {
            let isSame = ids.threads.id(ids.customEvents.parent(event)) == command.threadID
            return try repetition(
                isSame, ids.customEvents.author(event), at: ids.customEvents.position(event), command, ids)
        }
        let (user, thread) = try actorAndThread(command, ids, envelope)
        let membership = try requireMember(user, of: thread, ids)
        try requireWritable(thread, membership, at: envelope.recordedAt, ids)
        guard CustomKind(command.label ?? "") != nil else { throw .invalidKind }
        guard command.payload?.isWithinLimit == true else { throw .invalidPayload }
        batch.append(
            envelope.row(.custom, command.threadID, nextNumber(in: thread), command.actorID, secondID: envelope.id),
            .none,
            EventIndexes(user: user, thread: thread))
        return .append
    }
}
