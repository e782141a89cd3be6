import ChatDomain
import Projections

// The access rules of event sequences: which events a viewer sees, and what of them.

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

extension ChatEvent {
    /// The other users who may see the event, by the table of kinds.
    var audience: Audience {
        switch (kind?.form.audience ?? .noOtherUser, relatedThread, user) {
        case (.readers, let thread?, _): .readers(thread)
        case (.moderators, let thread?, _): .moderators(thread)
        case (.coMembers, _, let user?): .coMembers(user)
        default: .noOtherUser
        }
    }

    /// The user who acted; nil if the host did, which makes operators and erases content.
    package var actor: UserID? {
        switch kind {
        case .operatorGranted, .operatorRevoked, .userErased: nil
        default: otherActor ?? user
        }
    }

    /// Whether the user caused the event, or another user caused it and it concerns them.
    func isOwn(of user: UserID) -> Bool { self.user == user || otherActor == user }

    /// The post that a moderator removed by the event, which concerns its author.
    var removedPost: PostID? { kind == .messageRemoved || kind == .replyRemoved ? post : nil }

    /// Whether the event may end a user's right to read a thread, which no event about a post does.
    var mayEndAccess: Bool { kind == .operatorRevoked || relatedThread != nil && message == nil }

    /// Whether the event changes which events a user may see.
    func changesRights(of user: UserID) -> Bool {
        switch kind {
        case .threadJoined, .threadLeft, .memberRemoved, .roleSet, .operatorGranted, .operatorRevoked: self.user == user
        // Operators read a thread while it is not `inviteOnly`.
        case .threadPolicySet, .lost, .historyRepaired: true
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
    func maySee(_ viewer: UserID, _ event: ChatEvent, at position: Position, current: Position) -> Bool {
        if event.isOwn(of: viewer) || removesPost(of: viewer, event) { return true }
        switch event.audience {
        case .noOtherUser: return false
        case .readers(let thread): return maySee(viewer, event, in: thread, at: position, current: current)
        case .moderators(let thread):
            if let post = event.post, isDirect(thread) {
                let now = Viewpoint(viewer: .user(viewer), position: current, currentPosition: current)
                return decidesReports(viewer, of: post, in: thread, from: now)
            }
            return maySee(viewer, event, in: thread, at: position, current: current)
                && moderates(viewer, thread, at: position, current: current)
        case .coMembers(let user):
            return threads(of: user, asOf: position).contains {
                readingStart(viewer, $0.thread, at: position, current: current).map { $0 < position } ?? false
            }
        }
    }

    /// Whether the event is the removal of a post of the user.
    private func removesPost(of user: UserID, _ event: ChatEvent) -> Bool {
        event.removedPost.flatMap { authorID(of: $0) } == user
    }

    private func maySee(
        _ viewer: UserID, _ event: ChatEvent, in thread: ThreadID, at position: Position, current: Position
    ) -> Bool {
        guard let start = readingStart(viewer, thread, at: position, current: current) else { return false }
        if start == 0 { return true }
        guard position > start else { return false }
        guard let message = event.message else { return true }
        return messagePosition(of: .message(message), asOf: current).map { $0 > start } ?? false
    }

    /// Returns the user who chose the correlation id of an event: the one who acted; nil for the
    /// host.
    ///
    /// Earlier versions gave the joins that belong to the opening of a direct thread that of the
    /// opener.
    func correlationOwner(of event: ChatEvent, at position: Position) -> UserID? {
        if event.kind == .threadJoined, let thread = event.thread, let opener = opener(ofJoinAt: position, in: thread) {
            return opener
        }
        return event.actor
    }

    /// Returns the event redacted for a viewer; nil if they may not see it.
    ///
    /// A user's own events are complete, and so is what moderators have done to them and to their
    /// posts, except for the correlation id of another user or the host. Events of other users
    /// contain no postcode, and only texts that are still current; a removed text and a reason are
    /// shown to moderators.
    func shown(_ recorded: RecordedEvent, to viewer: UserID, current: Position) -> RecordedEvent? {
        let event = recorded.event
        guard maySee(viewer, event, at: recorded.position, current: current) else { return nil }
        var shown = recorded
        if event.correlation != nil, correlationOwner(of: event, at: recorded.position) != viewer {
            shown.event.correlation = nil
        }
        if event.once != nil, event.actor != viewer { shown.event.once = nil }
        let actor = event.otherActor ?? event.user
        if actor == viewer { return shown }
        if let actor { shown.isFromBlockedUser = isBlocked(actor, by: viewer, asOf: current) }
        // What concerns the viewer is complete, except for the correlation id of another, and for
        // the reason that was given to somebody who never was a member.
        if event.user == viewer || removesPost(of: viewer, event) {
            if event.user == viewer, event.kind?.form.redactable == .reason, let thread = event.thread,
                !isReasonShown(to: viewer, in: thread, at: recorded.position)
            {
                shown.redact(.reason)
            }
            return shown
        }
        guard let form = event.kind?.form, form.audience != .noOtherUser else { return nil }
        switch form.redactable {
        case .body:
            if let post = event.post, let thread = event.thread {
                redactBody(of: post, thread, viewer, &shown, current: current)
            }
        case .username:
            if event.user.flatMap({ shownNamePosition(of: $0, to: viewer, current) }) != recorded.position {
                shown.redact(.username)
            }
        case .postcode: shown.redact(.postcode)
        case .about:
            if event.user.flatMap({ aboutPosition(of: $0, asOf: current) }) != recorded.position {
                shown.redact(.about)
            }
        // Moderators see reports complete, and no others see them.
        case .reason where form.audience == .moderators: break
        case .reason: if let thread = event.thread { redactReason(thread, viewer, &shown, current) }
        case .name:
            if event.thread.flatMap({ namePosition(of: $0, asOf: current) }) != recorded.position {
                shown.redact(.name)
            }
        // A payload does not change.
        case .payload, []: break
        // No other content is shown.
        default: return nil
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

    /// Returns the position of the event that gave a user the name that a viewer is shown; nil if
    /// none did.
    private func shownNamePosition(of user: UserID, to viewer: UserID, _ current: Position) -> Position? {
        var names = ShownNames(from: Viewpoint(viewer: .user(viewer), position: current, currentPosition: current))
        return userIndex(user).flatMap { names.position(of: $0, in: nil, self) }.flatMap {
            namePosition(of: user, asOf: $0)
        }
    }

    private func redactReason(_ thread: ThreadID, _ viewer: UserID, _ shown: inout RecordedEvent, _ current: Position) {
        if !moderates(viewer, thread, asOf: current) { shown.redact(.reason) }
    }
}

extension RecordedEvent {
    /// Removes a field's content and records the redaction; erased content stays erased.
    ///
    /// A text takes with it the users whom it mentions, also if it was erased, which keeps them.
    mutating func redact(_ field: RedactedFields) {
        if field == .body { event.mentions = [] }
        guard !event.isErased else { return }
        event.content = event.content.withoutText
        redacted.insert(field)
    }
}
