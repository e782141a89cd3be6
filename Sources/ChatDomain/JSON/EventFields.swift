import Primitives

/// Decodes the fields of an event's kind.
struct EventFields {
    let container: FieldContainer
    let isErased: Bool
    /// Whether the content is hidden from the reader; ``ContentRow/redactable`` says which field.
    let isRedacted: Bool

    /// Decodes the fields of a form into an event.
    ///
    /// - Parameter header: The row of the event, which has the times and the kind.
    func decode(_ form: EventForm, into header: EventRow, correlation: String?) throws -> ChatEvent {
        if form.content == .erasure { try requireKept() }
        var (row, kind) = (header, "")
        if form.layout == .post, container.contains(.reply) { row.flags.insert(.ofReply) }
        let layout = form.layout(row.flags)
        try container.rejectFields(
            otherThan: form.keys(layout) + (isRedacted && form.content == .postcode ? [.outwardCode] : []))
        var order: (reason: String, positions: PositionSet?) = ("", nil)
        for field in layout.json {
            switch field {
            case .user: row.user = try id(FieldKey(form.userKey.rawValue))
            case .thread, .message, .parent, .reply, .session, .customEvent, .otherActor, .blocked:
                row[id: field] = try id(field.key)
            case .edit: if container.contains(.edit) { row.edit = try id(.edit) }
            case .number, .upTo, .from: row.number = try container.decodeInteger(field.key)
            case .policy: row.policyAndHistory.policy = try container.decodeName(.policy)
            case .history: row.policyAndHistory.history = try container.decodeName(.history)
            case .role: row.value = (try container.decodeName(.role) as ThreadRole).code
            case .until: row.until = try until()
            case .level: row.level = try container.decodeName(.level)
            case .customKind: kind = try container.decode(String.self, forKey: .kind)
            case .erasureReason: order.reason = try container.decode(String.self, forKey: .reason)
            case .ranges:
                let positions = try positions(.ranges)
                order.positions = positions
                row.number = positions.ranges.last?.upperBound ?? 0
            case .content: break
            }
        }
        if form.content == .erasure {
            return ChatEvent(row, .erasure(reason: order.reason, positions: order.positions), correlation: correlation)
        }
        let content = try content(form.content, row, customKind: kind)
        return ChatEvent(row, content, correlation: correlation, mentions: try form.listKey.map(users) ?? [])
    }

    /// Decodes the users whom the text mentions, who stay if it is erased and are hidden with it,
    /// or the people of a direct thread.
    private func users(_ key: FieldKey) throws -> [UserID] {
        guard container.contains(key) else { return [] }
        let users = try container.decode([UserID].self, forKey: key)
        guard !users.isEmpty, !isRedacted else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container,
                debugDescription: "must have a user, or be absent as it is beside a redacted body")
        }
        return users
    }

    private func content(_ form: ContentForm, _ row: EventRow, customKind: String) throws -> EventContent {
        switch form {
        case .registration:
            let (subject, foldKey) = (try optionalText(.subject), try foldKey())
            return try content(.username) { (text: String) in
                .registration(Self.username(text, foldKey), subject: subject)
            }
        case .username:
            let foldKey = try foldKey()
            return try content(.username) { (text: String) in .username(Self.username(text, foldKey)) }
        case .postcode:
            if isRedacted {
                guard
                    try container.decode(OutwardCode?.self, forKey: .outwardCode)
                        == ThreadID(bits: row.thread).outwardCode
                else {
                    throw DecodingError.dataCorruptedError(
                        forKey: .outwardCode, in: container, debugDescription: "not the outward code of the thread")
                }
            }
            return try content(.postcode, EventContent.postcode)
        case .payload:
            // JSON null is a payload, so an absent payload cannot be recognised by its value.
            guard !isErased, !isRedacted else {
                try requireNull(.payload)
                return .custom(kind: customKind, payload: isErased ? .erased : .omitted)
            }
            return .custom(
                kind: customKind, payload: .present(try container.decode(CustomPayload.self, forKey: .payload)))
        default:
            if form == .threadName, let code = ThreadID(bits: row.thread).outwardCode {
                return try threadName(of: code)
            }
            guard let key = form.row.key else { return noContent }
            return try content(key) { (text: String) in EventContent(form, recorded: text) ?? .none }
        }
    }

    private func until() throws -> Timestamp? {
        if try container.decodeNil(forKey: .until) { return nil }
        let until = try container.decodeTime(.until)
        // 0 stands for no end in the encoding.
        guard until > Timestamp(millisecondsSince1970: 0), ChatEvent.recordableTimes.contains(until) else {
            throw DecodingError.dataCorruptedError(
                forKey: .until, in: container, debugDescription: "outside the range of recording times")
        }
        return until
    }

    /// Decodes an event of unknown kind from its bytes; the other fields must agree with them.
    func decodeUnknownEvent(_ header: EventRow, correlation: String?) throws -> ChatEvent {
        try container.rejectFields(otherThan: [.kind, .kept, .erasable])
        let kind: UInt8 = try container.decodeInteger(.kind)
        let kept = try bytes(.kept, try container.decode(String.self, forKey: .kept))
        let erasable = try value(.erasable).map { try bytes(.erasable, $0) }
        let event: ChatEvent
        do throws(EventDecodingError) { event = try ChatEvent(keptBytes: kept, erasableBytes: erasable) } catch {
            throw DecodingError.dataCorruptedError(
                forKey: error.part == .kept ? .kept : .erasable, in: container, debugDescription: error.description)
        }
        guard event == ChatEvent(header, .opaque(kept: kept, erasable: erasable), correlation: correlation),
            kind == kept[0]
        else {
            throw DecodingError.dataCorruptedError(
                forKey: .kept, in: container, debugDescription: "the bytes disagree with the other fields")
        }
        return event
    }

    // MARK: Fields

    /// Decodes the bits of an id; ids of all types have one text form.
    private func id(_ key: FieldKey) throws -> UInt128 { try container.decode(UserID.self, forKey: key).bits }

    private var noContent: EventContent { isErased ? .erased : .none }

    /// Decodes a field that is null if and only if it is erased or redacted; nil if so.
    private func value<Value: Decodable>(_ key: FieldKey) throws -> Value? {
        guard isErased || isRedacted else { return try container.decode(Value.self, forKey: key) }
        try requireNull(key)
        return nil
    }

    private func content<Value: Decodable>(_ key: FieldKey, _ make: (Value) -> EventContent) throws -> EventContent {
        try value(key).map(make) ?? (isErased ? .erased : .omitted)
    }

    private func optionalText(_ key: FieldKey) throws -> String? {
        if isErased || isRedacted { try requireNull(key) }
        return try container.decodeIfPresent(String.self, forKey: key)
    }

    private func requireNull(_ key: FieldKey) throws {
        guard try !container.contains(key) || container.decodeNil(forKey: key) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "an erased or redacted field must be null")
        }
    }

    /// Decodes the name of a thread; that of an outward code is part of its id and never erased.
    private func threadName(of code: OutwardCode) throws -> EventContent {
        guard !isRedacted else {
            throw DecodingError.dataCorruptedError(
                forKey: .name, in: container, debugDescription: "an outward code cannot be redacted")
        }
        guard try container.decode(String.self, forKey: .name) == code.description else {
            throw DecodingError.dataCorruptedError(
                forKey: .name, in: container, debugDescription: "this is the thread of \(code)")
        }
        return noContent
    }

    /// Throws if the event is said to be erased, which the order of an erasure never is.
    private func requireKept() throws {
        guard !isErased else {
            throw DecodingError.dataCorruptedError(
                forKey: .reason, in: container, debugDescription: "an erasure is never erased")
        }
    }

    /// Decodes ranges of positions, which ascend, do not touch, and are not empty.
    private func positions(_ key: FieldKey) throws -> PositionSet {
        let pairs = try container.decode([[UInt64]].self, forKey: key)
        let ranges = pairs.compactMap {
            $0.count == 2 && $0[0] >= 1 && $0[0] <= $0[1] && $0[1] <= Position(Int.max) ? $0[0]...$0[1] : nil
        }
        let positions = PositionSet(ranges)
        guard !pairs.isEmpty, positions.ranges == ranges, ranges.count == pairs.count else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container,
                debugDescription: "not a list of ascending ranges [first, last] that do not touch")
        }
        return positions
    }

    private func foldKey() throws -> String? {
        let foldKey = try optionalText(.foldKey)
        guard foldKey?.isEmpty != true else {
            throw DecodingError.dataCorruptedError(
                forKey: .foldKey, in: container, debugDescription: "a fold key cannot be empty")
        }
        return foldKey
    }

    private static func username(_ text: String, _ foldKey: String?) -> Username {
        Username(text: text, foldKey: foldKey ?? Username.foldKey(text))
    }

    private func bytes(_ key: FieldKey, _ hexadecimal: String) throws -> [UInt8] {
        guard let bytes = Hexadecimal.bytes(of: hexadecimal) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "not pairs of hexadecimal digits")
        }
        return bytes
    }
}

extension EventForm {
    /// The keys of events with a layout, in their order, with those that only an export has.
    func keys(_ layout: EventLayout) -> [FieldKey] {
        layout.json.flatMap { field in
            switch field {
            case .content: content.row.keys + (listKey.map { [$0] } ?? [])
            case .user: [FieldKey(userKey.rawValue)]
            default: [field.key]
            }
        }
    }

    /// The keys of events as a viewer is shown them, in their order; those that an event can lack
    /// are optional.
    package var shownKeys: [(key: FieldKey, isOptional: Bool)] {
        var keys = keys(layout == .post ? .reply : layout).filter { $0 != .foldKey }
        // Only if the postcode is redacted.
        if content == .postcode { keys.append(.outwardCode) }
        return keys.map { key in
            switch key {
            case .outwardCode, .edit, .mentions: (key, true)
            default: (key, key == .reply && layout == .post)
            }
        }
    }
}

extension EventField {
    /// The key in JSON.
    var key: FieldKey {
        switch self {
        case .thread: .thread
        case .user, .blocked: .user
        case .otherActor: .by
        case .number: .number
        case .upTo: .upTo
        case .from: .from
        case .message, .parent: .message
        case .reply: .reply
        case .edit: .edit
        case .session: .session
        case .customEvent: .id
        case .policy: .policy
        case .history: .history
        case .role: .role
        case .until: .until
        case .level: .level
        case .customKind: .kind
        case .erasureReason: .reason
        case .ranges: .ranges
        case .content: preconditionFailure("the content has the keys of its form")
        }
    }
}
