import ChatDomain
import EventJournal
import Locking
import Projections

// The access rules: every query, page, cursor, live view and event sequence checks them here. The
// default is to deny. `WhoIsShownWhat.md` has the table.

/// The viewer, the queried position and the current position, which together determine visibility.
struct Viewpoint {
    /// The user who asks; nil for the host, which sees everything.
    let viewer: UserID?
    /// The position that the query reads as of.
    let position: Position
    /// The last visible position of the store; at least ``position``.
    let currentPosition: Position
}

// MARK: Threads and posts

extension ReadModels {
    /// Whether the viewer may read a thread now and as of the queried position.
    func mayRead(_ thread: ThreadID, from viewpoint: Viewpoint) -> Bool { readingStart(thread, from: viewpoint) != nil }

    /// Returns the position after which the viewer may read the messages of a thread; nil if they
    /// may read none of it.
    ///
    /// The rights of both points count: a query as of an earlier point applies the rights of that
    /// time, and a user who has left may not read the thread as of any point. In a thread whose
    /// history begins with the latest join, the current join counts as of every point.
    func readingStart(_ thread: ThreadID, from viewpoint: Viewpoint) -> Position? {
        guard let viewer = viewpoint.viewer else { return 0 }
        return readingStart(viewer, thread, at: viewpoint.position, current: viewpoint.currentPosition)
    }

    private func readingStart(_ viewer: UserID, _ thread: ThreadID, at position: Position, current: Position) -> Position? {
        guard let then = readingStart(viewer, thread, asOf: position) else { return nil }
        if position == current { return then }
        return readingStart(viewer, thread, asOf: current).map { max(then, $0) }
    }

    /// Throws `unknownUser` for an unknown viewer.
    func requireViewer(of viewpoint: Viewpoint) throws(ChatError) {
        if let viewer = viewpoint.viewer { try requireUser(viewer, asOf: viewpoint.position) }
    }

    /// Throws `unknownUser` for an unknown user.
    func requireUser(_ user: UserID, asOf position: Position) throws(ChatError) {
        guard profile(user, asOf: position) != nil else { throw .rejected(.unknownUser) }
    }

    /// Throws `unknownThread` for a thread that is unknown or that does not exist for the viewer now,
    /// and `notAMember` if the viewer may not read it.
    ///
    /// - Returns: The position after which the viewer may read its messages.
    @discardableResult
    func requireReadable(_ thread: ThreadID, from viewpoint: Viewpoint) throws(ChatError) -> Position {
        try requireViewer(of: viewpoint)
        guard hasThread(thread, asOf: viewpoint.position) else { throw .rejected(.unknownThread) }
        if let start = readingStart(thread, from: viewpoint) { return start }
        guard let viewer = viewpoint.viewer, isKnown(thread, to: viewer, asOf: viewpoint.currentPosition) else {
            throw .rejected(.unknownThread)
        }
        throw .rejected(.notAMember)
    }

    /// Throws `unknownMessage` for a message that is unknown, before the viewer's history or in a
    /// thread that does not exist for the viewer, and `notAMember` if they may not read its thread.
    ///
    /// - Returns: The thread.
    @discardableResult
    func requireReadable(_ message: MessageID, from viewpoint: Viewpoint) throws(ChatError) -> ThreadID {
        // First, so that an unknown viewer has the same answer whether or not the message exists.
        try requireViewer(of: viewpoint)
        guard let thread = thread(of: message, asOf: viewpoint.position),
            let posted = postingPosition(of: message, asOf: viewpoint.position)
        else {
            throw .rejected(.unknownMessage)
        }
        let start: Position
        do throws(ChatError) { start = try requireReadable(thread, from: viewpoint) } catch {
            if case .rejected(.unknownThread) = error { throw .rejected(.unknownMessage) }
            throw error
        }
        guard posted > start else { throw .rejected(.unknownMessage) }
        return thread
    }

    /// Throws `unknownReply` for a reply that is unknown, before the viewer's history or in a thread
    /// that does not exist for the viewer, and `notAMember` if they may not read its thread.
    ///
    /// - Returns: The message that it answers, and the thread.
    func requireReadable(_ reply: ReplyID, from viewpoint: Viewpoint) throws(ChatError) -> (message: MessageID, thread: ThreadID) {
        try requireViewer(of: viewpoint)
        guard let message = message(answeredBy: reply, asOf: viewpoint.position) else { throw .rejected(.unknownReply) }
        do throws(ChatError) { return (message, try requireReadable(message, from: viewpoint)) } catch {
            if case .rejected(.unknownMessage) = error { throw .rejected(.unknownReply) }
            throw error
        }
    }

    /// Throws as ``requireReadable(_:from:)-(ThreadID,_)``, and `notAModerator` if the viewer does
    /// not moderate the thread now and as of the queried position.
    ///
    /// - Returns: The position after which the viewer may read its messages.
    @discardableResult
    func requireModerated(_ thread: ThreadID, from viewpoint: Viewpoint) throws(ChatError) -> Position {
        let start = try requireReadable(thread, from: viewpoint)
        guard let viewer = viewpoint.viewer else { return start }
        guard moderates(viewer, thread, at: viewpoint.position, current: viewpoint.currentPosition) else {
            throw .rejected(.notAModerator)
        }
        return start
    }

    private func moderates(_ viewer: UserID, _ thread: ThreadID, at position: Position, current: Position) -> Bool {
        moderates(viewer, thread, asOf: position) && (position == current || moderates(viewer, thread, asOf: current))
    }

    /// Marks messages of a thread for the viewer: texts that are withheld, and blocked authors.
    func marking(_ rows: consuming [PostRecord<MessageID>], in thread: ThreadID, from viewpoint: Viewpoint) -> [PostRecord<MessageID>] {
        mark(&rows, thread, from: viewpoint, PostID.message)
        return rows
    }

    /// Marks replies in a thread for the viewer: texts that are withheld, and blocked authors.
    func marking(_ rows: consuming [PostRecord<ReplyID>], in thread: ThreadID, from viewpoint: Viewpoint) -> [PostRecord<ReplyID>] {
        mark(&rows, thread, from: viewpoint, PostID.reply)
        return rows
    }

    /// Another user's text is withheld if its author has edited or retracted it, or a moderator
    /// removed it, since the queried position.
    private func mark<ID>(_ rows: inout [PostRecord<ID>], _ thread: ThreadID, from viewpoint: Viewpoint, _ post: (ID) -> PostID) {
        guard let viewer = viewpoint.viewer else { return }
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
                of: post(rows[index].id), writtenAt: written, includesRemoved: seesRemoved, current: viewpoint.currentPosition)
        }
    }

    /// Whether the event at a position wrote the post's current text.
    private func isCurrentText(of post: PostID, writtenAt position: Position, includesRemoved: Bool, current: Position) -> Bool {
        textPosition(of: post, includesRemoved: includesRemoved, asOf: current) == position
    }
}

// MARK: Queries about a user

/// Throws `notAllowed` unless the viewer is the user or the host.
func requireSelf(_ viewer: UserID?, _ user: UserID) throws(ChatError) {
    guard viewer == nil || viewer == user else { throw .rejected(.notAllowed) }
}

/// Throws `notAllowed` unless the host asks.
func requireHost(_ viewer: UserID?) throws(ChatError) {
    guard viewer == nil else { throw .rejected(.hostOnly) }
}

extension Membership {
    /// The postcode; nil unless the viewer is the user or the host.
    func postcode(shownTo viewer: UserID?) -> Postcode? { viewer == nil || viewer == user ? postcode : nil }
}

// MARK: Events

/// The users who may see an event, in addition to its own users and the host program.
enum Audience: Hashable {
    /// No other users.
    case noOtherUser
    /// The readers of a thread.
    case readers(ThreadID)
    /// The readers of a thread who moderate it.
    case moderators(ThreadID)
    /// The readers of any thread of this user, who see the user's name there.
    case coMembers(UserID)
}

extension EventDetails {
    /// The other users who may see the event.
    var audience: Audience {
        switch self {
        case .messageReported, .replyReported, .messageReportsResolved, .replyReportsResolved:
            relatedThread.map(Audience.moderators) ?? .noOtherUser
        case .usernameChanged(let details): .coMembers(details.user)
        // A registration shows no name before the user joins a thread; the others are always
        // private.
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .operatorGranted, .operatorRevoked, .userBlocked,
            .userUnblocked, .userErased, .contentErased, .lost, .unknown:
            .noOtherUser
        case .threadOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .messageRetracted,
            .replyRetracted, .postcodeSet, .threadPolicySet, .userInvited, .invitationDeclined, .invitationRevoked, .roleSet,
            .messageRemoved, .replyRemoved, .userMuted, .userUnmuted, .userBanned, .userUnbanned, .memberRemoved, .messagePinned,
            .messageUnpinned, .threadLocked, .threadUnlocked, .threadClosed, .custom:
            relatedThread.map(Audience.readers) ?? .noOtherUser
        }
    }

    /// The message of an event about a message or one of its replies.
    var message: MessageID? {
        switch self {
        case .messagePosted(let details): details.message
        case .messageEdited(let details), .messageRetracted(let details), .messageRemoved(let details), .messagePinned(let details),
            .messageUnpinned(let details):
            details.message
        case .replyPosted(let details): details.message
        case .replyEdited(let details), .replyRetracted(let details), .replyRemoved(let details): details.message
        case .messageReported(let details), .messageReportsResolved(let details): details.message
        case .replyReported(let details), .replyReportsResolved(let details): details.message
        default: nil
        }
    }

    /// Whether the user caused the event, or another user caused it and it concerns them.
    func isOwn(of user: UserID) -> Bool { self.user == user || otherActor == user }

    /// The post that a moderator removed by the event, which concerns its author.
    var removedPost: PostID? {
        switch self {
        case .messageRemoved(let details): .message(details.message)
        case .replyRemoved(let details): .reply(details.reply)
        default: nil
        }
    }

    /// Whether the event changes which events a user may see.
    func changesRights(of user: UserID) -> Bool {
        switch self {
        case .threadJoined(let details): details.user == user
        case .threadLeft(let details): details.user == user
        case .memberRemoved(let details): details.user == user
        case .roleSet(let details): details.user == user
        case .operatorGranted(let details), .operatorRevoked(let details): details.user == user
        // Operators read a thread while it is not `inviteOnly`.
        case .threadPolicySet: true
        default: false
        }
    }
}

extension ReadModels {
    /// Whether a viewer may see an event.
    ///
    /// A viewer sees their own events. They see another event if they could read its thread, and
    /// the message that it is about, at the event's position and can read both now.
    ///
    /// - Complexity: As ``Projections/ReadModels/mayRead(_:_:asOf:)``; for a username change, once
    ///   per thread of the renamed user.
    func maySee(_ viewer: UserID, _ details: EventDetails, at position: Position, current: Position) -> Bool {
        if details.isOwn(of: viewer) || removesPost(of: viewer, details) { return true }
        switch details.audience {
        case .noOtherUser: return false
        case .readers(let thread): return maySee(viewer, details, in: thread, at: position, current: current)
        case .moderators(let thread):
            return maySee(viewer, details, in: thread, at: position, current: current)
                && moderates(viewer, thread, at: position, current: current)
        case .coMembers(let user):
            return threads(of: user, asOf: position).contains {
                readingStart(viewer, $0.thread, at: position, current: current).map { $0 < position } ?? false
            }
        }
    }

    /// Whether the event is the removal of a post of the user.
    private func removesPost(of user: UserID, _ details: EventDetails) -> Bool { details.removedPost.flatMap { authorID(of: $0) } == user }

    private func maySee(_ viewer: UserID, _ details: EventDetails, in thread: ThreadID, at position: Position, current: Position) -> Bool {
        guard let start = readingStart(viewer, thread, at: position, current: current) else { return false }
        if start == 0 { return true }
        guard position > start else { return false }
        guard let message = details.message else { return true }
        return postingPosition(of: message, asOf: current).map { $0 > start } ?? false
    }

    /// Returns the event redacted for a viewer; nil if they may not see it.
    ///
    /// A user's own events are complete, and so is, except for the correlation id, what moderators
    /// have done to them and to their posts. Events of other users contain no correlation id, no
    /// postcode, and only texts that are still current; a removed text and a reason are shown to
    /// moderators.
    func shown(_ recorded: RecordedEvent, to viewer: UserID, current: Position) -> RecordedEvent? {
        let details = recorded.event.details
        guard maySee(viewer, details, at: recorded.position, current: current) else { return nil }
        let actor = details.otherActor ?? details.user
        if actor == viewer { return recorded }
        var shown = recorded
        shown.event.correlation = nil
        if let actor { shown.isFromBlockedUser = isBlocked(actor, by: viewer, asOf: current) }
        // What concerns the viewer is complete, except for the other user's correlation id.
        if details.user == viewer || removesPost(of: viewer, details) { return shown }
        switch details {
        case .messagePosted(let details): redactBody(of: .message(details.message), details.thread, viewer, &shown, current: current)
        case .messageEdited(let details): redactBody(of: .message(details.message), details.thread, viewer, &shown, current: current)
        case .replyPosted(let details): redactBody(of: .reply(details.reply), details.thread, viewer, &shown, current: current)
        case .replyEdited(let details): redactBody(of: .reply(details.reply), details.thread, viewer, &shown, current: current)
        case .usernameChanged(let details):
            if namePosition(of: details.user, asOf: current) != recorded.position { shown.redact(.username) }
        case .postcodeSet: shown.redact(.postcode)
        case .messageRemoved(let details): redactReason(details.thread, viewer, &shown, current)
        case .replyRemoved(let details): redactReason(details.thread, viewer, &shown, current)
        case .userMuted(let details), .userBanned(let details): redactReason(details.thread, viewer, &shown, current)
        case .memberRemoved(let details): redactReason(details.thread, viewer, &shown, current)
        // A thread is never renamed, so its name is current; moderators see reports complete; the
        // other events have no content, or content that does not change.
        case .threadOpened, .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadPolicySet, .userInvited,
            .invitationDeclined, .invitationRevoked, .roleSet, .userUnmuted, .userUnbanned, .messagePinned, .messageUnpinned,
            .threadLocked, .threadUnlocked, .threadClosed, .messageReported, .replyReported, .messageReportsResolved,
            .replyReportsResolved, .custom:
            break
        // Visible to their own user only.
        case .userRegistered, .threadRead, .sessionStarted, .sessionEnded, .operatorGranted, .operatorRevoked, .userBlocked,
            .userUnblocked, .userErased, .contentErased, .lost, .unknown:
            return nil
        }
        return shown
    }

    private func redactBody(
        of post: PostID, _ thread: ThreadID, _ viewer: UserID, _ shown: inout RecordedEvent, current: Position
    ) {
        if isCurrentText(of: post, writtenAt: shown.position, includesRemoved: false, current: current) { return }
        if moderates(viewer, thread, asOf: current),
            isCurrentText(of: post, writtenAt: shown.position, includesRemoved: true, current: current)
        {
            return
        }
        shown.redact(.body)
    }

    private func redactReason(_ thread: ThreadID, _ viewer: UserID, _ shown: inout RecordedEvent, _ current: Position) {
        if !moderates(viewer, thread, asOf: current) { shown.redact(.reason) }
    }
}

extension RecordedEvent {
    /// Removes a field's content and records the redaction; erased content stays erased.
    fileprivate mutating func redact(_ field: RedactedFields) {
        guard !event.isErased else { return }
        event.content = event.content.withoutText
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
        case (.openThread(_, let name, _, _, _), .threadName(let first)):
            if !(ThreadName(name)?.text ?? name).isIdentical(to: first) { shown.redact(.name) }
        case (.postMessage(_, _, _, let body), .body(let first)), (.reply(_, _, _, let body), .body(let first)):
            if !body.isIdentical(to: first) { shown.redact(.body) }
        case (.startSession(_, _, let device), .device(let first)):
            if !device.isIdentical(to: first) { shown.redact(.device) }
        case (.custom(_, _, _, _, let payload), .custom(_, .present(let first))): if payload != first { shown.redact(.payload) }
        case (_, .none), (_, .erased), (_, .custom(_, .erased)): break
        // The event does not match the command, so the caller may see no content.
        default: shown.event.content = event.content.withoutText
        }
        return shown
    }
}

extension EventDetails {
    /// Whether the command produces the event.
    ///
    /// Only an opening has an id and produces further events, the policy and the join.
    fileprivate func isProduced(by command: ChatCommand) -> Bool {
        guard case .openThread(let thread, _, let user, _, _) = command else { return true }
        return switch self {
        case .threadOpened(let details): details.thread == thread
        case .threadPolicySet(let details): details.thread == thread
        case .threadJoined(let details): details.thread == thread && details.user == user
        default: false
        }
    }
}

extension String {
    /// Whether two strings have equal bytes; canonically equivalent strings can differ.
    fileprivate func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
