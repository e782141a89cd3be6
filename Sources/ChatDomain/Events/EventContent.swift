/// The text of an event that users wrote, and data that identifies them.
///
/// All of it is erasable, except for the kind of a custom event and the order of an erasure.
///
/// Every reader must expect content to be absent: ``erased`` if the journal no longer holds it or
/// never did, ``omitted`` if the caller did not ask for it or may not see it.
public enum EventContent: Hashable, Sendable {
    /// Events of this kind have no content.
    case none
    /// The journal does not hold the content.
    case erased
    /// The content exists in the journal but was not decoded or is hidden.
    case omitted
    /// The username and the subject of a registered user.
    case registration(Username, subject: String?)
    /// The new username.
    case username(Username)
    /// The new postcode.
    case postcode(Postcode)
    /// The name of the opened thread.
    case threadName(String)
    /// The body of a message, a reply or an edit.
    case body(String)
    /// The device description of a session.
    case device(String)
    /// The reason of a removal, a sanction or a report.
    case reason(String)
    /// The emoji of a reaction that was added or taken back.
    case emoji(Emoji)
    /// A user's profile text; empty if the user removed it.
    case about(String)
    /// The kind and the payload of a custom event.
    ///
    /// The kind is the text that the journal has, a ``CustomKind`` unless another program wrote it.
    /// It belongs to the kept part, so it is present even if the payload is not.
    case custom(kind: String, payload: PayloadContent)
    /// The reason of an erasure, and the positions of the events whose content was erased; the
    /// positions are nil in `userErased`.
    ///
    /// It belongs to the kept part, so it is always present.
    case erasure(reason: String, positions: PositionSet?)
    /// The bytes of an event of unknown kind: both parts, the erasable one nil once erased.
    case opaque(kept: [UInt8], erasable: [UInt8]?)
}

/// The payload of a custom event, or the reason why it is absent.
public enum PayloadContent: Hashable, Sendable {
    /// The payload.
    case present(CustomPayload)
    /// The journal does not hold the payload.
    case erased
    /// The payload exists in the journal but was not decoded or is hidden.
    case omitted
}

extension EventContent {
    /// The content without its text, as ``omitted``.
    package var withoutText: EventContent {
        if case .custom(let kind, _) = self { .custom(kind: kind, payload: .omitted) } else { .omitted }
    }

    /// The new username.
    package var username: Username? {
        switch self {
        case .registration(let username, _), .username(let username): username
        default: nil
        }
    }

    /// The identity provider's name for the registered user.
    package var subject: String? {
        if case .registration(_, let subject) = self { return subject }
        return nil
    }

    /// The new postcode.
    package var postcode: Postcode? {
        if case .postcode(let postcode) = self { return postcode }
        return nil
    }

    /// The emoji of a reaction.
    package var emoji: Emoji? {
        if case .emoji(let emoji) = self { return emoji }
        return nil
    }

    /// Returns the name of the opened thread; the thread of an outward code is named by the code.
    package func threadName(of thread: ThreadID) -> String? {
        if case .threadName(let name) = self { return name }
        return thread.outwardCode?.description
    }
}
