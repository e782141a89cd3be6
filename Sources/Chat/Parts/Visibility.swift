import ChatDomain
import EventJournal
import Locking
import Projections

// This file decides who is shown what: every query, page, cursor, live view and follower asks here.
// `WhoIsShownWhat.md` has the table. The default is no.

/// Who asks, as of which position, and what the store shows by now: what a query may show follows from these three.
struct Viewpoint {
    /// nil for the operator and the auditor, who are shown everything.
    let viewer: UserID?
    /// The position as of which the question is asked.
    let position: Position
    /// The last position that the store shows; never before ``position``.
    let present: Position
}

// MARK: Threads and posts

extension ReadModels {
    /// Whether a viewer may be shown a thread: they are a member now and were one as of the position.
    ///
    /// Both, because a query as of an earlier moment answers by the rights of that moment, and a user who has left reads nothing of the thread, as of no moment.
    func mayRead(_ thread: ThreadID, from viewpoint: Viewpoint) -> Bool {
        guard let viewer = viewpoint.viewer else { return true }
        return mayRead(viewer, thread, at: viewpoint.position, present: viewpoint.present)
    }

    private func mayRead(_ viewer: UserID, _ thread: ThreadID, at position: Position, present: Position) -> Bool {
        mayRead(viewer, thread, asOf: position) && (position == present || mayRead(viewer, thread, asOf: present))
    }

    /// Refuses a viewer who does not exist.
    func requireViewer(of viewpoint: Viewpoint) throws(ChatError) {
        if let viewer = viewpoint.viewer { try requireUser(viewer, asOf: viewpoint.position) }
    }

    /// Refuses a user who does not exist.
    func requireUser(_ user: UserID, asOf position: Position) throws(ChatError) {
        guard profile(user, asOf: position) != nil else { throw .rejected(.unknownUser) }
    }

    /// Refuses a thread that does not exist, or that the viewer may not be shown.
    func requireReadable(_ thread: ThreadID, from viewpoint: Viewpoint) throws(ChatError) {
        try requireViewer(of: viewpoint)
        guard hasThread(thread, asOf: viewpoint.position) else { throw .rejected(.unknownThread) }
        guard mayRead(thread, from: viewpoint) else { throw .rejected(.notAMember) }
    }

    /// Refuses a message that does not exist, or that stands in a thread that the viewer may not be shown.
    func requireReadable(_ message: MessageID, from viewpoint: Viewpoint) throws(ChatError) {
        guard let thread = thread(of: message, asOf: viewpoint.position) else { throw .rejected(.unknownMessage) }
        try requireReadable(thread, from: viewpoint)
    }

    /// Marks the posts of which the viewer is not shown the text: others have edited or retracted them since the position.
    func withheld(_ rows: consuming [PostRecord<MessageID>], from viewpoint: Viewpoint) -> [PostRecord<MessageID>] {
        withhold(&rows, from: viewpoint, PostID.message)
        return rows
    }

    /// Marks the posts of which the viewer is not shown the text: others have edited or retracted them since the position.
    func withheld(_ rows: consuming [PostRecord<ReplyID>], from viewpoint: Viewpoint) -> [PostRecord<ReplyID>] {
        withhold(&rows, from: viewpoint, PostID.reply)
        return rows
    }

    private func withhold<ID>(_ rows: inout [PostRecord<ID>], from viewpoint: Viewpoint, _ post: (ID) -> PostID) {
        // Of the present every text that exists is the present one.
        guard let viewer = viewpoint.viewer, viewpoint.position < viewpoint.present else { return }
        for index in rows.indices where rows[index].author != viewer {
            let written = rows[index].editPosition ?? rows[index].position
            rows[index].isWithheld = !isPresentText(of: post(rows[index].id), writtenAt: written, present: viewpoint.present)
        }
    }

    /// Whether the event at a position wrote the text that a post has now.
    private func isPresentText(of post: PostID, writtenAt position: Position, present: Position) -> Bool {
        textPosition(of: post, asOf: present) == position
    }
}

// MARK: Questions about a user

/// Refuses a question about a user to everybody but that user and the operator.
func requireSelf(_ viewer: UserID?, _ user: UserID) throws(ChatError) {
    guard viewer == nil || viewer == user else { throw .rejected(.notAllowed) }
}

/// Refuses a question that is the operator's and the auditor's alone.
func requireOperator(_ viewer: UserID?) throws(ChatError) {
    guard viewer == nil else { throw .rejected(.forOperators) }
}

extension Membership {
    /// Where the user lives, as a viewer is shown it: the operator and the user themselves see the postcode.
    func postcode(shownTo viewer: UserID?) -> Postcode? { viewer == nil || viewer == user ? postcode : nil }
}

// MARK: Events

/// Who may be shown an event, besides the operator and the user whose event it is.
enum Audience: Hashable {
    /// Nobody.
    case nobody
    /// The readers of a thread.
    case readers(ThreadID)
    /// The readers of a thread in which the user is: they see the user's name there.
    case acquaintances(UserID)
}

extension EventDetails {
    /// The users to whom the queries show what this event changed.
    var audience: Audience {
        switch self {
        case .threadOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .messageRetracted,
            .replyRetracted, .postcodeSet:
            place.map(Audience.readers) ?? .nobody
        case .usernameChanged(let details): .acquaintances(details.user)
        // A name is shown to others once its bearer is in a thread; read markers and sessions never are.
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .lost, .unknown: .nobody
        }
    }

    /// Whether a user becomes or ceases to be a member of a thread by it.
    func changesMembership(of user: UserID) -> Bool {
        switch self {
        case .threadJoined(let details): details.user == user
        case .threadLeft(let details): details.user == user
        default: false
        }
    }
}

extension ReadModels {
    /// Whether a viewer may be shown an event: it is their own, or they could read it at its position and can read its thread now.
    ///
    /// - Complexity: As ``Projections/ReadModels/mayRead(_:_:asOf:)``, for a change of username once for each thread of its bearer.
    func maySee(_ viewer: UserID, _ details: EventDetails, at position: Position, present: Position) -> Bool {
        if details.user == viewer { return true }
        return switch details.audience {
        case .nobody: false
        case .readers(let thread): mayRead(viewer, thread, at: position, present: present)
        case .acquaintances(let user):
            threads(of: user, asOf: position).contains { mayRead(viewer, $0.thread, at: position, present: present) }
        }
    }

    /// An event as a viewer is shown it; nil if they are not.
    ///
    /// Users are shown their own events whole. Of the events of others a viewer is shown no correlation id, no postcode, and text only where it is the present one.
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
        // Their content is the present one, as a thread is never renamed, or there is none.
        case .threadOpened, .threadJoined, .threadLeft, .messageRetracted, .replyRetracted: break
        // Shown to their own user alone.
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .lost, .unknown: return nil
        }
        return shown
    }

    private func redactBody(of post: PostID, _ shown: inout RecordedEvent, present: Position) {
        if !isPresentText(of: post, writtenAt: shown.position, present: present) { shown.redact(.body) }
    }
}

extension RecordedEvent {
    /// Takes a field out of the event, and names it; content that has been erased stays as it is.
    fileprivate mutating func redact(_ field: RedactedFields) {
        guard !event.isErased else { return }
        event.content = .omitted
        redacted.insert(field)
    }
}

// MARK: Receipts

extension RecordedEvent {
    /// An event of a command that came again, as its second caller is shown it: with the text that this caller sent, and no other.
    ///
    /// nil for an event that the command does not bring: the one after an opening, where the join is missing.
    func shown(toCallerOf request: CommandRequest) -> RecordedEvent? {
        guard event.details.isBrought(by: request.command) else { return nil }
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
        // An event that does not belong to the command: nothing of it is the caller's.
        default: shown.event.content = .omitted
        }
        return shown
    }
}

extension EventDetails {
    /// Whether a command brings the event; only an opening brings a second one, which is told by its position.
    fileprivate func isBrought(by command: ChatCommand) -> Bool {
        guard case .openThread(let thread, _, let user) = command else { return true }
        return switch self {
        case .threadOpened(let details): details.thread == thread
        case .threadJoined(let details): details.thread == thread && details.user == user
        default: false
        }
    }
}

extension String {
    /// Whether two strings have the same bytes: two spellings of one character are two texts.
    fileprivate func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
