import ChatDomain
import ChatTesting
import Projections
import Testing

@testable import Chat

/// Queries as of an earlier position or time, for viewers and the operator.
@Suite struct AsOfTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let eve = UserID(bits: 3)
    private let garden = ThreadID(bits: 31)
    private let message = MessageID(bits: 11)

    /// Returns a store whose commands are ten seconds apart, and the time of its first event.
    private func store() throws -> (store: ChatStore, start: Int64) {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let commands: [ChatCommand] = [
            .registerUser(id: ann, username: "Ann"),  // 1
            .registerUser(id: bob, username: "Bob"),  // 2
            .openThread(id: garden, name: "Garden", by: ann),  // 3, 4
            .joinThread(thread: garden, by: bob),  // 5
            .postMessage(id: message, thread: garden, body: "Tomatoes?", by: ann),  // 6
            .edit(.message(message), body: "Beans?", by: ann),  // 7
            .leaveThread(thread: garden, by: bob),  // 8
            .changeUsername(username: "Robert", by: bob),  // 9
            .registerUser(id: eve, username: "Bob"),  // 10
            .joinThread(thread: garden, by: bob),  // 11
            .startSession(id: nil, device: "a browser", by: eve),  // 12
        ]
        for command in commands {
            try store.executeBlocking(command)
            fixture.clock.advance(byMilliseconds: 10_000)
        }
        return (store, try store.event(at: 1).recordedAt.millisecondsSince1970)
    }

    @Test func readersAreMembersAsOfPosition() throws {
        let (store, _) = try store()
        #expect(try store.readers(of: garden).map(\.user.id) == [ann, bob])
        #expect(try store.readers(of: garden).map(\.since) == [4, 11])
        #expect(try store.readers(of: garden, asOf: .position(8)).map(\.user.id) == [ann])
        #expect(
            try store.readers(of: garden, asOf: .position(7))
                == store.reader(as: .host, asOf: .position(7)).members(of: garden).entries)
        #expect(try store.readers(of: garden, asOf: .position(5)).map(\.user.username) == ["Ann", "Bob"])
        #expect(try store.readers(of: garden).map(\.user.username) == ["Ann", "Robert"])
        expectRejection(.unknownThread) { () throws(ChatError) in _ = try store.readers(of: garden, asOf: .position(2))
        }
    }

    @Test func readingStartIsWhatUserCouldRead() throws {
        let store = try StoreFixture().open()
        let club = ThreadID(bits: 77)
        for (id, name) in [(ann, "Ann"), (bob, "Bob"), (eve, "Eve")] {
            try store.executeBlocking(.registerUser(id: id, username: name))
        }
        // Positions 4 to 6: the opening, its policy and Ann's join.
        try store.executeBlocking(.openThread(id: club, name: "Club", history: .sinceJoining, by: ann))
        try store.executeBlocking(.postMessage(thread: club, body: "Before Bob", by: ann))  // 7
        try store.executeBlocking(.joinThread(thread: club, by: bob))  // 8
        try store.executeBlocking(.grantOperator(user: eve))  // 9
        try store.executeBlocking(.leaveThread(thread: club, by: bob))  // 10
        #expect(try store.readingStart(of: bob, in: club, asOf: .position(7)) == nil)
        #expect(try store.readingStart(of: bob, in: club, asOf: .position(9)) == 8)
        #expect(try store.readingStart(of: bob, in: club) == nil)
        #expect(try store.readingStart(of: ann, in: club) == 6)
        #expect(try store.readingStart(of: eve, in: club, asOf: .position(8)) == nil)
        #expect(try store.readingStart(of: eve, in: club) == 0)
        expectRejection(.unknownUser) { () throws(ChatError) in
            _ = try store.readingStart(of: bob, in: club, asOf: .position(1))
        }
        expectRejection(.unknownThread) { () throws(ChatError) in
            _ = try store.readingStart(of: bob, in: club, asOf: .position(3))
        }
        expectRejection(.invalidPosition) { () throws(ChatError) in
            _ = try store.readingStart(of: bob, in: club, asOf: .position(11))
        }
    }

    @Test func accessListsRangesOfMembership() throws {
        let (store, _) = try store()
        let first = ThreadAccess(thread: garden, name: "Garden", from: 5, to: 8)
        #expect(
            try store.reader(as: .host).access(of: bob) == [
                first, ThreadAccess(thread: garden, name: "Garden", from: 11, to: nil),
            ])
        #expect(try store.reader(as: .user(bob), asOf: .position(8)).access(of: bob) == [first])
        #expect(
            try store.reader(as: .host, asOf: .position(7)).access(of: bob) == [
                ThreadAccess(thread: garden, name: "Garden", from: 5, to: nil)
            ])
        #expect(try store.reader(as: .host).access(of: eve) == [])
        expectRejection(.notAllowed) { () throws(ChatError) in _ = try store.reader(as: .user(ann)).access(of: bob) }
        expectRejection(.unknownUser) { () throws(ChatError) in
            _ = try store.reader(as: .host, asOf: .position(9)).access(of: eve)
        }
        expectRejection(.unknownUser) { () throws(ChatError) in
            _ = try store.reader(as: .user(UserID(bits: 9))).access(of: UserID(bits: 9))
        }
    }

    /// The parts have the same periods, and none is large, however many there are.
    @Test(arguments: [false, true]) func accessIsReadInParts(ofOperator isOperator: Bool) throws {
        let (store, _) = try store()
        for number in 0..<600 {
            let thread = ThreadID(bits: 1_000 + UInt128(number))
            let policy: ThreadPolicy = number % 3 == 0 ? .inviteOnly : .open
            try store.executeBlocking(.openThread(id: thread, name: "\(number)", policy: policy, by: bob))
            if number % 50 == 0 { try store.executeBlocking(.grantOperator(user: isOperator ? bob : eve)) }
            if number % 50 == 25 { try store.executeBlocking(.revokeOperator(user: isOperator ? bob : eve)) }
        }
        // More periods of one thread than a part has.
        for _ in 0..<500 {
            try store.executeBlocking(.leaveThread(thread: garden, by: bob))
            try store.executeBlocking(.joinThread(thread: garden, by: bob))
        }
        for point in [AsOf.now, .position(store.head.position / 2), .position(8)] {
            let reader = store.reader(as: .user(bob), asOf: point)
            var (parts, found) = (try reader.accessParts(of: bob), [[ThreadAccess]]())
            while let part = parts.next() { found.append(part) }
            let all = found.flatMap(\.self).sorted { ($0.from, $0.thread) < ($1.from, $1.thread) }
            #expect(try all == reader.access(of: bob))
            // An operator's threads are each in one part.
            let limit = AccessParts.runCount * SectionedQuery.runLength / 2 + (isOperator ? 501 : 0)
            #expect(found.allSatisfy { !$0.isEmpty && $0.count <= limit })
        }
        expectRejection(.notAllowed) { () throws(ChatError) in
            _ = try store.reader(as: .user(ann)).accessParts(of: bob)
        }
    }

    @Test func namesAreReadAsOfPosition() throws {
        let (store, _) = try store()
        #expect(try store.userID(named: "bob") == eve)
        #expect(try store.userID(named: "bob", asOf: .position(9)) == nil)
        #expect(try store.userID(named: "bob", asOf: .position(8)) == bob)
        #expect(try store.isUser(eve) && !store.isUser(eve, asOf: .position(9)))
        #expect(try store.reader(as: .host, asOf: .position(6)).timeline(garden).map(\.body) == ["Tomatoes?"])
    }

    @Test func timeMapsToLastEventUpToIt() throws {
        let (store, start) = try store()
        func time(_ milliseconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: start + milliseconds) }
        #expect(try store.lastPosition(at: time(-1)) == 0)
        #expect(try store.lastPosition(at: time(0)) == 1)
        #expect(try store.lastPosition(at: time(19_999)) == 2)
        #expect(try store.lastPosition(at: time(20_000)) == 4)
        #expect(try store.lastPosition(at: Timestamp(millisecondsSince1970: .max)) == 12)
        #expect(try store.lastPosition(before: time(20_000)) == 2)
        #expect(try store.lastPosition(before: time(20_001)) == 4)
        #expect(try store.lastPosition(before: Timestamp(millisecondsSince1970: .min)) == 0)
        #expect(
            try store.reader(as: .host, asOf: .time(time(30_000))).members(of: garden).map(\.user.id) == [ann, bob])
        #expect(try store.reader(as: .host, asOf: .time(time(29_999))).members(of: garden).map(\.user.id) == [ann])
    }

    @Test func positionBeyondHeadIsRejected() throws {
        let (store, _) = try store()
        #expect(try store.activity(asOf: .position(12)).map(\.sessionCount) == [1])
        expectRejection(.invalidPosition) { () throws(ChatError) in _ = try store.activity(asOf: .position(13)) }
        expectRejection(.invalidPosition) { () throws(ChatError) in
            _ = try store.readers(of: garden, asOf: .position(.max))
        }
        expectRejection(.invalidPosition) { () throws(ChatError) in
            _ = try store.reader(as: .host, asOf: .position(13)).access(of: bob)
        }
    }

    @Test func activityIsCountedAsOfPosition() throws {
        let (store, start) = try store()
        let day = CalendarDay(Timestamp(millisecondsSince1970: start))
        let whole = ActivityDay(day: day, registrationCount: 3, sessionCount: 1, activeUserCount: 3, messageCount: 1)
        #expect(try store.activity() == [whole])
        #expect(
            try store.activity(asOf: .position(5)) == [ActivityDay(day: day, registrationCount: 2, activeUserCount: 2)])
        #expect(try store.activity(asOf: .position(0)) == [])
        #expect(try store.activity(from: day, to: day) == [whole])
        #expect(try store.activity(from: CalendarDay(daysSince1970: day.daysSince1970 + 1)) == [])
    }
}
