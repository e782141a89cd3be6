import ChatDomain
import ChatTesting
import Testing

@testable import Chat

/// Direct threads, the directory and names of threads, as users are shown them.
@Suite struct DirectThreadTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let cem = UserID(bits: 3)
    private let dan = UserID(bits: 4)
    private let garden = ThreadID(bits: 31)
    private let pair = ThreadID(bits: 32)
    private let group = ThreadID(bits: 33)

    /// Four people of a garden, of whom Dan is an operator.
    private func store(_ fixture: StoreFixture = StoreFixture()) throws -> ChatStore {
        let store = try fixture.openGarden(garden, [(ann, "Ann"), (bob, "Bob"), (cem, "Cem"), (dan, "Dan")])
        try store.executeBlocking(.grantOperator(user: dan))
        return store
    }

    private func code(_ body: () throws -> Void) -> Rejection.Code? {
        do {
            try body()
            return nil
        } catch ChatError.rejected(let rejection) { return rejection.code } catch {
            return Rejection.Code(rawValue: "\(error)")
        }
    }

    @Test func setHasOneThread() throws {
        let store = try store()
        let first = try store.executeBlocking(.openDirect(id: pair, with: [bob], by: ann))
        #expect(first.thread == pair && first.events.map(\.kind) == [.directOpened, .threadJoined, .threadJoined])
        let again = try store.executeBlocking(.openDirect(id: group, with: [ann, bob, ann], by: bob))
        #expect(again.isDuplicate && again.positions == first.positions && again.thread == pair)
        #expect(try store.reader(as: .user(bob)).thread(pair).people?.map(\.username) == ["Ann", "Bob"])
        #expect(try store.reader(as: .user(bob)).threads(of: bob).last?.people?.map(\.id) == [ann, bob])
        #expect(
            code { _ = try store.executeBlocking(.openDirect(id: pair, with: [cem], by: ann)) } == .identifierTaken)
        #expect(code { _ = try store.executeBlocking(.openDirect(with: [ann], by: ann)) } == .invalidPeople)
        // A direct thread is no duplicate of a named one.
        #expect(
            code { _ = try store.executeBlocking(.openThread(id: pair, name: "Pair", by: ann)) } == .identifierTaken
        )
    }

    /// Every reason has one code.
    @Test func whoCannotBeReachedIsNotTold() throws {
        let store = try store()
        let stranger = UserID(bits: 9)
        try store.executeBlocking(.registerUser(id: stranger, username: "Eli"))
        try store.executeBlocking(.block(user: ann, by: cem))
        // What an operator reads is nothing shared.
        try store.executeBlocking(.leaveThread(thread: garden, by: dan))
        for (by, other) in [(ann, stranger), (ann, UserID(bits: 99)), (ann, cem), (cem, ann), (dan, bob), (ann, dan)] {
            #expect(code { _ = try store.executeBlocking(.openDirect(with: [other], by: by)) } == .cannotMessage)
        }
        try store.eraseUser(bob, reason: "asked")
        #expect(code { _ = try store.executeBlocking(.openDirect(with: [bob], by: ann)) } == .cannotMessage)
    }

    @Test func blockStopsPostsOfTwoOnly() throws {
        let store = try store()
        try store.executeBlocking(.openDirect(id: pair, with: [bob], by: ann))
        try store.executeBlocking(.openDirect(id: group, with: [bob, cem], by: ann))
        try store.executeBlocking(.block(user: ann, by: bob))
        for user in [ann, bob] {
            #expect(
                code { _ = try store.executeBlocking(.postMessage(thread: pair, body: "x", by: user)) }
                    == .cannotMessage)
            try store.executeBlocking(.postMessage(thread: group, body: "x", by: user))
        }
        try store.executeBlocking(.unblock(user: ann, by: bob))
        try store.executeBlocking(.postMessage(thread: pair, body: "x", by: ann))
    }

    @Test func whoComesBackReadsWhatFollowsInAGroup() throws {
        let store = try store()
        try store.executeBlocking(.openDirect(id: pair, with: [bob], by: ann))
        try store.executeBlocking(.openDirect(id: group, with: [bob, cem], by: ann))
        for thread in [pair, group] {
            try store.executeBlocking(.postMessage(thread: thread, body: "before", by: ann))
            try store.executeBlocking(.leaveThread(thread: thread, by: bob))
            #expect(code { _ = try store.reader(as: .user(bob)).timeline(thread) } == .unknownThread)
            #expect(code { _ = try store.executeBlocking(.joinThread(thread: thread, by: bob)) } == .unknownThread)
        }
        try store.executeBlocking(.openDirect(with: [ann], by: bob))
        let back = try store.executeBlocking(.openDirect(with: [cem, ann], by: bob))
        #expect(!back.isDuplicate && back.events.map(\.kind) == [.threadJoined])
        try store.executeBlocking(.postMessage(thread: group, body: "after", by: cem))
        #expect(try store.reader(as: .user(bob)).timeline(pair).map(\.body) == ["before"])
        #expect(try store.reader(as: .user(bob)).timeline(group).map(\.body) == ["after"])
        #expect(try store.reader(as: .user(cem)).timeline(group).map(\.body) == ["before", "after"])
        #expect(try store.rebuild())
    }

    /// Who is brought back by a message has that one unread, and reads what was before.
    @Test func messageBringsBackWhoHasLeft() async throws {
        let fixture = StoreFixture()
        let store = try store(fixture)
        try store.executeBlocking(.openDirect(id: pair, with: [bob], by: ann))
        let hello = MessageID(bits: 51)
        try store.executeBlocking(.postMessage(id: hello, thread: pair, body: "before", by: ann))
        for isReply in [false, true] {
            try store.executeBlocking(.leaveThread(thread: pair, by: bob))
            // Opening it again and again is nothing that happens to the other one.
            let end = store.head.position
            for _ in 0..<3 { #expect(try store.executeBlocking(.openDirect(with: [bob], by: ann)).isDuplicate) }
            #expect(
                store.head.position == end
                    && code { _ = try store.reader(as: .user(bob)).thread(pair) } == .unknownThread)
            let command: ChatCommand =
                isReply
                ? .reply(id: ReplyID(bits: 52), to: hello, body: "Bob?", by: ann)
                : .postMessage(id: MessageID(bits: 53), thread: pair, body: "Bob?", mentions: [bob], by: ann)
            let receipt = try store.executeBlocking(command)
            #expect(
                receipt.positions == end + 1...end + 2 && (receipt.message == nil) == isReply
                    && (receipt.reply == nil) != isReply)
            #expect(receipt.events.map(\.user) == [bob, ann])
            // A repeat is answered with what the author wrote.
            let again = try store.executeBlocking(command)
            #expect(again.isDuplicate && again.positions == end + 2...end + 2 && again.message == receipt.message)
            let summary = try #require(try store.reader(as: .user(bob)).threads(of: bob).last)
            #expect(summary.id == pair && summary.unreadCount == (isReply ? 0 : 1))
            #expect(try store.reader(as: .user(bob)).timeline(pair).first?.body == "before")
            var delivered: [EventKind?] = []
            for try await event in store.events(after: end, upTo: end + 2, matching: EventFilter(as: .user(bob))) {
                delivered.append(event.kind)
            }
            #expect(delivered == receipt.events.map(\.kind))
        }
        // Bob, who has left, cannot be reached by somebody whom he does not know.
        try store.executeBlocking(.leaveThread(thread: pair, by: bob))
        try store.executeBlocking(.leaveThread(thread: garden, by: bob))
        #expect(
            code { _ = try store.executeBlocking(.postMessage(thread: pair, body: "x", by: ann)) } == .cannotMessage
        )
        #expect(try store.rebuild())
        try store.close()
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true)
        #expect(report.findings == [] && report.earlierRules == [])
    }

    /// Nobody writes to an account that is gone, in a thread of two.
    @Test func postToErasedUserIsRejected() throws {
        let store = try store()
        try store.executeBlocking(.openDirect(id: pair, with: [bob], by: ann))
        try store.executeBlocking(.openDirect(id: group, with: [bob, cem], by: ann))
        let hello = MessageID(bits: 51)
        try store.executeBlocking(.postMessage(id: hello, thread: pair, body: "Hello", by: ann))
        try store.eraseUser(bob, reason: "asked")
        #expect(
            code { _ = try store.executeBlocking(.postMessage(thread: pair, body: "x", by: ann)) } == .cannotMessage
        )
        #expect(
            code { _ = try store.executeBlocking(.reply(to: hello, body: "x", by: ann)) } == .cannotMessage)
        try store.executeBlocking(.postMessage(thread: group, body: "x", by: ann))
    }

    /// Where something happened is said with the names of now.
    @Test func entriesAndCommonThreadsNameTheirThread() throws {
        let store = try store()
        try store.executeBlocking(.openDirect(id: pair, with: [bob], by: ann))
        try store.executeBlocking(.postMessage(thread: pair, body: "see @Bob", mentions: [bob], by: ann))
        try store.executeBlocking(.postMessage(thread: garden, body: "see @Bob", mentions: [bob], by: ann))
        let before = AsOf.position(store.head.position)
        try store.executeBlocking(.renameThread(thread: garden, name: "Orchard", by: ann))
        try store.executeBlocking(.mute(user: bob, thread: garden, reason: "loud", until: nil, by: ann))
        let people = [UserSummary(id: ann, username: "Ann"), UserSummary(id: bob, username: "Bob")]
        let entries = try store.reader(as: .user(bob)).inbox(of: bob).entries
        #expect(entries.map(\.name) == ["Orchard", "Orchard", nil] && entries.map(\.people) == [nil, nil, people])
        #expect(try store.reader(as: .user(bob), asOf: before).inbox(of: bob).map(\.name) == ["Garden", nil])
        let common = try store.reader(as: .user(bob)).person(ann).threads
        #expect(common.map(\.name) == ["Orchard", nil] && common.map(\.people) == [nil, people])
        // Who was removed is told the name that they knew.
        try store.executeBlocking(.removeMember(user: bob, thread: garden, reason: "loud", by: ann))
        try store.executeBlocking(.renameThread(thread: garden, name: "Secret", by: ann))
        try store.executeBlocking(.leaveThread(thread: pair, by: bob))
        #expect(try store.reader(as: .user(bob)).inbox(of: bob).map(\.name) == ["Orchard", "Orchard"])
        try store.executeBlocking(.invite(user: bob, thread: garden, by: ann))
        #expect(try store.reader(as: .user(bob)).inbox(of: bob).map(\.name) == ["Secret", "Orchard", "Orchard"])
    }

    /// Nobody has a role in a direct thread, and an operator no right.
    @Test func operatorsActOnReportedPostsAlone() throws {
        let store = try store()
        try store.executeBlocking(.openDirect(id: pair, with: [bob], by: ann))
        let rude = MessageID(bits: 51)
        try store.executeBlocking(.postMessage(id: rude, thread: pair, body: "rude", by: ann))
        let other = MessageID(bits: 52)
        try store.executeBlocking(.postMessage(id: other, thread: pair, body: "private", by: ann))
        try store.executeBlocking(.reply(to: rude, body: "stop", by: bob))
        func refused(_ command: ChatCommand) -> Rejection.Code? { code { _ = try store.executeBlocking(command) } }
        #expect(refused(.remove(.message(rude), reason: "x", by: dan)) == .unknownMessage)
        #expect(code { _ = try store.reader(as: .user(dan)).message(rude) } == .unknownMessage)
        #expect(code { _ = try store.reader(as: .user(dan)).reports(in: pair) } == .unknownThread)
        let report = try store.executeBlocking(.report(.message(rude), reason: "rude", by: bob))
        #expect(report.moderatorCount == nil)
        let shown = try store.reader(as: .user(dan)).message(rude)
        #expect(shown.body == "rude" && shown.replyCount == 0)
        #expect(try store.reader(as: .user(dan)).reports(in: pair).map(\.reason) == ["rude"])
        let entries = try store.reader(as: .user(dan)).inbox(of: dan).entries
        #expect(entries.map(\.post) == [.message(rude)] && entries[0].people == nil)
        for query in [pair] {
            #expect(code { _ = try store.reader(as: .user(dan)).timeline(query) } == .unknownThread)
            #expect(code { _ = try store.reader(as: .user(dan)).replies(to: rude) } == .unknownMessage)
            #expect(code { _ = try store.reader(as: .user(dan)).message(other) } == .unknownMessage)
        }
        #expect(refused(.remove(.message(other), reason: "x", by: dan)) == .unknownMessage)
        #expect(refused(.pin(message: rude, by: dan)) == .unknownMessage)
        #expect(refused(.ban(user: ann, thread: pair, reason: "x", by: dan)) == .unknownThread)
        #expect(refused(.pin(message: rude, by: ann)) == .notAModerator)
        #expect(refused(.renameThread(thread: pair, name: "We", by: ann)) == .notAnOwner)
        try store.executeBlocking(.remove(.message(rude), reason: "rude", by: dan))
        try store.executeBlocking(.resolveReport(.message(rude), by: dan))
        #expect(code { _ = try store.reader(as: .user(dan)).message(rude) } == .unknownMessage)
        #expect(try store.reader(as: .user(dan)).inbox(of: dan).isEmpty)
    }

    /// An operator who is a member has no more rights there, so that nobody reads the report.
    @Test func operatorDecidesNoReportsOfTheirOwnThread() throws {
        let store = try store()
        try store.executeBlocking(.openDirect(id: pair, with: [dan], by: ann))
        let message = MessageID(bits: 51)
        try store.executeBlocking(.postMessage(id: message, thread: pair, body: "rude", by: dan))
        #expect(try store.executeBlocking(.report(.message(message), reason: "x", by: ann)).moderatorCount == 0)
        #expect(store.unattendedReportCount == 1)
        #expect(code { _ = try store.executeBlocking(.resolveReport(.message(message), by: dan)) } == .notAModerator)
        #expect(code { _ = try store.reader(as: .user(dan)).reports(in: pair) } == .notAModerator)
        #expect(try store.reader(as: .user(dan)).inbox(of: dan).isEmpty)
    }

    @Test func directoryListsWhatIsListed() throws {
        let store = try store()
        let (club, den) = (ThreadID(bits: 41), ThreadID(bits: 42))
        try store.executeBlocking(.openThread(id: club, name: "Club", policy: .listed, by: ann))
        try store.executeBlocking(.openThread(id: den, name: "Den", policy: .inviteOnly, by: bob))
        let opening = store.head.position
        func found(_ viewer: Viewer, _ point: AsOf = .now) throws -> [String?] {
            try store.reader(as: viewer, asOf: point).directory().map(\.name)
        }
        #expect(try found(.user(dan)) == ["Club"])
        #expect(try store.reader(as: .user(dan)).directory()[0].latestPostAt == nil)
        try store.executeBlocking(.setThreadPolicy(thread: den, policy: .listed, by: bob))
        let message = try #require(
            try store.executeBlocking(.postMessage(thread: club, body: "Hello", by: ann)).message)
        #expect(try found(.user(dan)) == ["Den", "Club"] && found(.user(dan), .position(opening)) == ["Club"])
        try store.executeBlocking(.joinThread(thread: club, by: bob))
        let reply = try #require(try store.executeBlocking(.reply(to: message, body: "Hi", by: bob)).reply)
        let entry = try store.reader(as: .user(dan)).directory()[1]
        let posted = try store.reader(as: .host).reply(reply)
        #expect(entry.position == posted.position && entry.latestPostAt == posted.createdAt && entry.memberCount == 2)
        try store.executeBlocking(.invite(user: cem, thread: club, by: ann))
        try store.executeBlocking(.ban(user: cem, thread: club, reason: "x", by: ann))
        #expect(
            try found(.user(cem)) == ["Den"] && found(.user(cem), .position(opening)) == [] && found(.host).count == 2)
        try store.executeBlocking(.unban(user: cem, thread: club, by: ann))
        try store.executeBlocking(.closeThread(thread: den, by: bob))
        #expect(try found(.user(cem)) == ["Club"])
        #expect(code { _ = try store.reader(as: .user(UserID(bits: 99))).directory() } == .unknownUser)
    }

    /// A ban ends by itself now and as of a time, each by its own clock.
    @Test func directoryHidesWhileBanIsInEffect() throws {
        let fixture = StoreFixture()
        let store = try store(fixture)
        let club = ThreadID(bits: 41)
        try store.executeBlocking(.openThread(id: club, name: "Club", policy: .listed, by: ann))
        try store.executeBlocking(.invite(user: cem, thread: club, by: ann))
        let before = fixture.clock.now()
        let end = Timestamp(millisecondsSince1970: before.millisecondsSince1970 + 3_600_000)
        fixture.clock.advance(byMilliseconds: 60_000)
        try store.executeBlocking(.ban(user: cem, thread: club, reason: "x", until: end, by: ann))
        let during = store.head.position
        func isFound(_ point: AsOf = .now) throws -> Bool {
            try !store.reader(as: .user(cem), asOf: point).directory().isEmpty
        }
        #expect(try !isFound() && !isFound(.time(before)) && !isFound(.position(during)))
        fixture.clock.advance(byMilliseconds: 3_600_000)
        // What was so during the ban stays; before and after it the thread is found.
        #expect(try isFound() && isFound(.time(before)) && !isFound(.position(during)))
        // Now is not before the last event, although the clock is.
        try store.executeBlocking(.setProfile(about: "x", by: ann))
        fixture.clock.advance(byMilliseconds: -3_600_000)
        #expect(try isFound() && isFound(.position(during - 1)))
    }

    @Test func namesAreThoseOfTheirTime() throws {
        let store = try store()
        let before = store.head.position
        try store.executeBlocking(.setRole(user: bob, thread: garden, role: .owner, by: ann))
        try store.executeBlocking(.renameThread(thread: garden, name: "Orchard", by: bob))
        #expect(try store.reader(as: .user(cem)).thread(garden).name == "Orchard")
        #expect(try store.reader(as: .user(cem), asOf: .position(before)).thread(garden).name == "Garden")
        #expect(try store.reader(as: .user(cem)).threadIDs(named: "orchard") == [garden])
        #expect(try store.reader(as: .user(cem)).threadIDs(named: "Garden") == [])
        var names: [String?] = []
        try store.forEachEvent(matching: EventFilter(as: .user(dan), kinds: [.threadRenamed])) { event, _ in
            names.append(event.event.threadName)
        }
        try store.executeBlocking(.renameThread(thread: garden, name: "Allotment", by: ann))
        try store.forEachEvent(matching: EventFilter(as: .user(dan), kinds: [.threadRenamed])) { event, _ in
            names.append(event.event.threadName)
        }
        #expect(names == ["Orchard", nil, "Allotment"])
        // An erasure takes the names that the user gave.
        try store.eraseUser(ann, reason: "asked")
        #expect(try store.reader(as: .user(cem)).thread(garden).name == nil)
        #expect(try store.rebuild())
    }
}
