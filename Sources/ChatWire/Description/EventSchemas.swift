internal import Chat
internal import ChatDomain

/// The schemas of events, from the table of kinds.
enum EventSchemas {
    /// The kinds that a user can be shown: those that name a user.
    static let kinds = EventKind.allCases.filter(\.form.namesUser)

    /// The schema of each kind, by its name.
    static var components: [OrderedJSON.Member] {
        kinds.map { kind in
            let keys = kind.form.shownKeys
            return OrderedJSON.Member(
                name: "event.\(kind.name)",
                value: [
                    "type": "object", "description": .text("\(kind.summary)"),
                    "required": .texts(keys.filter { !$0.isOptional }.map(\.key.stringValue)),
                    "properties": .object(
                        keys.map { OrderedJSON.Member(name: $0.key.stringValue, value: schema($0.key, $0.isOptional)) }),
                    "additionalProperties": false,
                ])
        }
    }

    /// The fields that can be hidden, in their order in `redacted`.
    private static let redactable = RedactedFields.keysByField.map(\.key)

    /// Completes the schema of an event, whose other members are written by hand.
    static func complete(_ event: inout OrderedJSON) {
        let hidden = EventKind.allCases.filter { !kinds.contains($0) }.map { "`\($0.name)`" }.joined(separator: ", ")
        let text = event["description"]?.plainText ?? ""
        event["description"] = .text("\(text) The kinds \(hidden) and `unknown` are never shown to a user.")
        event["properties"]?["redacted"]?["items"]?["x-known-values"] = .texts(redactable.map(\.stringValue))
        for kind in kinds { event["properties"]?[kind.name] = .schema("event.\(kind.name)") }
        event["x-one-of"] = .array(kinds.map { ["required": .texts([$0.name])] })
    }

    private static func schema(_ key: FieldKey, _ isOptional: Bool) -> OrderedJSON {
        if let text = TextField(key) {
            let reason = redactable.contains(key) ? "erased or redacted" : "erased"
            return ["type": ["string", "null"], "description": .text("\(text.summary) Null if it is \(reason).")]
        }
        switch key {
        case .number:
            return ["type": "integer", "description": "The number of the event in its thread.", "minimum": 1]
        case .upTo: return .schema("Position")
        case .policy: return .schema("Policy")
        case .history: return .schema("History")
        case .role: return .schema("Role")
        case .level: return .schema("NotificationLevel")
        case .until: return .schema("OptionalTime")
        case .mentions: return .schema("Mentions")
        case .subject:
            return [
                "type": ["string", "null"],
                "description": "The account at the identity provider; null if there is none.",
            ]
        case .payload: return ["description": "Any JSON value."]
        case .people:
            return [
                "type": "array", "description": "The people, of whom the opener is the first.",
                "items": .schema("ID"), "minItems": 2, "maxItems": 8,
            ]
        case .outwardCode: return .schema("OutwardCode", "Only if the postcode is redacted.")
        case .reply where isOptional: return .schema("ID", "The reply; absent if the event is about the message.")
        default: return .schema("ID")
        }
    }
}

/// A field of events and commands that is one text.
struct TextField {
    /// What it is in an event.
    let summary: String
    /// The schema of the text that a command gives.
    let ofCommand: OrderedJSON

    private init(_ summary: String, schema: OrderedJSON) { (self.summary, ofCommand) = (summary, schema) }

    private init(_ summary: String, rule: String, _ minimum: Int = 1, _ maximum: Int = 4_096) {
        var schema: OrderedJSON = ["type": "string", "description": .text(rule)]
        if minimum > 0 { schema["minLength"] = .number(minimum) }
        schema["maxLength"] = .number(maximum)
        self.init(summary, schema: schema)
    }

    /// The field with a key; nil for a field that is no text.
    init?(_ key: FieldKey) {
        switch key {
        case .username:
            self.init(
                "The name.",
                rule:
                    "1 to 64 Unicode scalars and at most 256 bytes, of which one is visible, without control, format, unassigned or blank scalars. White space becomes single spaces."
            )
        case .name:
            self.init(
                "The name.",
                rule:
                    "1 to 120 Unicode scalars and at most 480 bytes, with the rules of a username, and not an outward code."
            )
        case .postcode: self.init("The postcode.", rule: "A postcode of the United Kingdom, such as `SW1A 1AA`.", 1, 64)
        case .device:
            self.init(
                "The description of the device.", rule: "A description of the device, at most 1,024 bytes.", 0, 1_024)
        case .kind:
            self.init(
                "A reverse-DNS name.", rule: "A reverse-DNS name of at most 128 bytes, such as `com.example.poll`.")
        case .about:
            self.init(
                "The text; empty for nothing.",
                schema: [
                    "type": ["string", "null"],
                    "description":
                        "At most 500 Unicode scalars without the white space around them, without control characters other than line feeds and carriage returns. Null, empty or left out for nothing.",
                    "maxLength": 4_096,
                ])
        case .emoji:
            self.init(
                "The emoji of Unicode, or a name such as `:wave:`.",
                schema: ["type": "string", "description": "An emoji of Unicode, or a name such as `:wave:`."])
        case .body: self.init("The text.", schema: .schema("Body"))
        case .reason: self.init("The reason.", schema: .schema("Reason"))
        default: return nil
        }
    }
}
