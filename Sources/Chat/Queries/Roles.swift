public import ChatDomain
import Projections

extension RolesQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<RoleHolder> {
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        let position = sections.viewpoint.position
        let rows = sections.compactMap(scan) {
            models, row -> (membership: IndexedMembership, role: ThreadRole, since: Position)? in
            guard let held = models.role(ofMembership: row, asOf: position), held.role > .member,
                let membership = models.indexedMembership(ofMembership: row, asOf: position)
            else { return nil }
            return (membership, held.role, held.since)
        }
        var names = ShownNames(from: sections.viewpoint)
        return sections.page(page, of: rows, by: \.since) { models, row in
            RoleHolder(user: names.summary(of: row.membership, in: thread, models), role: row.role, since: row.since)
        }
    }
}

extension ChatReader {
    /// Returns a page of the owners and moderators of a thread, in the order in which they got
    /// their roles; by default all.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it; reads the names of the page only.
    public func roles(in thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<RoleHolder> {
        try answer(RolesQuery(thread: thread, page: page))
    }
}

extension ChatReader {
    /// Returns a page of the operators of the community, in the order in which they became that; by
    /// default all.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `notAllowed` for a viewer who is no operator.
    /// - Complexity: O(*n* log *n*) in the number of users who ever were operators.
    public func operators(page: PageRequest = .all) throws(ChatError) -> Page<CommunityOperator> {
        try query { models, view throws(ChatError) in
            try models.requireOperator(from: view)
            let operators = models.operators(asOf: view.position)
            let shown = operators[page.indices(count: operators.count) { operators[$0].since }]
            var names = ShownNames(from: view)
            return Page(
                shown.map {
                    CommunityOperator(user: names.summary(of: $0.user, in: nil, at: $0.since, models), since: $0.since)
                },
                from: shown.first?.since, to: shown.last?.since,
                hasOlder: shown.startIndex > 0, page, asOf: view.position)
        }
    }
}
