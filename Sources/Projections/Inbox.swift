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
    /// For a reply, later ones to its message: the newest first, and then those that follow it.
    ///
    /// The reply has no entry if one of them is not erased.
    package var laterReplies: [InboxReply] = []

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
    /// The number of a post's latest texts in which a mention is looked for, and of a message's
    /// latest replies, and of those that follow a reply, among which a later one is looked for.
    static let inboxDepth = 50
    /// The number of the latest additions of an emoji, and of those that follow a reaction, among
    /// which a later one is looked for.
    static let reactionDepth = 10

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

    /// Returns why the event at a position is in a user's inbox, whatever their rights and what
    /// followed; nil if it is not.
    package func inboxReason(ofEventAt position: Position, for user: UserID) -> InboxReason? {
        guard let index = identities.index(ofUser: user), let row = views.inbox.row(of: index, at: position) else {
            return nil
        }
        if row.code.isMention, !row.code.isSilent,
            mentionPosition(of: index, row.post, asOf: position) == position
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

    /// Returns what a row of a user's inbox is about; nil if it has no entry as of the position,
    /// because the entry is that of another row, or what the row is about is gone.
    ///
    /// The replies to a message have one entry, that of the latest that is not erased; only the
    /// journal knows which are erased, so the item has the later ones. The reactions to a post have
    /// one entry, that of the latest that is present. A bounded number of later ones is looked at,
    /// so that a post can have another entry, but none is missing. The entry of a mention is where
    /// the present mention of the user began, so that an edit that keeps it does not repeat it.
    ///
    /// - Parameters:
    ///   - rank: The rank of the row.
    ///   - blocked: The users whom the user blocks.
    /// - Complexity: O(log *n*), at most twice ``inboxDepth`` times; for a reaction, twice
    ///   ``reactionDepth`` times for each emoji of the post.
    package func inboxItem(_ rank: Int, of user: UserID, except blocked: BlockedUsers, asOf position: Position)
        -> InboxItem?
    {
        guard let index = identities.index(ofUser: user), let row = views.inbox.row(of: index, rank: rank) else {
            return nil
        }
        return item(row, of: index, asOf: position) { blocked.contains($0) }
    }

    private func item(
        _ row: InboxRows.Row, of user: Int, asOf position: Position, isBlocked: (Int) -> Bool
    ) -> InboxItem? {
        func about(_ post: PostKey, _ reason: InboxReason) -> InboxItem {
            InboxItem(
                position: row.position, reason: reason, thread: identities.threadID(identities.thread(of: post)),
                post: identities.postID(post))
        }
        switch row.code {
        case .silentMentionInMessage, .silentMentionInReply: return nil
        case .reply, .replyWithMention, .mentionInReply, .mentionInMessage:
            guard identities.position(of: row.post) <= position, !isBlocked(identities.author(of: row.post)),
                !isWithdrawn(row.post, asOf: position)
            else { return nil }
            if row.code.isMention, mentionPosition(of: user, row.post, asOf: position) == row.position {
                return about(row.post, .mention)
            }
            guard row.code.isReply else { return nil }
            var item = about(row.post, .reply)
            item.laterReplies = replies(after: row, for: user, asOf: position, isBlocked: isBlocked)
            return item
        case .reaction:
            let post = PostKey(number: row.target)
            guard !isWithdrawn(post, asOf: position),
                isLatestReaction(row.position, to: post, of: user, asOf: position, isBlocked: isBlocked)
            else { return nil }
            return about(post, .reaction)
        case .invitation:
            guard invitation(ofMembership: row.target, asOf: position) == row.position else { return nil }
            return InboxItem(
                position: row.position, reason: .invitation,
                thread: identities.threadID(identities.memberships.pair(row.target).second))
        case .moderation:
            return InboxItem(position: row.position, reason: .moderation, thread: identities.threadID(row.target))
        case .report:
            guard row.target < views.community.reports.count, views.community.reports.isOpen(row.target, asOf: position)
            else {
                return nil
            }
            let report = views.community.reports[row.target]
            guard !isBlocked(report.reporter), !isWithdrawn(report.post, asOf: position) else { return nil }
            return about(report.post, .report)
        }
    }

    private func isWithdrawn(_ post: PostKey, asOf position: Position) -> Bool {
        views.timelines.histories.read(of: post) { $0.isWithdrawn(post.index, asOf: position) }
    }

    /// Returns the replies that follow the one of a row, to the same message, which the user is
    /// told of and looks at now, and which are neither withdrawn nor from a user whom they block.
    private func replies(
        after row: InboxRows.Row, for user: Int, asOf position: Position, isBlocked: (Int) -> Bool
    ) -> [InboxReply] {
        let (histories, message) = (views.timelines.histories.messages, identities.message(of: row.post))
        let count = views.inbox.count(of: user, asOf: position)
        let later =
            histories.count(
                .reply, of: message, asOf: row.position)..<histories.count(.reply, of: message, asOf: position)
        let last = max(later.lowerBound, later.upperBound - Self.inboxDepth)..<later.upperBound
        let next = later.lowerBound..<min(last.lowerBound, later.lowerBound + Self.inboxDepth)
        let links = [last, next].map {
            histories.values(.reply, of: message, ranks: $0.lowerBound + 1..<$0.upperBound + 1)
        }
        return (links[0].reversed() + links[1]).compactMap { link in
            let reply = PostKey(Int(link), isReply: true)
            let posted = identities.position(of: reply)
            guard let told = views.inbox.row(of: user, at: posted), told.code.isReply,
                views.inbox.isInShare(told, of: user, count: count),
                !isWithdrawn(reply, asOf: position), !isBlocked(identities.author(of: reply))
            else { return nil }
            let edited = views.timelines.histories.replies.latest(.edit, of: reply.index, asOf: position)
            return InboxReply(position: posted, textPosition: edited ?? posted)
        }
    }

    /// Returns the position of the oldest text of the latest unbroken run of texts of a post that
    /// mention a user; nil if the text as of the position does not.
    private func mentionPosition(of user: Int, _ post: PostKey, asOf position: Position) -> Position? {
        let edits = views.timelines.histories.read(of: post) {
            $0.latest(.edit, of: post.index, limit: Self.inboxDepth, asOf: position)
        }
        let texts = (edits.count < Self.inboxDepth ? [identities.position(of: post)] : []) + edits
        return texts.reversed().prefix { text in
            views.inbox.row(of: user, at: text).map { $0.code.isMention && $0.target == post.index } ?? false
        }.last
    }

    /// Whether the reaction at a position is present, and none of those that follow it on the post
    /// is a present one of another user that the author is told of and looks at now, and whose user
    /// they do not block.
    private func isLatestReaction(
        _ added: Position, to post: PostKey, of author: Int, asOf position: Position,
        isBlocked: (Int) -> Bool
    ) -> Bool {
        let count = views.inbox.count(of: author, asOf: position)
        var isPresent = false
        for tally in identities.reactions.tallies(of: post, asOf: position) {
            let additions = views.reactions.additions(
                toTally: tally, after: added - 1, asOf: position, atEnds: Self.reactionDepth)
            for (reaction, position) in additions {
                // The author is not told of their own reactions, nor of those that a level
                // silenced.
                guard let row = views.inbox.row(of: author, at: position),
                    !isBlocked(identities.reactions.reaction(reaction).user)
                else { continue }
                if position == added {
                    isPresent = true
                } else if views.inbox.isInShare(row, of: author, count: count) {
                    return false
                }
            }
        }
        return isPresent
    }
}
