import ChatDomain
import EventJournal
import Projections

// What the followers of a viewer are told to forget: erased content, and threads that they may no
// longer read. `EventVisibility.swift` decides what a viewer may see.

extension ReadModels {
    /// Whether the event at a position ended a viewer's right to read a thread, or to read what
    /// they could read of it.
    func endsAccess(of viewer: UserID, to thread: ThreadID, at position: Position) -> Bool {
        // An opening sets the policy with its second event: until then nobody was shown the thread.
        guard position > openingPosition(of: thread) + 1, let before = readingStart(viewer, thread, asOf: position - 1)
        else {
            return false
        }
        return readingStart(viewer, thread, asOf: position).map { $0 > before } ?? true
    }

    /// Whether a viewer may know the name of a thread: from the thread, their own access, an
    /// invitation, or what their inbox says of a mute or a ban.
    func mayKnowName(of thread: ThreadID, _ viewer: UserID, current: Position) -> Bool {
        readingStart(viewer, thread, asOf: current) != nil || hasBeenMember(viewer, of: thread, asOf: current)
            || invitationPosition(of: viewer, to: thread, asOf: current) != nil
            || hasOperated(viewer, thread, asOf: current)
            || hasBeenSanctioned(viewer, in: thread, asOf: current)
    }

    /// Whether a list that a viewer may read has a user: members, residents, or operators.
    fileprivate func isListed(_ user: UserID, for viewer: UserID, through filter: EventFilter, current: Position)
        -> Bool
    {
        if user == viewer { return true }
        let admitsAll = filter.threads == nil && filter.outwardCodes == nil
        if admitsAll, isOperator(viewer, asOf: current), isOperator(user, asOf: current) { return true }
        return everJoinedThreads(of: user).contains { thread in
            filter.admits(thread) && readingStart(viewer, thread, asOf: current) != nil
                && (joinPosition(user, in: thread, asOf: current) != nil || isResident(user, of: thread, asOf: current))
        }
    }

    /// Whether a viewer could be shown any event that an order of an erasure concerns.
    func mayConcern(_ scope: ErasureScope, _ viewer: UserID, through filter: EventFilter, current: Position) -> Bool {
        if scope.users.contains(viewer) || isOperator(viewer, asOf: current) { return true }
        return scope.threads.contains { filter.admits($0) && mayKnowName(of: $0, viewer, current: current) }
            || scope.subjects.contains { isListed($0, for: viewer, through: filter, current: current) }
            || scope.profiles.contains { isListed($0, for: viewer, through: filter, current: current) }
    }

    /// Whether a query as of now shows a viewer an event that they may not see, because they could
    /// not read its thread at its position.
    fileprivate func isShownByQueries(_ event: ChatEvent, at position: Position, to viewer: UserID, current: Position)
        -> Bool
    {
        if event.kind == .profileSet, let user = event.user {
            return aboutPosition(of: user, asOf: current) == position && maySee(person: user, viewer, current: current)
        }
        guard let thread = event.relatedThread, let start = readingStart(viewer, thread, asOf: current) else {
            return false
        }
        if event.message != nil, !mayRead(event, viewer, current: current) { return false }
        switch (event.kind, event.user) {
        // A reaction is gone, so that it is not known whether it was present.
        case (.messagePosted, _), (.replyPosted, _), (.reactionAdded, _): return true
        case (.messageReported, _), (.replyReported, _):
            guard moderates(viewer, thread, asOf: current) else { return false }
            var (scan, isOpen) = (scan(reportsOf: thread), false)
            forEach(&scan) { row in
                if !isOpen, openReport(row, in: thread, asOf: current, after: start)?.position == position {
                    isOpen = true
                }
            }
            return isOpen
        case (.userMuted, let user?), (.userBanned, let user?):
            return moderates(viewer, thread, asOf: current)
                && isSanctioned(user, in: thread, since: position, asOf: current)
        case (.userInvited, let user?):
            return moderates(viewer, thread, asOf: current)
                && invitationPosition(of: user, to: thread, asOf: current) == position
        default: return false
        }
    }

    /// Whether a viewer may read a post now.
    fileprivate func mayRead(_ event: ChatEvent, _ viewer: UserID, current: Position) -> Bool {
        guard let thread = event.relatedThread, let start = readingStart(viewer, thread, asOf: current),
            let message = event.message
        else {
            guard let thread = event.relatedThread, let post = event.post else { return false }
            let now = Viewpoint(viewer: .user(viewer), position: current, currentPosition: current)
            return decidesReports(viewer, of: post, in: thread, from: now)
        }
        return messagePosition(of: .message(message), asOf: current).map { start < $0 } ?? false
    }
}

/// Finds what a viewer could be shown of the content that an erasure removed.
struct ErasedContentFinder {
    let viewer: UserID
    let filter: EventFilter
    let current: Position
    /// The users whose content or name was erased: an event that has lost nothing can show them
    /// too.
    let subjects: Set<UserID>
    private var content = ErasedContent()
    private var posts: Set<PostID> = []
    private var threads: Set<ThreadID> = []
    private var users: Set<UserID> = []

    init(viewer: UserID, filter: EventFilter, current: Position, subjects: Set<UserID>) {
        (self.viewer, self.filter, self.current, self.subjects) = (viewer, filter, current, subjects)
    }

    /// Whether the piece has as many events as it may have.
    var isFull: Bool { eventCount >= ErasedContent.maximumEventCount }
    private var eventCount = 0

    /// Adds a user if the viewer could be shown their name.
    mutating func addUser(_ user: UserID, _ models: borrowing ReadModels) {
        if models.isListed(user, for: viewer, through: filter, current: current) { add(user) }
    }

    /// Adds what the viewer could be shown of an event: the event, the post whose text it wrote,
    /// its thread and its users.
    mutating func add(_ concerned: ConcernedEvent, _ models: ReadModels) {
        let event = concerned.event
        guard event.relatedThread.map(filter.admits) ?? (filter.threads == nil && filter.outwardCodes == nil) else {
            return
        }
        let isShown =
            models.maySee(viewer, event, at: concerned.position, current: current)
            || models.isShownByQueries(event, at: concerned.position, to: viewer, current: current)
        guard
            isShown
                || concerned.hasLostContent && event.writtenPost != nil
                    && models.mayRead(event, viewer, current: current)
        else {
            // The invited and former members know the name of a thread, and no event of it.
            if concerned.hasLostContent, event.kind == .threadOpened || event.kind == .threadRenamed {
                addThread(of: event, models)
            }
            return
        }
        if isShown {
            for user in [event.user, event.otherActor] {
                if let user, concerned.hasLostContent || subjects.contains(user) { add(user) }
            }
        }
        guard concerned.hasLostContent else { return }
        eventCount += 1
        if isShown { content.positions.append(concerned.position) }
        // Who has left keeps their own reaction, and not the post.
        if let post = event.writtenPost, event.isOfAuthor(viewer) || models.mayRead(event, viewer, current: current),
            posts.insert(post).inserted
        {
            content.posts.append(post)
        }
        addThread(of: event, models)
    }

    /// Returns the piece.
    func content(_ models: ReadModels) -> ErasedContent {
        var content = content
        // Somebody whom the viewer cannot look up any more is shown with a name of before.
        var names = ShownNames(from: Viewpoint(viewer: .user(viewer), position: current, currentPosition: current))
        content.namelessUsers = content.users.filter { names.summary(of: $0, in: nil, models).username == nil }
        content.namelessThreads = content.threads.filter {
            $0.outwardCode == nil && models.thread($0, asOf: current)?.name == nil
        }
        return content
    }

    private mutating func add(_ user: UserID) { if users.insert(user).inserted { content.users.append(user) } }

    private mutating func addThread(of event: ChatEvent, _ models: borrowing ReadModels) {
        guard let thread = event.relatedThread, !threads.contains(thread),
            models.mayKnowName(of: thread, viewer, current: current)
        else {
            return
        }
        threads.insert(thread)
        content.threads.append(thread)
    }
}

extension ChatEvent {
    /// Whether the event wrote a text of the user.
    fileprivate func isOfAuthor(_ user: UserID) -> Bool { kind?.form.redactable == .body && self.user == user }

    /// The post whose text the event wrote, or to which it adds a reaction.
    fileprivate var writtenPost: PostID? {
        guard let form = kind?.form, form.redactable == .body || form.isAboutReaction else { return nil }
        return post
    }
}
