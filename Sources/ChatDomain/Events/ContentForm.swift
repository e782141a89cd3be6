/// The form of an event's content; the bytes and the fields in JSON follow from it.
enum ContentForm: Sendable {
    case none, registration, username, postcode, threadName, body, device, reason, payload, erasure, emoji

    /// The field that can be redacted, and is then listed; none for ``none``, ``erasure`` and
    /// ``emoji``.
    var redactable: RedactedFields {
        switch self {
        // Every reader of an event sees its emoji.
        case .none, .erasure, .emoji: []
        case .registration, .username: .username
        case .postcode: .postcode
        case .threadName: .name
        case .body: .body
        case .device: .device
        case .reason: .reason
        case .payload: .payload
        }
    }
}
