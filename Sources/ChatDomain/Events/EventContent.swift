/// The erasable part of what happened: the text that people wrote, and what identifies them beyond an id.
///
/// Whoever shows content copes with its absence: it is ``erased`` once it has been erased or withheld from the journal, and ``omitted`` when a reader asked for facts alone.
public enum EventContent: Hashable, Sendable {
    /// Events of this kind have no content.
    case none
    /// The journal no longer holds the content.
    case erased
    /// The content is in the journal and was not decoded.
    case omitted
    /// The username and the subject of who registered.
    case registration(Username, subject: String?)
    /// The username that was taken.
    case username(Username)
    /// The postcode that was set.
    case postcode(Postcode)
    /// The name of the thread that was opened.
    case threadName(String)
    /// What a message, a reply or an edit says.
    case body(String)
    /// The description of the device of a session.
    case device(String)
    /// The bytes of an event of unknown kind: the whole kept part, and the whole erasable part (nil once erased).
    case opaque(kept: [UInt8], erasable: [UInt8]?)
}

extension EventContent {
    /// The username that was taken.
    package var username: Username? {
        switch self {
        case .registration(let username, _), .username(let username): username
        default: nil
        }
    }

    /// The identity provider's own name for the user who registered.
    package var subject: String? {
        if case .registration(_, let subject) = self { return subject }
        return nil
    }

    /// The postcode that was set.
    package var postcode: Postcode? {
        if case .postcode(let postcode) = self { return postcode }
        return nil
    }

    /// The name of the thread that was opened: an outward code's thread is named by the code.
    package func threadName(of thread: ThreadID) -> String? {
        if case .threadName(let name) = self { return name }
        return thread.outwardCode?.description
    }
}
