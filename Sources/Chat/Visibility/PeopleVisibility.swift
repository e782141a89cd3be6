import ChatDomain
import ChatValues
import Projections

// Which people a viewer is shown, and what of them.

// MARK: People

extension ReadModels {
    /// Returns a thread with the names of its people that the viewer is shown; nil if it did not
    /// exist.
    ///
    /// - Parameter start: Only later messages are counted.
    func shownThread(
        _ id: ThreadID, after start: Position = 0, from viewpoint: Viewpoint, _ names: inout ShownNames
    ) -> ThreadRecord? {
        guard var thread = thread(id, asOf: viewpoint.position, after: start) else { return nil }
        names.show(&thread.people, ofDirect: id, self)
        return thread
    }

    /// Whether the reason of what a moderator did is shown to the user concerned: to whom is or was
    /// a member of the thread by then.
    func isReasonShown(to user: UserID, in thread: ThreadID, at position: Position) -> Bool {
        hasBeenMember(user, of: thread, asOf: position)
    }

    /// Returns a membership that holds as of the queried position and, for a user who asks, also
    /// now; nil if it does not.
    func membership(_ row: Int, from viewpoint: Viewpoint) -> IndexedMembership? {
        guard let then = indexedMembership(ofMembership: row, asOf: viewpoint.position) else { return nil }
        if viewpoint.viewer == .host || viewpoint.position == viewpoint.currentPosition { return then }
        return indexedMembership(ofMembership: row, asOf: viewpoint.currentPosition) == nil ? nil : then
    }

    /// Returns the membership of a person in the thread of one of the viewer's memberships; nil
    /// unless both hold.
    ///
    /// Reading the thread as an operator does not count. For the host, the row is one of the
    /// person's.
    func commonMembership(_ row: Int, of person: UserID, from viewpoint: Viewpoint) -> IndexedMembership? {
        guard let own = membership(row, from: viewpoint) else { return nil }
        return membershipIndex(person, threadID(own)).flatMap { membership($0, from: viewpoint) }
    }

    /// Whether a viewer may see a person now: themself, or one with whom they have a thread in
    /// common.
    func maySee(person: UserID, _ viewer: UserID, current: Position) -> Bool {
        if person == viewer { return true }
        let viewpoint = Viewpoint(viewer: .user(viewer), position: current, currentPosition: current)
        var (scan, isFound) = (scan(membershipsOf: viewer), false)
        forEach(&scan) { row in isFound = isFound || commonMembership(row, of: person, from: viewpoint) != nil }
        return isFound
    }

    /// Returns the position of the event with the text about a user that the viewer is shown; nil
    /// if none.
    ///
    /// The viewer may see the user. Another user's text is withheld if it is not the current one.
    func shownAboutPosition(of user: UserID, from viewpoint: Viewpoint) -> Position? {
        let position = aboutPosition(of: user, asOf: viewpoint.position)
        if viewpoint.viewer.isHost(or: user) || viewpoint.position == viewpoint.currentPosition { return position }
        return aboutPosition(of: user, asOf: viewpoint.currentPosition) == position ? position : nil
    }
}

// MARK: Queries about a user

/// Throws `notAllowed` unless the viewer is the user or the host.
func requireSelf(_ viewer: Viewer, _ user: UserID) throws(ChatError) {
    guard viewer.isHost(or: user) else { throw .rejected(.notAllowed) }
}

extension Membership {
    /// The postcode; nil unless the viewer is the user or the host.
    func postcode(shownTo viewer: Viewer) -> Postcode? { viewer.isHost(or: user) ? postcode : nil }
}
