import Columns

/// Reactions to messages and replies; ``ReactionIndex`` keeps those that are present.
extension RuleState {
    /// The maximum number of present reactions of a user on a post.
    package static var maximumReactionCount: Int { 20 }

    func react(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (actor, membership, found) = try visiblePost(command, ids, envelope)
        try requireWritable(found.thread, membership, at: envelope.recordedAt)
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard let emoji = Emoji(command.text, isAudit: envelope.isAudit) else { throw .invalidEmoji }
        let post = ReactionIndex.PostKey(found.post, isReply: command.post.isReply)
        if ids.reactions.hasReaction(emoji, to: post, of: actor) { return .unchanged }
        guard ids.reactions.mayTake(emoji, on: post), ids.reactions.count(of: actor, on: post) < Self.maximumReactionCount else {
            throw .tooManyReactions
        }
        appendPostEvent(.reactionAdded, command, found, actor, ids, envelope, &batch, content: .emoji(emoji))
        return .append
    }

    /// Decides the end of a reaction, for which its user need not be a reader any more.
    func unreact(
        _ command: borrowing ChatCommand, _ ids: borrowing Identities, _ envelope: EventEnvelope, _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let actor = try requireActor(command.actorID, ids)
        let found = try find(command.post, ids)
        let post = ReactionIndex.PostKey(found.post, isReply: command.post.isReply)
        let emoji = Emoji(command.text, isAudit: envelope.isAudit)
        if let emoji, ids.reactions.hasReaction(emoji, to: post, of: actor) {
            appendPostEvent(.reactionRemoved, command, found, actor, ids, envelope, &batch, content: .emoji(emoji))
            return .append
        }
        guard isKnown(found.thread, to: actor, as: .ofReader, ids, envelope) else { throw .unknown(command.post) }
        guard emoji != nil else { throw .invalidEmoji }
        return .unchanged
    }
}

extension Emoji {
    /// A valid name, in the place of an emoji that was erased.
    static var placeholder: String { ":erased:" }

    /// Creates the emoji of a command; in an audit also that of a later version of Unicode.
    fileprivate init?(_ text: String, isAudit: Bool) {
        if isAudit { self.init(recorded: text) } else { self.init(text) }
    }

    /// Whether a version of Unicode can have the emoji, or it is a name.
    ///
    /// A reader of a journal must not reject the emoji of a later version.
    var isPossible: Bool {
        if Emoji(text)?.text == text { return true }
        // The longest emoji of today have 35 bytes.
        guard (1...64).contains(text.utf8.count) else { return false }
        return text.unicodeScalars.allSatisfy { !$0.isASCII && $0.canBeInEmoji }
    }
}

extension Unicode.Scalar {
    /// Whether the general category is one of the scalars of emoji, or the scalar is unassigned.
    fileprivate var canBeInEmoji: Bool {
        switch properties.generalCategory {
        case .otherSymbol, .modifierSymbol, .mathSymbol, .otherPunctuation, .dashPunctuation, .nonspacingMark, .enclosingMark, .format,
            .unassigned:
            true
        default: false
        }
    }
}
