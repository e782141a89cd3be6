internal import Chat
internal import ChatDomain

/// The schemas of the commands of clients, from the table of commands.
enum CommandSchemas {
    private static let kinds = CommandKind.allCases.filter { $0.form.sender == .client }

    /// The schema of each command, and of one of them.
    static var components: [OrderedJSON.Member] {
        let names = CommandKind.allCases.filter { $0.form.sender == .host }.map { "`\($0.form.name)`" }
        let host = names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
        let command: OrderedJSON = [
            "description": .text(
                "A command: an object with one field that is named after it. \(host) are 403 `commandNotAllowed`."),
            "oneOf": .array(kinds.map { .schema("command.\($0.form.name)") }),
        ]
        return kinds.map { OrderedJSON.Member(name: "command.\($0.form.name)", value: schema($0)) } + [
            OrderedJSON.Member(name: "Command", value: command)
        ]
    }

    private static func schema(_ kind: CommandKind) -> OrderedJSON {
        let form = kind.form
        let fields = form.fields.flatMap { field in
            field.keys.map { (name: $0.stringValue, isRequired: field.isRequired, schema: schema(of: field, $0)) }
        }
        var object: OrderedJSON = ["type": "object"]
        let required = fields.filter(\.isRequired).map(\.name)
        if !required.isEmpty { object["required"] = .texts(required) }
        object["properties"] = .object(fields.map { OrderedJSON.Member(name: $0.name, value: $0.schema) })
        object["additionalProperties"] = false
        if form.fields.contains(.post) { object["x-one-of"] = [["required": ["message"]], ["required": ["reply"]]] }
        var members = [
            OrderedJSON.Member(name: form.name, value: object),
            OrderedJSON.Member(name: FieldKey.correlation.stringValue, value: .schema("Correlation")),
        ]
        if kind.takesOnce {
            members.append(
                OrderedJSON.Member(
                    name: FieldKey.once.stringValue,
                    value: .schema(
                        "ID",
                        "An id of the caller's choice, which makes the command safe to send again: once it has taken effect, it is a duplicate, whatever has happened since. With another command, thread, post or user the rejection is `identifierTaken`."
                    )))
        }
        return [
            "description": .text("\(kind.form.summary)"), "type": "object", "required": .texts([form.name]),
            "properties": .object(members), "additionalProperties": false,
        ]
    }

    private static func schema(of field: CommandField, _ key: FieldKey) -> OrderedJSON {
        switch field {
        case .actor:
            return .schema("ID", "The user of the session; may be left out. Another user is 403 `anotherUser`.")
        case .user:
            return .schema(
                "ID",
                "The other user, whom the user knows from the chat; otherwise the rejection is `unknownUser`.")
        case .thread: return .schema("ThreadReference")
        case .post:
            return .schema("ID", "The \(key.stringValue); either this or `\(key == .reply ? "message" : "reply")`.")
        case .message, .session: return .schema("ID")
        case .newID, .newThread:
            return .schema(
                "ID",
                "The id of the \(key == .id ? "event" : key.stringValue). The store makes one that is left out; a given id makes the command safe to send again."
            )
        case .text, .customKind, .about:
            guard let text = TextField(key) else { preconditionFailure("the text \(key.stringValue) has no rule") }
            return text.ofCommand
        case .subject: return ["type": "string", "description": "The account at the identity provider."]
        case .payload: return ["description": "Any JSON value of at most 16,384 bytes."]
        case .policy:
            return [
                "type": "string", "description": "Who may join.",
                "enum": .texts(ThreadPolicy.allCases.map(\.rawValue)),
            ]
        case .policyOfOpening:
            let policies = ThreadPolicy.allCases.filter { $0 != .residents }
            return [
                "type": "string", "description": "Who may join; `open` if absent.",
                "enum": .texts(policies.map(\.rawValue)),
            ]
        case .history:
            return .schema(
                "History",
                "It stays if absent; a thread that ceases to be `inviteOnly` has `sinceJoining`. Never wider than it is."
            )
        case .historyOfOpening: return .schema("History", "`all` if absent.")
        case .role: return .schema("Role")
        case .until:
            return [
                "description": "The end, with an offset or Z; null or absent for none.",
                "type": ["string", "null"], "minLength": 20, "maxLength": 35,
            ]
        case .upTo: return .schema("Position")
        case .from: return .schema("Position", "A position, from 1 to the last one of the journal.")
        case .level: return .schema("NotificationLevel")
        case .replaces:
            return .schema(
                "Position",
                "The position of the text to replace: `editPosition` of the post, or its `position` if it has none. If the text is another one now, the command is rejected as `edited`. Without the field, or with null, it replaces any text."
            )
        case .seen:
            return .schema(
                "Position",
                "The position that the client knew when its user acted. If the user has done the opposite since, perhaps on another device, the command has no effect, and its receipt has no events. Without the field, or with null, it is decided whatever has happened."
            )
        case .mentions: return .schema("MentionsOfCommand")
        case .findMentions:
            return [
                "type": "boolean",
                "description":
                    "Whether the members whose names follow an @ in the text are mentioned too: after each @ the one with the longest name, in any case. Not found are names in code, links and addresses, names with a letter, digit or `_` before the @ or behind them, and the author; nobody is found after 50 mentions. `false` if absent.",
            ]
        case .people:
            return [
                "type": "array",
                "description":
                    "The other people. A user who is listed twice counts once, and the user of the session does not count (`invalidPeople`).",
                "items": .schema("ID"),
            ]
        }
    }
}

extension CommandField {
    /// Whether the JSON of a client must have the field; of a message or a reply it has one.
    var isRequired: Bool {
        switch self {
        case .actor, .post, .newID, .newThread, .subject, .policyOfOpening, .historyOfOpening, .history, .until,
            .replaces, .seen, .mentions, .findMentions, .about:
            false
        case .user, .thread, .message, .session, .text, .customKind, .payload, .policy, .role, .upTo, .from, .level,
            .people:
            true
        }
    }
}
