import Columns

/// Reactions to messages and replies; ``ReactionIndex`` keeps those that are present.
extension RuleState {
    /// The maximum number of present reactions of a user on a post.
    package static var maximumReactionCount: Int { 20 }

    func react(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (actor, membership, found) = try visiblePost(command, ids, envelope)
        try requireWritable(found.thread, membership, at: envelope.recordedAt, ids)
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard let emoji = envelope.recorded?.emoji ?? Emoji(command.text) else { throw .invalidEmoji }
        if ids.reactions.hasReaction(emoji, to: found.post, of: actor)
            || ids.reactions.hasChanged(emoji, to: found.post, of: actor, since: command.seen)
        {
            return .unchanged
        }
        guard ids.reactions.mayTake(emoji, on: found.post),
            ids.reactions.count(of: actor, on: found.post) < Self.maximumReactionCount
        else {
            throw .tooManyReactions
        }
        appendPostEvent(.reactionAdded, command, found, actor, ids, envelope, &batch, content: .emoji(emoji))
        return .append
    }

    /// Decides the end of a reaction, for which its user need not be a reader any more.
    func unreact(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireActor(command.actorID, ids)
        let found = try find(command.postID, ids)
        let emoji = envelope.recorded?.emoji ?? Emoji(command.text)
        if let emoji, ids.reactions.hasReaction(emoji, to: found.post, of: actor) {
            if ids.reactions.hasChanged(emoji, to: found.post, of: actor, since: command.seen) { return .unchanged }
            appendPostEvent(.reactionRemoved, command, found, actor, ids, envelope, &batch, content: .emoji(emoji))
            return .append
        }
        guard isKnown(found.thread, to: actor, as: .ofReader, ids, envelope) else { throw .unknown(command.postID) }
        guard emoji != nil else { throw .invalidEmoji }
        return .unchanged
    }
}
