import Columns

/// Pinned messages.
extension RuleState {
    /// The maximum number of pinned messages of a thread.
    static var maximumPinCount: UInt32 { 50 }

    func setPin(
        _ command: borrowing ChatCommand, _ isPinned: Bool, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (actor, found) = try moderatedPost(command, ids, envelope)
        guard !threads[found.thread].isClosed else { throw .threadClosed }
        if isPinned, found.marks.isWithdrawn { throw .retracted }
        guard found.marks.contains(.pinned) != isPinned else { return .unchanged }
        if isPinned, threads[found.thread].pinCount >= Self.maximumPinCount { throw .tooManyPins }
        appendPostEvent(isPinned ? .messagePinned : .messageUnpinned, command, found, actor, ids, envelope, &batch)
        return .append
    }

    /// Pins or unpins a message.
    mutating func changePin(_ message: Int, _ isPinned: Bool, _ thread: Int) {
        guard message >= 0, marks(of: PostKey(message, isReply: false)).contains(.pinned) != isPinned else { return }
        postMarks.messages[message] ^= PostMarks.pinned.rawValue
        if isPinned { threads[thread].pinCount &+= 1 } else { threads[thread].pinCount &-= 1 }
    }
}
