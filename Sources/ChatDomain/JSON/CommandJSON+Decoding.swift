extension ChatCommand {
    /// Decodes the command among the keys of an object, which may also have the other fields.
    ///
    /// - Parameter defaultActor: The user who acts if the acting field is left out.
    init(from container: FieldContainer, beside others: [FieldKey], defaultActor: UserID?) throws {
        let keys = container.allKeys.filter { !others.contains($0) }.sorted { $0.stringValue < $1.stringValue }
        let commands = keys.filter { Self.decoders[$0] != nil }
        if commands.count > 1 {
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath + [commands[1]], debugDescription: "a second command; only one is allowed"))
        }
        try container.rejectFields(otherThan: others + commands)
        guard let key = commands.first, let read = Self.decoders[key] else {
            throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "no command in this object"))
        }
        self = try read(
            CommandFields(container: container.nestedContainer(keyedBy: FieldKey.self, forKey: key), defaultActor: defaultActor))
    }

    private static let decoders = coreDecoders.merging(communityDecoders) { first, _ in first }

    /// The decoders of users, threads, posts and sessions.
    private static let coreDecoders: [FieldKey: @Sendable (CommandFields) throws -> ChatCommand] = [
        FieldKey("registerUser"): {
            try $0.rejectFields(otherThan: [.user, .username, .subject])
            return .registerUser(
                user: try $0.decodeOptional(.user), username: try $0.read(.username), subject: try $0.decodeOptional(.subject))
        },
        FieldKey("changeUsername"): {
            try $0.rejectFields(otherThan: [.user, .username])
            return .changeUsername(user: try $0.actingUser(.user), username: try $0.read(.username))
        },
        FieldKey("setPostcode"): {
            try $0.rejectFields(otherThan: [.user, .postcode])
            return .setPostcode(user: try $0.actingUser(.user), postcode: try $0.read(.postcode))
        },
        FieldKey("openThread"): {
            try $0.rejectFields(otherThan: [.thread, .name, .by, .policy, .history])
            return .openThread(
                thread: try $0.decodeOptionalThread(), name: try $0.read(.name), by: try $0.actingUser(.by),
                policy: try $0.decodeOptionalName(.policy) ?? .open, history: try $0.decodeOptionalName(.history) ?? .all)
        },
        FieldKey("joinThread"): {
            try $0.rejectFields(otherThan: [.user, .thread])
            return .joinThread(user: try $0.actingUser(.user), thread: try $0.decodeThread())
        },
        FieldKey("leaveThread"): {
            try $0.rejectFields(otherThan: [.user, .thread])
            return .leaveThread(user: try $0.actingUser(.user), thread: try $0.decodeThread())
        },
        FieldKey("postMessage"): {
            try $0.rejectFields(otherThan: [.message, .thread, .author, .body])
            return .postMessage(
                message: try $0.decodeOptional(.message), thread: try $0.decodeThread(), author: try $0.actingUser(.author),
                body: try $0.read(.body))
        },
        FieldKey("reply"): {
            try $0.rejectFields(otherThan: [.reply, .message, .author, .body])
            return .reply(
                reply: try $0.decodeOptional(.reply), message: try $0.read(.message), author: try $0.actingUser(.author),
                body: try $0.read(.body)
            )
        },
        FieldKey("edit"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by, .body])
            return .edit(try $0.decodePost(), by: try $0.actingUser(.by), body: try $0.read(.body))
        },
        FieldKey("retract"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by])
            return .retract(try $0.decodePost(), by: try $0.actingUser(.by))
        },
        FieldKey("markRead"): {
            try $0.rejectFields(otherThan: [.user, .thread, .upTo])
            return .markRead(user: try $0.actingUser(.user), thread: try $0.decodeThread(), upTo: try $0.decodeInteger(.upTo))
        },
        FieldKey("startSession"): {
            try $0.rejectFields(otherThan: [.user, .session, .device])
            return .startSession(user: try $0.actingUser(.user), session: try $0.decodeOptional(.session), device: try $0.read(.device))
        },
        FieldKey("endSession"): {
            try $0.rejectFields(otherThan: [.session])
            return .endSession(session: try $0.read(.session))
        },
    ]

    /// The decoders of roles, moderation and custom events.
    private static let communityDecoders: [FieldKey: @Sendable (CommandFields) throws -> ChatCommand] = [
        FieldKey("invite"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by])
            return .invite(user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actingUser(.by))
        },
        FieldKey("acceptInvitation"): {
            try $0.rejectFields(otherThan: [.thread, .user])
            return .acceptInvitation(user: try $0.actingUser(.user), thread: try $0.decodeThread())
        },
        FieldKey("declineInvitation"): {
            try $0.rejectFields(otherThan: [.thread, .user])
            return .declineInvitation(user: try $0.actingUser(.user), thread: try $0.decodeThread())
        },
        FieldKey("revokeInvitation"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by])
            return .revokeInvitation(user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actingUser(.by))
        },
        FieldKey("setRole"): {
            try $0.rejectFields(otherThan: [.thread, .user, .role, .by])
            return .setRole(
                user: try $0.read(.user), thread: try $0.decodeThread(), role: try $0.decodeName(.role), by: try $0.actingUser(.by))
        },
        FieldKey("grantOperator"): {
            try $0.rejectFields(otherThan: [.user])
            return .grantOperator(user: try $0.read(.user))
        },
        FieldKey("revokeOperator"): {
            try $0.rejectFields(otherThan: [.user])
            return .revokeOperator(user: try $0.read(.user))
        },
        FieldKey("remove"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by, .reason])
            return .remove(try $0.decodePost(), by: try $0.actingUser(.by), reason: try $0.read(.reason))
        },
        FieldKey("mute"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by, .reason, .until])
            return .mute(
                user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actingUser(.by), reason: try $0.read(.reason),
                until: try $0.decodeOptionalTime(.until))
        },
        FieldKey("unmute"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by])
            return .unmute(user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actingUser(.by))
        },
        FieldKey("ban"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by, .reason, .until])
            return .ban(
                user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actingUser(.by), reason: try $0.read(.reason),
                until: try $0.decodeOptionalTime(.until))
        },
        FieldKey("unban"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by])
            return .unban(user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actingUser(.by))
        },
        FieldKey("removeMember"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by, .reason])
            return .removeMember(
                user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actingUser(.by), reason: try $0.read(.reason))
        },
        FieldKey("pin"): {
            try $0.rejectFields(otherThan: [.message, .by])
            return .pin(message: try $0.read(.message), by: try $0.actingUser(.by))
        },
        FieldKey("unpin"): {
            try $0.rejectFields(otherThan: [.message, .by])
            return .unpin(message: try $0.read(.message), by: try $0.actingUser(.by))
        },
        FieldKey("lockThread"): {
            try $0.rejectFields(otherThan: [.thread, .by])
            return .lockThread(thread: try $0.decodeThread(), by: try $0.actingUser(.by))
        },
        FieldKey("unlockThread"): {
            try $0.rejectFields(otherThan: [.thread, .by])
            return .unlockThread(thread: try $0.decodeThread(), by: try $0.actingUser(.by))
        },
        FieldKey("closeThread"): {
            try $0.rejectFields(otherThan: [.thread, .by])
            return .closeThread(thread: try $0.decodeThread(), by: try $0.actingUser(.by))
        },
        FieldKey("setThreadPolicy"): {
            try $0.rejectFields(otherThan: [.thread, .policy, .history, .by])
            return .setThreadPolicy(
                thread: try $0.decodeThread(), policy: try $0.decodeName(.policy), history: try $0.decodeOptionalName(.history),
                by: try $0.actingUser(.by))
        },
        FieldKey("report"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by, .reason])
            return .report(try $0.decodePost(), by: try $0.actingUser(.by), reason: try $0.read(.reason))
        },
        FieldKey("resolveReport"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by])
            return .resolveReport(try $0.decodePost(), by: try $0.actingUser(.by))
        },
        FieldKey("block"): {
            try $0.rejectFields(otherThan: [.user, .by])
            return .block(user: try $0.read(.user), by: try $0.actingUser(.by))
        },
        FieldKey("unblock"): {
            try $0.rejectFields(otherThan: [.user, .by])
            return .unblock(user: try $0.read(.user), by: try $0.actingUser(.by))
        },
        FieldKey("custom"): {
            try $0.rejectFields(otherThan: [.id, .kind, .thread, .by, .payload])
            return .custom(
                id: try $0.decodeOptional(.id), kind: try $0.read(.kind), thread: try $0.decodeThread(), by: try $0.actingUser(.by),
                payload: try $0.read(.payload))
        },
    ]
}

/// The fields of one command.
private struct CommandFields {
    let container: FieldContainer
    /// The user who acts if the acting field is left out.
    let defaultActor: UserID?

    func rejectFields(otherThan allowed: [FieldKey]) throws { try container.rejectFields(otherThan: allowed) }

    func read<Value: Decodable>(_ key: FieldKey) throws -> Value { try container.decode(Value.self, forKey: key) }

    /// Reads the acting user; ``defaultActor`` if the field is left out.
    func actingUser(_ key: FieldKey) throws -> UserID {
        if let defaultActor, !container.contains(key) { return defaultActor }
        return try read(key)
    }

    func decodeInteger<Number: FixedWidthInteger & Decodable>(_ key: FieldKey) throws -> Number { try container.decodeInteger(key) }

    func decodeName<Name: RawRepresentable & CaseIterable>(_ key: FieldKey) throws -> Name where Name.RawValue == String {
        try container.decodeName(key)
    }

    func decodeOptional<Value: Decodable>(_ key: FieldKey) throws -> Value? { try container.decodeIfPresent(Value.self, forKey: key) }

    func decodeOptionalTime(_ key: FieldKey) throws -> Timestamp? { try container.dateTime(decodeOptional(key), forKey: key) }

    func decodeThread() throws -> ThreadID {
        guard let thread = ThreadID(idOrOutwardCode: try container.decode(String.self, forKey: .thread)) else {
            throw DecodingError.dataCorruptedError(forKey: .thread, in: container, debugDescription: "neither an id nor an outward code")
        }
        return thread
    }

    func decodeOptionalName<Name: RawRepresentable & CaseIterable>(_ key: FieldKey) throws -> Name?
    where Name.RawValue == String {
        try container.contains(key) && !container.decodeNil(forKey: key) ? try decodeName(key) : nil
    }

    func decodeOptionalThread() throws -> ThreadID? {
        try container.contains(.thread) && !container.decodeNil(forKey: .thread) ? try decodeThread() : nil
    }

    func decodePost() throws -> PostID {
        switch (
            try container.decodeIfPresent(MessageID.self, forKey: .message), try container.decodeIfPresent(ReplyID.self, forKey: .reply)
        ) {
        case (let message?, nil): return .message(message)
        case (nil, let reply?): return .reply(reply)
        case (nil, nil):
            throw DecodingError.keyNotFound(
                FieldKey.message, .init(codingPath: container.codingPath, debugDescription: "message or reply is required"))
        case (_?, _?):
            // As for an unknown field, so that callers report the field and not a wrong value.
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath + [FieldKey.reply], debugDescription: "only one of message and reply is allowed",
                    underlyingError: UnknownFieldError(field: "reply")))
        }
    }
}
