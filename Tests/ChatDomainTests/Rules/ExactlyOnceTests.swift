import ChatDomain
import ChatTesting
import Testing

/// A repeated id returns its first receipt, at any age and before every other check.
struct ExactlyOnceTests {
    typealias Here = Neighbourhood

    /// A history with every kind of later change to a message, a reply, a thread, a user and a
    /// session.
    static let muchLater = Here.dogOwners.given(
        .startSession(user: Here.ann, session: Here.phone, device: "iPhone"),
        .custom(id: Here.poll, kind: "com.example.poll", thread: Here.dogs, by: Here.ann, payload: Here.payload("1")),
        .edit(.message(Here.milk), edit: oat, by: Here.ann, body: "Oat milk"),
        .edit(.reply(Here.yes), edit: no, by: Here.bob, body: "No."),
        .retract(.message(Here.milk), by: Here.ann),
        .retract(.reply(Here.yes), by: Here.bob),
        .setPostcode(user: Here.ann, postcode: "N1P 2NG"),
        .leaveThread(user: Here.ann, thread: Here.sw1a),
        .joinThread(user: Here.bob, thread: Here.dogs),
        .setRole(user: Here.bob, thread: Here.dogs, role: .owner, by: Here.ann),
        .leaveThread(user: Here.ann, thread: Here.dogs),
        .leaveThread(user: Here.bob, thread: Here.sw1a),
        .changeUsername(user: Here.ann, username: "Anna"),
        .changeUsername(user: Here.bob, username: "Ann"),
        .endSession(session: Here.phone),
        .ban(user: Here.ann, thread: Here.dogs, by: Here.bob, reason: "spam"),
        .closeThread(thread: Here.dogs, by: Here.bob))

    static let (oat, no) = (EditID(bits: 0), EditID(bits: 0x5 << 120 | 2))

    static let repeated: [(ChatCommand, ClosedRange<Position>)] = [
        (.registerUser(user: Here.ann, username: "Ann", subject: "sub-ann"), 1...1),
        (.registerUser(user: Here.bob, username: "Bob"), 2...2),
        (
            .postMessage(message: Here.milk, thread: Here.sw1a, author: Here.ann, body: "Could someone pick up milk?"),
            8...8
        ),
        (.reply(reply: Here.yes, message: Here.milk, author: Here.bob, body: "Yes."), 9...9),
        (.openThread(thread: Here.dogs, name: "Dogs", by: Here.ann), 11...12),
        (.startSession(user: Here.ann, session: Here.phone, device: "iPhone"), 13...13),
        (
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.dogs, by: Here.ann, payload: Here.payload("1")),
            14...14
        ),
    ]

    @Test(arguments: repeated) func immediateRepetitionIsDuplicate(
        command: ChatCommand, positions: ClosedRange<Position>
    ) {
        let given = Here.dogOwners.given(
            .startSession(user: Here.ann, session: Here.phone, device: "iPhone"),
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.dogs, by: Here.ann, payload: Here.payload("1")))
        #expect(given.when(command).duplicatePositions == positions)
    }

    static let repeatedEdits: [(ChatCommand, ClosedRange<Position>)] = [
        (.edit(.message(Here.milk), edit: oat, by: Here.ann, body: "Oat milk"), 15...15),
        (.edit(.message(Here.milk), edit: oat, by: Here.ann, body: "", replaces: 8), 15...15),
        (.edit(.reply(Here.yes), edit: no, by: Here.bob, body: "No.", replaces: 99), 16...16),
    ]

    /// Also after the post was edited again, or retracted.
    @Test(arguments: repeatedEdits) func repeatedEditIsDuplicate(command: ChatCommand, positions: ClosedRange<Position>)
    {
        let given = Here.dogOwners.given(
            .startSession(user: Here.ann, session: Here.phone, device: "iPhone"),
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.dogs, by: Here.ann, payload: Here.payload("1")),
            .edit(.message(Here.milk), edit: Self.oat, by: Here.ann, body: "Oat milk"),
            .edit(.reply(Here.yes), edit: Self.no, by: Here.bob, body: "No."))
        #expect(given.when(command).duplicatePositions == positions)
        let later = given.given(
            .edit(.message(Here.milk), by: Here.ann, body: "Soy"), .edit(.reply(Here.yes), by: Here.bob, body: "Yes"))
        #expect(later.when(command).duplicatePositions == positions)
        #expect(Self.muchLater.when(command).duplicatePositions == positions)
    }

    @Test(arguments: [
        RefusedCommand(
            "another post", muchLater, .edit(.reply(Here.yes), edit: oat, by: Here.bob, body: "x"), .identifierTaken),
        RefusedCommand(
            "another post of the author", muchLater,
            .edit(.message(Here.noMessage), edit: oat, by: Here.ann, body: "x"), .identifierTaken),
        RefusedCommand(
            "a reply with the id of the message", muchLater,
            .edit(.reply(ReplyID(bits: Here.milk.bits)), edit: oat, by: Here.ann, body: "x"), .identifierTaken),
        RefusedCommand(
            "another author", muchLater, .edit(.message(Here.milk), edit: oat, by: Here.bob, body: "x"),
            .identifierTaken),
        RefusedCommand(
            "an unknown user", muchLater, .edit(.message(Here.milk), edit: oat, by: Here.nobody, body: ""),
            .identifierTaken),
    ])
    func editIDBelongsToOneAuthorAndPost(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test(arguments: repeated) func lateRepetitionIsDuplicate(command: ChatCommand, positions: ClosedRange<Position>) {
        #expect(Self.muchLater.when(command).duplicatePositions == positions)
    }

    @Test(
        arguments: [
            (.registerUser(user: Here.ann, username: " aNN "), 1...1),
            (.registerUser(user: Here.ann, username: "Ann"), 1...1),
            (.postMessage(message: Here.milk, thread: Here.sw1a, author: Here.ann, body: ""), 8...8),
            (.reply(reply: Here.yes, message: Here.milk, author: Here.bob, body: PostRulesTests.full + "x"), 9...9),
            (.openThread(thread: Here.dogs, name: "SW1A", by: Here.ann), 11...12),
            (.startSession(user: Here.ann, session: Here.phone, device: String(repeating: "d", count: 2_000)), 13...13),
            (
                .custom(
                    id: Here.poll, kind: CustomKind(unchecked: ""), thread: Here.dogs, by: Here.ann,
                    payload: Here.payload("2")), 14...14
            ),
        ] as [(ChatCommand, ClosedRange<Position>)])
    func duplicateCheckIgnoresText(command: ChatCommand, positions: ClosedRange<Position>) {
        #expect(Self.muchLater.when(command).duplicatePositions == positions)
    }

    /// Two subjects identify two people, even under the same name.
    @Test(arguments: ["sub-eve", "", String(repeating: "s", count: 300)])
    func registrationWithOtherSubjectIsNotDuplicate(subject: String) {
        #expect(
            Self.muchLater.when(.registerUser(user: Here.ann, username: "Ann", subject: subject)).rejection?.code
                == .subjectTaken)
        #expect(
            Self.muchLater.when(.registerUser(user: Here.bob, username: "Bob", subject: subject)).rejection?.code
                == .subjectTaken)
    }

    @Test(arguments: repeated) func duplicateCheckComesFirst(command: ChatCommand, positions: ClosedRange<Position>) {
        let request = CommandRequest(command, correlation: "")
        #expect(Self.muchLater.when(request).duplicatePositions == positions)
    }

    @Test(arguments: repeated) func importOfSameIDIsDuplicate(command: ChatCommand, positions: ClosedRange<Position>) {
        #expect(
            Self.muchLater.when(CommandRequest(command, origin: .imported(sentAt: nil))).duplicatePositions == positions
        )
    }

    @Test(arguments: [
        RefusedCommand(
            "a user of another name", muchLater, .registerUser(user: Here.ann, username: "Anne"), .identifierTaken),
        RefusedCommand(
            "a user's present name", muchLater, .registerUser(user: Here.ann, username: "Anna"), .identifierTaken),
        RefusedCommand(
            "another author", muchLater,
            .postMessage(message: Here.milk, thread: Here.sw1a, author: Here.bob, body: "x"),
            .identifierTaken),
        RefusedCommand(
            "another thread", muchLater,
            .postMessage(message: Here.milk, thread: Here.dogs, author: Here.ann, body: "x"),
            .identifierTaken),
        RefusedCommand(
            "another reply's author", muchLater,
            .reply(reply: Here.yes, message: Here.milk, author: Here.cem, body: "x"),
            .identifierTaken),
        RefusedCommand(
            "another message", muchLater, .reply(reply: Here.yes, message: Here.noMessage, author: Here.bob, body: "x"),
            .identifierTaken),
        RefusedCommand(
            "another opener", muchLater, .openThread(thread: Here.dogs, name: "Dogs", by: Here.bob), .identifierTaken),
        RefusedCommand(
            "another user", muchLater, .startSession(user: Here.bob, session: Here.phone, device: "iPhone"),
            .identifierTaken),
        RefusedCommand(
            "another user's custom event", muchLater,
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.dogs, by: Here.bob, payload: Here.payload("1")),
            .identifierTaken),
        RefusedCommand(
            "another thread's custom event", muchLater,
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.sw1a, by: Here.ann, payload: Here.payload("1")),
            .identifierTaken),
    ])
    func repeatedIDWithOtherAuthorOrThreadIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func messageAndReplyCanShareBits() {
        let reply = ReplyID(bits: Here.milk.bits)
        #expect(Here.talk.when(.reply(reply: reply, message: Here.milk, author: Here.ann, body: "x")).events.count == 1)
    }

    @Test func rejectedCommandLeavesItsIDFree() {
        let id = MessageID(bits: 9)
        let command = ChatCommand.postMessage(message: id, thread: Here.sw1a, author: Here.cem, body: "x")
        #expect(Here.talk.when(command).rejection?.code == .notAMember)
        #expect(Here.talk.given(.setPostcode(user: Here.cem, postcode: "SW1A 3AA")).when(command).events.count == 1)
    }

    @Test func generatedIDIsRecognisedToo() throws {
        let made = Here.talk.when(.postMessage(thread: Here.sw1a, author: Here.ann, body: "x"))
        let event = try #require(made.events.first)
        let message = try #require(event.message)
        let given = Here.talk.given(event)
        #expect(
            given.when(.postMessage(message: message, thread: Here.sw1a, author: Here.ann, body: "x"))
                .duplicatePositions == 11...11
        )
    }
}
