import ChatDomain
import ChatValues
import ChatTesting
import NaiveViews
import TestSupport
import Testing

@testable import Chat
@testable import Projections

/// Compares roles, sanctions, invitations, pins, reports, blocks, operators, policies and locks
/// with scans of all events.
@Suite struct CommunityTests {
    /// Compares the whole history, as of each position, with a scan of the events up to it; and the
    /// models of these events with the same scan.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 3))) func answersEqualScansAtEveryPosition(seed: UInt64) throws
    {
        let requests = eventfulRequests(seed: seed, commands: Repetitions.few(500, of: 700))
        var total = Found()
        try expectAgreement(requests, seed: seed) { requests in
            let events = history(of: requests)
            let (whole, views) = (models(of: events), NaiveViews(events: events))
            var incremental = ReadModels()
            var found = Found()
            for (index, recorded) in events.enumerated() {
                incremental.apply(recorded.event, at: recorded.position)
                // Only some kinds change an answer; the others are checked now and then.
                let isFull = index.isMultiple(of: 50)
                guard recorded.event.details.changesCommunity || isFull else { continue }
                let now = recorded.position
                let naive = views.asOf(now)
                let users = isFull ? naive.users : sample(naive.users, recorded, seed)
                try compare([whole, incremental], naive, asOf: now, users, recorded.event.thread, &found)
                if isFull {
                    for thread in naive.threads { try compare([whole], naive, asOf: now, users, thread, &found) }
                }
            }
            total = found
        }
        // The histories must contain what they are compared for.
        #expect(total.roles > 0 && total.sanctions > 0 && total.invitations > 0 && total.pins > 0 && total.reports > 0)
        #expect(total.blocks > 0 && total.operators > 0 && total.policies > 0 && total.locks > 0)
    }

    /// Returns the first generated requests, of several seeds, whose history has each of the kinds
    /// that the answers are about.
    ///
    /// With some seeds, so few commands lack a rare kind.
    private func eventfulRequests(seed: UInt64, commands: Int) -> [CommandRequest] {
        let needed: Set<EventKind> = [
            .roleSet, .userMuted, .userInvited, .messagePinned, .messageReported, .userBlocked, .operatorGranted,
            .threadPolicySet,
            .threadLocked,
        ]
        var requests: [CommandRequest] = []
        for candidate in UInt64(0)..<50 {
            requests = ProjectionsTests.requests(seed: seed &+ candidate &* 1_000, commands: commands)
            if needed.isSubset(of: history(of: requests).compactMap(\.kind)) { break }
        }
        return requests
    }

    /// The number of non-empty answers.
    private struct Found {
        var roles = 0
        var sanctions = 0
        var invitations = 0
        var pins = 0
        var reports = 0
        var blocks = 0
        var operators = 0
        var policies = 0
        var locks = 0
    }

    /// Returns the users that an event names, and a sample of the others, or all users in the long
    /// form.
    private func sample(_ users: [UserID], _ recorded: RecordedEvent, _ seed: UInt64) -> [UserID] {
        let sample = Repetitions.oneIn(12, of: users.indices, "position \(recorded.position) of \(seed)").map {
            users[$0]
        }
        let named = Set([recorded.event.user, recorded.event.otherActor].compactMap(\.self))
        return sample + users.filter { named.contains($0) && !sample.contains($0) }
    }

    /// Compares each of the models, about these users, with one scan.
    private func compare(
        _ all: [ReadModels], _ naive: NaiveViews, asOf now: Position, _ users: [UserID], _ thread: ThreadID?,
        _ found: inout Found
    ) throws(Mismatch) {
        let (operators, everyone) = (naive.operators, naive.users)
        found.operators += operators.count
        for models in all {
            let shown = models.operators(asOf: now)
            try same(shown.map(\.user), operators.map(\.user), "the operators as of \(now)")
            try same(shown.map(\.since), operators.map(\.since), "the grants to operators as of \(now)")
        }
        for user in users {
            let (blocked, access) = (naive.blockedUsers(of: user), naive.access(of: user))
            found.blocks += blocked.count
            for models in all {
                try same(
                    Set(everyone.filter { models.isBlocked($0, by: user, asOf: now) }), blocked,
                    "whom \(user) blocks as of \(now)")
                try same(
                    models.operatorSince(user, asOf: now), operators.first { $0.user == user }?.since,
                    "since when \(user) is an operator as of \(now)")
                try same(models.access(of: user, asOf: now), access, "the access of \(user) as of \(now)")
            }
        }
        if let thread { try compare(all, naive, asOf: now, users, in: thread, &found) }
    }

    private func compare(
        _ all: [ReadModels], _ naive: NaiveViews, asOf now: Position, _ users: [UserID], in thread: ThreadID,
        _ found: inout Found
    ) throws(Mismatch) {
        let operators = Set(naive.operators.map(\.user))
        var place: String { "of \(thread) as of \(now)" }
        for user in users {
            let expected = naive.role(of: user, in: thread)
            let isModerator = (expected?.role ?? .member) > .member
            if isModerator { found.roles += 1 }
            for models in all {
                let role = models.role(of: user, in: thread, asOf: now)
                try same(role?.role, expected?.role, "the role of \(user) in the members " + place)
                try same(role?.since, expected?.since, "the time of the role of \(user) in the members " + place)
                try same(
                    models.moderates(user, thread, asOf: now),
                    isModerator || operators.contains(user) && !naive.isDirect(thread),
                    "whether \(user) is among the moderators " + place)
                // The blocks of the models' whole history count, as of every position.
                let blocked = models.blockedUsers(by: user)
                let unread = naive.unreadPositions(user, in: thread, except: Set(blocked.users(models)))
                try same(
                    models.unread(of: user, in: thread, except: blocked, asOf: now).count, unread.count,
                    "the unread count of \(user) " + place)
                try same(
                    models.unread(of: user, in: thread, except: blocked, asOf: now).first, unread.min(),
                    "the first unread message of \(user) " + place)
            }
        }
        let expectedSanctions = naive.sanctions(in: thread)
        found.sanctions += expectedSanctions.count
        let (expectedInvitations, pins, expectedReports) = (
            naive.invitations(to: thread), naive.pins(in: thread), naive.reports(in: thread)
        )
        found.invitations += expectedInvitations.count
        found.pins += pins.count
        found.reports += expectedReports.count
        let (policy, history, lock) = (naive.policy(of: thread), naive.history(of: thread), naive.lock(of: thread))
        if policy == .inviteOnly || history == .sinceJoining { found.policies += 1 }
        if lock.isLocked { found.locks += 1 }
        for models in all {
            let memberships = models.compactMap(models.scan(membershipsOf: thread)) { $0 }
            let sanctions = memberships.flatMap { models.sanctions(ofMembership: $0, asOf: now) }
            try same(sanctions.count, expectedSanctions.count, "the count of sanctions " + place)
            for sanction in sanctions {
                let expected = expectedSanctions[sanction.position]
                try same(sanction.user, expected?.user, "whom the sanction at \(sanction.position) concerns " + place)
                try same(
                    sanction.isBan, expected?.isBan, "whether the sanction at \(sanction.position) is a ban " + place)
            }
            let invitations = memberships.compactMap { models.invitation(ofMembership: $0, asOf: now) }
            try same(invitations.sorted(), expectedInvitations.values.sorted(), "the invitations " + place)
            try same(models.pinnedMessages(of: thread, asOf: now).map(\.message), pins, "the pins " + place)
            let reports = models.compactMap(models.scan(reportsOf: thread)) {
                models.openReport($0, in: thread, asOf: now)
            }
            try same(reports.sorted { $0.position < $1.position }, expectedReports, "the reports " + place)
            let record = models.thread(thread, asOf: now)
            try same(record?.policy, policy, "the policy " + place)
            try same(record?.history, history, "the history " + place)
            try same(record?.isLocked, lock.isLocked, "the lock " + place)
            try same(record?.isClosed, lock.isClosed, "the end " + place)
        }
        try compareStarts(all, naive, asOf: now, in: thread)
    }

    /// Compares the pins, the reports and the counts of a viewer who reads the messages after a
    /// position.
    private func compareStarts(
        _ all: [ReadModels], _ naive: NaiveViews, asOf now: Position, in thread: ThreadID
    ) throws(Mismatch) {
        let (messages, naivePins, naiveReports) = (
            naive.messages(of: thread), naive.pins(in: thread), naive.reports(in: thread)
        )
        for start in [now / 2, now] {
            let later = messages.filter { $0.position > start }.map(\.id)
            let pins = naivePins.filter { later.contains($0) }
            let expected = naiveReports.filter { report in
                switch report.post {
                case .message(let id): later.contains(id)
                case .reply(let id): later.contains { naive.replies(to: $0).contains { $0.id == id } }
                }
            }
            var place: String { "of \(thread) after \(start) as of \(now)" }
            for models in all {
                try same(
                    models.messages(of: thread, PageRequest.latest(.max), asOf: now, after: start).posts.map(\.message),
                    later, "the messages " + place)
                try same(
                    models.thread(thread, asOf: now, after: start)?.messageCount, later.count,
                    "the count of messages " + place)
                try same(
                    models.lastMessage(of: thread, asOf: now, after: start)?.message, later.last,
                    "the last message " + place)
                try same(
                    models.pinnedMessages(of: thread, asOf: now, after: start).map(\.message), pins, "the pins " + place
                )
                let reports = models.compactMap(models.scan(reportsOf: thread)) {
                    models.openReport($0, in: thread, asOf: now, after: start)
                }
                try same(reports.sorted { $0.position < $1.position }, expected, "the reports " + place)
            }
        }
    }

    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let garden = ThreadID(bits: 31)

    private func applied(_ facts: [EventDetails]) -> ReadModels {
        var models = ReadModels()
        for (index, details) in facts.enumerated() {
            models.apply(
                ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 1), details: details), at: Position(index + 1))
        }
        return models
    }

    /// Reports stay open, because a moderator may still resolve them.
    @Test func retractionAndRemovalEndPins() {
        let ids = (41...43).map { MessageID(bits: $0) }
        func event(_ kind: EventKind, _ id: MessageID) -> EventDetails {
            EventDetails(kind, .message(thread: garden, number: 1, message: id, by: ann))
        }
        let reported = ids.map { EventDetails(.messageReported, .messageReport(thread: garden, message: $0, by: ann)) }
        let models = applied(
            [
                // At 1, 2.
                .init(.userRegistered, .user(ann)), .init(.threadOpened, .thread(garden, number: 1, user: ann)),
                .init(.threadJoined, .thread(garden, number: 2, user: ann)),  // 3
            ]
                + ids.map { event(.messagePosted, $0) }  // 4, 5, 6
                + ids.map { event(.messagePinned, $0) }  // 7, 8, 9
                + reported  // 10, 11, 12
                + [
                    // At 13, 14, 15.
                    event(.messageRetracted, ids[0]), event(.messageRemoved, ids[1]), event(.messageUnpinned, ids[2]),
                    event(.messagePinned, ids[2]),  // 16
                ])
        let expected: [Position: [MessageID]] = [
            6: [], 7: [ids[0]], 9: ids, 12: ids, 13: [ids[1], ids[2]], 14: [ids[2]], 15: [], 16: [ids[2]],
        ]
        for (position, pins) in expected {
            #expect(models.pinnedMessages(of: garden, asOf: position).map(\.message) == pins)
        }
        let reports = models.compactMap(models.scan(reportsOf: garden)) { models.openReport($0, in: garden, asOf: 16) }
        #expect(Set(reports.map(\.post)) == Set(ids.map(PostID.message)))
    }

    /// The opening of a thread; the next position is 5.
    private var opened: [EventDetails] {
        [
            .init(.userRegistered, .user(ann)), .init(.userRegistered, .user(bob)),
            .init(.threadOpened, .thread(garden, number: 1, user: ann)),
            .init(.threadJoined, .thread(garden, number: 2, user: ann)),
        ]
    }

    @Test func banEndsInvitation() {
        let models = applied(
            opened + [
                .init(.userInvited, .member(thread: garden, number: 3, user: bob, by: ann)),  // 5
                .init(.userBanned, .sanction(thread: garden, number: 4, user: bob, by: ann)),  // 6
            ])
        func invitations(asOf position: Position) -> [Position] {
            models.compactMap(models.scan(membershipsOf: garden)) {
                models.invitation(ofMembership: $0, asOf: position)
            }
        }
        #expect(invitations(asOf: 5) == [5])
        #expect(invitations(asOf: 6) == [])
    }

    @Test func removalEndsPin() {
        let walk = MessageID(bits: 41)
        let models = applied(
            opened + [
                .init(.messagePosted, .message(thread: garden, number: 3, message: walk, by: ann)),  // 5
                .init(.messagePinned, .message(thread: garden, number: 4, message: walk, by: ann)),  // 6
                .init(.messageRemoved, .message(thread: garden, number: 5, message: walk, by: ann)),  // 7
            ])
        #expect(models.pinnedMessages(of: garden, asOf: 6).map(\.message) == [walk])
        #expect(models.pinnedMessages(of: garden, asOf: 7).map(\.message) == [])
    }

    @Test func closedThreadStaysLocked() {
        let models = applied(
            opened + [
                .init(.threadLocked, .thread(garden, number: 3, user: ann)),  // 5
                .init(.threadClosed, .thread(garden, number: 4, user: ann)),  // 6
            ])
        let thread = models.thread(garden, asOf: 6)
        #expect(thread?.isLocked == true && thread?.isClosed == true)
        #expect(models.thread(garden, asOf: 5)?.isClosed == false)
    }

    /// A role begins with its own membership: a later one begins as a plain member.
    @Test func roleEndsWithMembership() throws {
        let models = applied(
            opened + [
                .init(.threadLeft, .thread(garden, number: 3, user: ann)),  // 5
                .init(.threadJoined, .thread(garden, number: 4, user: ann)),  // 6
            ])
        #expect(models.role(of: ann, in: garden, asOf: 4)?.role == .owner)
        #expect(models.role(of: ann, in: garden, asOf: 5) == nil)
        let role = try #require(models.role(of: ann, in: garden, asOf: 6))
        #expect(role.role == .member && role.since == 6)
    }

    /// A history that another version wrote can grant the rights twice.
    @Test func secondGrantBeginsNoPeriod() {
        let models = applied(
            opened + [
                .init(.operatorGranted, .user(bob)),  // 5
                .init(.operatorGranted, .user(bob)),  // 6
                .init(.operatorRevoked, .user(bob)),  // 7
            ])
        #expect(models.operatorSince(bob, asOf: 6) == 5)
        #expect(models.access(of: bob, asOf: 7) == [Access(thread: garden, from: 5, to: 7)])
    }

    /// An operator gains the threads that exist, later ones at their openings, and keeps the
    /// threads of which they are a member.
    @Test func accessOfOperatorMergesOverlappingPeriods() {
        let (shed, cellar) = (ThreadID(bits: 32), ThreadID(bits: 33))
        let models = applied([
            .init(.userRegistered, .user(ann)), .init(.userRegistered, .user(bob)),
            .init(.threadOpened, .thread(garden, number: 1, user: ann)),  // 3
            .init(.threadJoined, .thread(garden, number: 2, user: bob)),  // 4
            .init(.operatorGranted, .user(bob)),  // 5
            .init(.threadLeft, .thread(garden, number: 3, user: bob)),  // 6
            .init(.threadOpened, .thread(cellar, number: 1, user: ann)),  // 7
            // At 8.
            .init(.threadPolicySet, .policy(thread: cellar, number: 2, policy: .inviteOnly, history: .all, by: ann)),
            .init(.threadOpened, .thread(shed, number: 1, user: ann)),  // 9
            .init(.threadJoined, .thread(shed, number: 2, user: bob)),  // 10
            .init(.operatorRevoked, .user(bob)),  // 11
            .init(.threadJoined, .thread(garden, number: 4, user: bob)),  // 12
            .init(.operatorGranted, .user(bob)),  // 13
        ])
        #expect(
            models.access(of: bob, asOf: 13) == [
                Access(thread: garden, from: 4, to: 11), Access(thread: shed, from: 9),
                Access(thread: garden, from: 12),
            ])
        #expect(models.access(of: bob, asOf: 6) == [Access(thread: garden, from: 4)])
        #expect(
            models.access(of: bob, asOf: 11) == [
                Access(thread: garden, from: 4, to: 11), Access(thread: shed, from: 9),
            ])
        #expect(models.access(of: ann, asOf: 13) == [])
        #expect(models.readers(of: garden, asOf: 6).map(\.since) == [5])
        #expect(models.readers(of: cellar, asOf: 13).map(\.user) == [])
    }

    /// An operator gains and loses a thread with its policy, and reads what was posted since it
    /// last ceased to be `inviteOnly`.
    @Test func accessOfOperatorFollowsPolicies() {
        func set(_ policy: ThreadPolicy, _ history: ThreadHistory) -> EventDetails {
            .init(.threadPolicySet, .policy(thread: garden, number: 2, policy: policy, history: history, by: ann))
        }
        let models = applied([
            .init(.userRegistered, .user(ann)), .init(.userRegistered, .user(bob)),
            .init(.operatorGranted, .user(bob)),  // 3
            .init(.threadOpened, .thread(garden, number: 1, user: ann)),  // 4
            .init(.threadJoined, .thread(garden, number: 2, user: ann)),  // 5
            set(.inviteOnly, .all), set(.inviteOnly, .sinceJoining),  // 6, 7
            set(.open, .sinceJoining), set(.open, .sinceJoining),  // 8, 9
            .init(.threadJoined, .thread(garden, number: 6, user: bob)),  // 10
            set(.inviteOnly, .sinceJoining),  // 11
            .init(.operatorRevoked, .user(bob)),  // 12
        ])
        #expect(
            models.access(of: bob, asOf: 12) == [
                Access(thread: garden, from: 4, to: 6), Access(thread: garden, from: 8),
            ])
        #expect(
            models.access(of: bob, asOf: 9) == [
                Access(thread: garden, from: 4, to: 6), Access(thread: garden, from: 8),
            ])
        let starts = (4...12).map { models.readingStart(bob, garden, asOf: $0) }
        #expect(starts == [0, 0, nil, nil, 8, 8, 8, 10, 10])
        #expect(models.readingStart(ann, garden, asOf: 12) == 0)
        #expect(models.readers(of: garden, asOf: 9).map(\.since) == [5, 8])
    }
}

extension EventDetails {
    /// Whether the event can change an answer about roles, sanctions, invitations, pins, reports,
    /// blocks, operators, policies or locks.
    fileprivate var changesCommunity: Bool {
        switch kind {
        case .userRegistered, .usernameChanged, .postcodeSet, .messagePosted, .replyPosted, .messageEdited,
            .replyEdited, .replyRetracted,
            .threadRead, .sessionStarted, .sessionEnded, .custom, .clockCorrected, .lost, .threadMarkedUnread,
            .notificationsSet,
            .inboxRead, .profileSet, nil:
            false
        default: true
        }
    }
}

extension BlockedUsers {
    func users(_ models: ReadModels) -> [UserID] { indexes.map { models.identities.userID(Int($0)) } }
}
