import ChatDomain
import ChatTesting
import Testing

/// Findings of an audit in a history that this version's decider did not write.
struct HistoryFaultTests {
    typealias Here = Neighbourhood

    /// Ann asked for milk and Bob replied; both retracted.
    ///
    /// Ann has read up to 9, and her session has ended.
    static let given = Here.dogOwners.given(
        .startSession(user: Here.ann, session: Here.phone, device: "iPhone"),
        .endSession(session: Here.phone),
        .markRead(user: Here.ann, thread: Here.sw1a, upTo: 9))
    static let retracted = given.given(.retract(.message(Here.milk), by: Here.ann), .retract(.reply(Here.yes), by: Here.bob))

    /// `given` has five events of SW1A and two of the dogs; the head is 15.
    static let faults: [(String, DeciderSpecification, EventDetails, EventContent, [HistoryFault.Problem])] = [
        ("a second registration", given, .userRegistered(UserRegistered(user: Here.ann)), registration("Zoe"), [.identifierTwice]),
        ("a taken name", given, .userRegistered(UserRegistered(user: Here.nobody)), registration("Ann"), [.usernameTwice]),
        (
            "a taken subject", given, .userRegistered(UserRegistered(user: Here.nobody)),
            .registration(Username(text: "Zoe", foldKey: "zoe"), subject: "sub-ann"), [.subjectTwice]
        ),
        (
            "another's name", given, .usernameChanged(UsernameChanged(user: Here.bob)), .username(Username(text: "Ann", foldKey: "ann")),
            [.usernameTwice]
        ),
        (
            "a stranger's name", given, .usernameChanged(UsernameChanged(user: Here.nobody)),
            .username(Username(text: "Zoe", foldKey: "zoe")), [.unknownReference]
        ),
        (
            "a postcode of another district", given, .postcodeSet(PostcodeSet(user: Here.ann, thread: Here.n1p)),
            Postcode("SW1A 1AA").map(EventContent.postcode) ?? .none, [.threadMismatch]
        ),
        (
            "an open thread", given, .threadOpened(ThreadOpened(thread: Here.dogs, number: 3, by: Here.ann)), .threadName("Dogs"),
            [.identifierTwice]
        ),
        (
            "a thread that starts at 2", given, .threadOpened(ThreadOpened(thread: ThreadID(bits: 77), number: 2, by: Here.ann)),
            .threadName("Cats"), [.threadNumberGap]
        ),
        (
            "a stranger who opens a district's thread", given, .threadOpened(ThreadOpened(thread: Here.n1p, number: 1, by: Here.ann)),
            .none, [.notResident]
        ),
        (
            "a thread with the name of a district", given, .threadOpened(ThreadOpened(thread: ThreadID(bits: 77), number: 1, by: Here.ann)),
            .threadName("sw1a"), [.invalidText]
        ),
        (
            "a name with an escape sequence", given, .usernameChanged(UsernameChanged(user: Here.bob)),
            .username(Username(text: "B\u{1b}[2Jb", foldKey: "x")), [.invalidText]
        ),
        (
            "an empty body", given,
            .messagePosted(MessagePosted(thread: Here.dogs, number: 3, message: MessageID(bits: 77), author: Here.ann)),
            .body(" \n"), [.invalidText]
        ),
        (
            "an oversized body", given,
            .messagePosted(MessagePosted(thread: Here.dogs, number: 3, message: MessageID(bits: 77), author: Here.ann)),
            .body(String(repeating: "x", count: 16_385)), [.invalidText]
        ),
        ("a gap", given, .threadJoined(ThreadJoined(thread: Here.dogs, number: 4, user: Here.bob)), .none, [.threadNumberGap]),
        ("a repeated number", given, .threadJoined(ThreadJoined(thread: Here.dogs, number: 2, user: Here.bob)), .none, [.threadNumberGap]),
        ("a member who joins", given, .threadJoined(ThreadJoined(thread: Here.dogs, number: 3, user: Here.ann)), .none, [.alreadyMember]),
        (
            "the departure of a non-member", given, .threadLeft(ThreadLeft(thread: Here.dogs, number: 3, user: Here.bob)), .none,
            [.notAMember]
        ),
        (
            "an unknown thread", given, .threadLeft(ThreadLeft(thread: Here.nowhere, number: 1, user: Here.bob)), .none,
            [.unknownReference, .notAMember]
        ),
        (
            "a repeated message", given,
            .messagePosted(MessagePosted(thread: Here.sw1a, number: 6, message: Here.milk, author: Here.ann)), .body("x"),
            [.identifierTwice]
        ),
        (
            "a message by a non-member", given,
            .messagePosted(MessagePosted(thread: Here.sw1a, number: 6, message: Here.noMessage, author: Here.cem)), .body("x"),
            [.notAMember]
        ),
        (
            "a repeated reply", given,
            .replyPosted(ReplyPosted(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, author: Here.bob)), .body("x"),
            [.identifierTwice]
        ),
        (
            "a reply to an unknown message", given,
            .replyPosted(ReplyPosted(thread: Here.sw1a, number: 6, message: Here.noMessage, reply: Here.noReply, author: Here.bob)),
            .body("x"), [.unknownReference]
        ),
        (
            "a reply in another thread than its message", given,
            .replyPosted(ReplyPosted(thread: Here.dogs, number: 3, message: Here.milk, reply: Here.noReply, author: Here.ann)),
            .body("x"), [.unknownReference]
        ),
        (
            "a reply to a retracted message", retracted,
            .replyPosted(ReplyPosted(thread: Here.sw1a, number: 8, message: Here.milk, reply: Here.noReply, author: Here.bob)),
            .body("x"), [.afterRetraction]
        ),
        (
            "another's edit", given, .messageEdited(MessageChanged(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.bob)),
            .body("x"), [.notTheAuthor]
        ),
        (
            "an edit of a retracted post", retracted,
            .replyEdited(ReplyChanged(thread: Here.sw1a, number: 8, message: Here.milk, reply: Here.yes, by: Here.bob)), .body("x"),
            [.afterRetraction]
        ),
        (
            "a second retraction", retracted,
            .messageRetracted(MessageChanged(thread: Here.sw1a, number: 8, message: Here.milk, by: Here.ann)), .none, [.afterRetraction]
        ),
        (
            "another's retraction", given,
            .replyRetracted(ReplyChanged(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, by: Here.ann)), .none,
            [.notTheAuthor]
        ),
        ("a marker beyond the head", given, marker(Here.ann, 16), .none, [.markerBeyondHead]),
        ("a decreasing marker", given, marker(Here.ann, 9), .none, [.markerNotIncreasing]),
        ("a marker of a non-member", given, marker(Here.cem, 9), .none, [.notAMember]),
        (
            "a repeated session", given, .sessionStarted(SessionStarted(user: Here.ann, session: Here.phone)), .device(""),
            [.identifierTwice]
        ),
        ("a repeated end", given, .sessionEnded(SessionEnded(user: Here.ann, session: Here.phone)), .none, [.sessionEndedTwice]),
        (
            "another's end", Here.people.given(.startSession(user: Here.ann, session: Here.phone, device: "")),
            .sessionEnded(SessionEnded(user: Here.bob, session: Here.phone)), .none, [.notTheAuthor]
        ),
        (
            "an end without a start", given, .sessionEnded(SessionEnded(user: Here.ann, session: SessionID(bits: 5))), .none,
            [.unknownReference]
        ),
    ]

    private static func registration(_ name: String) -> EventContent {
        .registration(Username(text: name, foldKey: Username.foldKey(name)), subject: nil)
    }

    private static func marker(_ user: UserID, _ upTo: Position) -> EventDetails {
        .threadRead(ThreadRead(user: user, thread: Here.sw1a, upTo: upTo))
    }

    @Test(arguments: faults)
    func faultIsReported(
        what: String, given: DeciderSpecification, details: EventDetails, content: EventContent, problems: [HistoryFault.Problem]
    ) {
        let event = ChatEvent(recordedAt: given.state.lastRecordedAt, details: details, content: content)
        let faults = given.state.faults(of: event)
        #expect(faults.map(\.problem) == problems, "\(what)")
        #expect(faults.allSatisfy { !$0.message.isEmpty })
    }

    /// A fault that a lost event can explain is no longer reported after it.
    ///
    /// Other faults stay, and so do faults before the loss.
    @Test(arguments: faults)
    func lostEventHidesOnlyFaultsItExplains(
        what: String, given: DeciderSpecification, details: EventDetails, content: EventContent, problems: [HistoryFault.Problem]
    ) {
        let explained: Set<HistoryFault.Problem> = [
            .unknownReference, .notAMember, .alreadyMember, .usernameTwice, .notResident, .threadNumberGap,
        ]
        var state = given.state
        #expect(state.lostEventCount == 0)
        // The head stays the same, because the faults of markers depend on it.
        state.evolve(ChatEvent(recordedAt: state.lastRecordedAt, details: .lost), at: state.head)
        #expect(state.lostEventCount == 1)
        let found = state.faults(of: ChatEvent(recordedAt: state.lastRecordedAt, details: details, content: content)).map(\.problem)
        if problems.allSatisfy(explained.contains) {
            #expect(Set(found).isSubset(of: [.threadNumberGap, .unknownReference]), "\(what)")
        } else {
            #expect(Set(found).isSuperset(of: problems.filter { !explained.contains($0) }), "\(what)")
        }
    }

    @Test func repeatedNumberAfterLossIsFault() {
        var state = Self.given.state
        state.evolve(ChatEvent(recordedAt: state.lastRecordedAt, details: .lost), at: state.head + 1)
        for (number, problems) in [(2, [HistoryFault.Problem.threadNumberGap]), (3, []), (9, [])] as [(UInt64, [HistoryFault.Problem])] {
            let details = MessagePosted(thread: Here.dogs, number: number, message: MessageID(bits: 77), author: Here.ann)
            let event = ChatEvent(recordedAt: state.lastRecordedAt, details: .messagePosted(details), content: .body("Walkies?"))
            #expect(state.faults(of: event).map(\.problem) == problems)
        }
    }

    @Test func decreasingTimeIsFault() {
        let last = Here.people.state.lastRecordedAt.millisecondsSince1970
        let details = EventDetails.usernameChanged(UsernameChanged(user: Here.ann))
        let earlier = ChatEvent(recordedAt: Timestamp(millisecondsSince1970: last - 1), details: details, content: .erased)
        #expect(Here.people.state.faults(of: earlier).map(\.problem) == [.timeWentBack])
        let same = ChatEvent(recordedAt: Timestamp(millisecondsSince1970: last), details: details, content: .erased)
        #expect(Here.people.state.faults(of: same).isEmpty)
    }

    @Test func evolveContinuesAfterAnyFault() {
        for (what, given, details, content, _) in Self.faults {
            var state = given.state
            state.evolve(ChatEvent(recordedAt: state.lastRecordedAt, details: details, content: content), at: state.head + 1)
            #expect(state.head == given.state.head + 1, "\(what)")
        }
    }
}
