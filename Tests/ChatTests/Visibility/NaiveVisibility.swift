import Chat
import ChatDomain

/// The visibility rules of `WhoIsShownWhat.md`, computed by scanning all events for each query.
struct NaiveVisibility {
    let events: [RecordedEvent]

    /// Creates an oracle.
    ///
    /// - Parameter events: All events of a journal, from position 1.
    init(_ events: [RecordedEvent]) { self.events = events }

    /// The relation of a viewer to an event.
    enum Role: Hashable, CaseIterable {
        case itsUser, member, formerMember, stranger
    }

    // MARK: Facts

    /// Returns whether a user was a member of a thread after the event at a position.
    func isMember(_ user: UserID, of thread: ThreadID, at position: Position) -> Bool {
        var isMember = false
        for recorded in events.prefix(Int(position)) {
            switch recorded.event.details {
            case .threadJoined(let details) where details.user == user && details.thread == thread: isMember = true
            case .threadLeft(let details) where details.user == user && details.thread == thread: isMember = false
            default: break
            }
        }
        return isMember
    }

    /// Returns the threads of the events up to a position.
    func threads(at position: Position) -> Set<ThreadID> { Set(events.prefix(Int(position)).compactMap(\.event.details.thread)) }

    /// Returns the position of the event that wrote a post's text as of a position.
    ///
    /// Returns nil for a post that is retracted or unknown.
    func textPosition(of post: PostID, at position: Position) -> Position? {
        var text: Position?
        for recorded in events.prefix(Int(position)) {
            switch recorded.event.details {
            case .messagePosted(let details) where .message(details.message) == post: text = recorded.position
            case .messageEdited(let details) where .message(details.message) == post: text = recorded.position
            case .messageRetracted(let details) where .message(details.message) == post: text = nil
            case .replyPosted(let details) where .reply(details.reply) == post: text = recorded.position
            case .replyEdited(let details) where .reply(details.reply) == post: text = recorded.position
            case .replyRetracted(let details) where .reply(details.reply) == post: text = nil
            default: break
            }
        }
        return text
    }

    /// Returns the position of the event that set a user's name as of a position.
    private func namePosition(of user: UserID, at position: Position) -> Position? {
        events.prefix(Int(position)).last { recorded in
            switch recorded.event.details {
            case .userRegistered(let details): details.user == user
            case .usernameChanged(let details): details.user == user
            default: false
            }
        }?.position
    }

    // MARK: The table

    /// Returns the relation of a viewer to an event as of `present`.
    func role(of viewer: UserID, to recorded: RecordedEvent, present: Position) -> Role {
        if recorded.event.details.user == viewer { return .itsUser }
        let threads: Set<ThreadID>
        switch recorded.event.details {
        case .usernameChanged(let details):
            threads = self.threads(at: present).filter { isMember(details.user, of: $0, at: recorded.position) }
        case .postcodeSet(let details): threads = [details.thread]
        default: threads = recorded.event.details.thread.map { [$0] } ?? []
        }
        let then = threads.filter { isMember(viewer, of: $0, at: recorded.position) }
        if then.isEmpty { return .stranger }
        return then.contains { isMember(viewer, of: $0, at: present) } ? .member : .formerMember
    }

    /// Returns the event as a viewer is shown it as of `present`, or nil if it is hidden.
    func shown(_ recorded: RecordedEvent, to viewer: UserID?, present: Position) -> RecordedEvent? {
        guard let viewer else { return recorded }
        switch role(of: viewer, to: recorded, present: present) {
        case .itsUser: return recorded
        case .formerMember, .stranger: return nil
        case .member: break
        }
        var shown = recorded
        shown.event.correlation = nil
        func null(_ field: RedactedFields) {
            shown.event.content = .omitted
            shown.redacted = field
        }
        switch recorded.event.details {
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .lost, .unknown: return nil
        case .usernameChanged(let details): if namePosition(of: details.user, at: present) != recorded.position { null(.username) }
        case .postcodeSet: null(.postcode)
        case .threadOpened, .threadJoined, .threadLeft, .messageRetracted, .replyRetracted: break
        case .messagePosted(let details):
            if textPosition(of: .message(details.message), at: present) != recorded.position { null(.body) }
        case .messageEdited(let details):
            if textPosition(of: .message(details.message), at: present) != recorded.position { null(.body) }
        case .replyPosted(let details): if textPosition(of: .reply(details.reply), at: present) != recorded.position { null(.body) }
        case .replyEdited(let details): if textPosition(of: .reply(details.reply), at: present) != recorded.position { null(.body) }
        default: break
        }
        return shown
    }

    /// Returns whether a viewer may read a thread as of `position`, queried at `present`.
    func mayRead(_ viewer: UserID?, _ thread: ThreadID, at position: Position, present: Position) -> Bool {
        guard let viewer else { return true }
        return isMember(viewer, of: thread, at: position) && isMember(viewer, of: thread, at: present)
    }

    /// Returns whether a viewer is shown the text that a post had at `position`, queried at
    /// `present`.
    func showsText(of post: PostID, by author: UserID, to viewer: UserID?, at position: Position, present: Position) -> Bool {
        guard let viewer, viewer != author else { return true }
        guard let written = textPosition(of: post, at: position) else { return false }
        return textPosition(of: post, at: present) == written
    }
}
