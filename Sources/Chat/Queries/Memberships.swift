public import ChatDomain
import EventJournal
import Projections

/// Members, readers and residents.
extension ChatStore {
    /// Returns the users who could read a thread; for the host only.
    ///
    /// The members come first, in joining order, then the operators of the community who are no
    /// members, unless the thread is `inviteOnly`.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it, and of users who ever were operators.
    public func readers(of thread: ThreadID, asOf point: AsOf = .now) throws(ChatError) -> [ThreadMember] {
        let (scan, sections) = try sections(point, as: .host) { models, view throws(ChatError) in
            guard models.hasThread(thread, asOf: view.position) else { throw .rejected(.unknownThread) }
            return models.scan(membershipsOf: thread)
        }
        return sections.readers(of: thread, scan, asOf: sections.viewpoint.position)
    }
}

extension ThreadMember {
    init(_ membership: Membership) { self.init(user: UserSummary(membership), since: membership.since) }
}

extension SectionedQuery {
    /// Returns the users in a scan of memberships who could read a thread as of a position, in
    /// joining order.
    ///
    /// Operators who are no members follow in the order in which they could read it first.
    func readers(of thread: ThreadID, _ scan: Scan, asOf position: Position) -> [ThreadMember] {
        let rows = compactMap(scan) { models, row in
            models.indexedMembership(ofMembership: row, asOf: position).flatMap {
                models.mayRead(models.userID($0), thread, asOf: position) ? $0 : nil
            }
        }
        let members = page(.all, of: rows, by: \.since) { ThreadMember($0.membership($1, asOf: position)) }
        let operators = withSection { $0.readingOperators(of: thread, asOf: position) }
        return members + operators.map(ThreadMember.init)
    }
}

extension MembersQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<ThreadMember> {
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        let position = sections.viewpoint.position
        let members = sections.compactMap(scan) { $0.indexedMembership(ofMembership: $1, asOf: position) }
        var names = ShownNames(from: sections.viewpoint)
        return sections.page(page, of: members, by: \.since) { models, row in
            ThreadMember(user: names.summary(of: row, in: thread, models), since: row.since)
        }
    }
}

extension ChatReader {
    /// Returns a page of the members of a thread, in joining order; by default all.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it; reads the names of the page only.
    public func members(of thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<ThreadMember> {
        try answer(MembersQuery(thread: thread, page: page))
    }
}

extension ResidentsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<Resident> {
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            guard models.mayRead(ThreadID(code), from: view) else { throw .rejected(.notAMember) }
            return models.scan(residencesOf: code)
        }
        let position = sections.viewpoint.position
        let residents = sections.compactMap(scan) { $0.indexedMembership(ofResidence: $1, asOf: position) }
        var names = ShownNames(from: sections.viewpoint)
        return sections.page(page, of: residents, by: \.since) { models, row in
            let resident = models.membership(row, asOf: position)
            return Resident(
                user: names.summary(of: row, in: ThreadID(code), models), since: resident.since,
                postcode: resident.postcode(shownTo: reader.viewer), outwardCode: code)
        }
    }
}

extension ChatReader {
    /// Returns a page of the residents of an outward code, in the order in which they moved there;
    /// by default all.
    ///
    /// A viewer must be a member of the code's thread, and receives no postcode other than their
    /// own.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>); with a viewer also
    ///   ``ChatError/rejected(_:)`` with `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever lived there; reads the names of
    ///   the page only.
    public func residents(of code: OutwardCode, page: PageRequest = .all) throws(ChatError) -> Page<Resident> {
        try answer(ResidentsQuery(code: code, page: page))
    }
}
