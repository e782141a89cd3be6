import ChatDomain
import ChatTesting
import Testing

/// The users whom a message, a reply or an edit mentions.
struct MentionRulesTests {
    typealias Here = Neighbourhood

    /// The commands that write a text, each with the same users; Cem is the author, the thread that
    /// about dogs.
    static let texts: [@Sendable ([UserID]) -> ChatCommand] = [
        { .postMessage(thread: Here.dogs, body: "Walkies?", mentions: $0, by: Here.cem) },
        { .reply(to: Here.walk, body: "Now?", mentions: $0, by: Here.cem) },
        { .edit(.message(Here.walk), body: "Walkies!", mentions: $0, by: Here.cem) },
        { .edit(.reply(Here.woof), body: "Woof!", mentions: $0, by: Here.cem) },
    ]

    /// The thread about dogs with so many more members.
    static func crowd(_ count: Int) -> (given: DeciderSpecification, users: [UserID]) {
        let users = (0..<count).map { UserID(bits: 1 << 100 + UInt128($0)) }
        let commands = users.enumerated().flatMap { number, user -> [CommandRequest] in
            [
                CommandRequest(.registerUser(id: user, username: "Neighbour \(number)")),
                CommandRequest(.joinThread(thread: Here.dogs, by: user)),
            ]
        }
        return (Here.moderated.given(commands), users)
    }

    @Test(arguments: texts) func membersAreMentionedInOrder(_ text: @Sendable ([UserID]) -> ChatCommand) {
        #expect(Here.moderated.when(text([])).events.map(\.mentions) == [[]])
        #expect(Here.moderated.when(text([Here.bob, Here.ann])).events.map(\.mentions) == [[Here.bob, Here.ann]])
        // Oneself too.
        #expect(Here.moderated.when(text([Here.cem])).events.map(\.mentions) == [[Here.cem]])
    }

    @Test(arguments: texts) func repeatedUserCountsOnce(_ text: @Sendable ([UserID]) -> ChatCommand) {
        let event = Here.moderated.when(text([Here.bob, Here.ann, Here.bob, Here.cem, Here.ann])).events
        #expect(event.map(\.mentions) == [[Here.bob, Here.ann, Here.cem]])
        let many = Array(repeating: Here.bob, count: 100_000)
        #expect(Here.moderated.when(text(many)).events.map(\.mentions) == [[Here.bob]])
    }

    /// Also an operator, who may read the thread, a user whom nobody knows, and one who has left.
    @Test(arguments: texts, [Here.dee, Here.eli, Here.nobody]) func othersAreNotAMember(
        _ text: @Sendable ([UserID]) -> ChatCommand, user: UserID
    ) {
        #expect(Here.moderated.when(text([Here.ann, user])).rejection?.code == .notAMember)
        let left = Here.moderated.given(.leaveThread(thread: Here.dogs, by: Here.bob))
        #expect(left.when(text([Here.bob])).rejection?.code == .notAMember)
        #expect(left.given(.joinThread(thread: Here.dogs, by: Here.bob)).when(text([Here.bob])).events.count == 1)
    }

    @Test(arguments: texts) func fiftyDifferentUsersAreTheMost(_ text: @Sendable ([UserID]) -> ChatCommand) {
        let (given, users) = Self.crowd(51)
        let first = Array(users.prefix(50))
        #expect(given.when(text(first)).events.map(\.mentions) == [first])
        #expect(given.when(text(first + first)).events.map(\.mentions) == [first])
        #expect(given.when(text(users)).rejection?.code == .tooManyMentions)
        // The number is checked before the memberships.
        #expect(given.when(text(first + [Here.nobody])).rejection?.code == .tooManyMentions)
        let strangers = (0..<100_000).map { UserID(bits: 1 << 110 + UInt128($0)) }
        #expect(given.when(text(strangers)).rejection?.code == .tooManyMentions)
    }

    @Test func imports() {
        let request = { (users: [UserID]) in
            CommandRequest(
                .postMessage(thread: Here.dogs, body: "x", mentions: users, by: Here.cem),
                origin: .imported(sentAt: nil))
        }
        #expect(Here.moderated.when(request([Here.bob])).events.map(\.mentions) == [[Here.bob]])
        #expect(Here.moderated.when(request([Here.eli])).rejection?.code == .notAMember)
    }

    /// The id decides whether a command is a duplicate, not the list.
    @Test func repeatedCommandIsDuplicate() {
        let message = MessageID(bits: 7)
        let post = { (users: [UserID]) in
            ChatCommand.postMessage(id: message, thread: Here.dogs, body: "x", mentions: users, by: Here.cem)
        }
        let given = Here.moderated.given(post([Here.bob]))
        #expect(given.when(post([])).duplicatePositions != nil)
        #expect(given.when(post([Here.nobody])).duplicatePositions != nil)
    }

    @Test func commandIsNotLargerThanBefore() { #expect(MemoryLayout<ChatCommand>.size <= 112) }

    // MARK: Audits

    static let message = EventDetails(
        .messagePosted, .message(thread: Here.dogs, number: 9, message: MessageID(bits: 77), by: Here.cem))

    private func faults(_ mentions: [UserID], in given: DeciderSpecification, _ details: EventDetails) -> [HistoryFault
        .Problem]
    {
        let last = given.state.lastRecordedAt
        let event = ChatEvent(recordedAt: last, details: details, content: .body("x"), mentions: mentions)
        return given.state.faults(of: event).map(\.problem)
    }

    @Test func auditChecksTheList() {
        let (given, users) = Self.crowd(51)
        let number = UInt64(given.history.count { $0.event.thread == Here.dogs && $0.event.threadNumber != nil }) + 1
        let message = EventDetails(
            .messagePosted, .message(thread: Here.dogs, number: number, message: MessageID(bits: 77), by: Here.cem))
        let reply = EventDetails(
            .replyPosted,
            .reply(thread: Here.dogs, number: number, message: Here.walk, reply: ReplyID(bits: 77), by: Here.cem))
        let edit = EventDetails(
            .messageEdited, .message(thread: Here.dogs, number: number, message: Here.walk, by: Here.cem))
        for details in [message, reply, edit] {
            #expect(faults([], in: given, details) == [])
            #expect(faults(Array(users.prefix(50)), in: given, details) == [])
            #expect(faults(users, in: given, details) == [.notPermitted])
            #expect(faults([Here.bob, Here.ann, Here.bob], in: given, details) == [.notPermitted])
            #expect(faults([Here.bob, Here.eli, Here.nobody], in: given, details) == [.notAMember, .notAMember])
            #expect(faults([Here.eli, Here.eli], in: given, details) == [.notPermitted, .notAMember, .notAMember])
        }
    }

    /// A loss can hide a join, but no list of a decider is too long or has a user twice.
    @Test func lostEventExplainsMissingMembers() {
        let (given, users) = Self.crowd(51)
        var state = given.state
        let last = state.lastRecordedAt
        state.evolve(ChatEvent(recordedAt: last, details: .init(.lost)), at: state.head + 1)
        let number = UInt64(given.history.count { $0.event.thread == Here.dogs && $0.event.threadNumber != nil }) + 1
        let details = EventDetails(
            .messagePosted, .message(thread: Here.dogs, number: number, message: MessageID(bits: 77), by: Here.cem))
        let problems = { (mentions: [UserID]) in
            state.faults(of: ChatEvent(recordedAt: last, details: details, content: .body("x"), mentions: mentions))
                .map(\.problem)
        }
        #expect(problems([Here.eli, Here.nobody]) == [])
        #expect(problems(users) == [.notPermitted])
        #expect(problems([Here.eli, Here.eli]) == [.notPermitted])
    }
}
