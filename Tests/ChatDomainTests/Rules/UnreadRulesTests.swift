import ChatDomain
import ChatTesting
import Testing

/// Read markers that go back, read markers of inboxes, and levels of notifications.
struct UnreadRulesTests {
    typealias Here = Neighbourhood

    /// The head of `talk` is 10.
    static let read = Here.talk.given(.markRead(thread: Here.sw1a, upTo: 9, by: Here.ann))

    static func level(_ level: NotificationLevel, until: Timestamp? = nil) -> ChatCommand {
        .setNotifications(thread: Here.sw1a, level: level, until: until, by: Here.ann)
    }

    @Test(arguments: [1, 2, 9] as [Position]) func memberMovesReadMarkerBack(from: Position) {
        let outcome = Self.read.when(.markUnread(thread: Here.sw1a, from: from, by: Here.ann))
        #expect(
            outcome.eventDetails == [
                .init(.threadMarkedUnread, .marker(user: Here.ann, thread: Here.sw1a, upTo: from - 1))
            ])
        #expect(outcome.events.map(\.content) == [.none])
    }

    @Test(arguments: [10, 11] as [Position]) func markerBelowThePositionStays(from: Position) {
        #expect(Self.read.when(.markUnread(thread: Here.sw1a, from: from, by: Here.ann)).isUnchanged)
    }

    @Test func markerThatWasNeverSetStays() {
        #expect(Here.talk.when(.markUnread(thread: Here.sw1a, from: 1, by: Here.ann)).isUnchanged)
    }

    @Test func markReadRaisesTheMarkerAgain() {
        let back = Self.read.given(.markUnread(thread: Here.sw1a, from: 5, by: Here.ann))
        #expect(back.when(.markRead(thread: Here.sw1a, upTo: 4, by: Here.ann)).isUnchanged)
        #expect(back.when(.markRead(thread: Here.sw1a, upTo: 5, by: Here.ann)).events.count == 1)
        #expect(back.when(.markUnread(thread: Here.sw1a, from: 5, by: Here.ann)).isUnchanged)
        #expect(back.when(.markUnread(thread: Here.sw1a, from: 4, by: Here.ann)).events.count == 1)
        #expect(back.when(.markUnread(thread: Here.sw1a, from: 4, by: Here.bob)).isUnchanged)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", read, .markUnread(thread: Here.sw1a, from: 1, by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown thread", read, .markUnread(thread: Here.nowhere, from: 1, by: Here.ann), .unknownThread),
        RefusedCommand(
            "a user who never joined", read, .markUnread(thread: Here.sw1a, from: 1, by: Here.cem), .notAMember),
        RefusedCommand(
            "a user who has left", read.given(.leaveThread(thread: Here.sw1a, by: Here.ann)),
            .markUnread(thread: Here.sw1a, from: 1, by: Here.ann), .notAMember),
        RefusedCommand("no position", read, .markUnread(thread: Here.sw1a, from: 0, by: Here.ann), .invalidPosition),
        RefusedCommand(
            "beyond the head", read, .markUnread(thread: Here.sw1a, from: 12, by: Here.ann), .invalidPosition),
        RefusedCommand(
            "far beyond the head", read, .markUnread(thread: Here.sw1a, from: .max, by: Here.ann), .invalidPosition),
        RefusedCommand(
            "not a member, no position", read, .markUnread(thread: Here.sw1a, from: 0, by: Here.cem), .notAMember),
        RefusedCommand(
            "a level of a stranger", read, .setNotifications(thread: Here.sw1a, level: .none, by: Here.nobody),
            .unknownUser),
        RefusedCommand(
            "a level in an unknown thread", read, .setNotifications(thread: Here.nowhere, level: .none, by: Here.ann),
            .unknownThread),
        RefusedCommand(
            "a level of no member", read, .setNotifications(thread: Here.sw1a, level: .none, by: Here.cem),
            .notAMember),
        RefusedCommand("an inbox of a stranger", read, .markInboxRead(upTo: 1, by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an inbox of a stranger beyond the head", read, .markInboxRead(upTo: .max, by: Here.nobody), .unknownUser),
        RefusedCommand("an inbox beyond the head", read, .markInboxRead(upTo: 12, by: Here.ann), .invalidPosition),
        RefusedCommand(
            "an inbox far beyond the head", read, .markInboxRead(upTo: .max, by: Here.ann), .invalidPosition),
    ])
    func commandIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test(arguments: [1, 10, 11] as [Position]) func userReadsTheirInbox(upTo: Position) {
        let outcome = Self.read.when(.markInboxRead(upTo: upTo, by: Here.ann))
        #expect(outcome.eventDetails == [.init(.inboxRead, .inbox(user: Here.ann, upTo: upTo))])
        #expect(outcome.events.map(\.content) == [.none])
    }

    @Test func inboxMarkerOnlyMovesForward() {
        #expect(Self.read.when(.markInboxRead(upTo: 0, by: Here.ann)).isUnchanged)
        let marked = Self.read.given(.markInboxRead(upTo: 5, by: Here.ann))
        #expect(marked.when(.markInboxRead(upTo: 4, by: Here.ann)).isUnchanged)
        #expect(marked.when(.markInboxRead(upTo: 5, by: Here.ann)).isUnchanged)
        #expect(marked.when(.markInboxRead(upTo: 6, by: Here.ann)).events.count == 1)
        #expect(marked.when(.markInboxRead(upTo: 1, by: Here.bob)).events.count == 1)
    }

    /// The markers of threads and inboxes are independent.
    @Test func inboxMarkerIsNotThatOfAThread() {
        let marked = Here.talk.given(.markInboxRead(upTo: 9, by: Here.ann))
        #expect(marked.when(.markRead(thread: Here.sw1a, upTo: 1, by: Here.ann)).events.count == 1)
        #expect(marked.when(.markUnread(thread: Here.sw1a, from: 1, by: Here.ann)).isUnchanged)
        #expect(Self.read.when(.markInboxRead(upTo: 1, by: Here.ann)).events.count == 1)
    }

    /// A user who is in no thread has an inbox.
    @Test func inboxNeedsNoThread() {
        #expect(Here.people.when(.markInboxRead(upTo: 1, by: Here.ann)).events.count == 1)
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
            Self.level(.mentions), .leaveThread(thread: Here.sw1a, by: Here.ann),
            .joinThread(thread: Here.sw1a, by: Here.ann))
        #expect(back.when(Self.level(.mentions)).isUnchanged)
        #expect(back.when(.setNotifications(thread: Here.sw1a, level: .all, by: Here.bob)).isUnchanged)
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
