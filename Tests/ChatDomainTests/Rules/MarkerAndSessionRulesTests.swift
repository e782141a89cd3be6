import ChatDomain
import ChatTesting
import Testing

/// Read markers and sessions.
struct MarkerAndSessionRulesTests {
    typealias Here = Neighbourhood

    /// The head of `talk` is 10.
    static let read = Here.talk.given(.markRead(user: Here.ann, thread: Here.sw1a, upTo: 9))

    @Test(arguments: [1, 9, 10] as [Position]) func memberMovesReadMarker(upTo: Position) {
        let outcome = Here.talk.when(.markRead(user: Here.ann, thread: Here.sw1a, upTo: upTo))
        #expect(outcome.eventDetails == [.init(.threadRead, .marker(user: Here.ann, thread: Here.sw1a, upTo: upTo))])
        #expect(outcome.events.map(\.content) == [.none])
    }

    @Test(arguments: [0, 8, 9] as [Position]) func markerNotBeyondCurrentOneChangesNothing(upTo: Position) {
        #expect(Self.read.when(.markRead(user: Here.ann, thread: Here.sw1a, upTo: upTo)).isUnchanged)
    }

    @Test func markerAtZeroChangesNothing() {
        #expect(Here.talk.when(.markRead(user: Here.ann, thread: Here.sw1a, upTo: 0)).isUnchanged)
    }

    @Test func markersBelongToOneUserAndThread() {
        #expect(Self.read.when(.markRead(user: Here.bob, thread: Here.sw1a, upTo: 9)).events.count == 1)
        let other = Self.read.given(.openThread(thread: Here.dogs, name: "Dogs", by: Here.ann))
        #expect(other.when(.markRead(user: Here.ann, thread: Here.dogs, upTo: 9)).events.count == 1)
    }

    @Test func markerSurvivesLeaving() {
        let back = Self.read.given(
            .leaveThread(user: Here.ann, thread: Here.sw1a), .joinThread(user: Here.ann, thread: Here.sw1a))
        #expect(back.when(.markRead(user: Here.ann, thread: Here.sw1a, upTo: 9)).isUnchanged)
        #expect(back.when(.markRead(user: Here.ann, thread: Here.sw1a, upTo: 10)).events.count == 1)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.talk, .markRead(user: Here.nobody, thread: Here.sw1a, upTo: 1), .unknownUser),
        RefusedCommand(
            "an unknown thread", Here.talk, .markRead(user: Here.ann, thread: Here.nowhere, upTo: 1), .unknownThread),
        RefusedCommand(
            "a user who never joined", Here.talk, .markRead(user: Here.cem, thread: Here.sw1a, upTo: 1), .notAMember),
        RefusedCommand(
            "a user who has left", Here.talk.given(.leaveThread(user: Here.bob, thread: Here.sw1a)),
            .markRead(user: Here.bob, thread: Here.sw1a, upTo: 1), .notAMember),
        RefusedCommand(
            "beyond the head", Here.talk, .markRead(user: Here.ann, thread: Here.sw1a, upTo: 11), .invalidPosition),
        RefusedCommand(
            "far beyond the head", Here.talk, .markRead(user: Here.ann, thread: Here.sw1a, upTo: .max), .invalidPosition
        ),
        RefusedCommand(
            "a stranger, an unknown thread", Here.talk, .markRead(user: Here.nobody, thread: Here.nowhere, upTo: .max),
            .unknownUser),
        RefusedCommand(
            "an unknown thread, beyond the head", Here.talk,
            .markRead(user: Here.ann, thread: Here.nowhere, upTo: .max), .unknownThread),
        RefusedCommand(
            "not a member, beyond the head", Here.talk, .markRead(user: Here.cem, thread: Here.sw1a, upTo: .max),
            .notAMember),
        RefusedCommand(
            "not a member, not forward", Here.talk, .markRead(user: Here.cem, thread: Here.sw1a, upTo: 0), .notAMember),
    ])
    func markerIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func sessionStartsAndEnds() {
        let begun = Here.people.when(.startSession(user: Here.ann, session: Here.phone, device: "iPhone"))
        #expect(begun.eventDetails == [.init(.sessionStarted, .session(user: Here.ann, session: Here.phone))])
        #expect(begun.events.map(\.content) == [.device("iPhone")])
        let given = Here.people.given(.startSession(user: Here.ann, session: Here.phone, device: "iPhone"))
        let ended = given.when(.endSession(session: Here.phone))
        #expect(ended.eventDetails == [.init(.sessionEnded, .session(user: Here.ann, session: Here.phone))])
    }

    @Test func repeatedEndChangesNothing() {
        let ended = Here.people.given(
            .startSession(user: Here.ann, session: Here.phone, device: "iPhone"), .endSession(session: Here.phone))
        #expect(ended.when(.endSession(session: Here.phone)).isUnchanged)
    }

    @Test func userCanHaveSeveralSessions() {
        let given = Here.people.given(.startSession(user: Here.ann, session: Here.phone, device: "iPhone"))
        #expect(given.when(.startSession(user: Here.ann, device: "iPhone")).events.count == 1)
    }

    @Test(arguments: ["", String(repeating: "d", count: 1_024)]) func deviceHasUpTo1024Bytes(device: String) {
        #expect(Here.people.when(.startSession(user: Here.ann, device: device)).events.map(\.device) == [device])
    }

    static let onThePhone = Here.people.given(.startSession(user: Here.ann, session: Here.phone, device: "iPhone"))
    static let longDevice = String(repeating: "d", count: 1_025)

    @Test(arguments: [
        RefusedCommand(
            "another's session", onThePhone, .startSession(user: Here.bob, session: Here.phone, device: "iPhone"),
            .identifierTaken),
        RefusedCommand("a stranger", onThePhone, .startSession(user: Here.nobody, device: ""), .unknownUser),
        RefusedCommand(
            "1,025 bytes of device", onThePhone, .startSession(user: Here.ann, device: longDevice), .invalidDevice),
        RefusedCommand("an unknown session", onThePhone, .endSession(session: SessionID(bits: 1)), .unknownSession),
        RefusedCommand(
            "another's session by a stranger", onThePhone,
            .startSession(user: Here.nobody, session: Here.phone, device: longDevice),
            .identifierTaken),
        RefusedCommand(
            "a stranger with a long device", onThePhone, .startSession(user: Here.nobody, device: longDevice),
            .unknownUser),
    ])
    func sessionIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
