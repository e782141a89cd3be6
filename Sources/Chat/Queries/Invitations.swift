public import ChatDomain
import Projections

/// Invitations.
extension ChatStore {
    fileprivate func invitations(
        _ scan: Scan, _ sections: SectionedQuery, _ page: PageRequest
    ) throws(ChatError) -> Page<ThreadInvitation> {
        let position = sections.viewpoint.position
        var names = ShownNames(from: sections.viewpoint)
        let rows = sections.compactMap(scan) { $0.invitation(ofMembership: $1, asOf: position) }
        return try sections.readPage(page, of: rows, by: \.self) { invited throws(ChatError) in
            let event = try event(at: invited)
            guard event.kind == .userInvited, case .member(let thread, _, let user, let by) = event.shape else {
                return nil
            }
            // As everywhere, the blocks of now count.
            let (viewer, current) = (sections.viewpoint.viewer, sections.viewpoint.currentPosition)
            let (name, isFromBlockedUser) = sections.withSection { models in
                (
                    models.thread(thread, asOf: position)?.name,
                    viewer.user.map { models.isBlocked(by, by: $0, asOf: current) } ?? false
                )
            }
            return ThreadInvitation(
                thread: thread, name: name, user: sections.userSummary(user, in: thread, at: invited, &names),
                by: sections.userSummary(by, in: thread, at: invited, &names), position: invited,
                invitedAt: event.createdAt,
                isFromBlockedUser: isFromBlockedUser)
        }
    }
}

extension InvitationsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<ThreadInvitation> {
        let user = try reader.user(orViewer: user)
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try requireSelf(reader.viewer, user)
            try models.requireUser(user, asOf: view.position)
            return models.scan(membershipsOf: user)
        }
        return try reader.store.invitations(scan, sections, page)
    }
}

extension ChatReader {
    /// Returns a page of a user's invitations, oldest first; by default all.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*n* log *n*) in the number of threads that the user ever joined or was
    ///   invited to; reads one event for each invitation of the page and the one before it.
    public func invitations(of user: UserID, page: PageRequest = .all) throws(ChatError) -> Page<ThreadInvitation> {
        try answer(InvitationsQuery(user: user, page: page))
    }
}

extension ThreadInvitationsQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<ThreadInvitation> {
        let (scan, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireModerated(thread, from: view)
            return models.scan(membershipsOf: thread)
        }
        return try reader.store.invitations(scan, sections, page)
    }
}

extension ChatReader {
    /// Returns a page of the invitations to a thread, oldest first, by default all; for its
    /// moderators.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember` and
    ///   `notAModerator`.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it; reads one event for each invitation of the page and the
    ///   one before it.
    public func invitations(to thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<ThreadInvitation> {
        try answer(ThreadInvitationsQuery(thread: thread, page: page))
    }
}
