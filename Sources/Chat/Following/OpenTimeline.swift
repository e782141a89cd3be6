public import ChatDomain
import EventJournal
public import Projections

/// A page of a thread, and the events from exactly there on: what a client needs to show a thread and keep it current.
public struct OpenTimeline: Sendable {
    /// The messages, oldest first, with the ways on from them.
    public var page: Page<TimelineEntry>
    /// The usernames of the present members and of the authors on the page; without those that have been erased.
    public var names: [UserID: String]
    /// The position as of which the page and the names are.
    public var position: Position
    /// The events of the thread after that position, and the changes of usernames that the viewer may be shown.
    public var events: ChatEvents
}

extension ChatStore {
    /// Opens a thread: a page, the names on it, and the events that follow.
    ///
    /// The page, the names and the sequence begin at one position: no event is missing and none is in both.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - request: Which part of the timeline; the latest 50 messages by default.
    ///   - viewer: Who asks, nil for the operator. Each event is shown as ``EventFilter/viewer`` says.
    /// - Throws: ``ChatError/rejected(_:)`` as ``timeline(_:_:viewer:asOf:)`` does; ``ChatError/journal(_:)`` if the text
    ///   cannot be read.
    /// - Complexity: O(*m*) in the members of the thread, and O(log *n*) for each message of the page.
    public func openTimeline(
        _ thread: ThreadID, _ request: PageRequest = PageRequest(), viewer: UserID? = nil
    ) throws(ChatError) -> OpenTimeline {
        let position = shownPosition
        let page = try timelinePage(thread, request, viewer: viewer, asOf: .position(position))
        var names: [UserID: String] = [:]
        for member in try members(of: thread, viewer: viewer, asOf: .position(position)) {
            names[member.user.id] = member.user.username
        }
        for entry in page.entries { names[entry.author.id] = entry.author.username }
        var filter = EventFilter(threads: [thread], viewer: viewer)
        filter.usernameChanges = .ofAnyThread
        return OpenTimeline(page: page, names: names, position: position, events: events(after: position, matching: filter))
    }
}
