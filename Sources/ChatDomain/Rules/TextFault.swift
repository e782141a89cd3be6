extension ChatEvent {
    /// The fault of the event's text, if it breaks a rule of all versions.
    ///
    /// Rules that depend on the version of Unicode are not checked.
    package var textFault: HistoryFault? { textProblem.map { HistoryFault(problem: .invalidText, message: $0) } }

    private var textProblem: String? {
        // A newer version may record other ids in its own kinds.
        if let correlation, kind != nil, !CorrelationID.isValid(correlation) {
            return "the correlation id is not 1 to 256 bytes"
        }
        if let (form, text) = content.formAndText { return form.row.fault(text) }
        if let name = username?.text, !NameRules.isPossible(name, maximumBytes: Username.maximumByteCount) {
            return "the username is not valid"
        }
        if let subject, !Subject.isValid(subject) { return "the subject is not 1 to 256 bytes" }
        if case .erasure(let reason, _) = content, !ErasureReason.isValid(reason) {
            return "the reason of the erasure is not valid"
        }
        if case .custom(let kind, _) = content, CustomKind(kind) == nil { return "the kind is not a reverse-DNS name" }
        if let payload, !payload.isWithinLimit || CustomPayload(payload.text) == nil {
            return "the payload is not valid"
        }
        return nil
    }
}
