public import ChatDomain
import Projections

/// Invitations.
extension ChatStore {
    /// Returns a user's invitations, oldest first.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*n* log *n*) in the number of threads that the user ever joined or was
    ///   invited to; reads one event for each returned one.
    public func invitations(of user: UserID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [ThreadInvitation]
    {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, user)
            try models.requireUser(user, asOf: view.position)
            return models.scan(membershipsOf: user)
        }
        return try invitations(scan, sections, limit)
    }

    /// Returns the invitations to a thread, oldest first; for its moderators.
    ///
    /// The list has the first `limit` ones.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember` and
    ///   `notAModerator`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it; reads one event for each returned one.
    public func invitations(to thread: ThreadID, viewer: UserID? = nil, asOf point: AsOf = .now, limit: Int = .max) throws(ChatError)
        -> [ThreadInvitation]
    {
        let (scan, sections) = try sections(point, for: viewer) { models, view throws(ChatError) in
            try models.requireModerated(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return try invitations(scan, sections, limit)
    }

    private func invitations(_ scan: Scan, _ sections: SectionedQuery, _ limit: Int) throws(ChatError) -> [ThreadInvitation] {
        let position = sections.viewpoint.position
        var invitations: [ThreadInvitation] = []
        for invited in sections.compactMap(scan, { $0.invitation(ofMembership: $1, asOf: position) }).sorted().prefix(limit) {
            let event = try event(at: invited)
            guard event.kind == .userInvited, case .member(let thread, _, let user, let by) = event.shape else { continue }
            // As everywhere, the blocks of now count.
            let (viewer, current) = (sections.viewpoint.viewer, sections.viewpoint.currentPosition)
            let (name, isFromBlockedUser) = sections.withSection { models in
                (
                    models.thread(thread, asOf: position)?.name,
                    viewer == user && models.isBlocked(by, by: user, asOf: current)
                )
            }
            invitations.append(
                ThreadInvitation(
                    thread: thread, name: name, user: sections.userSummary(user), by: sections.userSummary(by),
                    position: invited, invitedAt: event.createdAt, isFromBlockedUser: isFromBlockedUser))
        }
        return invitations
    }
}
