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
        .startSession(id: Here.phone, device: "iPhone", by: Here.ann),
        .endSession(session: Here.phone),
        .markRead(thread: Here.sw1a, upTo: 9, by: Here.ann))
    static let retracted = given.given(
        .retract(.message(Here.milk), by: Here.ann), .retract(.reply(Here.yes), by: Here.bob))

    /// `given` has five events of SW1A and two of the dogs; the head is 15.
    static let faults: [(String, DeciderSpecification, EventDetails, EventContent, [HistoryFault.Problem])] = [
        (
            "a second registration", given, .init(.userRegistered, .user(Here.ann)), registration("Zoe"),
            [.identifierTwice]
        ),
        ("a taken name", given, .init(.userRegistered, .user(Here.nobody)), registration("Ann"), [.usernameTwice]),
        (
            "a taken subject", given, .init(.userRegistered, .user(Here.nobody)),
            .registration(Username(text: "Zoe", foldKey: "zoe"), subject: "sub-ann"), [.subjectTwice]
        ),
        (
            "another's name", given, .init(.usernameChanged, .user(Here.bob)),
            .username(Username(text: "Ann", foldKey: "ann")),
            [.usernameTwice]
        ),
        (
            "a stranger's name", given, .init(.usernameChanged, .user(Here.nobody)),
            .username(Username(text: "Zoe", foldKey: "zoe")), [.unknownReference]
        ),
        (
            "a postcode of another district", given, .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.n1p)),
            Postcode("SW1A 1AA").map(EventContent.postcode) ?? .none, [.threadMismatch]
        ),
        (
            "an open thread", given, .init(.threadOpened, .thread(Here.dogs, number: 3, user: Here.ann)),
            .threadName("Dogs"),
            [.identifierTwice]
        ),
        (
            "a thread that starts at 2", given,
            .init(.threadOpened, .thread(ThreadID(bits: 77), number: 2, user: Here.ann)),
            .threadName("Cats"), [.threadNumberGap]
        ),
        (
            "a stranger who opens a district's thread", given,
            .init(.threadOpened, .thread(Here.n1p, number: 1, user: Here.ann)),
            .none, [.notResident]
        ),
        (
            "a thread with the name of a district", given,
            .init(.threadOpened, .thread(ThreadID(bits: 77), number: 1, user: Here.ann)),
            .threadName("sw1a"), [.invalidText]
        ),
        (
            "a name with an escape sequence", given, .init(.usernameChanged, .user(Here.bob)),
            .username(Username(text: "B\u{1b}[2Jb", foldKey: "x")), [.invalidText]
        ),
        (
            "an empty body", given,
            .init(.messagePosted, .message(thread: Here.dogs, number: 3, message: MessageID(bits: 77), by: Here.ann)),
            .body(" \n"), [.invalidText]
        ),
        (
            "an oversized body", given,
            .init(.messagePosted, .message(thread: Here.dogs, number: 3, message: MessageID(bits: 77), by: Here.ann)),
            .body(String(repeating: "x", count: 16_385)), [.invalidText]
        ),
        (
            "an oversized device", given,
            .init(.sessionStarted, .session(user: Here.ann, session: SessionID(bits: 77))),
            .device(String(repeating: "x", count: 1_025)), [.invalidText]
        ),
        (
            "a gap", given, .init(.threadJoined, .thread(Here.dogs, number: 4, user: Here.bob)), .none,
            [.threadNumberGap]
        ),
        (
            "a repeated number", given, .init(.threadJoined, .thread(Here.dogs, number: 2, user: Here.bob)), .none,
            [.threadNumberGap]
        ),
        (
            "a member who joins", given, .init(.threadJoined, .thread(Here.dogs, number: 3, user: Here.ann)), .none,
            [.alreadyMember]
        ),
        (
            "the departure of a non-member", given, .init(.threadLeft, .thread(Here.dogs, number: 3, user: Here.bob)),
            .none,
            [.notAMember]
        ),
        (
            "an unknown thread", given, .init(.threadLeft, .thread(Here.nowhere, number: 1, user: Here.bob)), .none,
            [.unknownReference, .notAMember]
        ),
        (
            "a repeated message", given,
            .init(.messagePosted, .message(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.ann)), .body("x"),
            [.identifierTwice]
        ),
        (
            "a message by a non-member", given,
            .init(.messagePosted, .message(thread: Here.sw1a, number: 6, message: Here.noMessage, by: Here.cem)),
            .body("x"),
            [.notAMember]
        ),
        (
            "a repeated reply", given,
            .init(
                .replyPosted, .reply(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, by: Here.bob)),
            .body("x"),
            [.identifierTwice]
        ),
        (
            "a reply to an unknown message", given,
            .init(
                .replyPosted,
                .reply(thread: Here.sw1a, number: 6, message: Here.noMessage, reply: Here.noReply, by: Here.bob)),
            .body("x"), [.unknownReference]
        ),
        (
            "a reply in another thread than its message", given,
            .init(
                .replyPosted,
                .reply(thread: Here.dogs, number: 3, message: Here.milk, reply: Here.noReply, by: Here.ann)),
            .body("x"), [.unknownReference]
        ),
        (
            "a reply to a retracted message", retracted,
            .init(
                .replyPosted,
                .reply(thread: Here.sw1a, number: 8, message: Here.milk, reply: Here.noReply, by: Here.bob)),
            .body("x"), [.afterRetraction]
        ),
        (
            "another's edit", given,
            .init(.messageEdited, .message(thread: Here.sw1a, number: 6, message: Here.milk, by: Here.bob)),
            .body("x"), [.notTheAuthor]
        ),
        (
            "an edit of a retracted post", retracted,
            .init(
                .replyEdited, .reply(thread: Here.sw1a, number: 8, message: Here.milk, reply: Here.yes, by: Here.bob)),
            .body("x"),
            [.afterRetraction]
        ),
        (
            "a second retraction", retracted,
            .init(.messageRetracted, .message(thread: Here.sw1a, number: 8, message: Here.milk, by: Here.ann)), .none,
            [.afterRetraction]
        ),
        (
            "another's retraction", given,
            .init(
                .replyRetracted, .reply(thread: Here.sw1a, number: 6, message: Here.milk, reply: Here.yes, by: Here.ann)
            ), .none,
            [.notTheAuthor]
        ),
        ("a marker beyond the head", given, marker(Here.ann, 16), .none, [.markerBeyondHead]),
        ("a decreasing marker", given, marker(Here.ann, 9), .none, [.markerNotIncreasing]),
        ("a marker of a non-member", given, marker(Here.cem, 9), .none, [.notAMember]),
        (
            "a repeated session", given, .init(.sessionStarted, .session(user: Here.ann, session: Here.phone)),
            .device(""),
            [.identifierTwice]
        ),
        (
            "a repeated end", given, .init(.sessionEnded, .session(user: Here.ann, session: Here.phone)), .none,
            [.sessionEndedTwice]
        ),
        (
            "another's end", Here.people.given(.startSession(id: Here.phone, device: "", by: Here.ann)),
            .init(.sessionEnded, .session(user: Here.bob, session: Here.phone)), .none, [.notTheAuthor]
        ),
        (
            "an end without a start", given,
            .init(.sessionEnded, .session(user: Here.ann, session: SessionID(bits: 5))), .none,
            [.unknownReference]
        ),
    ]

    static let locked = Here.clubbed.given(.lockThread(thread: Here.dogs, by: Here.bob))
    static let closed = Here.clubbed.given(.closeThread(thread: Here.dogs, by: Here.ann))
    static let muted = Here.clubbed.given(.mute(user: Here.cem, thread: Here.dogs, reason: "x", by: Here.bob))
    // Under the rules of an earlier version, which let moderators ban everyone.
    static let banned = Here.clubbed.given(
        ChatEvent(
            recordedAt: Here.clubbed.state.lastRecordedAt,
            details: .init(.userBanned, .sanction(thread: Here.dogs, number: 8, user: Here.eli, by: Here.bob)),
            content: .reason("x")))
    static let removed = Here.clubbed.given(.remove(.message(Here.walk), reason: "x", by: Here.bob))
    static let reported = Here.clubbed.given(.report(.message(Here.walk), reason: "x", by: Here.bob))
    static let pinned = Here.clubbed.given(.pin(message: Here.walk, by: Here.bob))

    private static func member(_ user: UserID, by: UserID, number: UInt64 = 8, in thread: ThreadID = Here.dogs)
        -> EventShape
    {
        EventShape.member(thread: thread, number: number, user: user, by: by)
    }

    private static func role(
        _ user: UserID, _ role: ThreadRole, by: UserID, number: UInt64 = 8, in thread: ThreadID = Here.dogs
    )
        -> EventDetails
    {
        .init(.roleSet, .role(thread: thread, number: number, user: user, role: role, by: by))
    }

    private static func lock(_ by: UserID, number: UInt64 = 8) -> EventShape {
        EventShape.thread(Here.dogs, number: number, user: by)
    }

    private static func walk(_ by: UserID, number: UInt64 = 8, in thread: ThreadID = Here.dogs) -> EventShape {
        EventShape.message(thread: thread, number: number, message: Here.walk, by: by)
    }

    private static func sanction(_ user: UserID, by: UserID, until: Int64? = nil) -> EventShape {
        EventShape.sanction(
            thread: Here.dogs, number: 8, user: user, by: by, until: until.map { Timestamp(millisecondsSince1970: $0) })
    }

    private static func message(_ author: UserID, number: UInt64 = 8) -> EventDetails {
        .init(.messagePosted, .message(thread: Here.dogs, number: number, message: Here.noMessage, by: author))
    }

    private static func custom(_ id: CustomEventID, by: UserID) -> EventDetails {
        .init(.custom, .custom(thread: Here.dogs, number: 8, id: id, by: by))
    }

    private static func payload(_ text: String, kind: String = "com.example.poll") -> EventContent {
        .custom(kind: kind, payload: .present(Here.payload(text)))
    }

    private static func report(_ by: UserID, in thread: ThreadID = Here.dogs) -> EventShape {
        EventShape.messageReport(thread: thread, message: Here.walk, by: by)
    }

    private static let poll = CustomEventID(bits: 77)

    /// `clubbed` has seven events of the dogs and eleven of the club.
    static let communityFaults: [(String, DeciderSpecification, EventDetails, EventContent, [HistoryFault.Problem])] = [
        ("a member's lock", Here.clubbed, .init(.threadLocked, lock(Here.cem)), .none, [.notPermitted]),
        (
            "a gap before a lock", Here.clubbed, .init(.threadLocked, lock(Here.bob, number: 9)), .none,
            [.threadNumberGap]
        ),
        ("a second lock", locked, .init(.threadLocked, lock(Here.bob, number: 9)), .none, [.noEffect]),
        ("a lock of a closed thread", closed, .init(.threadLocked, lock(Here.bob, number: 9)), .none, [.notPermitted]),
        ("a moderator's closing", Here.clubbed, .init(.threadClosed, lock(Here.bob)), .none, [.notPermitted]),
        ("a message in a locked thread", locked, message(Here.cem, number: 9), .body("x"), [.notPermitted]),
        ("a message in a closed thread", closed, message(Here.cem, number: 9), .body("x"), [.notPermitted]),
        ("a message by a muted member", muted, message(Here.cem, number: 9), .body("x"), [.notPermitted]),
        (
            "a join of a banned user", banned, .init(.threadJoined, .thread(Here.dogs, number: 9, user: Here.eli)),
            .none,
            [.notPermitted]
        ),
        (
            "a join of a locked thread", locked, .init(.threadJoined, .thread(Here.dogs, number: 9, user: Here.eli)),
            .none,
            [.notPermitted]
        ),
        (
            "a join without an invitation", Here.clubbed,
            .init(.threadJoined, .thread(Here.club, number: 12, user: Here.eli)), .none,
            [.notPermitted]
        ),
        (
            "a later policy by a moderator", Here.clubbed,
            .init(
                .threadPolicySet,
                .policy(thread: Here.dogs, number: 8, policy: .inviteOnly, history: .all, by: Here.bob)), .none,
            [.notPermitted]
        ),
        (
            "a later policy by an operator beside an owner", Here.clubbed,
            .init(
                .threadPolicySet,
                .policy(thread: Here.club, number: 12, policy: .open, history: .sinceJoining, by: Here.dee)), .none,
            [.notPermitted]
        ),
        (
            "a wider history", Here.clubbed,
            .init(
                .threadPolicySet,
                .policy(thread: Here.club, number: 12, policy: .inviteOnly, history: .all, by: Here.ann)), .none,
            [.notPermitted]
        ),
        (
            "the policy of an outward code's thread", Here.clubbed,
            .init(
                .threadPolicySet,
                .policy(thread: Here.sw1a, number: 6, policy: .inviteOnly, history: .all, by: Here.dee)), .none,
            [.notPermitted]
        ),
        (
            "a later policy that holds already", Here.clubbed,
            .init(.threadPolicySet, .policy(thread: Here.dogs, number: 8, policy: .open, history: .all, by: Here.ann)),
            .none,
            [.noEffect]
        ),
        (
            "a reply to a message before the join", Here.clubbed,
            .init(
                .replyPosted,
                .reply(thread: Here.club, number: 12, message: Here.early, reply: Here.noReply, by: Here.bob)),
            .body("x"), [.unknownReference]
        ),
        (
            "an edit of a message before the join", Here.clubbed,
            .init(.messageEdited, .message(thread: Here.club, number: 12, message: Here.early, by: Here.bob)),
            .body("x"),
            [.unknownReference, .notTheAuthor]
        ),
        (
            "an edit of a reply before the join", Here.clubbed,
            .init(
                .replyEdited,
                .reply(thread: Here.club, number: 12, message: Here.early, reply: Here.earlyReply, by: Here.bob)),
            .body("x"), [.unknownReference, .notTheAuthor]
        ),
        (
            "an edit of a removed message", removed, .init(.messageEdited, walk(Here.cem, number: 9)), .body("x"),
            [.afterRetraction]
        ),
        (
            "a member's invitation", Here.clubbed, .init(.userInvited, member(Here.eli, by: Here.cem)), .none,
            [.notPermitted]
        ),
        (
            "an invitation of a member", Here.clubbed, .init(.userInvited, member(Here.cem, by: Here.bob)), .none,
            [.noEffect]
        ),
        (
            "an invitation of a banned user", banned, .init(.userInvited, member(Here.eli, by: Here.bob, number: 9)),
            .none, [.notPermitted]
        ),
        (
            "an invitation of a stranger", Here.clubbed, .init(.userInvited, member(Here.nobody, by: Here.bob)), .none,
            [.unknownReference]
        ),
        (
            "a declined invitation that does not exist", Here.clubbed,
            .init(.invitationDeclined, .thread(Here.dogs, number: 8, user: Here.eli)), .none, [.noEffect]
        ),
        (
            "a revoked invitation that does not exist", Here.clubbed,
            .init(.invitationRevoked, member(Here.eli, by: Here.bob)), .none,
            [.noEffect]
        ),
        ("a role by a moderator", Here.clubbed, role(Here.cem, .moderator, by: Here.bob), .none, [.notPermitted]),
        (
            "a role of a user who is no member", Here.clubbed, role(Here.eli, .moderator, by: Here.ann), .none,
            [.notPermitted]
        ),
        ("a role that the member has", Here.clubbed, role(Here.bob, .moderator, by: Here.ann), .none, [.noEffect]),
        ("the last owner's step down", Here.clubbed, role(Here.ann, .member, by: Here.ann), .none, [.notPermitted]),
        (
            "an owner of an outward code's thread", Here.clubbed,
            role(Here.ann, .owner, by: Here.dee, number: 6, in: Here.sw1a), .none,
            [.notPermitted]
        ),
        ("a second operator's grant", Here.clubbed, .init(.operatorGranted, .user(Here.dee)), .none, [.noEffect]),
        (
            "an operator who never registered", Here.clubbed, .init(.operatorGranted, .user(Here.nobody)), .none,
            [.unknownReference]
        ),
        ("a revocation of no operator", Here.clubbed, .init(.operatorRevoked, .user(Here.eli)), .none, [.noEffect]),
        (
            "a member's removal of a post", Here.clubbed, .init(.messageRemoved, walk(Here.cem)), .reason("x"),
            [.notPermitted]
        ),
        ("a second removal", removed, .init(.messageRemoved, walk(Here.bob, number: 9)), .reason("x"), [.noEffect]),
        (
            "a removal without a reason", Here.clubbed, .init(.messageRemoved, walk(Here.bob)), .reason(" "),
            [.invalidText]
        ),
        (
            "a removal in another thread", Here.clubbed,
            .init(.messageRemoved, walk(Here.dee, number: 6, in: Here.sw1a)), .reason("x"),
            [.unknownReference]
        ),
        (
            "a removal of a reply to another message", Here.clubbed,
            .init(
                .replyRemoved, .reply(thread: Here.dogs, number: 8, message: Here.milk, reply: Here.woof, by: Here.bob)),
            .reason("x"),
            [.unknownReference]
        ),
        (
            "a removal of an unknown reply", Here.clubbed,
            .init(
                .replyRemoved,
                .reply(thread: Here.dogs, number: 8, message: Here.walk, reply: Here.noReply, by: Here.bob)),
            .reason("x"), [.unknownReference]
        ),
        (
            "a moderator's mute of an owner", Here.clubbed, .init(.userMuted, sanction(Here.ann, by: Here.bob)),
            .reason("x"),
            [.notPermitted]
        ),
        (
            "a mute that has ended", Here.clubbed, .init(.userMuted, sanction(Here.cem, by: Here.bob, until: 5)),
            .reason("x"),
            [.notPermitted]
        ),
        (
            "a mute that ended in 1970", Here.clubbed, .init(.userMuted, sanction(Here.cem, by: Here.bob, until: 0)),
            .reason("x"),
            [.notPermitted]
        ),
        (
            "a ban that ended before 1970", Here.clubbed,
            .init(.userBanned, sanction(Here.eli, by: Here.bob, until: -5)), .reason("x"),
            [.notPermitted]
        ),
        (
            "a second mute", muted,
            .init(.userMuted, .sanction(thread: Here.dogs, number: 9, user: Here.cem, by: Here.bob)), .reason("x"),
            [.noEffect]
        ),
        ("the end of no mute", Here.clubbed, .init(.userUnmuted, member(Here.cem, by: Here.bob)), .none, [.noEffect]),
        ("the end of no ban", Here.clubbed, .init(.userUnbanned, member(Here.cem, by: Here.bob)), .none, [.noEffect]),
        (
            "a member's ban", Here.clubbed, .init(.userBanned, sanction(Here.eli, by: Here.cem)), .reason("x"),
            [.notPermitted]
        ),
        (
            "the last owner's ban of themselves", Here.clubbed, .init(.userBanned, sanction(Here.ann, by: Here.ann)),
            .reason("x"),
            [.notPermitted]
        ),
        (
            "a removal of no member", Here.clubbed, .init(.memberRemoved, member(Here.eli, by: Here.bob)), .reason("x"),
            [.noEffect]
        ),
        (
            "a moderator's removal of an owner", Here.clubbed, .init(.memberRemoved, member(Here.ann, by: Here.bob)),
            .reason("x"),
            [.notPermitted]
        ),
        ("a member's pin", Here.clubbed, .init(.messagePinned, walk(Here.cem)), .none, [.notPermitted]),
        ("a second pin", pinned, .init(.messagePinned, walk(Here.bob, number: 9)), .none, [.noEffect]),
        (
            "a pin of a removed message", removed, .init(.messagePinned, walk(Here.bob, number: 9)), .none,
            [.notPermitted]
        ),
        ("the end of no pin", Here.clubbed, .init(.messageUnpinned, walk(Here.bob)), .none, [.noEffect]),
        (
            "a report by no member", Here.clubbed, .init(.messageReported, report(Here.eli)), .reason("x"),
            [.notPermitted]
        ),
        ("a second report", reported, .init(.messageReported, report(Here.bob)), .reason("x"), [.noEffect]),
        (
            "a report in another thread", Here.clubbed, .init(.messageReported, report(Here.bob, in: Here.sw1a)),
            .reason("x"),
            [.unknownReference]
        ),
        ("a member's resolution", reported, .init(.messageReportsResolved, report(Here.cem)), .none, [.notPermitted]),
        (
            "a resolution without a report", Here.clubbed, .init(.messageReportsResolved, report(Here.bob)), .none,
            [.noEffect]
        ),
        (
            "a second block", Here.clubbed.given(.block(user: Here.bob, by: Here.ann)),
            .init(.userBlocked, .block(user: Here.bob, by: Here.ann)), .none, [.noEffect]
        ),
        (
            "the end of no block", Here.clubbed, .init(.userUnblocked, .block(user: Here.bob, by: Here.ann)), .none,
            [.noEffect]
        ),
        (
            "a block of a stranger", Here.clubbed, .init(.userBlocked, .block(user: Here.nobody, by: Here.ann)), .none,
            [.unknownReference]
        ),
        (
            "a marker that goes forward", Here.clubbed,
            .init(.threadMarkedUnread, .marker(user: Here.ann, thread: Here.dogs, upTo: 3)), .none, [.noEffect]
        ),
        (
            "a marker beyond the head", Here.clubbed,
            .init(.threadMarkedUnread, .marker(user: Here.ann, thread: Here.dogs, upTo: .max)), .none, [.notPermitted]
        ),
        (
            "a marker of no member", Here.clubbed,
            .init(.threadMarkedUnread, .marker(user: Here.eli, thread: Here.dogs, upTo: 0)), .none, [.notPermitted]
        ),
        (
            "the level of a new member", Here.clubbed,
            .init(.notificationsSet, .notifications(user: Here.ann, thread: Here.dogs, level: .all)), .none, [.noEffect]
        ),
        (
            "a level that has ended", Here.clubbed,
            .init(
                .notificationsSet,
                .notifications(
                    user: Here.ann, thread: Here.dogs, level: .none, until: Timestamp(millisecondsSince1970: 5))),
            .none, [.notPermitted]
        ),
        (
            "a level of no member", Here.clubbed,
            .init(.notificationsSet, .notifications(user: Here.eli, thread: Here.dogs, level: .none)), .none,
            [.notPermitted]
        ),
        (
            "a level in an unknown thread", Here.clubbed,
            .init(.notificationsSet, .notifications(user: Here.ann, thread: Here.nowhere, level: .none)), .none,
            [.unknownReference]
        ),
        (
            "an inbox read up to nothing", Here.clubbed, .init(.inboxRead, .inbox(user: Here.ann, upTo: 0)), .none,
            [.noEffect]
        ),
        (
            "an inbox marker that goes back", Here.clubbed.given(.markInboxRead(upTo: 3, by: Here.ann)),
            .init(.inboxRead, .inbox(user: Here.ann, upTo: 2)), .none, [.noEffect]
        ),
        (
            "an inbox marker beyond the head", Here.clubbed, .init(.inboxRead, .inbox(user: Here.ann, upTo: .max)),
            .none,
            [.notPermitted]
        ),
        (
            "a profile of a stranger", Here.clubbed, .init(.profileSet, .user(Here.nobody)), .about("Bees"),
            [.unknownReference]
        ),
        (
            "a profile that is too long", Here.clubbed, .init(.profileSet, .user(Here.ann)),
            .about(String(repeating: "x", count: 501)),
            [.invalidText]
        ),
        (
            "a profile with an escape sequence", Here.clubbed, .init(.profileSet, .user(Here.ann)),
            .about("\u{1B}[31m"), [.invalidText]
        ),
        (
            "an inbox of a stranger", Here.clubbed, .init(.inboxRead, .inbox(user: Here.nobody, upTo: 1)), .none,
            [.unknownReference]
        ),
        ("a repeated custom event", Here.clubbed, custom(Here.poll, by: Here.ann), payload("1"), [.identifierTwice]),
        (
            "a custom event repeated in its thread", Here.clubbed,
            .init(.custom, .custom(thread: Here.club, number: 12, id: Here.poll, by: Here.ann)), payload("1"),
            [.identifierTwice]
        ),
        ("a custom event by no member", Here.clubbed, custom(poll, by: Here.eli), payload("1"), [.notPermitted]),
        (
            "a custom event of an invalid kind", Here.clubbed, custom(poll, by: Here.ann), payload("1", kind: "poll"),
            [.invalidText]
        ),
        (
            "an oversized payload", Here.clubbed, custom(poll, by: Here.ann),
            payload("\"" + String(repeating: "x", count: 16_383) + "\""), [.invalidText]
        ),
    ]

    private static func registration(_ name: String) -> EventContent {
        .registration(Username(text: name, foldKey: Username.foldKey(name)), subject: nil)
    }

    private static func marker(_ user: UserID, _ upTo: Position) -> EventDetails {
        .init(.threadRead, .marker(user: user, thread: Here.sw1a, upTo: upTo))
    }

    @Test(arguments: faults + communityFaults)
    func faultIsReported(
        what: String, given: DeciderSpecification, details: EventDetails, content: EventContent,
        problems: [HistoryFault.Problem]
    ) {
        let event = ChatEvent(recordedAt: given.state.lastRecordedAt, details: details, content: content)
        let faults = given.state.faults(of: event)
        #expect(faults.map(\.problem) == problems, "\(what)")
        #expect(faults.allSatisfy { !$0.message.isEmpty })
    }

    /// A set of people has one direct thread, which only they join.
    @Test func faultsOfDirectThreadsAreReported() {
        let (pair, other) = (ThreadID(bits: 0x77), ThreadID(bits: 0x78))
        let given = Here.clubbed.given(.openDirect(id: pair, with: [Here.bob], by: Here.ann))
        func problems(_ thread: ThreadID, number: UInt64 = 1, by user: UserID, _ people: [UserID]) -> [HistoryFault
            .Problem]
        {
            let event = ChatEvent(
                recordedAt: given.state.lastRecordedAt,
                details: .init(.directOpened, .thread(thread, number: number, user: user)),
                mentions: people)
            return given.state.faults(of: event).map(\.problem)
        }
        #expect(given.history.last?.event.thread == pair)
        #expect(problems(other, by: Here.bob, [Here.bob, Here.ann]) == [.identifierTwice])
        #expect(problems(other, by: Here.bob, [Here.bob]) == [.notPermitted])
        #expect(problems(other, by: Here.bob, []) == [.notPermitted])
        #expect(problems(other, by: Here.bob, [Here.bob, Here.nobody]) == [.notPermitted])
        #expect(problems(other, by: Here.ann, [Here.ann, Here.cem]) == [])
        #expect(problems(other, by: Here.ann, [Here.cem, Here.ann]) == [.unknownReference])
        let join = EventDetails(.threadJoined, .thread(pair, number: 4, user: Here.cem))
        #expect(
            given.state.faults(of: ChatEvent(recordedAt: given.state.lastRecordedAt, details: join)).map(\.problem) == [
                .notPermitted
            ])
    }

    /// A fault that a lost event can explain is no longer reported after it.
    ///
    /// Other faults stay, and so do faults before the loss.
    @Test(arguments: faults + communityFaults)
    func lostEventHidesOnlyFaultsItExplains(
        what: String, given: DeciderSpecification, details: EventDetails, content: EventContent,
        problems: [HistoryFault.Problem]
    ) {
        let explained: Set<HistoryFault.Problem> = [
            .unknownReference, .notAMember, .alreadyMember, .usernameTwice, .notResident, .threadNumberGap,
            .notPermitted, .noEffect,
        ]
        var state = given.state
        #expect(state.lostEventCount == 0)
        // The head stays the same, because the faults of markers depend on it.
        state.evolve(ChatEvent(recordedAt: state.lastRecordedAt, details: .init(.lost)), at: state.head)
        #expect(state.lostEventCount == 1)
        let found = state.faults(of: ChatEvent(recordedAt: state.lastRecordedAt, details: details, content: content))
            .map(\.problem)
        if problems.allSatisfy(explained.contains) {
            #expect(Set(found).isSubset(of: [.threadNumberGap, .unknownReference]), "\(what)")
        } else {
            #expect(Set(found).isSuperset(of: problems.filter { !explained.contains($0) }), "\(what)")
        }
    }

    /// A lost event explains no post in another thread.
    @Test(
        arguments: [
            .init(.messageRemoved, walk(Here.dee, number: 6, in: Here.sw1a)),
            .init(.messagePinned, walk(Here.dee, number: 6, in: Here.sw1a)),
            .init(.messageReported, report(Here.eli, in: Here.sw1a)),
            .init(.messageReportsResolved, report(Here.dee, in: Here.sw1a)),
            .init(
                .replyRemoved, .reply(thread: Here.sw1a, number: 6, message: Here.walk, reply: Here.woof, by: Here.eli)),
            .init(.replyReported, .replyReport(thread: Here.sw1a, message: Here.walk, reply: Here.woof, by: Here.bob)),
        ] as [EventDetails])
    func postInOtherThreadAfterLossIsFault(details: EventDetails) {
        var state = Here.clubbed.state
        state.evolve(ChatEvent(recordedAt: state.lastRecordedAt, details: .init(.lost)), at: state.head + 1)
        let event = ChatEvent(recordedAt: state.lastRecordedAt, details: details, content: .erased)
        #expect(state.faults(of: event).map(\.problem) == [.unknownReference])
    }

    @Test func repeatedNumberAfterLossIsFault() {
        var state = Self.given.state
        state.evolve(ChatEvent(recordedAt: state.lastRecordedAt, details: .init(.lost)), at: state.head + 1)
        for (number, problems) in [(2, [HistoryFault.Problem.threadNumberGap]), (3, []), (9, [])]
            as [(UInt64, [HistoryFault.Problem])]
        {
            let details = EventShape.message(
                thread: Here.dogs, number: number, message: MessageID(bits: 77), by: Here.ann)
            let event = ChatEvent(
                recordedAt: state.lastRecordedAt, details: .init(.messagePosted, details), content: .body("Walkies?"))
            #expect(state.faults(of: event).map(\.problem) == problems)
        }
    }

    @Test(
        arguments: [(0, [.invalidText]), (1, []), (256, []), (257, [.invalidText])] as [(Int, [HistoryFault.Problem])])
    func correlationOutOfBoundsIsFault(count: Int, problems: [HistoryFault.Problem]) {
        for (details, content) in [
            (
                .init(.sessionStarted, .session(user: Here.ann, session: SessionID(bits: 77))),
                .device(String(repeating: "x", count: 1_024))
            ),
            (.init(.userErased, .user(Here.ann)), .erasure(reason: "user-request", positions: nil)),
        ] as [(EventDetails, EventContent)] {
            let event = ChatEvent(
                recordedAt: Self.given.state.lastRecordedAt, details: details, content: content,
                correlation: String(repeating: "c", count: count))
            #expect(Self.given.state.faults(of: event).map(\.problem) == problems)
        }
    }

    @Test func decreasingTimeIsFault() {
        let last = Here.people.state.lastRecordedAt.millisecondsSince1970
        let details = EventDetails(.usernameChanged, .user(Here.ann))
        let earlier = ChatEvent(
            recordedAt: Timestamp(millisecondsSince1970: last - 1), details: details, content: .erased)
        #expect(Here.people.state.faults(of: earlier).map(\.problem) == [.timeWentBack])
        let same = ChatEvent(recordedAt: Timestamp(millisecondsSince1970: last), details: details, content: .erased)
        #expect(Here.people.state.faults(of: same).isEmpty)
    }

    @Test func evolveContinuesAfterAnyFault() {
        for (what, given, details, content, _) in Self.faults + Self.communityFaults {
            var state = given.state
            state.evolve(
                ChatEvent(recordedAt: state.lastRecordedAt, details: details, content: content), at: state.head + 1)
            #expect(state.head == given.state.head + 1, "\(what)")
        }
    }
}
