public import ChatDomain
import Projections

extension BlocksQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<UserBlock> {
        let user = try reader.user(orViewer: user)
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try requireSelf(reader.viewer, user)
            try models.requireUser(user, asOf: view.position)
            return models.scan(blocksBy: user)
        }
        let position = sections.viewpoint.position
        let rows = sections.compactMap(scan) { models, row in
            models.blockPosition(row, asOf: position).map { (row: row, since: $0) }
        }
        return sections.page(page, of: rows, by: \.since) { models, block in
            UserBlock(user: models.blockedUser(block.row), since: block.since)
        }
    }
}

extension ChatReader {
    /// Returns a page of the users whom a user has blocked, in the order of the blocks; by default
    /// all.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*n* log *n*) in the number of users whom the user ever blocked.
    public func blocks(by user: UserID, page: PageRequest = .all) throws(ChatError) -> Page<UserBlock> {
        try answer(BlocksQuery(user: user, page: page))
    }
}
