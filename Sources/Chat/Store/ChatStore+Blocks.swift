public import ChatDomain
import Projections

/// Blocks.
extension ChatStore {
    /// Returns a page of the users whom a user has blocked, in the order of the blocks; by default
    /// all.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*n* log *n*) in the number of users whom the user ever blocked.
    public func blocks(
        by user: UserID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now
    ) throws(ChatError) -> Page<UserBlock> {
        let (scan, sections) = try sections(point, as: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, user)
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
