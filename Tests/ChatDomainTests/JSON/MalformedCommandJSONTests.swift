import ChatDomain
import Testing

/// JSON that is not a command, with the invalid field.
struct MalformedCommandJSONTests {
    private static let user = "0a000000-0000-0000-0000-000000000001"
    private static let milk = "01000000-0000-0000-0000-000000000001"
    private static let yes = "02000000-0000-0000-0000-000000000001"

    static let shapes: [(String, JSONProblem)] = [
        ("[]", JSONProblem(.wrongType, "")),
        (#""endSession""#, JSONProblem(.wrongType, "")),
        ("null", JSONProblem(.wrongType, "")),
        ("{}", JSONProblem(.corrupted, "")),
        (#"{"endSession":{"session":"\#(user)"},"#, JSONProblem(.corrupted, "")),
        (#"{"endSession":{"session":"\#(user)"}} {}"#, JSONProblem(.corrupted, "")),
        (#"{"moderate":{}}"#, JSONProblem(.unknownField, "moderate")),
        (#"{"EndSession":{"session":"\#(user)"}}"#, JSONProblem(.unknownField, "EndSession")),
        (#"{"endSession":{"session":"\#(user)"},"zebra":1}"#, JSONProblem(.unknownField, "zebra")),
        (#"{"aardvark":1,"endSession":{"session":"\#(user)"}}"#, JSONProblem(.unknownField, "aardvark")),
        // Two commands: the one with the later name is superfluous.
        (#"{"endSession":{"session":"\#(user)"},"retract":{}}"#, JSONProblem(.corrupted, "retract")),
        (#"{"retract":{},"endSession":{"session":"\#(user)"}}"#, JSONProblem(.corrupted, "retract")),
        (#"{"endSession":[]}"#, JSONProblem(.wrongType, "endSession")),
        (#"{"endSession":null}"#, JSONProblem(.wrongType, "endSession")),
        (#"{"endSession":"\#(user)"}"#, JSONProblem(.wrongType, "endSession")),
    ]

    @Test(arguments: shapes) func exactlyOneCommandIsRequired(text: String, problem: JSONProblem) {
        #expect(JSONProblem.of(text, as: ChatCommand.self) == problem)
        #expect(JSONProblem.of(text, as: CommandRequest.self) == problem)
    }

    @Test func onlyRequestsHaveCorrelation() {
        let text = #"{"correlation":"c","endSession":{"session":"\#(Self.user)"}}"#
        #expect(JSONProblem.of(text, as: ChatCommand.self) == JSONProblem(.unknownField, "correlation"))
        #expect(JSONProblem.of(text, as: CommandRequest.self) == nil)
        #expect(JSONProblem.of(#"{"correlation":"c"}"#, as: CommandRequest.self) == JSONProblem(.corrupted, ""))
        let number = #"{"correlation":1,"endSession":{"session":"\#(Self.user)"}}"#
        #expect(JSONProblem.of(number, as: CommandRequest.self) == JSONProblem(.wrongType, "correlation"))
        let origin = #"{"origin":"import","endSession":{"session":"\#(Self.user)"}}"#
        #expect(JSONProblem.of(origin, as: CommandRequest.self) == JSONProblem(.unknownField, "origin"))
    }

    /// Every command with its required fields.
    ///
    /// A missing field, a field with a number or an array, and an additional field are each
    /// reported.
    static let required: [(String, [String: String])] = [
        ("registerUser", ["username": text("Ann")]),
        ("changeUsername", ["user": text(user), "username": text("Ann")]),
        ("setPostcode", ["user": text(user), "postcode": text("SW1A 1AA")]),
        ("openThread", ["name": text("Dogs"), "by": text(user)]),
        ("joinThread", ["user": text(user), "thread": text("SW1A")]),
        ("leaveThread", ["user": text(user), "thread": text("SW1A")]),
        ("postMessage", ["thread": text("SW1A"), "author": text(user), "body": text("x")]),
        ("reply", ["message": text(milk), "author": text(user), "body": text("x")]),
        ("edit", ["message": text(milk), "by": text(user), "body": text("x")]),
        ("retract", ["message": text(milk), "by": text(user)]),
        ("markRead", ["user": text(user), "thread": text("SW1A"), "upTo": "7"]),
        ("markUnread", ["user": text(user), "thread": text("SW1A"), "from": "7"]),
        ("setNotifications", ["user": text(user), "thread": text("SW1A"), "level": text("none")]),
        ("markInboxRead", ["user": text(user), "upTo": "7"]),
        ("setProfile", ["user": text(user)]),
        ("startSession", ["user": text(user), "device": text("x")]),
        ("endSession", ["session": text(user)]),
        ("invite", ["user": text(user), "thread": text("SW1A"), "by": text(user)]),
        ("acceptInvitation", ["user": text(user), "thread": text("SW1A")]),
        ("declineInvitation", ["user": text(user), "thread": text("SW1A")]),
        ("revokeInvitation", ["user": text(user), "thread": text("SW1A"), "by": text(user)]),
        ("setRole", ["user": text(user), "thread": text("SW1A"), "role": text("owner"), "by": text(user)]),
        ("grantOperator", ["user": text(user)]),
        ("revokeOperator", ["user": text(user)]),
        ("remove", ["message": text(milk), "by": text(user), "reason": text("x")]),
        ("mute", ["user": text(user), "thread": text("SW1A"), "by": text(user), "reason": text("x")]),
        ("unmute", ["user": text(user), "thread": text("SW1A"), "by": text(user)]),
        ("ban", ["user": text(user), "thread": text("SW1A"), "by": text(user), "reason": text("x")]),
        ("unban", ["user": text(user), "thread": text("SW1A"), "by": text(user)]),
        ("removeMember", ["user": text(user), "thread": text("SW1A"), "by": text(user), "reason": text("x")]),
        ("pin", ["message": text(milk), "by": text(user)]),
        ("react", ["message": text(milk), "by": text(user), "emoji": text("x")]),
        ("unreact", ["message": text(milk), "by": text(user), "emoji": text("x")]),
        ("unpin", ["message": text(milk), "by": text(user)]),
        ("lockThread", ["thread": text("SW1A"), "by": text(user)]),
        ("unlockThread", ["thread": text("SW1A"), "by": text(user)]),
        ("closeThread", ["thread": text("SW1A"), "by": text(user)]),
        ("setThreadPolicy", ["thread": text("SW1A"), "policy": text("open"), "by": text(user)]),
        ("report", ["message": text(milk), "by": text(user), "reason": text("x")]),
        ("resolveReport", ["message": text(milk), "by": text(user)]),
        ("block", ["user": text(user), "by": text(user)]),
        ("unblock", ["user": text(user), "by": text(user)]),
        ("custom", ["kind": text("a.b"), "thread": text("SW1A"), "by": text(user), "payload": "{\"x\":[1]}"]),
    ]

    static let optional: [String: [String]] = [
        "registerUser": ["user", "subject"], "openThread": ["thread", "policy", "history"], "postMessage": ["message"],
        "reply": ["reply"],
        "startSession": ["session"], "setThreadPolicy": ["history"], "mute": ["until"], "ban": ["until"],
        "custom": ["id"],
        "setNotifications": ["until"],
    ]

    /// Returns a JSON string; no text here needs escapes.
    private static func text(_ value: String) -> String { "\"\(value)\"" }

    private func command(_ name: String, _ fields: [String: String]) -> String {
        #"{"\#(name)":{\#(fields.map { "\"\($0)\":\($1)" }.sorted().joined(separator: ","))}}"#
    }

    @Test(arguments: required) func missingFieldIsReported(name: String, fields: [String: String]) {
        #expect(JSONProblem.of(command(name, fields), as: ChatCommand.self) == nil)
        for field in fields.keys {
            var fewer = fields
            fewer[field] = nil
            #expect(
                JSONProblem.of(command(name, fewer), as: ChatCommand.self) == JSONProblem(.missing, "\(name).\(field)"))
        }
    }

    @Test(arguments: required) func wrongTypeIsReported(name: String, fields: [String: String]) {
        for field in fields.keys + (Self.optional[name] ?? []) {
            // A payload is any JSON value.
            for wrong in ["1.5", "[]", "{}"]
            where (!["upTo", "from"].contains(field) || wrong != "1.5") && field != "payload" {
                var changed = fields
                changed[field] = wrong
                #expect(
                    JSONProblem.of(command(name, changed), as: ChatCommand.self)
                        == JSONProblem(.wrongType, "\(name).\(field)"), "\(wrong)")
            }
        }
    }

    @Test(arguments: required) func invalidIDIsReported(name: String, fields: [String: String]) {
        let ids = ["user", "thread", "by", "author", "message", "session", "reply", "id"]
        for field in fields.keys + (Self.optional[name] ?? []) where ids.contains(field) {
            for wrong in ["", "x", Self.user + "0", Self.user + " ", "{\(Self.user)}"] {
                var changed = fields
                changed[field] = Self.text(wrong)
                #expect(
                    JSONProblem.of(command(name, changed), as: ChatCommand.self)
                        == JSONProblem(.corrupted, "\(name).\(field)"), "\(wrong)")
            }
        }
    }

    @Test(arguments: required) func unknownFieldIsReported(name: String, fields: [String: String]) {
        for field in ["colour", "user ", "User", "correlation", "position", ""] {
            var more = fields
            more[field] = Self.text("x")
            #expect(
                JSONProblem.of(command(name, more), as: ChatCommand.self)
                    == JSONProblem(.unknownField, "\(name).\(field)"))
        }
    }

    @Test(arguments: [
        ("openThread", "policy", "secret"), ("openThread", "policy", "Open"), ("openThread", "history", "none"),
        ("setRole", "role", "admin"),
        ("setRole", "role", ""), ("mute", "until", "tomorrow"), ("ban", "until", "+10889-08-02T05:31:50.655Z"),
        ("setNotifications", "level", "some"), ("setNotifications", "until", "tomorrow"),
    ])
    func invalidNameOrTimeIsReported(command: String, field: String, wrong: String) throws {
        var fields = try #require(Self.required.first { $0.0 == command }).1
        fields[field] = Self.text(wrong)
        #expect(
            JSONProblem.of(self.command(command, fields), as: ChatCommand.self)
                == JSONProblem(.corrupted, "\(command).\(field)"))
    }

    @Test(arguments: ["edit", "retract", "remove", "report", "resolveReport"])
    func exactlyOneOfMessageAndReplyIsRequired(command: String) {
        let body = ["edit": #","body":"x""#, "remove": #","reason":"x""#, "report": #","reason":"x""#][command] ?? ""
        let both = #"{"\#(command)":{"message":"\#(Self.milk)","reply":"\#(Self.yes)","by":"\#(Self.user)"\#(body)}}"#
        #expect(JSONProblem.of(both, as: ChatCommand.self) == JSONProblem(.unknownField, "\(command).reply"))
        let neither = #"{"\#(command)":{"by":"\#(Self.user)"\#(body)}}"#
        #expect(JSONProblem.of(neither, as: ChatCommand.self) == JSONProblem(.missing, "\(command).message"))
        let nulls = #"{"\#(command)":{"message":null,"reply":null,"by":"\#(Self.user)"\#(body)}}"#
        #expect(JSONProblem.of(nulls, as: ChatCommand.self) == JSONProblem(.missing, "\(command).message"))
    }

    @Test(arguments: ["-1", "1.5", "1e40", "18446744073709551616"]) func positionIsUnsigned64BitInteger(number: String)
    {
        let text = #"{"markRead":{"user":"\#(Self.user)","thread":"SW1A","upTo":\#(number)}}"#
        #expect(JSONProblem.of(text, as: ChatCommand.self) == JSONProblem(.corrupted, "markRead.upTo"))
        let quoted = #"{"markRead":{"user":"\#(Self.user)","thread":"SW1A","upTo":"7"}}"#
        #expect(JSONProblem.of(quoted, as: ChatCommand.self) == JSONProblem(.wrongType, "markRead.upTo"))
    }
}
