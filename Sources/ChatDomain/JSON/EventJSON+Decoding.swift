import Primitives

/// Decodes the JSON of a recorded event.
///
/// Decoding is strict, so that no data is lost: an unknown field, a missing field, a second kind,
/// content beside `"erased":true`, and missing content without it are errors. If `foldKey` is
/// missing, ``Username/foldKey(_:)`` computes it; the result can differ from the recorded key under
/// a later version of Unicode. ``ExportedEvent`` also decodes `commitEnd`. An event of unknown kind
/// is decoded from its bytes, and the other fields must agree with them.
extension RecordedEvent: Decodable {
    /// Decodes the event.
    ///
    /// - Throws: `DecodingError` with the path of the invalid field.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        let envelope: [FieldKey] = [
            .position, .recordedAt, .sentAt, .imported, .correlation, .once, .erased, .redacted, .blocked, .inbox,
            .commitEnd,
        ]
        let keys = container.allKeys.filter { !envelope.contains($0) }.sorted { $0.stringValue < $1.stringValue }
        guard let key = keys.first else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "no event kind in this object"))
        }
        let kind = EventKind(name: key.stringValue)
        let isKnown = kind != nil || key == .unknown
        try container.rejectFields(otherThan: envelope + (isKnown ? [key] : []))

        let position: Position = try container.decodeInteger(.position)
        guard position > 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .position, in: container, debugDescription: "a position is at least 1")
        }
        let recordedAt = try container.decodeTime(.recordedAt)
        guard ChatEvent.recordableTimes.contains(recordedAt) else {
            throw DecodingError.dataCorruptedError(
                forKey: .recordedAt, in: container, debugDescription: "outside the range of recording times")
        }
        let sentAt = try container.decodeIfPresent(String.self, forKey: .sentAt).map { _ in
            try container.decodeTime(.sentAt)
        }
        let isImported = try container.decodeFlag(.imported) || sentAt != nil
        let isErased = try container.decodeFlag(.erased)
        let correlation = try container.decodeIfPresent(String.self, forKey: .correlation)
        guard correlation == nil || !isErased else {
            throw DecodingError.dataCorruptedError(
                forKey: .correlation, in: container, debugDescription: "an erased event has no correlation id")
        }
        let origin: EventOrigin = isImported ? .imported(sentAt: sentAt) : .native
        let header = EventRow(
            kind: kind, flags: EventFlags(origin, hasCorrelation: correlation != nil), recordedAt: recordedAt,
            createdAt: sentAt ?? recordedAt)
        let redacted = try container.decodeRedactedFields()
        guard redacted.isEmpty || !isErased else {
            throw DecodingError.dataCorruptedError(
                forKey: .redacted, in: container, debugDescription: "an erased event has no redacted fields")
        }
        let fields = EventFields(
            container: try container.nestedContainer(keyedBy: FieldKey.self, forKey: key), isErased: isErased,
            isRedacted: !redacted.isEmpty)
        guard redacted.isSubset(of: kind?.form.redactable ?? []) else {
            throw DecodingError.dataCorruptedError(
                forKey: .redacted, in: container, debugDescription: "this kind of event does not have these fields")
        }
        let once = try container.decodeIfPresent(CommandID.self, forKey: .once)
        guard once == nil || kind?.form.takesOnce == true else {
            throw DecodingError.dataCorruptedError(
                forKey: .once, in: container, debugDescription: "this kind of event does not have an id of its command")
        }
        var event: ChatEvent
        if let kind {
            event = try fields.decode(kind.form, into: header, correlation: correlation)
        } else {
            event = try fields.decodeUnknownEvent(header, correlation: correlation)
        }
        if once != nil { event.once = once }
        self.init(
            position: position, event: event, redacted: redacted, isFromBlockedUser: try container.decodeFlag(.blocked),
            inbox: container.contains(.inbox) ? try container.decodeName(.inbox) : nil)
    }
}

extension KeyedDecodingContainer where K == FieldKey {
    /// Decodes a recorded time, including years outside 0000 to 9999.
    func decodeTime(_ key: FieldKey) throws -> Timestamp {
        guard let time = Timestamp(printed: try decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "not a date-time of RFC 3339, such as 2026-11-21T05:03:12.123Z"
            )
        }
        return time
    }

    /// Decodes the name of a case.
    func decodeName<Name: RawRepresentable & CaseIterable>(_ key: FieldKey) throws -> Name
    where Name.RawValue == String {
        guard let name = Name(rawValue: try decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self,
                debugDescription: "not one of \(Name.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return name
    }

    /// Decodes a field that is true or absent.
    fileprivate func decodeFlag(_ key: FieldKey) throws -> Bool {
        guard contains(key) else { return false }
        guard try decode(Bool.self, forKey: key) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "must be true or absent")
        }
        return true
    }

    /// Decodes the list of redacted fields, which are distinct and in their defined order.
    fileprivate func decodeRedactedFields() throws -> RedactedFields {
        guard contains(.redacted) else { return [] }
        let names = try decode([String].self, forKey: .redacted)
        let found = RedactedFields.keysByField.filter { names.contains($0.key.stringValue) }
        guard !names.isEmpty, found.map(\.key.stringValue) == names else {
            throw DecodingError.dataCorruptedError(
                forKey: .redacted, in: self,
                debugDescription: "not a list of distinct redactable fields in their defined order")
        }
        return found.reduce(into: []) { $0.insert($1.field) }
    }
}
