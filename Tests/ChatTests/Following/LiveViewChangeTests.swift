@testable import Chat
import ChatDomain
import ChatTesting
import TestSupport
import Testing

/// A live view shows the result of its query after each change.
@Suite(.timeLimit(.minutes(3))) @MainActor struct LiveViewChangeTests {
    private typealias Fixture = FollowingFixture

    private let milk = MessageID(bits: 40)
    private let bread = MessageID(bits: 41)
    private let replies = (50..<54).map { ReplyID(bits: UInt128($0)) }

    @Test func nextThreadReplacesLeftThread() async throws {
        let fixture = try Fixture()
        let ids = (0..<5).map { ThreadID(bits: UInt128(60 + $0)) }
        for (id, name) in zip(ids, ["A", "B", "C", "D", "E"]) {
            // An imported thread has no owner, so that its opener can leave it.
            let opening = ChatCommand.openThread(id: id, name: name, by: Fixture.cat)
            _ = try await fixture.store.execute([CommandRequest(opening, origin: .imported(sentAt: nil))])[0].get()
        }
        let threads = LiveThreads(fixture.store, as: .user(Fixture.cat), limit: 3)
        func until(_ names: String) async throws {
            try await ChatTests.until {
                threads.threads.compactMap(\.name).joined()
            } _: {
                $0 == names
            }
        }
        try await showing(threads.follow) {
            try await until("CDE")
            try await fixture.store.execute(.leaveThread(thread: ids[3], by: Fixture.cat))
            try await until("BCE")
            // Thread A is not in view, so leaving it changes nothing until E is left.
            try await fixture.store.execute(.leaveThread(thread: ids[0], by: Fixture.cat))
            try await fixture.store.execute(.leaveThread(thread: ids[4], by: Fixture.cat))
            try await until("BC")
            try await fixture.store.execute(.joinThread(thread: ids[0], by: Fixture.cat))
            try await until("BCA")
            try await fixture.store.execute(.leaveThread(thread: ids[2], by: Fixture.cat))
            try await until("BA")
        }
    }

    /// Each event of a thread that has a number there makes it the last one of the list.
    @Test func everyNumberedEventMovesItsThread() async throws {
        let fixture = try Fixture()
        let (den, ann, bob, cat) = (ThreadID(bits: 60), Fixture.ann, Fixture.bob, Fixture.cat)
        let commands: [ChatCommand] = [
            .openThread(id: den, name: "Den", by: ann), .joinThread(thread: den, by: bob),
            .invite(user: cat, thread: den, by: ann),
            .declineInvitation(thread: den, by: cat), .invite(user: cat, thread: den, by: ann),
            .revokeInvitation(user: cat, thread: den, by: ann),
            .postMessage(id: milk, thread: den, body: "Milk?", by: ann),
            .reply(id: replies[0], to: milk, body: "No", by: bob),
            .edit(.message(milk), body: "Oat milk?", by: ann),
            .edit(.reply(replies[0]), body: "Yes", by: bob), .pin(message: milk, by: ann),
            .unpin(message: milk, by: ann),
            .retract(.reply(replies[0]), by: bob), .reply(id: replies[1], to: milk, body: "No", by: bob),
            .remove(.reply(replies[1]), reason: "spam", by: ann), .remove(.message(milk), reason: "spam", by: ann),
            .postMessage(id: bread, thread: den, body: "Bread?", by: ann), .retract(.message(bread), by: ann),
            .setRole(user: bob, thread: den, role: .moderator, by: ann),
            .mute(user: bob, thread: den, reason: "spam", by: ann),
            .unmute(user: bob, thread: den, by: ann), .removeMember(user: bob, thread: den, reason: "spam", by: ann),
            .joinThread(thread: den, by: bob), .leaveThread(thread: den, by: bob),
            .invite(user: cat, thread: den, by: ann), .ban(user: cat, thread: den, reason: "spam", by: ann),
            .unban(user: cat, thread: den, by: ann),
            .custom(kind: "com.example.poll", thread: den, payload: try #require(CustomPayload("0")), by: ann),
            .lockThread(thread: den, by: ann), .unlockThread(thread: den, by: ann),
            .setThreadPolicy(thread: den, policy: .inviteOnly, by: ann),
            .renameThread(thread: den, name: "Cellar", by: ann),
            .closeThread(thread: den, by: ann),
        ]
        try await fixture.store.execute(.joinThread(thread: Fixture.garden, by: cat))
        let threads = LiveThreads(fixture.store, as: .host)
        var kinds: Set<EventKind> = []
        try await showing(threads.follow) {
            for command in commands {
                try fixture.post("Weeds")
                kinds.formUnion(try await fixture.store.execute(command).events.compactMap(\.event.kind))
                let expected = try fixture.store.reader(as: .host).threads().entries
                #expect(expected.last?.id == den)
                try await ChatTests.until {
                    threads.threads
                } _: {
                    $0 == expected
                }
            }
        }
        // A direct thread has no other events of its own than its opening.
        #expect(
            kinds.union([.messagePosted, .directOpened])
                == Set(EventKind.changing(.threads).filter(\.form.isNumbered))
        )
    }

    /// The people of a direct thread have their names of now, also those who have left it.
    @Test func peopleOfDirectThreadsAreRenamed() async throws {
        let fixture = try Fixture()
        let direct = try #require(
            try await fixture.store.execute(.openDirect(id: nil, with: [Fixture.bob], by: Fixture.ann)).thread)
        let threads = LiveThreads(fixture.store, as: .user(Fixture.ann))
        func until(_ name: String) async throws {
            try await ChatTests.until {
                threads.threads.first { $0.id == direct }?.people?.compactMap(\.username)
            } _: {
                $0?.contains(name) == true
            }
        }
        try await showing(threads.follow) {
            try await until("Bob")
            try await fixture.store.execute(.changeUsername(username: "Rob", by: Fixture.bob))
            try await until("Rob")
        }
    }

    /// The counts of reactions change in place, and the viewer's own are marked.
    @Test func reactionsChangeInPlace() async throws {
        let fixture = try Fixture()
        try await posted(fixture)
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .user(Fixture.bob))
        func until(_ expected: [PostReaction]) async throws {
            try await ChatTests.until {
                timeline.messages.first?.reactions
            } _: {
                $0 == expected
            }
        }
        try await showing(timeline.follow) {
            try await until([])
            try await fixture.store.execute(.react(.message(milk), emoji: "👍", by: Fixture.ann))
            try await until([PostReaction(emoji: "👍", count: 1, isMine: false)])
            try await fixture.store.execute(.react(.message(milk), emoji: "👍", by: Fixture.bob))
            try await until([PostReaction(emoji: "👍", count: 2, isMine: true)])
            try await fixture.store.execute(.unreact(.message(milk), emoji: "👍", by: Fixture.ann))
            try await until([PostReaction(emoji: "👍", count: 1, isMine: true)])
        }
    }

    /// Posts two messages and two replies to the first.
    private func posted(_ fixture: Fixture) async throws {
        try await fixture.store.execute(
            .postMessage(id: milk, thread: Fixture.garden, body: "Milk?", by: Fixture.ann))  // 7
        try await fixture.store.execute(
            .postMessage(id: bread, thread: Fixture.garden, body: "Bread?", by: Fixture.ann))  // 8
        for reply in replies[..<2] {
            // At 9, 10.
            try await fixture.store.execute(.reply(id: reply, to: milk, body: "Yes", by: Fixture.ann))
        }
    }

    private func until(_ timeline: LiveTimeline, replyCounts: [Int], sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        try await ChatTests.until(sourceLocation: sourceLocation) {
            timeline.messages.map(\.replyCount)
        } _: {
            $0 == replyCounts
        }
    }

    /// The count follows retractions by the viewer, by a member and by a former member.
    @Test(arguments: [nil, FollowingFixture.bob]) func replyCountFollowsChanges(viewer: UserID?) async throws {
        let fixture = try Fixture()
        try await posted(fixture)
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: Viewer(orHost: viewer))
        try await showing(timeline.follow) {
            try await until(timeline, replyCounts: [2, 0])
            try await fixture.store.execute(.reply(id: replies[2], to: bread, body: "No", by: Fixture.bob))
            try await until(timeline, replyCounts: [2, 1])
            try await fixture.store.execute(.retract(.reply(replies[0]), by: Fixture.ann))
            try await until(timeline, replyCounts: [1, 1])
            try await fixture.store.execute(.retract(.reply(replies[2]), by: Fixture.bob))
            try await until(timeline, replyCounts: [1, 0])
            try await fixture.store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.ann))
            try await fixture.store.execute(.retract(.reply(replies[1]), by: Fixture.ann))
            try await until(timeline, replyCounts: [0, 0])
        }
    }

    /// One commit, so that no snapshot shows the viewer absent.
    ///
    /// The viewer's filter omits the retraction, and the view must still show it.
    @Test func retractionDuringAbsenceUpdatesReplyCount() async throws {
        let fixture = try Fixture()
        try await posted(fixture)
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .user(Fixture.bob))
        try await showing(timeline.follow) {
            try await until(timeline, replyCounts: [2, 0])
            let commands: [ChatCommand] = [
                .leaveThread(thread: Fixture.garden, by: Fixture.bob), .retract(.reply(replies[0]), by: Fixture.ann),
                .joinThread(thread: Fixture.garden, by: Fixture.bob),
            ]
            _ = try await fixture.store.execute(commands.map { CommandRequest($0) })
            try await until(timeline, replyCounts: [1, 0])
        }
    }

    /// The page of earlier messages is read before the changes and shown after them.
    @Test func changesDuringLoadEarlierShow() async throws {
        let fixture = try Fixture()
        let first = try fixture.post("Eggs?")
        try await posted(fixture)
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .user(Fixture.bob), limit: 1)
        try await showing(timeline.follow) {
            try await until(timeline, replyCounts: [0])
            // The feed has read the message, so that the hold blocks the page.
            try await fixture.untilWaiting()
            fixture.log.hold(first + 1)
            let earlier = Task(executorPreference: ThreadExecutor()) { try await timeline.loadEarlier() }
            try await Fixture.until("the read of the earlier message") { fixture.log.isHolding }
            try await fixture.store.execute(.retract(.reply(replies[0]), by: Fixture.ann))
            try await fixture.store.execute(.changeUsername(username: "Anne", by: Fixture.ann))
            try await fixture.store.execute(.edit(.message(milk), body: "Oat milk?", by: Fixture.ann))
            try await fixture.store.execute(.edit(.message(bread), body: "Rye bread?", by: Fixture.ann))
            try await ChatTests.until {
                timeline.messages.last?.body
            } _: {
                $0 == "Rye bread?"
            }
            fixture.log.letGo()
            try await earlier.ended()
            let entries = try fixture.store.reader(as: .user(Fixture.bob)).timeline(
                Fixture.garden, page: .latest(2)
            ).entries
            #expect(timeline.messages == entries && entries.map(\.replyCount) == [1, 0])
        }
    }

    /// A timeline shows a former author, and a user's view the author of the last message, as of
    /// the end of their membership; and as of now when they have come back.
    @Test func formerMemberKeepsTheNameOfTheEnd() async throws {
        let fixture = try Fixture()
        try await posted(fixture)
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .user(Fixture.bob))
        let host = LiveTimeline(fixture.store, thread: Fixture.garden, as: .host)
        let user = LiveUser(fixture.store, user: Fixture.bob)
        func until(_ shown: String, toHost: String) async throws {
            try await ChatTests.until {
                host.messages.map(\.author.username)
            } _: {
                $0 == [toHost, toHost]
            }
            try await ChatTests.until {
                timeline.messages.map(\.author.username)
            } _: {
                $0 == [shown, shown]
            }
            try await ChatTests.until {
                user.user?.threads.first?.lastMessage?.author.username
            } _: {
                $0 == shown
            }
        }
        try await showing(timeline.follow) {
            try await showing(host.follow) {
                try await showing(user.follow) {
                    try await fixture.store.execute(.changeUsername(username: "Anne", by: Fixture.ann))
                    try await until("Anne", toHost: "Anne")
                    try await fixture.store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.ann))
                    try await fixture.store.execute(.changeUsername(username: "Annie", by: Fixture.ann))
                    try await until("Anne", toHost: "Annie")
                    try await fixture.store.execute(.joinThread(thread: Fixture.garden, by: Fixture.ann))
                    try await until("Annie", toHost: "Annie")
                }
            }
        }
    }

    /// Events of other threads would reload the timeline for nothing.
    @Test(arguments: [nil, FollowingFixture.bob]) func timelineFollowsItsOwnThread(viewer: UserID?) async throws {
        let fixture = try Fixture()
        let shed = ThreadID(bits: 32)
        // An imported thread has no owner, so that its opener can leave it.
        let opening = ChatCommand.openThread(id: shed, name: "Shed", by: Fixture.bob)
        _ = try await fixture.store.execute([CommandRequest(opening, origin: .imported(sentAt: nil))])[0].get()  // 7, 8
        try fixture.post("of another thread", by: Fixture.bob, in: shed)  // 9
        try fixture.post("of the garden")  // 10
        try await fixture.store.execute(.changeUsername(username: "Anne", by: Fixture.ann))  // 11
        try fixture.post("of another thread", by: Fixture.bob, in: shed)  // 12
        try await fixture.store.execute(.leaveThread(thread: shed, by: Fixture.bob))  // 13
        try fixture.post("of the garden")  // 14
        let source = TimelineSource(thread: Fixture.garden, viewer: Viewer(orHost: viewer), limit: 50)
        #expect(
            try await fixture.store.events(after: 6, matching: source.filter(in: fixture.store)).prefix(3) == [
                10, 11, 14,
            ])
    }
}
