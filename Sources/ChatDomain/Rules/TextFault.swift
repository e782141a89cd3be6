extension ChatEvent {
    /// The fault of the event's text, if it breaks a rule of all versions.
    ///
    /// Rules that depend on the version of Unicode are not checked.
    package var textFault: HistoryFault? { textProblem.map { HistoryFault(problem: .invalidText, message: $0) } }

    private var textProblem: String? {
        // A newer version may record other ids in its own kinds.
        if let correlation, kind != nil, !CorrelationID.isValid(correlation) { return "the correlation id is not 1 to 256 bytes" }
        if let device, !DeviceDescription.isValid(device) { return "the device description is over 1,024 bytes" }
        if let body, !MessageBody.isValid(body) { return "the body is empty or over \(MessageBody.maximumByteCount) bytes" }
        if let name = username?.text, !Self.isPossibleName(name, maximumByteCount: Username.maximumByteCount) {
            return "the username is not valid"
        }
        if case .threadName(let name) = content {
            if !Self.isPossibleName(name, maximumByteCount: ThreadName.maximumByteCount) { return "the thread's name is not valid" }
            if OutwardCode(name) != nil { return "the thread's name is an outward code" }
        }
        if let subject, !Subject.isValid(subject) { return "the subject is not 1 to 256 bytes" }
        if case .erasure(let reason, _) = content {
            return ErasureReason.isValid(reason) ? nil : "the reason of the erasure is not valid"
        }
        if let reason, !ModerationReason.isValid(reason) {
            return "the reason is empty or over \(ModerationReason.maximumByteCount) bytes"
        }
        if let emoji, !emoji.isPossible { return "the emoji of the reaction is not valid" }
        if case .custom(let kind, _) = content, CustomKind(kind) == nil { return "the kind is not a reverse-DNS name" }
        if let payload, !payload.isWithinLimit || CustomPayload(payload.text) == nil { return "the payload is not valid" }
        return nil
    }

    private static func isPossibleName(_ name: String, maximumByteCount: Int) -> Bool {
        (1...maximumByteCount).contains(name.utf8.count) && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
