import Primitives

/// The JSON of a recorded event.
///
/// For example `{"position":12,"recordedAt":"2026-11-21T05:03:12.123Z","messagePosted":{...}}`.
/// `sentAt` and `correlation` appear only if the event has them, and `"imported":true` only for an
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
    package func encode(to object: inout some EventFieldWriter, isExport: Bool = false) throws {
        try object.encode(position, forKey: .position)
        try object.encode(event.recordedAt, forKey: .recordedAt)
        if let sentAt = event.origin.sentAt { try object.encode(sentAt, forKey: .sentAt) }
        if event.origin != .native { try object.encode(true, forKey: .imported) }
        if let correlation = event.correlation { try object.encode(correlation, forKey: .correlation) }
        if event.isErased { try object.encode(true, forKey: .erased) }
        if !redacted.isEmpty {
            try object.encode(RedactedFields.keysByField.filter { redacted.contains($0.field) }.map(\.key.stringValue), forKey: .redacted)
        }
        if isFromBlockedUser { try object.encode(true, forKey: .blocked) }
        let key = event.details.kind.map { FieldKey($0.name) } ?? .unknown
        try object.encodeObject(forKey: key) { fields in try encodeFields(to: &fields, isExport: isExport) }
    }

    /// Writes the fields of the event's kind, and the outward code if the postcode is redacted.
    package func encodeFields(to fields: inout some EventFieldWriter, isExport: Bool = false) throws {
        try event.encodeFields(to: &fields, isExport: isExport)
        if redacted.contains(.postcode), case .postcodeSet(let details) = event.details {
            try fields.encode(details.thread.outwardCode?.description, forKey: .outwardCode)
        }
    }
}

extension ChatEvent {
    /// Writes the fields of the event's kind.
    fileprivate func encodeFields(to fields: inout some EventFieldWriter, isExport: Bool) throws {
        switch details {
        case .userRegistered(let details):
            try fields.encode(details.user, forKey: .user)
            try fields.encode(username?.text, forKey: .username)
            if isExport { try fields.encode(username?.foldKey, forKey: .foldKey) }
            try fields.encode(subject, forKey: .subject)
        case .usernameChanged(let details):
            try fields.encode(details.user, forKey: .user)
            try fields.encode(username?.text, forKey: .username)
            if isExport { try fields.encode(username?.foldKey, forKey: .foldKey) }
        case .postcodeSet(let details):
            try fields.encode(details.user, forKey: .user)
            try fields.encode(postcode?.description, forKey: .postcode)
            try fields.encode(details.thread, forKey: .thread)
        case .threadOpened(let details):
            try fields.encode(details.thread, forKey: .thread)
            try fields.encode(details.number, forKey: .number)
            try fields.encode(threadName, forKey: .name)
            try fields.encode(details.by, forKey: .by)
        case .threadJoined(let details): try fields.encode(details.thread, details.number, user: details.user)
        case .threadLeft(let details): try fields.encode(details.thread, details.number, user: details.user)
        case .messagePosted(let details):
            try fields.encode(details.thread, details.number, message: details.message)
            try fields.encode(details.author, forKey: .author)
            try fields.encode(body, forKey: .body)
        case .replyPosted(let details):
            try fields.encode(details.thread, details.number, message: details.message)
            try fields.encode(details.reply, forKey: .reply)
            try fields.encode(details.author, forKey: .author)
            try fields.encode(body, forKey: .body)
        case .messageEdited(let details):
            try fields.encode(details)
            try fields.encode(body, forKey: .body)
        case .replyEdited(let details):
            try fields.encode(details)
            try fields.encode(body, forKey: .body)
        case .messageRetracted(let details): try fields.encode(details)
        case .replyRetracted(let details): try fields.encode(details)
        case .threadRead(let details):
            try fields.encode(details.user, forKey: .user)
            try fields.encode(details.thread, forKey: .thread)
            try fields.encode(details.upTo, forKey: .upTo)
        case .sessionStarted(let details):
            try fields.encode(details.user, forKey: .user)
            try fields.encode(details.session, forKey: .session)
            try fields.encode(device, forKey: .device)
        case .sessionEnded(let details):
            try fields.encode(details.user, forKey: .user)
            try fields.encode(details.session, forKey: .session)
        case .lost: break
        case .unknown(let kind):
            try fields.encode(UInt64(kind), forKey: .kind)
            if case .opaque(let kept, let erasable) = content {
                try fields.encode(Hexadecimal.text(of: kept), forKey: .kept)
                try fields.encode(erasable.map { Hexadecimal.text(of: $0) }, forKey: .erasable)
            }
        default: try encodeCommunityFields(to: &fields)
        }
    }

    /// Writes the fields of roles, moderation, custom events and erasures.
    private func encodeCommunityFields(to fields: inout some EventFieldWriter) throws {
        switch details {
        case .threadPolicySet(let details):
            try fields.encode(details.thread, forKey: .thread)
            try fields.encode(details.number, forKey: .number)
            try fields.encode(details.policy.rawValue, forKey: .policy)
            try fields.encode(details.history.rawValue, forKey: .history)
            try fields.encode(details.by, forKey: .by)
        case .invitationDeclined(let details): try fields.encode(details.thread, details.number, user: details.user)
        case .userInvited(let details), .invitationRevoked(let details), .userUnmuted(let details), .userUnbanned(let details):
            try fields.encode(details)
        case .memberRemoved(let details):
            try fields.encode(details)
            try fields.encode(reason, forKey: .reason)
        case .roleSet(let details):
            try fields.encode(details.thread, details.number, user: details.user)
            try fields.encode(details.role.rawValue, forKey: .role)
            try fields.encode(details.by, forKey: .by)
        case .userMuted(let details), .userBanned(let details):
            try fields.encode(details.thread, details.number, user: details.user)
            try fields.encode(details.by, forKey: .by)
            try fields.encode(reason, forKey: .reason)
            try fields.encode(details.until?.description, forKey: .until)
        case .operatorGranted(let details), .operatorRevoked(let details): try fields.encode(details.user, forKey: .user)
        case .messageRemoved(let details):
            try fields.encode(details)
            try fields.encode(reason, forKey: .reason)
        case .replyRemoved(let details):
            try fields.encode(details)
            try fields.encode(reason, forKey: .reason)
        case .messagePinned(let details), .messageUnpinned(let details): try fields.encode(details)
        case .threadLocked(let details), .threadUnlocked(let details), .threadClosed(let details):
            try fields.encode(details.thread, forKey: .thread)
            try fields.encode(details.number, forKey: .number)
            try fields.encode(details.by, forKey: .by)
        case .messageReported(let details):
            try fields.encode(details)
            try fields.encode(reason, forKey: .reason)
        case .replyReported(let details):
            try fields.encode(details)
            try fields.encode(reason, forKey: .reason)
        case .messageReportsResolved(let details): try fields.encode(details)
        case .replyReportsResolved(let details): try fields.encode(details)
        case .userBlocked(let details), .userUnblocked(let details):
            try fields.encode(details.user, forKey: .user)
            try fields.encode(details.by, forKey: .by)
        case .custom(let details):
            try fields.encode(details.thread, forKey: .thread)
            try fields.encode(details.number, forKey: .number)
            try fields.encode(details.id, forKey: .id)
            try fields.encode(customKind, forKey: .kind)
            try fields.encode(details.by, forKey: .by)
            try fields.encode(payload, forKey: .payload)
        case .userErased(let details):
            try fields.encode(details.user, forKey: .user)
            try fields.encode(reason, forKey: .reason)
        case .contentErased:
            try fields.encode(erasedPositions?.ranges.map { [$0.lowerBound, $0.upperBound] } ?? [], forKey: .ranges)
            try fields.encode(reason, forKey: .reason)
        case .clockCorrected: break
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted,
            .messageEdited, .replyEdited, .messageRetracted, .replyRetracted, .threadRead, .sessionStarted, .sessionEnded, .lost, .unknown:
            preconditionFailure("`encodeFields` has the other kinds")
        }
    }
}

extension EventFieldWriter {
    fileprivate mutating func encode(_ id: some EntityID, forKey key: FieldKey) throws { try encode(id: id.bits, forKey: key) }

    fileprivate mutating func encode(_ thread: ThreadID, _ number: UInt64, user: UserID) throws {
        try encode(thread, forKey: .thread)
        try encode(number, forKey: .number)
        try encode(user, forKey: .user)
    }

    fileprivate mutating func encode(_ thread: ThreadID, _ number: UInt64, message: MessageID) throws {
        try encode(thread, forKey: .thread)
        try encode(number, forKey: .number)
        try encode(message, forKey: .message)
    }

    fileprivate mutating func encode(_ details: MessageChanged) throws {
        try encode(details.thread, details.number, message: details.message)
        try encode(details.by, forKey: .by)
    }

    fileprivate mutating func encode(_ details: MemberChanged) throws {
        try encode(details.thread, details.number, user: details.user)
        try encode(details.by, forKey: .by)
    }

    fileprivate mutating func encode(_ details: MessageReport) throws {
        try encode(details.thread, forKey: .thread)
        try encode(details.message, forKey: .message)
        try encode(details.by, forKey: .by)
    }

    fileprivate mutating func encode(_ details: ReplyReport) throws {
        try encode(details.thread, forKey: .thread)
        try encode(details.message, forKey: .message)
        try encode(details.reply, forKey: .reply)
        try encode(details.by, forKey: .by)
    }

    fileprivate mutating func encode(_ details: ReplyChanged) throws {
        try encode(details.thread, details.number, message: details.message)
        try encode(details.reply, forKey: .reply)
        try encode(details.by, forKey: .by)
    }
}

/// A destination for the fields of an event's JSON object: an encoder's container or a line's
/// bytes.
package protocol EventFieldWriter {
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

extension KeyedEncodingContainer: EventFieldWriter where K == FieldKey {
    package mutating func encode(id: UInt128, forKey key: FieldKey) throws { try encode(UUIDText.format(id), forKey: key) }

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
                forKey: .redacted, in: container, debugDescription: "an event that was redacted for a viewer is incomplete")
        }
        let commitEnd: Position? =
            try !container.contains(.commitEnd) || container.decodeNil(forKey: .commitEnd) ? nil : container.decodeInteger(.commitEnd)
        self.init(try RecordedEvent(from: decoder), commitEnd: commitEnd)
    }

    /// Encodes the event as ``RecordedEvent`` does, adding `foldKey` after `username` and
    /// `commitEnd` at the end.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try encode(to: &container)
    }

    /// Writes the fields of the event's object.
    package func encode(to object: inout some EventFieldWriter) throws {
        try recorded.encode(to: &object, isExport: true)
        if let commitEnd { try object.encode(commitEnd, forKey: .commitEnd) }
    }
}

extension RedactedFields {
    /// The fields and their names in JSON, in the order of the `redacted` list.
    static let keysByField: [(field: RedactedFields, key: FieldKey)] = [
        (.body, .body), (.username, .username), (.postcode, .postcode), (.name, .name), (.device, .device),
        (.reason, .reason), (.payload, .payload),
    ]
}
