@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Observation
import Projections
import Testing

/// The observable views as a screen uses them.
@Suite(.timeLimit(.minutes(3))) @MainActor struct LiveViewTests {
    private typealias Fixture = FollowingFixture

    @Test func timelineFollowsChanges() async throws {
        let fixture = try Fixture()
        let ids = (0..<5).map { MessageID(bits: UInt128(100 + $0)) }
        for (number, id) in ids.enumerated() {
            try await fixture.store.execute(
                .postMessage(id: id, thread: Fixture.garden, body: "\(number)", by: Fixture.ann))
        }
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .user(Fixture.bob), limit: 2)
        guard case .loading = timeline.state else { return _ = Issue.record("\(timeline.state)") }
        #expect(!timeline.hasEarlier)
        try await showing(timeline.follow) {
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["3", "4"]
            }
            try fixture.post("5")
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["3", "4", "5"]
            }
            // Changes to messages out of view show once the messages are loaded.
            try await fixture.store.execute(.edit(.message(ids[4]), body: "four", by: Fixture.ann))
            try await fixture.store.execute(.edit(.message(ids[2]), body: "two", by: Fixture.ann))
            try await fixture.store.execute(.retract(.message(ids[3]), by: Fixture.ann))
            try await fixture.store.execute(.reply(id: nil, to: ids[4], body: "Yes", by: Fixture.bob))
            try await fixture.store.execute(.changeUsername(username: "Anne", by: Fixture.ann))
            try await until {
                timeline.messages.last?.author.username
            } _: {
                $0 == "Anne"
            }
            #expect(
                timeline.messages.map(\.body) == [nil, "four", "5"] && timeline.messages.map(\.replyCount) == [0, 1, 0])
            #expect(timeline.hasEarlier)
            try await timeline.loadEarlier()
            #expect(timeline.messages.map(\.body) == ["1", "two", nil, "four", "5"] && timeline.hasEarlier)
            try await timeline.loadEarlier()
            #expect(timeline.messages.map(\.body) == ["0", "1", "two", nil, "four", "5"] && !timeline.hasEarlier)
            let entries = try fixture.store.reader(as: .host).timeline(Fixture.garden).entries
            #expect(timeline.messages == entries)
            // A viewer who leaves loses the view.
            try await fixture.store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.bob))
            try await until {
                timeline.state.error
            } _: {
                $0 != nil
            }
        }
        guard case .failed(ChatError.rejected(.notAMember), last: nil) = timeline.state else {
            return _ = Issue.record("\(timeline.state)")
        }
        let back = try await fixture.store.execute(.joinThread(thread: Fixture.garden, by: Fixture.bob))
        #expect(back.positions != nil)
        try await showing(timeline.follow) {
            try await until {
                timeline.messages.count
            } _: {
                $0 == 2
            }
        }
    }

    /// Events arrive while the view loads, and it must end equal to its query without duplicates.
    @Test(arguments: Seeds.seeds(10)) func viewsEndEqualToTheirQueries(seed: UInt64) async throws {
        let fixture = try Fixture(recentEventCount: seed.isMultiple(of: 2) ? 8 : 4_096)
        var random = SeededRandom(seed: seed)
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .host, limit: 5)
        let (threads, user) = (LiveThreads(fixture.store, as: .host), LiveUser(fixture.store, user: Fixture.bob))
        let tasks = [Task { await timeline.follow() }, Task { await threads.follow() }, Task { await user.follow() }]
        var posted: [MessageID] = []
        for number in 0..<60 {
            let (author, id) = (
                random.oneIn(2) ? Fixture.ann : Fixture.bob, posted.randomElement(using: &random) ?? MessageID(bits: 0)
            )
            let command: ChatCommand =
                switch Int.random(in: 0..<10, using: &random) {
                case 0: .edit(.message(id), body: "edit \(number)", by: author)
                case 1: .retract(.message(id), by: author)
                case 2: .reply(id: nil, to: id, body: "reply \(number)", by: author)
                case 3: .changeUsername(username: "Name \(number)", by: author)
                case 4: .openThread(id: nil, name: "Thread \(number)", by: author)
                case 5 where random.oneIn(2):
                    .markUnread(thread: Fixture.garden, from: fixture.store.head.position / 2, by: Fixture.bob)
                case 5: .markRead(thread: Fixture.garden, upTo: fixture.store.head.position, by: Fixture.bob)
                default: .postMessage(id: nil, thread: Fixture.garden, body: "post \(number)", by: author)
                }
            if case .success(let receipt) = try await fixture.store.execute([CommandRequest(command)])[0] {
                posted += [receipt.message].compactMap { $0 }
            }
            if random.oneIn(8) { try await timeline.loadEarlier() }
            if random.oneIn(3) { await Task.yield() }
        }
        let (entries, summaries, view) = (
            try fixture.store.reader(as: .host).timeline(Fixture.garden, page: .latest(1_000)),
            try fixture.store.reader(as: .host).threads().entries,
            try fixture.store.reader(as: .host).user(Fixture.bob)
        )
        try await until {
            timeline.messages
        } _: {
            $0.count >= 5 && $0 == Array(entries.suffix($0.count))
        }
        try await until {
            threads.threads
        } _: {
            $0 == summaries
        }
        try await until {
            user.user
        } _: {
            $0 == view
        }
        for task in tasks { task.cancel() }
        for task in tasks { try await task.ended() }
    }

    /// More events arrive than the backlog holds while the main actor is busy, so the view reloads.
    @Test func laggingTimelineReloads() async throws {
        let fixture = try Fixture(recentEventCount: 4)
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .host, limit: 3)
        try await showing(timeline.follow) {
            try fixture.post("first")
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["first"]
            }
            try await fixture.untilWaiting()
            for number in 0..<20 { try fixture.post("\(number)") }
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["17", "18", "19"]
            }
            #expect(timeline.hasEarlier)
            try await timeline.loadEarlier()
            #expect(timeline.messages.map(\.body) == ["14", "15", "16", "17", "18", "19"])
            // A closed store loads nothing, and the view keeps its messages.
            try fixture.store.close()
            #expect(await chatError { try await timeline.loadEarlier() }?.isClosed == true)
            #expect(timeline.messages.count == 6)
        }
        guard case .ended(let last) = timeline.state else { return _ = Issue.record("\(timeline.state)") }
        #expect(last?.count == 6)
    }

    /// A page that is exactly full has no earlier messages.
    @Test func firstPageOfAllMessagesHasNoEarlierOnes() async throws {
        let fixture = try Fixture()
        for number in 0..<4 { try fixture.post("\(number)") }
        let whole = LiveTimeline(fixture.store, thread: Fixture.garden, as: .host, limit: 4)
        let half = LiveTimeline(fixture.store, thread: Fixture.garden, as: .host, limit: 2)
        try await showing(whole.follow) {
            try await until {
                whole.messages.count
            } _: {
                $0 == 4
            }
            #expect(!whole.hasEarlier)
        }
        try await showing(half.follow) {
            try await until {
                half.messages.count
            } _: {
                $0 == 2
            }
            #expect(half.hasEarlier)
            try await half.loadEarlier()
            #expect(half.messages.count == 4 && !half.hasEarlier)
        }
    }

    /// A view whose updates have ended says so, with what it has.
    @Test func endOfUpdatesShows() async throws {
        let fixture = try Fixture()
        try fixture.post("0")
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .host)
        let threads = LiveThreads(fixture.store, as: .host)
        let user = LiveUser(fixture.store, user: Fixture.bob)
        // The task of a view that has disappeared is cancelled.
        try await showing(timeline.follow) {
            try await until {
                timeline.messages.count
            } _: {
                $0 == 1
            }
        }
        guard case .ended(let last?) = timeline.state else { return _ = Issue.record("\(timeline.state)") }
        #expect(last.count == 1)
        try await timeline.loadEarlier()
        // Of two calls, the later one decides.
        let first = Task { await timeline.follow() }
        try await until {
            if case .loaded = timeline.state { true } else { false }
        } _: {
            $0
        }
        let second = Task { await timeline.follow() }
        first.cancel()
        try await first.ended()
        try fixture.post("1")
        try await until {
            if case .loaded(let messages) = timeline.state { messages.count } else { 0 }
        } _: {
            $0 == 2
        }
        try fixture.store.close()
        try await second.ended()
        guard case .ended(let latest?) = timeline.state else { return _ = Issue.record("\(timeline.state)") }
        #expect(latest.count == 2)
        // A closed store has nothing to wait for.
        await timeline.follow()
        await threads.follow()
        await user.follow()
        guard case .ended(let kept?) = timeline.state, case .ended(nil) = threads.state, case .ended(nil) = user.state
        else {
            return _ = Issue.record("\(timeline.state), \(threads.state), \(user.state)")
        }
        #expect(kept.count == 2)
    }

    /// A failed load of earlier messages changes nothing, and the view stays current.
    @Test func failedLoadOfEarlierMessagesKeepsView() async throws {
        let fixture = try Fixture()
        let first = try fixture.post("0")
        for number in 1..<4 { try fixture.post("\(number)") }
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .host, limit: 2)
        try await showing(timeline.follow) {
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["2", "3"]
            }
            // The feed has read the position, so that only the page fails.
            try await fixture.untilWaiting()
            fixture.log.damaged = first
            let error = await chatError { try await timeline.loadEarlier() }
            #expect(error?.journalError?.code == .damaged)
            guard case .loaded = timeline.state else { return _ = Issue.record("\(timeline.state)") }
            fixture.log.damaged = nil
            try fixture.post("4")
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["2", "3", "4"]
            }
            try await timeline.loadEarlier()
            #expect(timeline.messages.map(\.body) == ["0", "1", "2", "3", "4"])
        }
    }

    /// The rejection of a load is the rejection of the whole view.
    @Test func loadOfEarlierMessagesIsRejectedAfterLeaving() async throws {
        let fixture = try Fixture()
        for number in 0..<4 { try fixture.post("\(number)") }
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .user(Fixture.bob), limit: 2)
        func leave() throws {
            try fixture.store.executeBlocking(.leaveThread(thread: Fixture.garden, by: Fixture.bob))
        }
        try await showing(timeline.follow) {
            try await until {
                timeline.messages.map(\.body)
            } _: {
                $0 == ["2", "3"]
            }
            // The load begins before the view, which is on the same actor, can learn of it.
            try leave()
            let error = await chatError { try await timeline.loadEarlier() }
            guard case .rejected(.notAMember) = error else { return _ = Issue.record("\(String(describing: error))") }
            guard case .failed(ChatError.rejected(.notAMember), last: nil) = timeline.state else {
                return _ = Issue.record("\(timeline.state)")
            }
        }
    }

    @Test func threadsFollowViewersMemberships() async throws {
        let fixture = try Fixture()
        let threads = LiveThreads(fixture.store, as: .user(Fixture.cat), limit: 2)
        try await showing(threads.follow) {
            try await until {
                threads.state.value?.count
            } _: {
                $0 == 0
            }
            try await fixture.store.execute(.joinThread(thread: Fixture.garden, by: Fixture.cat))
            try await until {
                threads.threads.map(\.name)
            } _: {
                $0 == ["Garden"]
            }
            for name in ["Shed", "Roof"] {
                try await fixture.store.execute(.openThread(id: nil, name: name, by: Fixture.cat))
            }
            try await until {
                threads.threads.map(\.name)
            } _: {
                $0 == ["Shed", "Roof"]
            }
            try fixture.post("Milk?")
            try await until {
                threads.threads.map(\.name)
            } _: {
                $0 == ["Roof", "Garden"]
            }
            #expect(threads.threads.last?.messageCount == 1)
            try await fixture.store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.cat))
            try await until {
                threads.threads.map(\.name)
            } _: {
                $0 == ["Shed", "Roof"]
            }
        }
    }

    @Test func inboxViewFollowsRepliesAndItsMarker() async throws {
        let fixture = try Fixture()
        let message = MessageID(bits: 77)
        try fixture.store.executeBlocking(
            .postMessage(id: message, thread: Fixture.garden, body: "Milk?", by: Fixture.bob))
        let inbox = LiveInbox(fixture.store, of: Fixture.bob)
        try await showing(inbox.follow) {
            try await until {
                inbox.unread
            } _: {
                $0 == InboxCount(count: 0)
            }
            let receipt = try await fixture.store.execute(
                .reply(to: message, body: "On my way.", by: Fixture.ann))
            try await until {
                inbox.entries.map(\.position)
            } _: {
                $0 == [receipt.position]
            }
            #expect(inbox.entries.map(\.reason) == [.reply] && inbox.unread == InboxCount(count: 1))
            try await fixture.store.execute(.markInboxRead(upTo: receipt.position, by: Fixture.bob))
            try await until {
                inbox.unread
            } _: {
                $0 == InboxCount(count: 0)
            }
            #expect(inbox.entries.map(\.isUnread) == [false])
            let reply = try #require(receipt.reply)
            try await fixture.store.execute(.retract(.reply(reply), by: Fixture.ann))
            try await until {
                inbox.entries
            } _: {
                $0.isEmpty
            }
        }
    }

    @Test func userViewFollowsUnreadCount() async throws {
        let fixture = try Fixture()
        let bob = LiveUser(fixture.store, user: Fixture.bob)
        try await showing(bob.follow) {
            try await until {
                bob.user?.username
            } _: {
                $0 == "Bob"
            }
            let position = try fixture.post("Milk?")
            try await until {
                bob.user?.threads.first?.unreadCount
            } _: {
                $0 == 1
            }
            #expect(bob.user?.threads.first?.lastMessage?.body == "Milk?")
            try await fixture.store.execute(.markRead(thread: Fixture.garden, upTo: position, by: Fixture.bob))
            try await until {
                bob.user?.threads.first?.unreadCount
            } _: {
                $0 == 0
            }
            try await fixture.store.execute(.markUnread(thread: Fixture.garden, from: position, by: Fixture.bob))
            try await until {
                bob.user?.threads.first?.firstUnread
            } _: {
                $0 == position
            }
            try await fixture.store.execute(.setNotifications(thread: Fixture.garden, level: .none, by: Fixture.bob))
            try await until {
                bob.user?.threads.first?.notifications.level
            } _: {
                $0 == NotificationLevel.none
            }
        }
        let nobody = LiveUser(fixture.store, user: UserID(bits: 99))
        try await Task { await nobody.follow() }.ended("the end of a view of an unknown user")
        guard case .failed(ChatError.rejected(.unknownUser), last: nil) = nobody.state else {
            return _ = Issue.record("\(nobody.state)")
        }
    }

    /// A journal failure keeps the last entries.
    ///
    /// A closed store ends the view without an error.
    @Test func journalFailureIsPublished() async throws {
        let fixture = try Fixture()
        let timeline = LiveTimeline(fixture.store, thread: Fixture.garden, as: .host)
        try fixture.post("Milk?")
        try await showing(timeline.follow) {
            try await until {
                timeline.messages.count
            } _: {
                $0 == 1
            }
            fixture.log.damaged = 8
            try fixture.post("Bread?")
            try await until {
                timeline.state.error
            } _: {
                $0 != nil
            }
        }
        guard case .failed(ChatError.journal(let error), let last) = timeline.state else {
            return _ = Issue.record("\(timeline.state)")
        }
        #expect(error.code == .damaged && last?.map(\.body) == ["Milk?"])
        fixture.log.damaged = nil
        let task = Task { await timeline.follow() }
        try await until {
            timeline.messages.count
        } _: {
            $0 == 2
        }
        try fixture.store.close()
        try await task.ended()
        guard case .ended = timeline.state else { return _ = Issue.record("\(timeline.state)") }
    }
}
