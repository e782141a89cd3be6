public import ChatDomain
import EventJournal
import Projections

/// A search for people among the members of some threads, in short sections.
private struct PeopleSearch {
    /// The maximum number of rows that a search looks at.
    static let maximumRowCount = 10_000
    /// The maximum number of rows of threads that are looked at before the members of those
    /// threads.
    static let threadRowCount = 64

    let sections: SectionedQuery
    /// The beginning of the keys of the names.
    let prefix: String
    /// By user: the first join of the memberships that were looked at.
    private(set) var joins: [Int: Position] = [:]
    /// Whether rows are left that were not looked at.
    private(set) var isCut = false
    /// The number of rows that can still be looked at.
    private var rest = maximumRowCount

    init(sections: SectionedQuery, prefix: String) { (self.sections, self.prefix) = (sections, prefix) }

    /// Adds the members of threads.
    ///
    /// - Parameter threads: The memberships of the viewer, or for the host all threads.
    mutating func addMembers(ofThreads threads: Scan) {
        let (view, isHost) = (sections.viewpoint, sections.viewpoint.viewer == .host)
        var scan = threads
        while !scan.isAtEnd {
            let found = next(&scan, limit: Self.threadRowCount) { models, row in
                isHost ? models.threadID(ofThread: row) : models.membership(row, from: view).map { models.threadID($0) }
            }
            guard let found else { return }
            for thread in found { addMembers(of: thread) }
        }
    }

    private mutating func addMembers(of thread: ThreadID) {
        let (view, prefix) = (sections.viewpoint, prefix)
        var scan = sections.withSection { $0.scan(membershipsOf: thread) }
        while !scan.isAtEnd {
            let found = next(&scan, limit: SectionedQuery.rowCount) { models, row in
                models.membership(row, from: view).flatMap { membership in
                    guard !view.viewer.isUser(models.userID(membership)),
                        models.hasName(membership.user, beginningWith: prefix, asOf: view.position)
                    else { return nil as IndexedMembership? }
                    return membership
                }
            }
            guard let found else { return }
            for membership in found { joins[membership.user] = min(joins[membership.user] ?? .max, membership.since) }
        }
    }

    /// Returns the non-nil results of transforming the next rows of a scan; nil if no further row
    /// can be looked at.
    private mutating func next<Value>(
        _ scan: inout Scan, limit: Int, _ transform: (borrowing ReadModels, Int) -> Value?
    ) -> [Value]? {
        guard rest > 0 else {
            isCut = true
            return nil
        }
        var (values, count) = ([] as [Value], 0)
        let limit = min(limit, rest)
        sections.withSection { models in
            models.forEach(&scan, limit: limit) { row in
                count += 1
                if let value = transform(models, row) { values.append(value) }
            }
        }
        rest -= count
        return values
    }
}

extension PeopleQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<PersonSummary> {
        let (threads, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            return reader.viewer.user.map { models.scan(membershipsOf: $0) } ?? models.threadScan()
        }
        var search = PeopleSearch(sections: sections, prefix: NameSearch.key(of: prefix ?? ""))
        search.addMembers(ofThreads: threads)
        let position = sections.viewpoint.position
        var found = sections.page(page, of: Array(search.joins), by: { $0.value }) { models, join in
            let (id, name) = models.idAndName(ofUser: join.key, asOf: position)
            return PersonSummary(id: id, username: name, since: join.value)
        }
        found.isTruncated = search.isCut
        return found
    }
}

extension ChatReader {
    /// Returns a page of the people of one's threads whose names begin with a text; by default the
    /// latest 50.
    ///
    /// The people of a user are the other members of the threads of which the user is a member.
    /// Reading a thread as an operator does not count. As of an earlier point, both must be members
    /// then and now. The people of the host are the members of all threads. A user without a name,
    /// because it was erased, is not among them. They are in the order of `PersonSummary.since`.
    ///
    /// Names are compared in any case, without accents, and with letters such as `ø` and `æ` as
    /// `o` and `ae`: `e`, `em` and `emile` find `Émile`. A text without visible scalars finds
    /// everyone.
    ///
    /// The search looks at 10,000 rows at most, also of memberships that have ended: those of the
    /// user, the latest first, and those of the members of each of these threads; for the host,
    /// those of all threads. If rows are left, people can be missing, and the page has
    /// `Page.isTruncated`.
    ///
    /// - Parameters:
    ///   - prefix: The beginning of the names, in any case and without accents; empty for all people.
    ///   - page: The part of the list.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser` if the viewer does not exist.
    /// - Complexity: O(*n* log *n*) in the number of memberships that are looked at; reads the
    ///   names of all of them.
    public func people(named prefix: String = "", page: PageRequest = .latest()) throws(ChatError) -> Page<
        PersonSummary
    > {
        try answer(PeopleQuery(prefix: prefix, page: page))
    }
}

extension PersonQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> PersonDetails {
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            if reader.viewer == .host { try models.requireUser(user, asOf: view.position) }
            return models.scan(membershipsOf: reader.viewer.user ?? user)
        }
        let view = sections.viewpoint
        // Also for an unknown user, so that the time does not tell whether one exists.
        let common = sections.compactMap(scan) { models, row in models.commonMembership(row, of: user, from: view) }
        guard !common.isEmpty || reader.viewer.isHost(or: user) else { throw .rejected(.unknownUser) }
        var names = ShownNames(from: view)
        let threads = sections.page(page, of: common, by: \.since) { models, membership in
            let id = models.threadID(membership)
            let thread = models.shownThread(id, from: view, &names)
            return CommonThread(id: id, name: thread?.name, people: thread?.people, since: membership.since)
        }
        let (name, aboutPosition) = sections.withSection { models in
            (models.profile(user, asOf: view.position)?.username?.text, models.shownAboutPosition(of: user, from: view))
        }
        var about: String?
        if let aboutPosition { about = try reader.store.event(at: aboutPosition).about }
        return PersonDetails(id: user, username: name, about: about?.isEmpty == true ? nil : about, threads: threads)
    }
}

extension ChatReader {
    /// Returns what a viewer is shown of a person, with a page of the threads in common; by default
    /// the latest 50 of them.
    ///
    /// A user sees themself and the people of their threads (``people(named:page:)``). The
    /// threads in common are those of which both are members; as of an earlier point, then and now.
    /// For the user themself and the host they are all threads of the user. A text about another
    /// user is shown only while it is the current one. A block changes nothing.
    ///
    /// - Parameters:
    ///   - user: The person.
    ///   - page: The part of the list of threads.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, also for a user with whom the viewer has no
    ///   thread in common.
    /// - Complexity: O(*n* log *n*) in the number of threads that the viewer ever joined or was
    ///   invited to.
    public func person(_ user: UserID, threads page: PageRequest = .latest()) throws(ChatError) -> PersonDetails {
        try answer(PersonQuery(user: user, page: page))
    }
}
