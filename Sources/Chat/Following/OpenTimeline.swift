public import ChatDomain
import EventJournal

/// A page of a thread, the names on it, and the events after it.
///
/// Sufficient for a client that shows a thread and keeps it current. The name of a user who joins
/// later is in no event that a member may see: when `threadJoined` arrives, call
/// ``ChatReader/members(of:page:)``.
public struct OpenTimeline: Sendable {
    /// The messages, oldest first.
    public var page: Page<Post>
    /// The usernames of the current members and of the authors on the page, except erased ones.
    public var names: [UserID: String]
    /// The position of the page and the names.
    public var position: Position
    /// The events of the thread after the position, and the changes of usernames that the viewer
    /// may see; those of users who never joined the thread may be missing.
    public var events: ChatEvents
}

extension ChatStore {
    /// Opens a thread: returns a page, the names on it, and the events that follow.
    ///
    /// The page, the names and the sequence start at the same position: no event is missing, and no
    /// event is in both. If a commit edits or retracts a message of the page while the page is
    /// read, a viewer other than its author gets the entry without its text, and the edit or the
    /// retraction as an event.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - request: The part of the timeline; by default the latest 50 messages.
    ///   - viewer: Who reads the thread. Each event has the form
    ///     that ``EventFilter/viewer`` describes.
    /// - Throws: As ``ChatReader/timeline(_:page:)``.
    /// - Complexity: O(*n* log *n*) in the number of users who ever joined the thread or were
    ///   invited, muted or banned in it, plus that of ``ChatReader/timeline(_:page:)`` for the page.
    public func openTimeline(
        _ thread: ThreadID, page request: PageRequest = .latest(), as viewer: Viewer
    ) throws(ChatError) -> OpenTimeline {
        let position = applyDurableEvents()
        let page = try reader(as: viewer, asOf: .position(position)).timeline(thread, page: request)
        var names: [UserID: String] = [:]
        for member in try reader(as: viewer, asOf: .position(position)).members(of: thread) {
            names[member.user.id] = member.user.username
        }
        for entry in page.entries { names[entry.author.id] = entry.author.username }
        var filter = EventFilter(as: viewer, threads: [thread])
        filter.includesThreadlessEvents = true
        return OpenTimeline(
            page: page, names: names, position: position, events: events(after: position, matching: filter))
    }
}
