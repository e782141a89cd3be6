import ChatDomain
import ChatTesting
import Testing

/// Read markers and sessions.
struct MarkerAndSessionRulesTests {
    typealias Here = Neighbourhood

    /// The head of `talk` is 10.
    static let read = Here.talk.given(.markRead(thread: Here.sw1a, upTo: 9, by: Here.ann))

    @Test(arguments: [1, 9, 10] as [Position]) func memberMovesReadMarker(upTo: Position) {
        let outcome = Here.talk.when(.markRead(thread: Here.sw1a, upTo: upTo, by: Here.ann))
        #expect(outcome.eventDetails == [.init(.threadRead, .marker(user: Here.ann, thread: Here.sw1a, upTo: upTo))])
        #expect(outcome.events.map(\.content) == [.none])
    }

    @Test(arguments: [0, 8, 9] as [Position]) func markerNotBeyondCurrentOneChangesNothing(upTo: Position) {
        #expect(Self.read.when(.markRead(thread: Here.sw1a, upTo: upTo, by: Here.ann)).isUnchanged)
    }

    @Test func markerAtZeroChangesNothing() {
        #expect(Here.talk.when(.markRead(thread: Here.sw1a, upTo: 0, by: Here.ann)).isUnchanged)
    }

    @Test func markersBelongToOneUserAndThread() {
        #expect(Self.read.when(.markRead(thread: Here.sw1a, upTo: 9, by: Here.bob)).events.count == 1)
        let other = Self.read.given(.openThread(id: Here.dogs, name: "Dogs", by: Here.ann))
        #expect(other.when(.markRead(thread: Here.dogs, upTo: 9, by: Here.ann)).events.count == 1)
    }

    @Test func markerSurvivesLeaving() {
        let back = Self.read.given(
            .leaveThread(thread: Here.sw1a, by: Here.ann), .joinThread(thread: Here.sw1a, by: Here.ann))
        #expect(back.when(.markRead(thread: Here.sw1a, upTo: 9, by: Here.ann)).isUnchanged)
        #expect(back.when(.markRead(thread: Here.sw1a, upTo: 10, by: Here.ann)).events.count == 1)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.talk, .markRead(thread: Here.sw1a, upTo: 1, by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown thread", Here.talk, .markRead(thread: Here.nowhere, upTo: 1, by: Here.ann), .unknownThread),
        RefusedCommand(
            "a user who never joined", Here.talk, .markRead(thread: Here.sw1a, upTo: 1, by: Here.cem), .notAMember),
        RefusedCommand(
            "a user who has left", Here.talk.given(.leaveThread(thread: Here.sw1a, by: Here.bob)),
            .markRead(thread: Here.sw1a, upTo: 1, by: Here.bob), .notAMember),
        RefusedCommand(
            "beyond the head", Here.talk, .markRead(thread: Here.sw1a, upTo: 11, by: Here.ann), .invalidPosition),
        RefusedCommand(
            "far beyond the head", Here.talk, .markRead(thread: Here.sw1a, upTo: .max, by: Here.ann), .invalidPosition
        ),
        RefusedCommand(
            "a stranger, an unknown thread", Here.talk, .markRead(thread: Here.nowhere, upTo: .max, by: Here.nobody),
            .unknownUser),
        RefusedCommand(
            "an unknown thread, beyond the head", Here.talk,
            .markRead(thread: Here.nowhere, upTo: .max, by: Here.ann), .unknownThread),
        RefusedCommand(
            "not a member, beyond the head", Here.talk, .markRead(thread: Here.sw1a, upTo: .max, by: Here.cem),
            .notAMember),
        RefusedCommand(
            "not a member, not forward", Here.talk, .markRead(thread: Here.sw1a, upTo: 0, by: Here.cem), .notAMember),
    ])
    func markerIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func sessionStartsAndEnds() {
        let begun = Here.people.when(.startSession(id: Here.phone, device: "iPhone", by: Here.ann))
        #expect(begun.eventDetails == [.init(.sessionStarted, .session(user: Here.ann, session: Here.phone))])
        #expect(begun.events.map(\.content) == [.device("iPhone")])
        let given = Here.people.given(.startSession(id: Here.phone, device: "iPhone", by: Here.ann))
        let ended = given.when(.endSession(session: Here.phone))
        #expect(ended.eventDetails == [.init(.sessionEnded, .session(user: Here.ann, session: Here.phone))])
    }

    @Test func repeatedEndChangesNothing() {
        let ended = Here.people.given(
            .startSession(id: Here.phone, device: "iPhone", by: Here.ann), .endSession(session: Here.phone))
        #expect(ended.when(.endSession(session: Here.phone)).isUnchanged)
    }

    @Test func userCanHaveSeveralSessions() {
        let given = Here.people.given(.startSession(id: Here.phone, device: "iPhone", by: Here.ann))
        #expect(given.when(.startSession(device: "iPhone", by: Here.ann)).events.count == 1)
    }

    @Test(arguments: ["", String(repeating: "d", count: 1_024)]) func deviceHasUpTo1024Bytes(device: String) {
        #expect(Here.people.when(.startSession(device: device, by: Here.ann)).events.map(\.device) == [device])
    }

    static let onThePhone = Here.people.given(.startSession(id: Here.phone, device: "iPhone", by: Here.ann))
    static let longDevice = String(repeating: "d", count: 1_025)

    @Test(arguments: [
        RefusedCommand(
            "another's session", onThePhone, .startSession(id: Here.phone, device: "iPhone", by: Here.bob),
            .identifierTaken),
        RefusedCommand("a stranger", onThePhone, .startSession(device: "", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "1,025 bytes of device", onThePhone, .startSession(device: longDevice, by: Here.ann), .invalidDevice),
        RefusedCommand("an unknown session", onThePhone, .endSession(session: SessionID(bits: 1)), .unknownSession),
        RefusedCommand(
            "another's session by a stranger", onThePhone,
            .startSession(id: Here.phone, device: longDevice, by: Here.nobody),
            .identifierTaken),
        RefusedCommand(
            "a stranger with a long device", onThePhone, .startSession(device: longDevice, by: Here.nobody),
            .unknownUser),
    ])
    func sessionIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
