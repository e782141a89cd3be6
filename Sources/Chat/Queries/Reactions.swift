public import ChatDomain
import Projections

extension MessageReactionsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<Reaction> {
        try reader.reactions(to: .message(message), emoji: emoji, page: page)
    }
}

extension ReplyReactionsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<Reaction> {
        try reader.reactions(to: .reply(reply), emoji: emoji, page: page)
    }
}

extension ChatReader {
    /// Returns a page of the reactions to a message or a reply, with their users, oldest first; by
    /// default the latest 50.
    ///
    /// - Parameters:
    ///   - post: The message or the reply; a withdrawn one has no reactions.
    ///   - emoji: The only emoji whose reactions are listed; nil for all.
    ///   - page: The part of the list.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownMessage` or `unknownReply`; with a viewer also
    ///   `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever reacted to the post with these
    ///   emoji.
    public func reactions(to post: PostID, emoji: Emoji? = nil, page: PageRequest = .latest()) throws(ChatError)
        -> Page<Reaction>
    {
        let ((scans, thread), sections) = try sections {
            models, view throws(ChatError) -> ([Scan], ThreadID) in
            let thread = try models.requireReadable(post, from: view)
            guard models.post(post, asOf: view.position)?.isWithdrawn == false else { return ([], thread) }
            return (models.scans(reactionsTo: post, emoji: emoji?.text, asOf: view.position), thread)
        }
        let (position, current) = (sections.viewpoint.position, sections.viewpoint.currentPosition)
        let rows = scans.flatMap { sections.compactMap($0) { $0.reaction($1, asOf: position) } }
        var names = ShownNames(from: sections.viewpoint)
        return sections.page(page, of: rows, by: \.position) { models, row in
            Reaction(
                position: row.position, emoji: row.emoji,
                user: names.summary(of: row.user, in: thread, at: row.position, models),
                isFromBlockedUser: viewer.user.map { models.isBlocked(row.user, by: $0, asOf: current) } ?? false)
        }
    }
}
