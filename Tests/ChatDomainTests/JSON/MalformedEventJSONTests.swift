import ChatDomain
import Testing

/// JSON that is not an event, with the invalid field.
struct MalformedEventJSONTests {
    private static let user = "0a000000-0000-0000-0000-000000000001"
    private static let sw1a = "53573141-0000-8000-806f-757477617264"
    private static let dogs = "0d000000-0000-0000-0000-000000000001"
    private static let ended = #""sessionEnded":{"session":"\#(dogs)","user":"\#(user)"}"#
    private static let time = #""recordedAt":"2026-11-21T05:03:12.123Z""#

    static let envelopes: [(String, JSONProblem)] = [
        ("[]", JSONProblem(.wrongType, "")),
        ("{}", JSONProblem(.corrupted, "")),
        (#"{"position":1,\#(time)}"#, JSONProblem(.corrupted, "")),
        (#"{\#(time),\#(ended)}"#, JSONProblem(.missing, "position")),
        (#"{"position":1,\#(ended)}"#, JSONProblem(.missing, "recordedAt")),
        (#"{"position":0,\#(time),\#(ended)}"#, JSONProblem(.corrupted, "position")),
        (#"{"position":"1",\#(time),\#(ended)}"#, JSONProblem(.wrongType, "position")),
        (#"{"position":1,"recordedAt":5,\#(ended)}"#, JSONProblem(.wrongType, "recordedAt")),
        (#"{"position":1,"recordedAt":"yesterday",\#(ended)}"#, JSONProblem(.corrupted, "recordedAt")),
        (#"{"position":1,"recordedAt":"1969-12-31T23:59:59.999Z",\#(ended)}"#, JSONProblem(.corrupted, "recordedAt")),
        (#"{"position":1,\#(time),"sentAt":"2026-02-30T00:00:00Z",\#(ended)}"#, JSONProblem(.corrupted, "sentAt")),
        (#"{"position":1,\#(time),"imported":false,\#(ended)}"#, JSONProblem(.corrupted, "imported")),
        (#"{"position":1,\#(time),"imported":1,\#(ended)}"#, JSONProblem(.wrongType, "imported")),
        (#"{"position":1,\#(time),"erased":false,\#(ended)}"#, JSONProblem(.corrupted, "erased")),
        (#"{"position":1,\#(time),"erased":null,\#(ended)}"#, JSONProblem(.wrongType, "erased")),
        (#"{"position":1,\#(time),"erased":true,"correlation":"c",\#(ended)}"#, JSONProblem(.corrupted, "correlation")),
        (#"{"position":1,\#(time),"correlation":7,\#(ended)}"#, JSONProblem(.wrongType, "correlation")),
        (#"{"position":1,\#(time),"colour":"red",\#(ended)}"#, JSONProblem(.unknownField, "colour")),
        (#"{"position":1,\#(time),\#(ended),"zebra":1}"#, JSONProblem(.unknownField, "zebra")),
        (#"{"position":1,\#(time),"pollOpened":{}}"#, JSONProblem(.unknownField, "pollOpened")),
        (#"{"position":1,\#(time),\#(ended),"threadLeft":{}}"#, JSONProblem(.unknownField, "threadLeft")),
        (#"{"position":1,\#(time),"sessionEnded":[]}"#, JSONProblem(.wrongType, "sessionEnded")),
        (#"{"position":1,\#(time),"sessionEnded":null}"#, JSONProblem(.wrongType, "sessionEnded")),
    ]

    @Test(arguments: envelopes) func envelopeIsValidated(text: String, problem: JSONProblem) {
        #expect(JSONProblem.of(text, as: RecordedEvent.self) == problem)
    }

    /// For a number out of range, Foundation reports no path.
    @Test(arguments: [
        #""position":-1,\#(ended)"#, #""position":1.5,\#(ended)"#, #""position":18446744073709551616,\#(ended)"#,
        #""position":1,"unknown":{"kind":256,"kept":"c8007b0000000000","erasable":""}"#,
    ])
    func numberOutOfRangeIsReported(fields: String) {
        #expect(JSONProblem.of("{\(Self.time),\(fields)}", as: RecordedEvent.self)?.kind == .corrupted)
    }

    static let fields: [(String, JSONProblem)] = [
        (#""sessionEnded":{"session":"\#(dogs)"}"#, JSONProblem(.missing, "sessionEnded.user")),
        (
            #""sessionEnded":{"session":"\#(dogs)","user":"\#(user)","x":1}"#,
            JSONProblem(.unknownField, "sessionEnded.x")
        ),
        (#""sessionEnded":{"session":"\#(dogs)","user":"\#(user)0"}"#, JSONProblem(.corrupted, "sessionEnded.user")),
        (#""sessionEnded":{"session":"\#(dogs)","user":12}"#, JSONProblem(.wrongType, "sessionEnded.user")),
        (
            #""sessionStarted":{"session":"\#(dogs)","user":"\#(user)","device":null}"#,
            JSONProblem(.wrongType, "sessionStarted.device")
        ),
        (#""sessionStarted":{"session":"\#(dogs)","user":"\#(user)"}"#, JSONProblem(.missing, "sessionStarted.device")),
        (
            #""usernameChanged":{"user":"\#(user)","username":null}"#,
            JSONProblem(.wrongType, "usernameChanged.username")
        ),
        (
            #""userRegistered":{"user":"\#(user)","username":"Ann","subject":1}"#,
            JSONProblem(.wrongType, "userRegistered.subject")
        ),
        (
            #""postcodeSet":{"user":"\#(user)","thread":"\#(sw1a)","postcode":"GIR 0AA"}"#,
            JSONProblem(.corrupted, "postcodeSet.postcode")
        ),
        (
            #""threadOpened":{"thread":"\#(sw1a)","number":1,"name":"N1P","by":"\#(user)"}"#,
            JSONProblem(.corrupted, "threadOpened.name")
        ),
        (
            #""threadOpened":{"thread":"\#(dogs)","number":1,"name":null,"by":"\#(user)"}"#,
            JSONProblem(.wrongType, "threadOpened.name")
        ),
        (#""threadLeft":{"thread":"SW1A","number":1,"user":"\#(user)"}"#, JSONProblem(.corrupted, "threadLeft.thread")),
        (
            #""threadLeft":{"thread":"\#(sw1a)","number":"1","user":"\#(user)"}"#,
            JSONProblem(.wrongType, "threadLeft.number")
        ),
        (
            #""threadLeft":{"thread":"\#(sw1a)","number":1,"user":"\#(user)","body":"x"}"#,
            JSONProblem(.unknownField, "threadLeft.body")
        ),
        (
            #""messageRetracted":{"thread":"\#(sw1a)","number":1,"message":"\#(dogs)","by":"\#(user)","body":"x"}"#,
            JSONProblem(.unknownField, "messageRetracted.body")
        ),
        (
            #""replyRetracted":{"thread":"\#(sw1a)","number":1,"message":"\#(dogs)","by":"\#(user)"}"#,
            JSONProblem(.missing, "replyRetracted.reply")
        ),
        (
            #""messageEdited":{"thread":"\#(sw1a)","number":1,"message":"\#(dogs)","by":"\#(user)"}"#,
            JSONProblem(.missing, "messageEdited.body")
        ),
    ]

    private static let onMember = #""thread":"\#(dogs)","number":1,"user":"\#(user)","by":"\#(user)""#
    private static let level = #""user":"\#(user)","thread":"\#(dogs)","level":"#
    private static let onThread = #""thread":"\#(dogs)","number":1,"by":"\#(user)""#

    static let communityFields: [(String, JSONProblem)] = [
        (
            #""threadPolicySet":{\#(onThread),"policy":"secret","history":"all"}"#,
            JSONProblem(.corrupted, "threadPolicySet.policy")
        ),
        (
            #""threadPolicySet":{\#(onThread),"policy":1,"history":"all"}"#,
            JSONProblem(.wrongType, "threadPolicySet.policy")
        ),
        (
            #""threadPolicySet":{\#(onThread),"policy":"open","history":"none"}"#,
            JSONProblem(.corrupted, "threadPolicySet.history")
        ),
        (#""threadPolicySet":{\#(onThread),"policy":"open"}"#, JSONProblem(.missing, "threadPolicySet.history")),
        (#""roleSet":{\#(onMember),"role":"admin"}"#, JSONProblem(.corrupted, "roleSet.role")),
        (#""roleSet":{\#(onMember),"role":"Owner"}"#, JSONProblem(.corrupted, "roleSet.role")),
        (#""roleSet":{\#(onMember)}"#, JSONProblem(.missing, "roleSet.role")),
        (#""userMuted":{\#(onMember),"reason":"spam"}"#, JSONProblem(.missing, "userMuted.until")),
        (#""userMuted":{\#(onMember),"reason":null,"until":null}"#, JSONProblem(.wrongType, "userMuted.reason")),
        (#""userMuted":{\#(onMember),"reason":"spam","until":"tomorrow"}"#, JSONProblem(.corrupted, "userMuted.until")),
        (#""userMuted":{\#(onMember),"reason":"spam","until":0}"#, JSONProblem(.wrongType, "userMuted.until")),
        // 0 stands for no end in the bytes, and 2^48 is beyond the recordable times.
        (
            #""userBanned":{\#(onMember),"reason":"spam","until":"1970-01-01T00:00:00.000Z"}"#,
            JSONProblem(.corrupted, "userBanned.until")
        ),
        (
            #""userBanned":{\#(onMember),"reason":"spam","until":"+10889-08-02T05:31:50.656Z"}"#,
            JSONProblem(.corrupted, "userBanned.until")
        ),
        (#""notificationsSet":{\#(level)"some","until":null}"#, JSONProblem(.corrupted, "notificationsSet.level")),
        (#""notificationsSet":{\#(level)0,"until":null}"#, JSONProblem(.wrongType, "notificationsSet.level")),
        (#""notificationsSet":{\#(level)"none"}"#, JSONProblem(.missing, "notificationsSet.until")),
        (
            #""notificationsSet":{\#(level)"none","until":"1970-01-01T00:00:00.000Z"}"#,
            JSONProblem(.corrupted, "notificationsSet.until")
        ),
        (#""userUnmuted":{\#(onMember),"reason":"spam"}"#, JSONProblem(.unknownField, "userUnmuted.reason")),
        (#""memberRemoved":{\#(onMember)}"#, JSONProblem(.missing, "memberRemoved.reason")),
        (
            #""messageReported":{\#(onThread),"message":"\#(dogs)","reason":"spam"}"#,
            JSONProblem(.unknownField, "messageReported.number")
        ),
        (#""custom":{\#(onThread),"id":"\#(dogs)","kind":"a.b"}"#, JSONProblem(.missing, "custom.payload")),
        (#""custom":{\#(onThread),"id":"\#(dogs)","kind":null,"payload":1}"#, JSONProblem(.wrongType, "custom.kind")),
        (
            #""redacted":["body"],"userMuted":{\#(onMember),"reason":null,"until":null}"#,
            JSONProblem(.corrupted, "redacted")
        ),
        (#""redacted":["reason"],"userUnmuted":{\#(onMember)}"#, JSONProblem(.corrupted, "redacted")),
        (
            #""redacted":["payload","reason"],"userMuted":{\#(onMember),"reason":null,"until":null}"#,
            JSONProblem(.corrupted, "redacted")
        ),
    ]

    @Test(arguments: communityFields) func fieldsOfCommunityKindsAreValidated(fields: String, problem: JSONProblem) {
        #expect(JSONProblem.of(#"{"position":1,\#(Self.time),\#(fields)}"#, as: RecordedEvent.self) == problem)
    }

    @Test(arguments: fields) func fieldsOfKindAreValidated(fields: String, problem: JSONProblem) {
        #expect(JSONProblem.of(#"{"position":1,\#(Self.time),\#(fields)}"#, as: RecordedEvent.self) == problem)
    }

    static let erased: [(String, JSONProblem?)] = [
        (#""sessionStarted":{"session":"\#(dogs)","user":"\#(user)","device":null}"#, nil),
        (#""sessionStarted":{"session":"\#(dogs)","user":"\#(user)"}"#, nil),
        (ended, nil),
        (#""threadOpened":{"thread":"\#(sw1a)","number":1,"name":"SW1A","by":"\#(user)"}"#, nil),
        (
            #""sessionStarted":{"session":"\#(dogs)","user":"\#(user)","device":"x"}"#,
            JSONProblem(.corrupted, "sessionStarted.device")
        ),
        (
            #""userRegistered":{"user":"\#(user)","username":null,"subject":"x"}"#,
            JSONProblem(.corrupted, "userRegistered.subject")
        ),
        (
            #""threadOpened":{"thread":"\#(dogs)","number":1,"name":"Dogs","by":"\#(user)"}"#,
            JSONProblem(.corrupted, "threadOpened.name")
        ),
    ]

    @Test(arguments: erased) func erasedEventHasNoContent(fields: String, problem: JSONProblem?) {
        #expect(
            JSONProblem.of(#"{"position":1,"erased":true,\#(Self.time),\#(fields)}"#, as: RecordedEvent.self) == problem
        )
    }

    static let unknown: [(String, JSONProblem?)] = [
        (#""unknown":{"kind":200,"kept":"C8007b0000000000","erasable":""}"#, nil),
        (#""unknown":{"kind":200,"kept":"c8007b0000000000"}"#, JSONProblem(.missing, "unknown.erasable")),
        (#""unknown":{"kind":200,"erasable":""}"#, JSONProblem(.missing, "unknown.kept")),
        (#""unknown":{"kind":201,"kept":"c8007b0000000000","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (#""unknown":{"kind":200,"kept":"c8007c0000000000","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (#""unknown":{"kind":200,"kept":"c8017b0000000000","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (#""unknown":{"kind":200,"kept":"c8007b00000000","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (#""unknown":{"kind":200,"kept":"c8007b000000000","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (#""unknown":{"kind":200,"kept":"c8007b000000000g","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (#""unknown":{"kind":200,"kept":"c8007b000000000０","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (#""unknown":{"kind":200,"kept":"","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (#""unknown":{"kind":0,"kept":"00007b0000000000","erasable":""}"#, JSONProblem(.corrupted, "unknown.kept")),
        (
            #""unknown":{"kind":15,"kept":"0f007b0000000000\#(String(repeating: "0", count: 64))","erasable":""}"#,
            JSONProblem(.corrupted, "unknown.kept")
        ),
        (
            #""unknown":{"kind":200,"kept":"c8047b0000000000","erasable":"05"}"#,
            JSONProblem(.corrupted, "unknown.erasable")
        ),
        (
            #""unknown":{"kind":200,"kept":"c8047b0000000000","erasable":"0163"}"#,
            JSONProblem(.corrupted, "unknown.kept")
        ),
        (#""correlation":"c","unknown":{"kind":200,"kept":"c8047b0000000000","erasable":"0163ff"}"#, nil),
        (#""erased":true,"unknown":{"kind":200,"kept":"c8047b0000000000","erasable":null}"#, nil),
        (
            #""erased":true,"unknown":{"kind":200,"kept":"c8047b0000000000","erasable":""}"#,
            JSONProblem(.corrupted, "unknown.erasable")
        ),
    ]

    @Test(arguments: unknown) func bytesOfUnknownKindAgreeWithFields(fields: String, problem: JSONProblem?) {
        let text = #"{"position":1,"recordedAt":"1970-01-01T00:00:00.123Z",\#(fields)}"#
        #expect(JSONProblem.of(text, as: RecordedEvent.self) == problem)
    }
}
