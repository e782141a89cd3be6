import Columns

/// Sessions.
extension RuleState {
    func startSession(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        if let id = command.id, let session = ids.sessions.find(SessionID(bits: id)) {
            guard ids.users.id(Int(sessions[session].user)) == command.actorID else { throw .identifierTaken }
            return .duplicate(of: sessions[session].startedAt...sessions[session].startedAt)
        }
        let user = try requireActor(command.actorID, ids)
        guard DeviceDescription.isValid(command.text) else { throw .invalidDevice }
        var row = envelope.row(.sessionStarted)
        (row.user, row.secondID) = (command.actorID.bits, envelope.id)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    func endSession(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        guard let session = ids.sessions.find(SessionID(bits: envelope.id)) else { throw .unknownSession }
        guard !sessions[session].hasEnded else { return .unchanged }
        let user = Int(sessions[session].user)
        var row = envelope.row(.sessionEnded)
        (row.user, row.secondID) = (ids.users.id(user).bits, envelope.id)
        batch.append(row, .none, EventIndexes(user: user))
        return .append
    }

    /// Returns the user of a session, ended or not; nil if it does not exist.
    package func user(of sessionID: SessionID, _ ids: Identities) -> UserID? {
        ids.sessions.find(sessionID).map { ids.users.id(Int(sessions[$0].user)) }
    }
}
