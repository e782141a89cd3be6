import Primitives

/// The JSON of a recorded event.
///
/// For example `{"position":12,"recordedAt":"2026-11-21T05:03:12.123Z","messagePosted":{...}}`.
/// `sentAt`, `correlation` and `once` appear only if the event has them, and `"imported":true` only for an
/// imported event. `"erased":true` marks an event whose content the journal no longer holds; its
/// content fields are null. `"redacted":["body"]` lists the fields that are null because they are
/// hidden from the reader.
extension RecordedEvent: Encodable {
    /// Encodes the event with its fields in the order of <doc:EventJSON>.
    ///
    /// `JSONEncoder` does not preserve that order in its output.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try encode(to: &container)
    }

    /// Writes the fields of the event's object.
    ///
    /// - Parameter isExport: Whether to write the fold key after a username.
    package func encode(to object: inout some JSONFieldWriter, isExport: Bool = false) throws {
        try object.encode(position, forKey: .position)
        try encodeEvent(to: &object, isExport: isExport)
    }

    /// Writes the fields of the event's object but its position.
    fileprivate func encodeEvent(to object: inout some JSONFieldWriter, isExport: Bool) throws {
        try object.encode(event.recordedAt, forKey: .recordedAt)
        if let sentAt = event.origin.sentAt { try object.encode(sentAt, forKey: .sentAt) }
        if event.origin != .native { try object.encode(true, forKey: .imported) }
        if let correlation = event.correlation { try object.encode(correlation, forKey: .correlation) }
        if let once = event.once { try object.encode(id: once.bits, forKey: .once) }
        if event.isErased { try object.encode(true, forKey: .erased) }
        if !redacted.isEmpty {
            try object.encode(
                RedactedFields.keysByField.filter { redacted.contains($0.field) }.map(\.key.stringValue),
                forKey: .redacted)
        }
        if isFromBlockedUser { try object.encode(true, forKey: .blocked) }
        if let inbox { try object.encode(inbox.rawValue, forKey: .inbox) }
        let key = event.kind.map { FieldKey($0.name) } ?? .unknown
        try object.encodeObject(forKey: key) { fields in try encodeFields(to: &fields, isExport: isExport) }
    }

    /// Writes the fields of the event's kind, and the outward code if the postcode is redacted.
    package func encodeFields(to fields: inout some JSONFieldWriter, isExport: Bool = false) throws {
        try event.encodeFields(to: &fields, isExport: isExport)
        if redacted.contains(.postcode), let thread = event.row.relatedThreadID {
            try fields.encode(thread.outwardCode?.description, forKey: .outwardCode)
        }
    }
}

extension RecordedEvent: CustomStringConvertible {
    /// The event's JSON as an export has it, with the fold key of a username.
    public var description: String { JSONLineMembers.text { try encode(to: &$0, isExport: true) } }
}

extension ChatEvent: CustomStringConvertible {
    /// The event's JSON as an export has it, without a position.
    public var description: String {
        JSONLineMembers.text { try RecordedEvent(position: 0, event: self).encodeEvent(to: &$0, isExport: true) }
    }
}

extension EventDetails: CustomStringConvertible {
    /// The JSON of an event of these details, with its kind and its fields only; what is content is
    /// null.
    public var description: String {
        let event = ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 0), details: self)
        return JSONLineMembers.text { object in
            try object.encodeObject(forKey: kind.map { FieldKey($0.name) } ?? .unknown) { fields in
                try event.encodeFields(to: &fields, isExport: false)
            }
        }
    }
}

extension ChatEvent {
    /// Writes the fields of the event's kind.
    fileprivate func encodeFields(to fields: inout some JSONFieldWriter, isExport: Bool) throws {
        guard let form = kind?.form else {
            guard case .opaque(let kept, let erasable) = content, let kind = kept.first else { return }
            try fields.encode(UInt64(kind), forKey: .kind)
            try fields.encode(Hexadecimal.text(of: kept), forKey: .kept)
            return try fields.encode(erasable.map { Hexadecimal.text(of: $0) }, forKey: .erasable)
        }
        for field in form.layout(row.flags).json {
            switch field {
            case .user: try fields.encode(id: row.user, forKey: FieldKey(form.userKey.rawValue))
            case .thread, .message, .parent, .reply, .session, .customEvent, .otherActor, .blocked:
                try fields.encode(id: row[id: field], forKey: field.key)
            case .edit: if let edit = row.edit { try fields.encode(id: edit, forKey: .edit) }
            case .number, .upTo, .from: try fields.encode(row.number, forKey: field.key)
            case .policy: try fields.encode(row.policyAndHistory.policy.rawValue, forKey: .policy)
            case .history: try fields.encode(row.policyAndHistory.history.rawValue, forKey: .history)
            case .role: try fields.encode((ThreadRole(code: row.value) ?? .member).rawValue, forKey: .role)
            case .until: try fields.encode(row.until?.description, forKey: .until)
            case .level: try fields.encode(row.level.rawValue, forKey: .level)
            case .customKind: if case .custom(let kind, _) = content { try fields.encode(kind, forKey: .kind) }
            case .erasureReason: try fields.encode(reason, forKey: .reason)
            case .ranges:
                try fields.encode(
                    erasedPositions?.ranges.map { [$0.lowerBound, $0.upperBound] } ?? [], forKey: .ranges)
            case .content:
                try encodeContent(form.content, to: &fields, isExport: isExport)
                if !mentions.isEmpty, let key = form.listKey {
                    try fields.encode(mentions.map(\.description), forKey: key)
                }
            }
        }
    }

    /// Writes the fields of the content, which are null if it is absent.
    private func encodeContent(_ form: ContentForm, to fields: inout some JSONFieldWriter, isExport: Bool) throws {
        switch form {
        case .registration, .username:
            try fields.encode(username?.text, forKey: .username)
            if isExport { try fields.encode(username?.foldKey, forKey: .foldKey) }
            if form == .registration { try fields.encode(subject, forKey: .subject) }
        case .postcode: try fields.encode(postcode?.description, forKey: .postcode)
        case .threadName: try fields.encode(threadName, forKey: .name)
        case .payload: try fields.encode(payload, forKey: .payload)
        default: if let key = form.row.key { try fields.encode(content.text(of: form), forKey: key) }
        }
    }
}

/// A destination for the fields of an event's or a command's JSON object: an encoder's container or
/// a line's bytes.
package protocol JSONFieldWriter {
    mutating func encode(_ value: Bool, forKey key: FieldKey) throws
    mutating func encode(_ value: UInt64, forKey key: FieldKey) throws
    mutating func encode(_ value: Timestamp, forKey key: FieldKey) throws
    mutating func encode(_ value: [String], forKey key: FieldKey) throws
    mutating func encode(_ value: [[UInt64]], forKey key: FieldKey) throws
    /// Writes a string, or null for nil.
    mutating func encode(_ value: String?, forKey key: FieldKey) throws
    /// Writes the JSON value of a payload, as it is written where the destination is text, or null
    /// for nil.
    mutating func encode(_ payload: CustomPayload?, forKey key: FieldKey) throws
    /// Writes the text form of an id.
    mutating func encode(id: UInt128, forKey key: FieldKey) throws
    /// Writes an object whose fields the closure writes.
    mutating func encodeObject(forKey key: FieldKey, _ fields: (inout Self) throws -> Void) throws
}

extension KeyedEncodingContainer: JSONFieldWriter where K == FieldKey {
    package mutating func encode(id: UInt128, forKey key: FieldKey) throws {
        try encode(UUIDText.format(id), forKey: key)
    }

    package mutating func encodeObject(forKey key: FieldKey, _ fields: (inout Self) throws -> Void) throws {
        var object = nestedContainer(keyedBy: FieldKey.self, forKey: key)
        try fields(&object)
    }
}

/// An event in the form of an export: with fold keys and the end of its commit.
///
/// An import uses these two fields to reproduce the same history in the same commits.
public struct ExportedEvent: Hashable, Sendable {
    /// The event and its position.
    public var recorded: RecordedEvent
    /// The last position of the event's commit.
    ///
    /// It is nil if unknown, as in an export of an earlier version.
    public var commitEnd: Position?

    /// Creates an exported event.
    public init(_ recorded: RecordedEvent, commitEnd: Position? = nil) {
        self.recorded = recorded
        self.commitEnd = commitEnd
    }
}

extension ExportedEvent: Codable {
    /// Decodes an event of an export.
    ///
    /// - Throws: `DecodingError` with the path of the invalid field. An event with `redacted` is an
    ///   error, because it is incomplete.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        guard !container.contains(.redacted) else {
            throw DecodingError.dataCorruptedError(
                forKey: .redacted, in: container,
                debugDescription: "an event that was redacted for a viewer is incomplete")
        }
        let commitEnd: Position? =
            try !container.contains(.commitEnd) || container.decodeNil(forKey: .commitEnd)
            ? nil : container.decodeInteger(.commitEnd)
        self.init(try RecordedEvent(from: decoder), commitEnd: commitEnd)
    }

    /// Encodes the event as ``RecordedEvent`` does, adding `foldKey` after `username` and
    /// `commitEnd` at the end.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try encode(to: &container)
    }

    /// Writes the fields of the event's object.
    package func encode(to object: inout some JSONFieldWriter) throws {
        try recorded.encode(to: &object, isExport: true)
        if let commitEnd { try object.encode(commitEnd, forKey: .commitEnd) }
    }
}

extension RedactedFields {
    /// The fields and their names in JSON, in the order of the `redacted` list: that of the bits.
    package static let keysByField: [(field: RedactedFields, key: FieldKey)] = (0..<UInt8.bitWidth).compactMap { bit in
        let field = RedactedFields(rawValue: 1 << bit)
        return ContentForm.allCases.first { $0.row.redactable == field }?.row.key.map { (field, $0) }
    }
}
