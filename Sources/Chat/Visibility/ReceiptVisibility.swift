import ChatDomain
import EventJournal
import Projections

extension ReadModels {
    /// Returns the original events of a duplicate command as its sender may see them.
    func shown(_ events: [RecordedEvent], toCallerOf request: CommandRequest) -> [RecordedEvent] {
        guard let first = events.first?.event else { return [] }
        let own = events.prefix(1) + events.dropFirst().prefix { $0.event.goesOn(with: first, request.command) }
        return own.compactMap { original in
            var shown = original
            if let actor = request.command.actor, original.event.correlation != nil,
                correlationOwner(of: original.event, at: original.position) != actor
            {
                shown.event.correlation = nil
            }
            return shown.shown(toCallerOf: request)
        }
    }
}

extension RecordedEvent {
    /// Returns an original event as the sender of a duplicate command may see it.
    ///
    /// It contains only text that this sender sent too. The result is nil for an event that the
    /// command does not produce, such as the event after an opening whose join is missing.
    func shown(toCallerOf request: CommandRequest) -> RecordedEvent? {
        guard event.isProduced(by: request.command) else { return nil }
        var shown = self
        if shown.event.correlation != request.correlation { shown.event.correlation = nil }
        let command = request.command
        // Those of an erased text too, which no longer tells whether the caller sent it. A text that the
        // caller sent too tells who was found in it.
        if command.kind != .openDirect, !command.findsMentions || event.body?.isIdentical(to: command.text) != true {
            shown.event.mentions.removeAll { !command.listedMentions.contains($0) }
        }
        switch event.content {
        case .registration(let username, let first):
            if !(Username(command.text)?.text ?? command.text).isIdentical(to: username.text) {
                shown.redact(.username)
            } else if first?.isIdentical(to: command.label ?? "") != true {
                shown.event.content = .registration(username, subject: nil)
            }
        case .threadName(let first):
            if !(ThreadName(command.text)?.text ?? command.text).isIdentical(to: first) { shown.redact(.name) }
        case .body(let first): if !command.text.isIdentical(to: first) { shown.redact(.body) }
        case .device(let first): if !command.text.isIdentical(to: first) { shown.redact(.device) }
        case .custom(_, .present(let first)): if command.payload != first { shown.redact(.payload) }
        case .none, .erased, .custom(_, .erased): break
        // A repeat answers with no other content.
        default:
            if !event.content.isIdentical(to: command.content(of: event.kind)) {
                shown.event.content = event.content.withoutText
            }
        }
        return shown
    }
}

extension ChatEvent {
    /// Whether the command produces the event.
    ///
    /// Only an opening has an id and produces further events, the policy and the join.
    fileprivate func isProduced(by command: ChatCommand) -> Bool {
        if command.kind == .openDirect { return kind == .directOpened || kind == .threadJoined }
        guard command.kind == .openThread else { return true }
        return switch kind {
        case .threadOpened, .threadPolicySet: thread?.bits == command.id
        case .threadJoined: thread?.bits == command.id && user == command.actor
        default: false
        }
    }
}

extension ChatEvent {
    /// Whether an event after the first one of a command is of the same command.
    ///
    /// A change of postcode opens or joins the thread of the outward code, and a ban ends a membership.
    /// The range of the positions of an opening says it by itself.
    fileprivate func goesOn(with first: ChatEvent, _ command: ChatCommand) -> Bool {
        guard command.kind.takesOnce else { return true }
        let isOfOneCommand = recordedAt == first.recordedAt && user == first.user && once == nil
        return isOfOneCommand && row.relatedThreadID == first.row.relatedThreadID
            && [.threadOpened, .threadJoined, .memberRemoved].contains(kind)
    }
}

extension ChatCommand {
    /// Returns the content that the command gives an event of this kind.
    fileprivate func content(of kind: EventKind?) -> EventContent {
        switch kind {
        case .usernameChanged: Username(text).map(EventContent.username) ?? .none
        case .postcodeSet: Postcode(text).map(EventContent.postcode) ?? .none
        default: unindexedContent(of: kind)
        }
    }
}

extension EventContent {
    /// Whether two contents of one kind have the same text, byte by byte.
    fileprivate func isIdentical(to other: EventContent) -> Bool {
        switch (self, other) {
        case (.username(let first), .username(let second)): first.text.isIdentical(to: second.text)
        case (.reason(let first), .reason(let second)), (.about(let first), .about(let second)):
            first.isIdentical(to: second)
        default: self == other
        }
    }
}

extension String {
    /// Whether two strings have equal bytes; canonically equivalent strings can differ.
    fileprivate func isIdentical(to other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
