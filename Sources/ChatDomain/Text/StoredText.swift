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

/// The rule for a user's profile text.
enum ProfileText {
    /// The maximum length of a text, in Unicode scalars.
    static var maximumScalarCount: Int { 500 }

    /// Returns a text as it is recorded: without white space around it.
    static func trimmed(_ text: String) -> String { NameRules.trimmed(text) }

    /// Whether a text is at most ``maximumScalarCount`` scalars, of which none is a control
    /// character other than a line feed or a carriage return; the empty text is one.
    ///
    /// - Complexity: O(1) for a text that is too long and native to Swift.
    static func isValid(_ text: String) -> Bool {
        // A scalar has at most four bytes.
        guard text.utf8.count <= 4 * maximumScalarCount else { return false }
        let scalars = text.unicodeScalars
        return scalars.count <= maximumScalarCount
            && scalars.allSatisfy { $0 == "\n" || $0 == "\r" || $0.properties.generalCategory != .control }
    }
}
