import ChatDomain
import ChatTesting
import Testing

/// A repeated id returns its first receipt, at any age and before every other check.
struct ExactlyOnceTests {
    typealias Here = Neighbourhood

    /// A history with every kind of later change to a message, a reply, a thread, a user and a
    /// session.
    static let muchLater = Here.dogOwners.given(
        .startSession(id: Here.phone, device: "iPhone", by: Here.ann),
        .custom(id: Here.poll, kind: "com.example.poll", thread: Here.dogs, payload: Here.payload("1"), by: Here.ann),
        .edit(.message(Here.milk), id: oat, body: "Oat milk", by: Here.ann),
        .edit(.reply(Here.yes), id: no, body: "No.", by: Here.bob),
        .retract(.message(Here.milk), by: Here.ann),
        .retract(.reply(Here.yes), by: Here.bob),
        .setPostcode(postcode: "N1P 2NG", by: Here.ann),
        .leaveThread(thread: Here.sw1a, by: Here.ann),
        .joinThread(thread: Here.dogs, by: Here.bob),
        .setRole(user: Here.bob, thread: Here.dogs, role: .owner, by: Here.ann),
        .leaveThread(thread: Here.dogs, by: Here.ann),
        .leaveThread(thread: Here.sw1a, by: Here.bob),
        .changeUsername(username: "Anna", by: Here.ann),
        .changeUsername(username: "Ann", by: Here.bob),
        .endSession(session: Here.phone),
        .ban(user: Here.ann, thread: Here.dogs, reason: "spam", by: Here.bob),
        .closeThread(thread: Here.dogs, by: Here.bob))

    static let (oat, no) = (EditID(bits: 0), EditID(bits: 0x5 << 120 | 2))

    static let repeated: [(ChatCommand, ClosedRange<Position>)] = [
        (.registerUser(id: Here.ann, username: "Ann", subject: "sub-ann"), 1...1),
        (.registerUser(id: Here.bob, username: "Bob"), 2...2),
        (
            .postMessage(id: Here.milk, thread: Here.sw1a, body: "Could someone pick up milk?", by: Here.ann),
            8...8
        ),
        (.reply(id: Here.yes, to: Here.milk, body: "Yes.", by: Here.bob), 9...9),
        (.openThread(id: Here.dogs, name: "Dogs", by: Here.ann), 11...12),
        (.startSession(id: Here.phone, device: "iPhone", by: Here.ann), 13...13),
        (
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.dogs, payload: Here.payload("1"), by: Here.ann),
            14...14
        ),
    ]

    @Test(arguments: repeated) func immediateRepetitionIsDuplicate(
        command: ChatCommand, positions: ClosedRange<Position>
    ) {
        let given = Here.dogOwners.given(
            .startSession(id: Here.phone, device: "iPhone", by: Here.ann),
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.dogs, payload: Here.payload("1"), by: Here.ann))
        #expect(given.when(command).duplicatePositions == positions)
    }

    static let repeatedEdits: [(ChatCommand, ClosedRange<Position>)] = [
        (.edit(.message(Here.milk), id: oat, body: "Oat milk", by: Here.ann), 15...15),
        (.edit(.message(Here.milk), id: oat, body: "", replaces: 8, by: Here.ann), 15...15),
        (.edit(.reply(Here.yes), id: no, body: "No.", replaces: 99, by: Here.bob), 16...16),
    ]

    /// Also after the post was edited again, or retracted.
    @Test(arguments: repeatedEdits) func repeatedEditIsDuplicate(command: ChatCommand, positions: ClosedRange<Position>)
    {
        let given = Here.dogOwners.given(
            .startSession(id: Here.phone, device: "iPhone", by: Here.ann),
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.dogs, payload: Here.payload("1"), by: Here.ann),
            .edit(.message(Here.milk), id: Self.oat, body: "Oat milk", by: Here.ann),
            .edit(.reply(Here.yes), id: Self.no, body: "No.", by: Here.bob))
        #expect(given.when(command).duplicatePositions == positions)
        let later = given.given(
            .edit(.message(Here.milk), body: "Soy", by: Here.ann), .edit(.reply(Here.yes), body: "Yes", by: Here.bob))
        #expect(later.when(command).duplicatePositions == positions)
        #expect(Self.muchLater.when(command).duplicatePositions == positions)
    }

    @Test(arguments: [
        RefusedCommand(
            "another post", muchLater, .edit(.reply(Here.yes), id: oat, body: "x", by: Here.bob), .identifierTaken),
        RefusedCommand(
            "another post of the author", muchLater,
            .edit(.message(Here.noMessage), id: oat, body: "x", by: Here.ann), .identifierTaken),
        RefusedCommand(
            "a reply with the id of the message", muchLater,
            .edit(.reply(ReplyID(bits: Here.milk.bits)), id: oat, body: "x", by: Here.ann), .identifierTaken),
        RefusedCommand(
            "another author", muchLater, .edit(.message(Here.milk), id: oat, body: "x", by: Here.bob),
            .identifierTaken),
        RefusedCommand(
            "an unknown user", muchLater, .edit(.message(Here.milk), id: oat, body: "", by: Here.nobody),
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
            (.registerUser(id: Here.ann, username: " aNN "), 1...1),
            (.registerUser(id: Here.ann, username: "Ann"), 1...1),
            (.postMessage(id: Here.milk, thread: Here.sw1a, body: "", by: Here.ann), 8...8),
            (.reply(id: Here.yes, to: Here.milk, body: PostRulesTests.full + "x", by: Here.bob), 9...9),
            (.openThread(id: Here.dogs, name: "SW1A", by: Here.ann), 11...12),
            (.startSession(id: Here.phone, device: String(repeating: "d", count: 2_000), by: Here.ann), 13...13),
            (
                .custom(
                    id: Here.poll, kind: CustomKind(unchecked: ""), thread: Here.dogs, payload: Here.payload("2"),
                    by: Here.ann), 14...14
            ),
        ] as [(ChatCommand, ClosedRange<Position>)])
    func duplicateCheckIgnoresText(command: ChatCommand, positions: ClosedRange<Position>) {
        #expect(Self.muchLater.when(command).duplicatePositions == positions)
    }

    /// Two subjects identify two people, even under the same name.
    @Test(arguments: ["sub-eve", "", String(repeating: "s", count: 300)])
    func registrationWithOtherSubjectIsNotDuplicate(subject: String) {
        #expect(
            Self.muchLater.when(.registerUser(id: Here.ann, username: "Ann", subject: subject)).rejection?.code
                == .subjectTaken)
        #expect(
            Self.muchLater.when(.registerUser(id: Here.bob, username: "Bob", subject: subject)).rejection?.code
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
            "a user of another name", muchLater, .registerUser(id: Here.ann, username: "Anne"), .identifierTaken),
        RefusedCommand(
            "a user's present name", muchLater, .registerUser(id: Here.ann, username: "Anna"), .identifierTaken),
        RefusedCommand(
            "another author", muchLater,
            .postMessage(id: Here.milk, thread: Here.sw1a, body: "x", by: Here.bob),
            .identifierTaken),
        RefusedCommand(
            "another thread", muchLater,
            .postMessage(id: Here.milk, thread: Here.dogs, body: "x", by: Here.ann),
            .identifierTaken),
        RefusedCommand(
            "another reply's author", muchLater,
            .reply(id: Here.yes, to: Here.milk, body: "x", by: Here.cem),
            .identifierTaken),
        RefusedCommand(
            "another message", muchLater, .reply(id: Here.yes, to: Here.noMessage, body: "x", by: Here.bob),
            .identifierTaken),
        RefusedCommand(
            "another opener", muchLater, .openThread(id: Here.dogs, name: "Dogs", by: Here.bob), .identifierTaken),
        RefusedCommand(
            "another user", muchLater, .startSession(id: Here.phone, device: "iPhone", by: Here.bob),
            .identifierTaken),
        RefusedCommand(
            "another user's custom event", muchLater,
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.dogs, payload: Here.payload("1"), by: Here.bob),
            .identifierTaken),
        RefusedCommand(
            "another thread's custom event", muchLater,
            .custom(
                id: Here.poll, kind: "com.example.poll", thread: Here.sw1a, payload: Here.payload("1"), by: Here.ann),
            .identifierTaken),
    ])
    func repeatedIDWithOtherAuthorOrThreadIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func messageAndReplyCanShareBits() {
        let reply = ReplyID(bits: Here.milk.bits)
        #expect(Here.talk.when(.reply(id: reply, to: Here.milk, body: "x", by: Here.ann)).events.count == 1)
    }

    @Test func rejectedCommandLeavesItsIDFree() {
        let id = MessageID(bits: 9)
        let command = ChatCommand.postMessage(id: id, thread: Here.sw1a, body: "x", by: Here.cem)
        #expect(Here.talk.when(command).rejection?.code == .notAMember)
        #expect(Here.talk.given(.setPostcode(postcode: "SW1A 3AA", by: Here.cem)).when(command).events.count == 1)
    }

    @Test func generatedIDIsRecognisedToo() throws {
        let made = Here.talk.when(.postMessage(thread: Here.sw1a, body: "x", by: Here.ann))
        let event = try #require(made.events.first)
        let message = try #require(event.message)
        let given = Here.talk.given(event)
        #expect(
            given.when(.postMessage(id: message, thread: Here.sw1a, body: "x", by: Here.ann))
                .duplicatePositions == 11...11
        )
    }
}
