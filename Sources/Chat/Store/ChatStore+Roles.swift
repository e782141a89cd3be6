public import ChatDomain
import Projections

/// Roles, and operators of the community.
extension ChatStore {
    /// Returns the owners and moderators of a thread, in the order in which they got their roles.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it.
    public func roles(in thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [RoleHolder]
    {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        let position = sections.viewpoint.position
        let rows = sections.compactMap(scan) { models, row -> (membership: IndexedMembership, role: ThreadRole, since: Position)? in
            guard let held = models.role(ofMembership: row, asOf: position), held.role > .member,
                let membership = models.indexedMembership(ofMembership: row, asOf: position)
            else { return nil }
            return (membership, held.role, held.since)
        }.sorted { $0.since < $1.since }
        return sections.map(rows.prefix(limit)) { models, row in
            RoleHolder(user: UserSummary(models.membership(row.membership, asOf: position)), role: row.role, since: row.since)
        }
    }

    /// Returns the operators of the community, in the order in which they became that.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `notAllowed` for a viewer who is no operator.
    /// - Complexity: O(*n* log *n*) in the number of users who ever were operators.
    public func operators(viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [CommunityOperator] {
        try query(point, for: viewer) { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            if let viewer, !models.isOperator(viewer, asOf: view.position) || !models.isOperator(viewer, asOf: view.currentPosition) {
                throw .rejected(.notAnOperator)
            }
            return models.operators(asOf: view.position).map { CommunityOperator(user: UserSummary($0), since: $0.since) }
        }
    }
}
