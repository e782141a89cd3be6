public import ChatDomain
import EventJournal
import Projections

/// Members, readers and residents.
extension ChatStore {
    /// Returns the members of a thread, in joining order.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it.
    public func members(of thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [ThreadMember] {
        try members(of: thread, nil, viewer: viewer, asOf: point).items
    }

    /// Returns a page of the members of a thread, in joining order; nil for all of them.
    ///
    /// - Throws: As ``members(of:viewer:asOf:)``.
    /// - Complexity: As ``members(of:viewer:asOf:)``, but only the names of the page are read.
    package func members(
        of thread: ThreadID, _ page: PageRequest?, viewer: UserID?, asOf point: AsOf = .now
    ) throws(ChatError) -> PartialList<ThreadMember> {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return sections.members(scan, page).map { ThreadMember(user: UserSummary($0), since: $0.since) }
    }

    /// Returns the users who could read a thread; for the host only.
    ///
    /// The members come first, in joining order, then the operators of the community who are no
    /// members, unless the thread is `inviteOnly`.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`, and with `notAllowed` for any viewer.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it, and of users who ever were operators.
    public func readers(of thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [ThreadMember] {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try requireHost(viewer)
            try models.requireReadable(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return sections.readers(of: thread, scan, asOf: sections.viewpoint.position)
    }

    /// Returns the residents of an outward code, in the order in which they moved there.
    ///
    /// A viewer must be a member of the code's thread, and receives no postcode other than their
    /// own.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>); with a viewer also
    ///   ``ChatError/rejected(_:)`` with `notAMember`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever lived there.
    public func residents(of code: OutwardCode, viewer: UserID? = nil, asOf point: AsOf = .now) throws(ChatError) -> [Resident] {
        try residents(of: code, nil, viewer: viewer, asOf: point).items
    }

    /// Returns a page of the residents of an outward code, in the order in which they moved there;
    /// nil for all of them.
    ///
    /// - Throws: As ``residents(of:viewer:asOf:)``.
    /// - Complexity: As ``residents(of:viewer:asOf:)``, but only the names of the page are read.
    package func residents(
        of code: OutwardCode, _ page: PageRequest?, viewer: UserID?, asOf point: AsOf = .now
    ) throws(ChatError) -> PartialList<Resident> {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireViewer(of: view)
            guard models.mayRead(ThreadID(code), from: view) else { throw .rejected(.notAMember) }
            return models.scan(residencesOf: code)
        }
        return sections.residents(scan, page).map {
            Resident(user: UserSummary($0), since: $0.since, postcode: $0.postcode(shownTo: viewer), outwardCode: code)
        }
    }
}
