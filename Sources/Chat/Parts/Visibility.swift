import ChatDomain
import EventJournal
import Locking
import Projections

// The access rules: every query, page, cursor, live view and event sequence checks them here. The
// default is to deny. `WhoIsShownWhat.md` has the table.

/// The viewer, the queried position and the current position, which together determine visibility.
struct Viewpoint {
    /// The user who asks; nil for an operator or auditor, who sees everything.
    let viewer: UserID?
    /// The position that the query reads as of.
    let position: Position
    /// The last visible position of the store; at least ``position``.
    let currentPosition: Position
}

// MARK: Threads and posts

extension ReadModels {
    /// Whether the viewer may read a thread: as a member now and as of the queried position.
    ///
    /// Both are required: a query as of an earlier point applies the rights of that time, and a
    /// user who has left may not read the thread as of any point.
    func mayRead(_ thread: ThreadID, from viewpoint: Viewpoint) -> Bool {
        guard let viewer = viewpoint.viewer else { return true }
        return mayRead(viewer, thread, at: viewpoint.position, present: viewpoint.currentPosition)
    }

    private func mayRead(_ viewer: UserID, _ thread: ThreadID, at position: Position, present: Position) -> Bool {
        mayRead(viewer, thread, asOf: position) && (position == present || mayRead(viewer, thread, asOf: present))
    }

    /// Throws `unknownUser` for an unknown viewer.
    func requireViewer(of viewpoint: Viewpoint) throws(ChatError) {
        if let viewer = viewpoint.viewer { try requireUser(viewer, asOf: viewpoint.position) }
    }

    /// Throws `unknownUser` for an unknown user.
    func requireUser(_ user: UserID, asOf position: Position) throws(ChatError) {
        guard profile(user, asOf: position) != nil else { throw .rejected(.unknownUser) }
    }

    /// Throws `unknownThread` for an unknown thread, and `notAMember` if the viewer may not read
    /// it.
    func requireReadable(_ thread: ThreadID, from viewpoint: Viewpoint) throws(ChatError) {
        try requireViewer(of: viewpoint)
        guard hasThread(thread, asOf: viewpoint.position) else { throw .rejected(.unknownThread) }
        guard mayRead(thread, from: viewpoint) else { throw .rejected(.notAMember) }
    }

    /// Throws `unknownMessage` for an unknown message, and `notAMember` if the viewer may not read
    /// its thread.
    func requireReadable(_ message: MessageID, from viewpoint: Viewpoint) throws(ChatError) {
        guard let thread = thread(of: message, asOf: viewpoint.position) else { throw .rejected(.unknownMessage) }
        try requireReadable(thread, from: viewpoint)
    }

    /// Marks the messages whose text another user has edited or retracted since the queried
    /// position.
    func markingWithheld(_ rows: consuming [PostRecord<MessageID>], from viewpoint: Viewpoint) -> [PostRecord<MessageID>] {
        withhold(&rows, from: viewpoint, PostID.message)
        return rows
    }

    /// Marks the replies whose text another user has edited or retracted since the queried
    /// position.
    func markingWithheld(_ rows: consuming [PostRecord<ReplyID>], from viewpoint: Viewpoint) -> [PostRecord<ReplyID>] {
        withhold(&rows, from: viewpoint, PostID.reply)
        return rows
    }

    private func withhold<ID>(_ rows: inout [PostRecord<ID>], from viewpoint: Viewpoint, _ post: (ID) -> PostID) {
        // A query as of now reads the current texts only.
        guard let viewer = viewpoint.viewer, viewpoint.position < viewpoint.currentPosition else { return }
        for index in rows.indices where rows[index].author != viewer {
            let written = rows[index].editPosition ?? rows[index].position
            rows[index].isWithheld = !isCurrentText(of: post(rows[index].id), writtenAt: written, present: viewpoint.currentPosition)
        }
    }

    /// Whether the event at a position wrote the post's current text.
    private func isCurrentText(of post: PostID, writtenAt position: Position, present: Position) -> Bool {
        textPosition(of: post, asOf: present) == position
    }
}

// MARK: Queries about a user

/// Throws `notAllowed` unless the viewer is the user or an operator.
func requireSelf(_ viewer: UserID?, _ user: UserID) throws(ChatError) {
    guard viewer == nil || viewer == user else { throw .rejected(.notAllowed) }
}

/// Throws `notAllowed` unless the viewer is an operator.
func requireOperator(_ viewer: UserID?) throws(ChatError) {
    guard viewer == nil else { throw .rejected(.operatorOnly) }
}

extension Membership {
    /// The postcode; nil unless the viewer is the user or an operator.
    func postcode(shownTo viewer: UserID?) -> Postcode? { viewer == nil || viewer == user ? postcode : nil }
}

// MARK: Events

/// The users who may see an event, in addition to operators and the event's own user.
enum Audience: Hashable {
    /// No other users.
    case noOtherUser
    /// The readers of a thread.
    case readers(ThreadID)
    /// The readers of any thread of this user, who see the user's name there.
    case coMembers(UserID)
}

extension EventDetails {
    /// The users whose query results this event changes.
    var audience: Audience {
        switch self {
        case .threadOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .messageRetracted,
            .replyRetracted, .postcodeSet:
            relatedThread.map(Audience.readers) ?? .noOtherUser
        case .usernameChanged(let details): .coMembers(details.user)
        // A registration shows no name before the user joins a thread; the others are always
        // private.
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .lost, .unknown: .noOtherUser
        }
    }

    /// Whether the event starts or ends a user's membership of a thread.
    func changesMembership(of user: UserID) -> Bool {
        switch self {
        case .threadJoined(let details): details.user == user
        case .threadLeft(let details): details.user == user
        default: false
        }
    }
}

extension ReadModels {
    /// Whether a viewer may see an event.
    ///
    /// A viewer sees their own events. They see another event if they could read its thread at the
    /// event's position and can read it now.
    ///
    /// - Complexity: As ``Projections/ReadModels/mayRead(_:_:asOf:)``; for a username change, once
    ///   per thread of the renamed user.
    func maySee(_ viewer: UserID, _ details: EventDetails, at position: Position, present: Position) -> Bool {
        if details.user == viewer { return true }
        return switch details.audience {
        case .noOtherUser: false
        case .readers(let thread): mayRead(viewer, thread, at: position, present: present)
        case .coMembers(let user):
            threads(of: user, asOf: position).contains { mayRead(viewer, $0.thread, at: position, present: present) }
        }
    }

    /// Returns the event redacted for a viewer; nil if they may not see it.
    ///
    /// A user's own events are complete. Events of other users contain no correlation id, no
    /// postcode, and only texts that are still current.
    func shown(_ recorded: RecordedEvent, to viewer: UserID, present: Position) -> RecordedEvent? {
        let details = recorded.event.details
        guard maySee(viewer, details, at: recorded.position, present: present) else { return nil }
        if details.user == viewer { return recorded }
        var shown = recorded
        shown.event.correlation = nil
        switch details {
        case .messagePosted(let details): redactBody(of: .message(details.message), &shown, present: present)
        case .messageEdited(let details): redactBody(of: .message(details.message), &shown, present: present)
        case .replyPosted(let details): redactBody(of: .reply(details.reply), &shown, present: present)
        case .replyEdited(let details): redactBody(of: .reply(details.reply), &shown, present: present)
        case .usernameChanged(let details):
            if namePosition(of: details.user, asOf: present) != recorded.position { shown.redact(.username) }
        case .postcodeSet: shown.redact(.postcode)
        // A thread is never renamed, so its name is current; the other events have no content.
        case .threadOpened, .threadJoined, .threadLeft, .messageRetracted, .replyRetracted: break
        // Visible to their own user only.
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .lost, .unknown: return nil
        }
        return shown
    }

    private func redactBody(of post: PostID, _ shown: inout RecordedEvent, present: Position) {
        if !isCurrentText(of: post, writtenAt: shown.position, present: present) { shown.redact(.body) }
    }
}

extension RecordedEvent {
    /// Removes a field's content and records the redaction; erased content stays erased.
    fileprivate mutating func redact(_ field: RedactedFields) {
        guard !event.isErased else { return }
        event.content = .omitted
        redacted.insert(field)
    }
}

// MARK: Receipts

extension RecordedEvent {
    /// Returns an original event as the sender of a duplicate command may see it.
    ///
    /// It contains only text that this sender sent too. The result is nil for an event that the
    /// command does not produce, such as the event after an opening whose join is missing.
    func shown(toCallerOf request: CommandRequest) -> RecordedEvent? {
        guard event.details.isProduced(by: request.command) else { return nil }
        var shown = self
        if shown.event.correlation != request.correlation { shown.event.correlation = nil }
        switch (request.command, event.content) {
        case (.registerUser(_, let name, let subject), .registration(let username, let first)):
            if !(Username(name)?.text ?? name).isIdentical(to: username.text) {
                shown.redact(.username)
            } else if first?.isIdentical(to: subject ?? "") != true {
                shown.event.content = .registration(username, subject: nil)
            }
        case (.openThread(_, let name, _), .threadName(let first)):
            if !(ThreadName(name)?.text ?? name).isIdentical(to: first) { shown.redact(.name) }
        case (.postMessage(_, _, _, let body), .body(let first)), (.reply(_, _, _, let body), .body(let first)):
            if !body.isIdentical(to: first) { shown.redact(.body) }
        case (.startSession(_, _, let device), .device(let first)):
            if !device.isIdentical(to: first) { shown.redact(.device) }
        case (_, .none), (_, .erased): break
        // The event does not match the command, so the caller may see no content.
        default: shown.event.content = .omitted
        }
        return shown
    }
}

extension EventDetails {
    /// Whether the command produces the event.
    ///
    /// Only an opening produces a second event, the join.
    fileprivate func isProduced(by command: ChatCommand) -> Bool {
        guard case .openThread(let thread, _, let user) = command else { return true }
        return switch self {
        case .threadOpened(let details): details.thread == thread
        case .threadJoined(let details): details.thread == thread && details.user == user
        default: false
        }
    }
}

extension String {
    /// Whether two strings have equal bytes; canonically equivalent strings can differ.
    fileprivate func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
