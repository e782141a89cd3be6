// The rules for texts that are stored as they are sent and have no type of their own; `MessageBody`
// has that of bodies.

/// The rule for the subject of a user: an identity provider's name for them.
package enum Subject {
    /// Whether a text is a subject: 1 to 256 bytes of UTF-8.
    package static func isValid(_ text: String) -> Bool { (1...256).contains(text.utf8.count) }
}

/// The rule for the correlation id of a command.
enum CorrelationID {
    /// Whether a text is a correlation id: 1 to 256 bytes of UTF-8.
    static func isValid(_ text: String) -> Bool { (1...256).contains(text.utf8.count) }
}

/// The rule for the description of a session's device.
enum DeviceDescription {
    /// Whether a text is a description: at most 1,024 bytes of UTF-8.
    static func isValid(_ text: String) -> Bool { text.utf8.count <= 1_024 }
}

/// The rule for the reason of a removal, a sanction or a report.
enum ModerationReason {
    /// The maximum length of a reason, in bytes of UTF-8.
    static var maximumByteCount: Int { 512 }

    /// Whether a text is a reason: at most ``maximumByteCount`` bytes, and otherwise as a body.
    static func isValid(_ text: String) -> Bool { text.utf8.count <= maximumByteCount && MessageBody.isValid(text) }
}
