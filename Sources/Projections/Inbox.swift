package import ChatDomain
import Columns

/// What a row of a user's inbox is about, as of a position.
package struct InboxItem: Hashable, Sendable {
    /// The position of the event.
    package var position: Position
    /// Why the user is told.
    package var reason: InboxReason
    /// The thread.
    package var thread: ThreadID
    /// The message or the reply; nil for an invitation and for what a moderator did.
    package var post: PostID?
    /// For a reply, the last replies to its message, newest first.
    ///
    /// The newest that is not erased is the entry.
    package var replies: [InboxReply] = []

    /// Creates an item.
    package init(position: Position, reason: InboxReason, thread: ThreadID, post: PostID? = nil) {
        (self.position, self.reason, self.thread, self.post) = (position, reason, thread, post)
    }
}

/// A reply of which a user is told.
package struct InboxReply: Hashable, Sendable {
    /// The position of the reply.
    package var position: Position
    /// The position of the event that wrote its text.
    package var textPosition: Position
}

/// The inboxes of users, whose rows have ranks from 1, oldest first.
extension ReadModels {
    /// The number of a message's latest replies, of a post's latest reactions and of its latest texts
    /// among which an entry is looked for.
    package static let inboxDepth = 50

    /// Returns the number of rows of a user's inbox as of a position.
    package func inboxCount(of user: UserID, asOf position: Position) -> Int {
        identities.index(ofUser: user).map { views.inbox.count(of: $0, asOf: position) } ?? 0
    }

    /// Returns the position of a row of a user's inbox; 0 if there is none.
    package func inboxPosition(of user: UserID, rank: Int) -> Position {
        identities.index(ofUser: user).flatMap { views.inbox.row(of: $0, rank: rank)?.position } ?? 0
    }

    /// Returns the position up to which a user had read their inbox; 0 if they read nothing.
    package func inboxMarker(of user: UserID, asOf position: Position) -> Position {
        identities.index(ofUser: user).map { views.inbox.marker(of: $0, asOf: position) } ?? 0
    }

    /// Returns why the event at a position is in a user's inbox, whatever their rights and what followed;
    /// nil if it is not.
    package func inboxReason(ofEventAt position: Position, for user: UserID) -> InboxReason? {
        guard let index = identities.index(ofUser: user), let row = views.inbox.row(of: index, at: position) else { return nil }
        if row.code.isMention, !row.code.isSilent,
            mentionPosition(of: index, row.target, row.code != .mentionInMessage, asOf: position) == position
        {
            return .mention
        }
        return switch row.code {
        case .reply, .replyWithMention: .reply
        case .mentionInMessage, .mentionInReply, .silentMentionInMessage, .silentMentionInReply: nil
        case .reaction: .reaction
        case .invitation: .invitation
        case .moderation: .moderation
        case .report: .report
        }
    }

    /// Returns what a row of a user's inbox is about; nil if it has no entry as of the position, because
    /// the entry is that of another row, or what the row is about is gone.
    ///
    /// The replies to a message have one entry, that of the latest that is not erased; only the journal knows
    /// which are erased, so the item has all that can be it. The reactions to a post have one entry, that of
    /// the latest that is present. The entry of a mention is where the present mention of the user began, so
    /// that an edit that keeps it does not repeat it.
    ///
    /// - Parameters:
    ///   - rank: The rank of the row.
    ///   - blocked: The users whom the user blocks.
    /// - Complexity: O(log *n*), at most ``inboxDepth`` times; for a reaction, for each emoji of the post.
    package func inboxItem(_ rank: Int, of user: UserID, except blocked: BlockedUsers, asOf position: Position) -> InboxItem? {
        guard let index = identities.index(ofUser: user), let row = views.inbox.row(of: index, rank: rank) else { return nil }
        return item(row, of: index, asOf: position) { blocked.contains($0) }
    }

    private func item(
        _ row: InboxHistory.Row, of user: Int, asOf position: Position, isBlocked: (Int) -> Bool
    ) -> InboxItem? {
        func about(_ post: Int, isReply: Bool, _ reason: InboxReason) -> InboxItem {
            let message = isReply ? identities.replyFacts.parent(post) : post
            return InboxItem(
                position: row.position, reason: reason, thread: identities.threadID(identities.messageFacts.parent(message)),
                post: identities.postID(post, isReply: isReply))
        }
        switch row.code {
        case .silentMentionInMessage, .silentMentionInReply: return nil
        case .reply, .replyWithMention, .mentionInReply, .mentionInMessage:
            let isReply = row.code != .mentionInMessage
            let facts = isReply ? identities.replyFacts : identities.messageFacts
            guard facts.position(row.target) <= position, !isBlocked(facts.author(row.target)),
                !isWithdrawn(row.target, isReply, asOf: position)
            else { return nil }
            if row.code.isMention, mentionPosition(of: user, row.target, isReply, asOf: position) == row.position {
                return about(row.target, isReply: isReply, .mention)
            }
            guard row.code.isReply else { return nil }
            var item = about(row.target, isReply: true, .reply)
            item.replies = lastReplies(to: identities.replyFacts.parent(row.target), for: user, asOf: position, isBlocked: isBlocked)
            return item.replies.contains { $0.position == row.position } ? item : nil
        case .reaction:
            let post = ReactionIndex.PostKey(number: row.target)
            guard !isWithdrawn(post.index, post.isReply, asOf: position),
                isLatestReaction(row.position, to: post, of: user, asOf: position, isBlocked: isBlocked)
            else { return nil }
            return about(post.index, isReply: post.isReply, .reaction)
        case .invitation:
            guard invitation(ofMembership: row.target, asOf: position) == row.position else { return nil }
            return InboxItem(
                position: row.position, reason: .invitation, thread: identities.threadID(identities.memberships.pair(row.target).second))
        case .moderation:
            return InboxItem(position: row.position, reason: .moderation, thread: identities.threadID(row.target))
        case .report:
            guard row.target < views.rare.reports.count, views.rare.reports.isOpen(row.target, asOf: position) else { return nil }
            let report = views.rare.reports[row.target]
            guard !isBlocked(report.reporter), !isWithdrawn(report.post, report.isReply, asOf: position) else { return nil }
            return about(report.post, isReply: report.isReply, .report)
        }
    }

    private func isWithdrawn(_ post: Int, _ isReply: Bool, asOf position: Position) -> Bool {
        isReply
            ? views.timelines.replyHistories.isWithdrawn(post, asOf: position)
            : views.timelines.messageHistories.isWithdrawn(post, asOf: position)
    }

    /// Returns the last replies to a message of which the user is told and that are neither withdrawn nor
    /// from a user whom they block, newest first.
    private func lastReplies(to message: Int, for user: Int, asOf position: Position, isBlocked: (Int) -> Bool) -> [InboxReply] {
        let histories = views.timelines.messageHistories
        let count = histories.count(.reply, of: message, asOf: position)
        let last = histories.values(.reply, of: message, ranks: max(0, count - Self.inboxDepth) + 1..<count + 1)
        return last.reversed().compactMap { link in
            let (reply, posted) = (Int(link), identities.replyFacts.position(Int(link)))
            guard views.inbox.row(of: user, at: posted)?.code.isReply == true,
                !views.timelines.replyHistories.isWithdrawn(reply, asOf: position), !isBlocked(identities.replyFacts.author(reply))
            else { return nil }
            return InboxReply(
                position: posted, textPosition: views.timelines.replyHistories.latest(.edit, of: reply, asOf: position) ?? posted)
        }
    }

    /// Returns the position of the oldest text of the latest unbroken run of texts of a post that mention a
    /// user; nil if the text as of the position does not.
    private func mentionPosition(of user: Int, _ post: Int, _ isReply: Bool, asOf position: Position) -> Position? {
        let histories = isReply ? views.timelines.replyHistories : views.timelines.messageHistories
        let facts = isReply ? identities.replyFacts : identities.messageFacts
        let edits = histories.latest(.edit, of: post, limit: Self.inboxDepth, asOf: position)
        let texts = (edits.count < Self.inboxDepth ? [facts.position(post)] : []) + edits
        return texts.reversed().prefix { text in
            views.inbox.row(of: user, at: text).map { $0.code.isMention && $0.target == post } ?? false
        }.last
    }

    /// Whether the reaction at a position is the latest present one of another user whom the author does not
    /// block, among the last additions of emoji that the post still has.
    private func isLatestReaction(
        _ added: Position, to post: ReactionIndex.PostKey, of author: Int, asOf position: Position, isBlocked: (Int) -> Bool
    ) -> Bool {
        let tallies = identities.reactions.tallies(of: post, asOf: position)
        let later = tallies.reduce(0) { $0 + views.reactions.additionCount(toTally: $1, after: added, asOf: position) }
        guard later < Self.inboxDepth else { return false }
        var latest: Position = 0
        for tally in tallies {
            for (reaction, position) in views.reactions.additions(toTally: tally, after: added - 1, asOf: position) {
                let user = identities.reactions.reaction(reaction).user
                // The author is not told of their own reactions, nor of those that a level silenced.
                guard position > latest, views.inbox.row(of: author, at: position) != nil, !isBlocked(user) else { continue }
                latest = position
            }
        }
        return latest == added
    }
}
