import ChatDomain
import Projections

// Which posts a viewer may read, and what of them they are shown.

extension ReadModels {
    /// Throws `unknownMessage` or `unknownReply` for a post that is unknown, whose message is before
    /// the viewer's history, or in a thread that does not exist for the viewer, and `notAMember` if
    /// they may not read its thread.
    ///
    /// - Returns: The thread.
    @discardableResult
    func requireReadable(_ post: PostID, from viewpoint: Viewpoint) throws(ChatError) -> ThreadID {
        // First, so that an unknown viewer has the same answer whether or not the post exists.
        try requireViewer(of: viewpoint)
        guard let thread = thread(of: post, asOf: viewpoint.position),
            let posted = messagePosition(of: post, asOf: viewpoint.position)
        else {
            throw .rejected(.unknown(post))
        }
        let start: Position
        do throws(ChatError) { start = try requireReadable(thread, from: viewpoint) } catch {
            if case .rejected(.unknownThread) = error { throw .rejected(.unknown(post)) }
            throw error
        }
        guard posted > start else { throw .rejected(.unknown(post)) }
        return thread
    }

    /// Finds the thread of a post that the viewer may be shown: one that they may read, or the one
    /// post of a direct thread whose report they decide.
    ///
    /// - Returns: The thread, and whether the viewer is shown the post alone.
    /// - Throws: As ``requireReadable(_:from:)``.
    func requireShown(_ post: PostID, from viewpoint: Viewpoint) throws(ChatError) -> (thread: ThreadID, isAlone: Bool)
    {
        do throws(ChatError) {
            return (try requireReadable(post, from: viewpoint), false)
        } catch {
            guard let viewer = viewpoint.viewer.user, let thread = thread(of: post, asOf: viewpoint.position),
                decidesReports(viewer, of: post, in: thread, from: viewpoint)
            else { throw error }
            return (thread, true)
        }
    }

    /// Marks posts in a thread for the viewer: names of authors, texts that are withheld, blocked
    /// authors, and reactions.
    func marking(_ rows: consuming [PostRecord], in thread: ThreadID, from viewpoint: Viewpoint) -> [PostRecord] {
        mark(&rows, thread, from: viewpoint)
        return rows
    }

    func mark(_ rows: inout [PostRecord], _ thread: ThreadID, from viewpoint: Viewpoint) {
        var names = ShownNames(from: viewpoint)
        mark(&rows, thread, from: viewpoint, &names)
    }

    /// Another user's text is withheld if its author has edited or retracted it, or a moderator
    /// removed it, since the queried position.
    func mark(_ rows: inout [PostRecord], _ thread: ThreadID, from viewpoint: Viewpoint, _ names: inout ShownNames) {
        for index in rows.indices where rows[index].mayHaveReactions && !rows[index].isWithdrawn {
            let present = reactions(to: rows[index].id, of: viewpoint.viewer.user, asOf: viewpoint.position)
            if !present.isEmpty { rows[index].reactions = present }
        }
        guard let viewer = viewpoint.viewer.user else { return }
        // The names as of the position are those of people whom the viewer could look up.
        if !names.areMembersOnly(in: thread, self) {
            for index in rows.indices {
                let position = names.position(of: rows[index].authorIndex, in: thread, at: rows[index].position, self)
                guard position != viewpoint.position else { continue }
                rows[index].authorName = position.flatMap { name(ofUser: rows[index].authorIndex, asOf: $0) }
            }
        }
        // The blocks as of now count, whatever the queried position.
        for index in rows.indices where isBlocked(rows[index].author, by: viewer, asOf: viewpoint.currentPosition) {
            rows[index].isBlocked = true
        }
        // A query as of now reads the current texts only.
        guard viewpoint.position < viewpoint.currentPosition else { return }
        let seesRemoved = moderates(viewer, thread, asOf: viewpoint.currentPosition)
        for index in rows.indices where rows[index].author != viewer {
            let written = rows[index].editPosition ?? rows[index].position
            rows[index].isWithheld = !isCurrentText(
                of: rows[index].id, writtenAt: written, includesRemoved: seesRemoved, current: viewpoint.currentPosition
            )
        }
    }

    /// Whether the event at a position wrote the post's current text.
    func isCurrentText(of post: PostID, writtenAt position: Position, includesRemoved: Bool, current: Position) -> Bool
    {
        textPosition(of: post, includesRemoved: includesRemoved, asOf: current) == position
    }
}
