import ChatDomain
import ChatTesting
import Testing

/// Read markers that go back, read markers of inboxes, and levels of notifications.
struct UnreadRulesTests {
    typealias Here = Neighbourhood

    /// The head of `talk` is 10.
    static let read = Here.talk.given(.markRead(user: Here.ann, thread: Here.sw1a, upTo: 9))

    static func level(_ level: NotificationLevel, until: Timestamp? = nil) -> ChatCommand {
        .setNotifications(user: Here.ann, thread: Here.sw1a, level: level, until: until)
    }

    @Test(arguments: [1, 2, 9] as [Position]) func memberMovesReadMarkerBack(from: Position) {
        let outcome = Self.read.when(.markUnread(user: Here.ann, thread: Here.sw1a, from: from))
        #expect(
            outcome.eventDetails == [
                .init(.threadMarkedUnread, .marker(user: Here.ann, thread: Here.sw1a, upTo: from - 1))
            ])
        #expect(outcome.events.map(\.content) == [.none])
    }

    @Test(arguments: [10, 11] as [Position]) func markerBelowThePositionStays(from: Position) {
        #expect(Self.read.when(.markUnread(user: Here.ann, thread: Here.sw1a, from: from)).isUnchanged)
    }

    @Test func markerThatWasNeverSetStays() {
        #expect(Here.talk.when(.markUnread(user: Here.ann, thread: Here.sw1a, from: 1)).isUnchanged)
    }

    @Test func markReadRaisesTheMarkerAgain() {
        let back = Self.read.given(.markUnread(user: Here.ann, thread: Here.sw1a, from: 5))
        #expect(back.when(.markRead(user: Here.ann, thread: Here.sw1a, upTo: 4)).isUnchanged)
        #expect(back.when(.markRead(user: Here.ann, thread: Here.sw1a, upTo: 5)).events.count == 1)
        #expect(back.when(.markUnread(user: Here.ann, thread: Here.sw1a, from: 5)).isUnchanged)
        #expect(back.when(.markUnread(user: Here.ann, thread: Here.sw1a, from: 4)).events.count == 1)
        #expect(back.when(.markUnread(user: Here.bob, thread: Here.sw1a, from: 4)).isUnchanged)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", read, .markUnread(user: Here.nobody, thread: Here.sw1a, from: 1), .unknownUser),
        RefusedCommand(
            "an unknown thread", read, .markUnread(user: Here.ann, thread: Here.nowhere, from: 1), .unknownThread),
        RefusedCommand(
            "a user who never joined", read, .markUnread(user: Here.cem, thread: Here.sw1a, from: 1), .notAMember),
        RefusedCommand(
            "a user who has left", read.given(.leaveThread(user: Here.ann, thread: Here.sw1a)),
            .markUnread(user: Here.ann, thread: Here.sw1a, from: 1), .notAMember),
        RefusedCommand("no position", read, .markUnread(user: Here.ann, thread: Here.sw1a, from: 0), .invalidPosition),
        RefusedCommand(
            "beyond the head", read, .markUnread(user: Here.ann, thread: Here.sw1a, from: 12), .invalidPosition),
        RefusedCommand(
            "far beyond the head", read, .markUnread(user: Here.ann, thread: Here.sw1a, from: .max), .invalidPosition),
        RefusedCommand(
            "not a member, no position", read, .markUnread(user: Here.cem, thread: Here.sw1a, from: 0), .notAMember),
        RefusedCommand(
            "a level of a stranger", read, .setNotifications(user: Here.nobody, thread: Here.sw1a, level: .none),
            .unknownUser),
        RefusedCommand(
            "a level in an unknown thread", read, .setNotifications(user: Here.ann, thread: Here.nowhere, level: .none),
            .unknownThread),
        RefusedCommand(
            "a level of no member", read, .setNotifications(user: Here.cem, thread: Here.sw1a, level: .none),
            .notAMember),
        RefusedCommand("an inbox of a stranger", read, .markInboxRead(user: Here.nobody, upTo: 1), .unknownUser),
        RefusedCommand(
            "an inbox of a stranger beyond the head", read, .markInboxRead(user: Here.nobody, upTo: .max), .unknownUser),
        RefusedCommand("an inbox beyond the head", read, .markInboxRead(user: Here.ann, upTo: 12), .invalidPosition),
        RefusedCommand(
            "an inbox far beyond the head", read, .markInboxRead(user: Here.ann, upTo: .max), .invalidPosition),
    ])
    func commandIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test(arguments: [1, 10, 11] as [Position]) func userReadsTheirInbox(upTo: Position) {
        let outcome = Self.read.when(.markInboxRead(user: Here.ann, upTo: upTo))
        #expect(outcome.eventDetails == [.init(.inboxRead, .inbox(user: Here.ann, upTo: upTo))])
        #expect(outcome.events.map(\.content) == [.none])
    }

    @Test func inboxMarkerOnlyMovesForward() {
        #expect(Self.read.when(.markInboxRead(user: Here.ann, upTo: 0)).isUnchanged)
        let marked = Self.read.given(.markInboxRead(user: Here.ann, upTo: 5))
        #expect(marked.when(.markInboxRead(user: Here.ann, upTo: 4)).isUnchanged)
        #expect(marked.when(.markInboxRead(user: Here.ann, upTo: 5)).isUnchanged)
        #expect(marked.when(.markInboxRead(user: Here.ann, upTo: 6)).events.count == 1)
        #expect(marked.when(.markInboxRead(user: Here.bob, upTo: 1)).events.count == 1)
    }

    /// The markers of threads and inboxes are independent.
    @Test func inboxMarkerIsNotThatOfAThread() {
        let marked = Here.talk.given(.markInboxRead(user: Here.ann, upTo: 9))
        #expect(marked.when(.markRead(user: Here.ann, thread: Here.sw1a, upTo: 1)).events.count == 1)
        #expect(marked.when(.markUnread(user: Here.ann, thread: Here.sw1a, from: 1)).isUnchanged)
        #expect(Self.read.when(.markInboxRead(user: Here.ann, upTo: 1)).events.count == 1)
    }

    /// A user who is in no thread has an inbox.
    @Test func inboxNeedsNoThread() {
        #expect(Here.people.when(.markInboxRead(user: Here.ann, upTo: 1)).events.count == 1)
    }

    @Test func memberSetsALevel() {
        let until = time(500)
        for (level, end) in [(.mentions, nil), (.none, until), (.all, until)] as [(NotificationLevel, Timestamp?)] {
            let outcome = Here.talk.when(Self.level(level, until: end))
            #expect(
                outcome.eventDetails
                    == [
                        .init(
                            .notificationsSet,
                            .notifications(user: Here.ann, thread: Here.sw1a, level: level, until: end))
                    ])
            #expect(outcome.events.map(\.content) == [.none])
        }
    }

    @Test func sameLevelAndEndHaveNoEffect() {
        #expect(Here.talk.when(Self.level(.all)).isUnchanged)
        let given = Here.talk.given(Self.level(.none))
        #expect(given.when(Self.level(.none)).isUnchanged)
        #expect(given.when(Self.level(.mentions)).events.count == 1)
        #expect(given.when(Self.level(.none, until: time(500))).events.count == 1)
        let limited = Here.talk.given(Self.level(.none, until: time(500)))
        #expect(limited.when(Self.level(.none, until: time(500))).isUnchanged)
        #expect(limited.when(Self.level(.all)).events.count == 1)
        #expect(limited.given(Self.level(.all)).when(Self.level(.all)).isUnchanged)
    }

    /// The recording time counts, which does not go back with the clock.
    @Test func levelIsAllAfterItsEnd() {
        let limited = Here.talk.given(Self.level(.none, until: time(500)))
        #expect(decision(Self.level(.all), after: limited, at: time(499)) != .success(.unchanged))
        #expect(decision(Self.level(.all), after: limited, at: time(500)) == .success(.unchanged))
        let later = limited.given(
            ChatEvent(
                recordedAt: time(500), details: .init(.threadRead, .marker(user: Here.bob, thread: Here.sw1a, upTo: 1)))
        )
        #expect(decision(Self.level(.all), after: later, at: time(0)) == .success(.unchanged))
        #expect(code(Self.level(.none, until: time(500)), after: later, at: time(0)) == .invalidUntil)
    }

    @Test func endLiesBetweenPresentAndLastRecordableTime() {
        func code(_ until: Timestamp) -> Rejection.Code? {
            self.code(Self.level(.none, until: until), after: Here.talk, at: time(100))
        }
        #expect(code(time(100)) == .invalidUntil && code(time(101)) == nil)
        #expect(code(Timestamp(millisecondsSince1970: .min)) == .invalidUntil)
        #expect(code(Timestamp(millisecondsSince1970: 1 << 48 - 1)) == nil)
        #expect(code(Timestamp(millisecondsSince1970: 1 << 48)) == .invalidUntil)
        #expect(code(Timestamp(millisecondsSince1970: .max)) == .invalidUntil)
        // The two lowest bits of a number in the state are those of the level.
        let latest = Here.talk.given(Self.level(.none, until: Timestamp(millisecondsSince1970: 1 << 48 - 1)))
        let wrapped = Timestamp(millisecondsSince1970: 1 << 62 | 1 << 48 - 1)
        #expect(latest.when(Self.level(.none, until: wrapped)).rejection?.code == .invalidUntil)
    }

    @Test func levelSurvivesLeaving() {
        let back = Here.talk.given(
            Self.level(.mentions), .leaveThread(user: Here.ann, thread: Here.sw1a),
            .joinThread(user: Here.ann, thread: Here.sw1a))
        #expect(back.when(Self.level(.mentions)).isUnchanged)
        #expect(back.when(.setNotifications(user: Here.bob, thread: Here.sw1a, level: .all)).isUnchanged)
    }

    private func decision(
        _ command: ChatCommand, after given: DeciderSpecification, at time: Timestamp
    ) -> Result<Decision, Rejection> {
        do throws(Rejection) {
            return .success(try given.state.decide(CommandRequest(command), at: time, freshID: 1_000))
        } catch {
            return .failure(error)
        }
    }

    private func code(_ command: ChatCommand, after given: DeciderSpecification, at time: Timestamp) -> Rejection.Code?
    {
        if case .failure(let rejection) = decision(command, after: given, at: time) { rejection.code } else { nil }
    }

    private func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp(millisecondsSince1970: Here.talk.state.lastRecordedAt.millisecondsSince1970 + milliseconds)
    }
}
