/// The form of an event's content.
///
/// A form that is one text is described in this file alone: by its row, and by the two functions
/// that make and read its content. The bytes, the JSON, the redaction, the text that a command
/// gives and the fault of a text follow. A form that is more than one text has, beside its row, its
/// own bytes and JSON.
enum ContentForm: CaseIterable, Sendable {
    case none, registration, username, postcode, threadName, body, device, reason, payload, erasure, emoji, about

    /// Whether the rules or the read models index the content.
    ///
    /// Not in the row, which has a function: a replay asks this of each event.
    @inline(__always)
    var isIndexed: Bool {
        switch self {
        case .registration, .username, .postcode, .threadName, .emoji: true
        default: false
        }
    }

    /// The form's row in the table of contents.
    var row: ContentRow {
        switch self {
        // The kept part has the order of an erasure.
        case .none, .erasure: ContentRow()
        case .registration: ContentRow(key: .username, furtherKeys: [.foldKey, .subject], redactable: .username)
        case .username: ContentRow(key: .username, furtherKeys: [.foldKey], redactable: .username)
        case .postcode: ContentRow(key: .postcode, redactable: .postcode)
        case .payload: ContentRow(key: .payload, redactable: .payload)
        case .threadName:
            ContentRow(key: .name, redactable: .name) {
                if !NameRules.isPossible($0, maximumBytes: ThreadName.maximumByteCount) {
                    return "the thread's name is not valid"
                }
                return OutwardCode($0) != nil ? "the thread's name is an outward code" : nil
            }
        case .body:
            ContentRow(key: .body, redactable: .body) {
                MessageBody.isValid($0) ? nil : "the body is empty or over \(MessageBody.maximumByteCount) bytes"
            }
        case .device:
            ContentRow(key: .device, redactable: .device) {
                DeviceDescription.isValid($0) ? nil : "the device description is over 1,024 bytes"
            }
        case .reason:
            ContentRow(key: .reason, redactable: .reason) {
                ModerationReason.isValid($0)
                    ? nil : "the reason is empty or over \(ModerationReason.maximumByteCount) bytes"
            }
        // Every reader of an event sees its emoji.
        case .emoji:
            ContentRow(key: .emoji) { Emoji(recorded: $0).isPossible ? nil : "the emoji of the reaction is not valid" }
        case .about:
            ContentRow(key: .about, redactable: .about) {
                ProfileText.isValid($0)
                    ? nil
                    : "the text about the user is over \(ProfileText.maximumScalarCount) characters or has a control character"
            }
        }
    }
}

/// What is the same in all contents of a form: a row of the table of contents.
struct ContentRow {
    /// The key in JSON; nil if the form has no field of its own.
    var key: FieldKey?
    /// The keys of the fields that follow in JSON, for a form that is more than one text.
    var furtherKeys: [FieldKey] = []
    /// The field that can be redacted, and is then listed by the name of ``key``.
    var redactable: RedactedFields = []
    /// Returns the rule of all versions that a text breaks, or nil, for a form that is one text.
    var fault: (String) -> String? = { _ in nil }

    /// The keys in JSON, in their order.
    var keys: [FieldKey] { key.map { [$0] + furtherKeys } ?? [] }
}

/// The contents that are one text; direct switches, because events are encoded and decoded with
/// them.
extension EventContent {
    /// Creates the content of a form that is one text, without a check; nil for another form.
    @inline(__always)
    init?(_ form: ContentForm, recorded text: String) {
        switch form {
        case .threadName: self = .threadName(text)
        case .body: self = .body(text)
        case .device: self = .device(text)
        case .reason: self = .reason(text)
        case .emoji: self = .emoji(Emoji(recorded: text))
        case .about: self = .about(text)
        default: return nil
        }
    }

    /// The form and the text of a content that is one text.
    @inline(__always)
    var formAndText: (form: ContentForm, text: String)? {
        switch self {
        case .threadName(let text): (.threadName, text)
        case .body(let text): (.body, text)
        case .device(let text): (.device, text)
        case .reason(let text): (.reason, text)
        case .emoji(let emoji): (.emoji, emoji.text)
        case .about(let text): (.about, text)
        default: nil
        }
    }

    /// Returns the text of a content of this form; nil if the content is absent or has another
    /// form.
    @inline(__always)
    func text(of form: ContentForm) -> String? { formAndText.flatMap { $0.form == form ? $0.text : nil } }
}
