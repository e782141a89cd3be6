import Primitives

/// Decodes the fields of an event's kind.
struct EventFields {
    let container: FieldContainer
    let isErased: Bool
    let redacted: RedactedFields

    func decode(_ kind: EventKind) throws -> (EventDetails, EventContent) {
        switch kind {
        case .userRegistered: return try decodeRegistration()
        case .usernameChanged:
            try container.rejectFields(otherThan: [.user, .username, .foldKey])
            let foldKey = try foldKey()
            return (
                .usernameChanged(UsernameChanged(user: try id(.user))),
                try content(.username) { (text: String) in .username(Self.username(text, foldKey)) }
            )
        case .postcodeSet: return try decodePostcode()
        case .threadOpened:
            try container.rejectFields(otherThan: [.thread, .number, .name, .by])
            let details = ThreadOpened(thread: try id(.thread), number: try number(.number), by: try id(.by))
            return (.threadOpened(details), try threadName(of: details.thread))
        case .threadJoined, .threadLeft:
            try container.rejectFields(otherThan: [.thread, .number, .user])
            let (thread, number, user): (ThreadID, UInt64, UserID) = (try id(.thread), try number(.number), try id(.user))
            return kind == .threadJoined
                ? (.threadJoined(ThreadJoined(thread: thread, number: number, user: user)), noContent)
                : (.threadLeft(ThreadLeft(thread: thread, number: number, user: user)), noContent)
        case .messagePosted:
            try container.rejectFields(otherThan: [.thread, .number, .message, .author, .body])
            let details = MessagePosted(
                thread: try id(.thread), number: try number(.number), message: try id(.message), author: try id(.author))
            return (.messagePosted(details), try content(.body, EventContent.body))
        case .replyPosted:
            try container.rejectFields(otherThan: [.thread, .number, .message, .reply, .author, .body])
            let details = ReplyPosted(
                thread: try id(.thread), number: try number(.number), message: try id(.message), reply: try id(.reply),
                author: try id(.author))
            return (.replyPosted(details), try content(.body, EventContent.body))
        case .messageEdited: return (.messageEdited(try messageChanged([.body])), try content(.body, EventContent.body))
        case .replyEdited: return (.replyEdited(try replyChanged([.body])), try content(.body, EventContent.body))
        case .messageRetracted: return (.messageRetracted(try messageChanged([])), noContent)
        case .replyRetracted: return (.replyRetracted(try replyChanged([])), noContent)
        case .threadRead:
            try container.rejectFields(otherThan: [.user, .thread, .upTo])
            return (.threadRead(ThreadRead(user: try id(.user), thread: try id(.thread), upTo: try number(.upTo))), noContent)
        case .sessionStarted:
            try container.rejectFields(otherThan: [.user, .session, .device])
            return (
                .sessionStarted(SessionStarted(user: try id(.user), session: try id(.session))), try content(.device, EventContent.device)
            )
        case .sessionEnded:
            try container.rejectFields(otherThan: [.user, .session])
            return (.sessionEnded(SessionEnded(user: try id(.user), session: try id(.session))), noContent)
        case .lost:
            try container.rejectFields(otherThan: [])
            return (.lost, noContent)
        default: return try decodeCommunity(kind)
        }
    }

    private func decodeRegistration() throws -> (EventDetails, EventContent) {
        try container.rejectFields(otherThan: [.user, .username, .foldKey, .subject])
        let (subject, foldKey) = (try optionalText(.subject), try foldKey())
        return (
            .userRegistered(UserRegistered(user: try id(.user))),
            try content(.username) { (text: String) in .registration(Self.username(text, foldKey), subject: subject) }
        )
    }

    private func decodePostcode() throws -> (EventDetails, EventContent) {
        let isRedacted = redacted.contains(.postcode)
        try container.rejectFields(otherThan: [.user, .postcode, .thread] + (isRedacted ? [.outwardCode] : []))
        let details = PostcodeSet(user: try id(.user), thread: try id(.thread))
        if isRedacted {
            guard try container.decode(OutwardCode?.self, forKey: .outwardCode) == details.thread.outwardCode else {
                throw DecodingError.dataCorruptedError(
                    forKey: .outwardCode, in: container, debugDescription: "not the outward code of the thread")
            }
        }
        return (.postcodeSet(details), try content(.postcode, EventContent.postcode))
    }

    /// Decodes the fields of roles, moderation, custom events and erasures.
    private func decodeCommunity(_ kind: EventKind) throws -> (EventDetails, EventContent) {
        switch kind {
        case .threadPolicySet:
            try container.rejectFields(otherThan: [.thread, .number, .policy, .history, .by])
            let details = ThreadPolicySet(
                thread: try id(.thread), number: try number(.number), policy: try container.decodeName(.policy),
                history: try container.decodeName(.history), by: try id(.by))
            return (.threadPolicySet(details), noContent)
        case .invitationDeclined:
            try container.rejectFields(otherThan: [.thread, .number, .user])
            return (
                .invitationDeclined(
                    InvitationDeclined(thread: try id(.thread), number: try number(.number), user: try id(.user))), noContent
            )
        case .userInvited: return (.userInvited(try memberChanged([])), noContent)
        case .invitationRevoked: return (.invitationRevoked(try memberChanged([])), noContent)
        case .userUnmuted: return (.userUnmuted(try memberChanged([])), noContent)
        case .userUnbanned: return (.userUnbanned(try memberChanged([])), noContent)
        case .memberRemoved: return (.memberRemoved(try memberChanged([.reason])), try content(.reason, EventContent.reason))
        case .roleSet:
            let changed = try memberChanged([.role])
            let details = RoleSet(
                thread: changed.thread, number: changed.number, user: changed.user, role: try container.decodeName(.role), by: changed.by)
            return (.roleSet(details), noContent)
        case .userMuted: return (.userMuted(try sanction()), try content(.reason, EventContent.reason))
        case .userBanned: return (.userBanned(try sanction()), try content(.reason, EventContent.reason))
        case .operatorGranted: return (.operatorGranted(try operatorChanged()), noContent)
        case .operatorRevoked: return (.operatorRevoked(try operatorChanged()), noContent)
        case .messageRemoved: return (.messageRemoved(try messageChanged([.reason])), try content(.reason, EventContent.reason))
        case .replyRemoved: return (.replyRemoved(try replyChanged([.reason])), try content(.reason, EventContent.reason))
        case .messagePinned: return (.messagePinned(try messageChanged([])), noContent)
        case .messageUnpinned: return (.messageUnpinned(try messageChanged([])), noContent)
        case .threadLocked: return (.threadLocked(try threadChanged()), noContent)
        case .threadUnlocked: return (.threadUnlocked(try threadChanged()), noContent)
        case .threadClosed: return (.threadClosed(try threadChanged()), noContent)
        case .messageReported: return (.messageReported(try messageReport([.reason])), try content(.reason, EventContent.reason))
        case .replyReported: return (.replyReported(try replyReport([.reason])), try content(.reason, EventContent.reason))
        case .messageReportsResolved: return (.messageReportsResolved(try messageReport([])), noContent)
        case .replyReportsResolved: return (.replyReportsResolved(try replyReport([])), noContent)
        case .userBlocked: return (.userBlocked(try userBlock()), noContent)
        case .userUnblocked: return (.userUnblocked(try userBlock()), noContent)
        case .custom: return try decodeCustom()
        case .userErased:
            try requireKept()
            try container.rejectFields(otherThan: [.user, .reason])
            let reason = try container.decode(String.self, forKey: .reason)
            return (.userErased(UserErased(user: try id(.user))), .erasure(reason: reason, positions: nil))
        case .contentErased:
            try requireKept()
            try container.rejectFields(otherThan: [.ranges, .reason])
            let reason = try container.decode(String.self, forKey: .reason)
            return (.contentErased, .erasure(reason: reason, positions: try positions(.ranges)))
        case .clockCorrected:
            try container.rejectFields(otherThan: [])
            return (.clockCorrected, noContent)
        default: preconditionFailure("`decode` has the other kinds")
        }
    }

    private func decodeCustom() throws -> (EventDetails, EventContent) {
        try container.rejectFields(otherThan: [.thread, .number, .id, .kind, .by, .payload])
        let details = CustomEvent(thread: try id(.thread), number: try number(.number), id: try id(.id), by: try id(.by))
        let name = try container.decode(String.self, forKey: .kind)
        // JSON null is a payload, so an absent payload cannot be recognised by its value.
        guard !isErased, !isRedacted(.payload) else {
            try requireNull(.payload)
            return (.custom(details), .custom(kind: name, payload: isErased ? .erased : .omitted))
        }
        let payload = try container.decode(CustomPayload.self, forKey: .payload)
        return (.custom(details), .custom(kind: name, payload: .present(payload)))
    }

    private func threadChanged() throws -> ThreadChanged {
        try container.rejectFields(otherThan: [.thread, .number, .by])
        return ThreadChanged(thread: try id(.thread), number: try number(.number), by: try id(.by))
    }

    private func memberChanged(_ others: [FieldKey]) throws -> MemberChanged {
        try container.rejectFields(otherThan: [.thread, .number, .user, .by] + others)
        return MemberChanged(thread: try id(.thread), number: try number(.number), user: try id(.user), by: try id(.by))
    }

    private func sanction() throws -> Sanction {
        let changed = try memberChanged([.reason, .until])
        var until: Timestamp?
        if try !container.decodeNil(forKey: .until) {
            until = try container.decodeTime(.until)
            // 0 stands for no end in the encoding.
            guard let until, until > Timestamp(millisecondsSince1970: 0), ChatEvent.recordableTimes.contains(until) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .until, in: container, debugDescription: "outside the range of recording times")
            }
        }
        return Sanction(thread: changed.thread, number: changed.number, user: changed.user, by: changed.by, until: until)
    }

    private func operatorChanged() throws -> OperatorChanged {
        try container.rejectFields(otherThan: [.user])
        return OperatorChanged(user: try id(.user))
    }

    private func messageReport(_ others: [FieldKey]) throws -> MessageReport {
        try container.rejectFields(otherThan: [.thread, .message, .by] + others)
        return MessageReport(thread: try id(.thread), message: try id(.message), by: try id(.by))
    }

    private func replyReport(_ others: [FieldKey]) throws -> ReplyReport {
        try container.rejectFields(otherThan: [.thread, .message, .reply, .by] + others)
        return ReplyReport(thread: try id(.thread), message: try id(.message), reply: try id(.reply), by: try id(.by))
    }

    private func userBlock() throws -> UserBlock {
        try container.rejectFields(otherThan: [.user, .by])
        return UserBlock(user: try id(.user), by: try id(.by))
    }

    /// Decodes an event of unknown kind from its bytes; the other fields must agree with them.
    func decodeUnknownEvent(besides header: ChatEvent) throws -> ChatEvent {
        try container.rejectFields(otherThan: [.kind, .kept, .erasable])
        let kind: UInt8 = try container.decodeInteger(.kind)
        let kept = try bytes(.kept, try container.decode(String.self, forKey: .kept))
        let erasable = try value(.erasable).map { try bytes(.erasable, $0) }
        let event: ChatEvent
        do throws(EventDecodingError) { event = try ChatEvent(keptBytes: kept, erasableBytes: erasable) } catch {
            throw DecodingError.dataCorruptedError(
                forKey: error.part == .kept ? .kept : .erasable, in: container, debugDescription: error.description)
        }
        var expected = header
        expected.details = .unknown(kind: kind)
        expected.content = .opaque(kept: kept, erasable: erasable)
        guard event == expected else {
            throw DecodingError.dataCorruptedError(
                forKey: .kept, in: container, debugDescription: "the bytes disagree with the other fields")
        }
        return event
    }

    private func messageChanged(_ others: [FieldKey]) throws -> MessageChanged {
        try container.rejectFields(otherThan: [.thread, .number, .message, .by] + others)
        return MessageChanged(thread: try id(.thread), number: try number(.number), message: try id(.message), by: try id(.by))
    }

    private func replyChanged(_ others: [FieldKey]) throws -> ReplyChanged {
        try container.rejectFields(otherThan: [.thread, .number, .message, .reply, .by] + others)
        return ReplyChanged(
            thread: try id(.thread), number: try number(.number), message: try id(.message), reply: try id(.reply), by: try id(.by))
    }

    // MARK: Fields

    private func id<ID: EntityID>(_ key: FieldKey) throws -> ID { try container.decode(ID.self, forKey: key) }

    private func number(_ key: FieldKey) throws -> UInt64 { try container.decodeInteger(key) }

    private var noContent: EventContent { isErased ? .erased : .none }

    private func isRedacted(_ key: FieldKey) -> Bool {
        RedactedFields.keysByField.contains { $0.key == key && redacted.contains($0.field) }
    }

    /// Decodes a field that is null if and only if it is erased or redacted; nil if so.
    private func value<Value: Decodable>(_ key: FieldKey) throws -> Value? {
        guard isErased || isRedacted(key) else { return try container.decode(Value.self, forKey: key) }
        try requireNull(key)
        return nil
    }

    private func content<Value: Decodable>(_ key: FieldKey, _ make: (Value) -> EventContent) throws -> EventContent {
        try value(key).map(make) ?? (isErased ? .erased : .omitted)
    }

    private func optionalText(_ key: FieldKey) throws -> String? {
        if isErased || !redacted.isEmpty { try requireNull(key) }
        return try container.decodeIfPresent(String.self, forKey: key)
    }

    private func requireNull(_ key: FieldKey) throws {
        guard try !container.contains(key) || container.decodeNil(forKey: key) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "an erased or redacted field must be null")
        }
    }

    /// Decodes the name of a thread; that of an outward code is part of its id and never erased.
    private func threadName(of thread: ThreadID) throws -> EventContent {
        guard let code = thread.outwardCode else { return try content(.name, EventContent.threadName) }
        guard !isRedacted(.name) else {
            throw DecodingError.dataCorruptedError(forKey: .name, in: container, debugDescription: "an outward code cannot be redacted")
        }
        guard try container.decode(String.self, forKey: .name) == code.description else {
            throw DecodingError.dataCorruptedError(forKey: .name, in: container, debugDescription: "this is the thread of \(code)")
        }
        return noContent
    }

    /// Throws if the event is said to be erased, which the order of an erasure never is.
    private func requireKept() throws {
        guard !isErased else {
            throw DecodingError.dataCorruptedError(forKey: .reason, in: container, debugDescription: "an erasure is never erased")
        }
    }

    /// Decodes ranges of positions, which ascend, do not touch, and are not empty.
    private func positions(_ key: FieldKey) throws -> PositionSet {
        let pairs = try container.decode([[UInt64]].self, forKey: key)
        let ranges = pairs.compactMap { $0.count == 2 && $0[0] >= 1 && $0[0] <= $0[1] && $0[1] <= Position(Int.max) ? $0[0]...$0[1] : nil }
        let positions = PositionSet(ranges)
        guard !pairs.isEmpty, positions.ranges == ranges, ranges.count == pairs.count else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "not a list of ascending ranges [first, last] that do not touch")
        }
        return positions
    }

    private func foldKey() throws -> String? {
        let foldKey = try optionalText(.foldKey)
        guard foldKey?.isEmpty != true else {
            throw DecodingError.dataCorruptedError(forKey: .foldKey, in: container, debugDescription: "a fold key cannot be empty")
        }
        return foldKey
    }

    private static func username(_ text: String, _ foldKey: String?) -> Username {
        Username(text: text, foldKey: foldKey ?? Username.foldKey(text))
    }

    private func bytes(_ key: FieldKey, _ hexadecimal: String) throws -> [UInt8] {
        guard let bytes = Hexadecimal.bytes(of: hexadecimal) else {
            throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "not pairs of hexadecimal digits")
        }
        return bytes
    }
}
