import ChatDomain
import ChatTesting
import Projections
import Testing

@testable import Chat

/// Whom a user finds among the people of their threads, and what they are shown of them.
@Suite struct PeopleTests {
    private let ann = UserID(bits: 1)
    private let rene = UserID(bits: 2)
    private let cem = UserID(bits: 3)
    private let dee = UserID(bits: 4)
    private let garden = ThreadID(bits: 31)
    private let soup = ThreadID(bits: 32)
    private let store: ChatStore

    /// Ann and René are in the garden and in the soup, Cem in the garden, Dee in no thread of them.
    init() throws {
        store = try StoreFixture().open()
        try execute(
            .registerUser(id: ann, username: "Ann"), .registerUser(id: rene, username: "René Müller"),
            .registerUser(id: cem, username: "Cem"), .registerUser(id: dee, username: "Dee"),  // 4
            .openThread(id: garden, name: "Garden", by: ann), .joinThread(thread: garden, by: rene),  // 7
            .joinThread(thread: garden, by: cem), .openThread(id: soup, name: "Soup", by: rene),  // 10
            .joinThread(thread: soup, by: ann), .setProfile(about: "Bees", by: rene))  // 12
    }

    private func execute(_ commands: ChatCommand...) throws {
        for answer in try store.executeBlocking(commands.map { CommandRequest($0) }) { _ = try answer.get() }
    }

    private func names(_ viewer: Viewer, _ prefix: String = "", asOf point: AsOf = .now) throws -> [String?] {
        try store.reader(as: viewer, asOf: point).people(named: prefix).map(\.username)
    }

    private func person(_ user: UserID, as viewer: UserID, asOf point: AsOf = .now) throws -> PersonDetails {
        try store.reader(as: .user(viewer), asOf: point).person(user)
    }

    /// Expects that a user does not exist for a viewer, exactly as one that nobody has registered.
    private func expectNobody(_ user: UserID, as viewer: UserID, asOf point: AsOf = .now) {
        let errors = [user, UserID(bits: 77)].map { user in
            #expect(throws: ChatError.self) { try store.reader(as: .user(viewer), asOf: point).person(user) }?
                .description
        }
        #expect(errors[0] == errors[1] && errors[0]?.hasPrefix("unknownUser") == true)
        #expect((try? store.reader(as: .user(viewer), asOf: point).people().contains { $0.id == user }) == false)
    }

    @Test func peopleAreTheOtherMembersOfOnesThreads() throws {
        #expect(try names(.user(ann)) == ["René Müller", "Cem"])
        #expect(try names(.user(rene)) == ["Ann", "Cem"])
        #expect(try names(.user(dee)) == [])
        #expect(try names(.host) == ["Ann", "René Müller", "Cem"])
        // René is in two threads with Ann, and is listed once, by his first join.
        #expect(try store.reader(as: .user(ann)).people().map(\.since) == [7, 8])
    }

    /// As one types it, with or without the accents, which can be one scalar with a letter or two.
    @Test(arguments: [
        "r", "RENÉ", "rene\u{301} mu", "Rene", "rene m", "rene muller", " RENÉ  müller ", "René Müller", "réne",
    ])
    func nameBeginsWith(prefix: String) throws {
        #expect(try names(.user(ann), prefix) == ["René Müller"])
    }

    @Test(arguments: [
        "é", "müller", "René Müllers", "%", String(repeating: "r", count: 5_000),
        String(repeating: "\u{301}", count: 5_000),
    ])
    func nameDoesNotBeginWith(prefix: String)
        throws
    {
        #expect(try names(.user(ann), prefix) == [])
    }

    @Test(arguments: ["", "  ", "\u{200D}"]) func textWithoutVisibleScalarsFindsEveryone(prefix: String) throws {
        #expect(try names(.user(ann), prefix).count == 2)
    }

    @Test func personHasTheThreadsInCommon() throws {
        let found = try person(rene, as: ann)
        #expect(found.username == "René Müller" && found.about == "Bees")
        #expect(
            found.threads.entries == [
                CommonThread(id: garden, name: "Garden", since: 7), CommonThread(id: soup, name: "Soup", since: 10),
            ])
        #expect(try person(rene, as: cem).threads.map(\.name) == ["Garden"])
        let page = try store.reader(as: .user(ann)).person(rene, threads: .latest(1)).threads
        #expect(page.map(\.name) == ["Soup"] && page.older == PageRequest.before(10, limit: 1))
        // Themself, also without a thread, and for the host.
        #expect(try person(dee, as: dee) == store.reader(as: .host).person(dee))
        #expect(try person(rene, as: rene).threads.count == 2)
        #expect(throws: ChatError.rejected(.unknownUser)) { try store.reader(as: .host).person(UserID(bits: 77)) }
    }

    @Test func strangersDoNotExist() throws {
        expectNobody(dee, as: ann)
        expectNobody(ann, as: dee)
        // An invitation does not count, and neither does reading the thread as an operator.
        try execute(
            .openThread(id: ThreadID(bits: 33), name: "Den", by: dee),
            .joinThread(thread: ThreadID(bits: 33), by: ann),
            .invite(user: dee, thread: garden, by: ann), .leaveThread(thread: ThreadID(bits: 33), by: ann),
            .grantOperator(user: dee))
        #expect(try store.reader(as: .user(dee)).members(of: garden).count == 3)
        expectNobody(ann, as: dee)
        expectNobody(dee, as: ann)
        // A ban ends the membership.
        try execute(.ban(user: cem, thread: garden, reason: "spam", by: ann))
        expectNobody(cem, as: ann)
        expectNobody(ann, as: cem)
    }

    @Test func formerMembersDoNotExist() throws {
        try execute(.leaveThread(thread: garden, by: cem))  // 13
        for point in [AsOf.now, .position(12)] {
            expectNobody(cem, as: ann, asOf: point)
            expectNobody(rene, as: cem, asOf: point)
        }
        #expect(try names(.host, asOf: .position(12)).contains("Cem"))
        try execute(.joinThread(thread: garden, by: cem))  // 14
        #expect(try store.reader(as: .user(ann)).people(named: "cem").map(\.since) == [14])
        #expect(try store.reader(as: .user(ann), asOf: .position(12)).people(named: "cem").map(\.since) == [8])
        expectNobody(cem, as: ann, asOf: .position(13))
        expectNobody(cem, as: ann, asOf: .position(7))
    }

    @Test func blockChangesNothing() throws {
        try execute(.block(user: rene, by: ann), .block(user: cem, by: rene))
        #expect(try person(rene, as: ann).about == "Bees" && person(rene, as: cem).about == "Bees")
        #expect(try names(.user(ann)) == ["René Müller", "Cem"])
    }

    /// A former name is that of the point, a former text is withheld from others.
    @Test func onlyTheCurrentTextIsShownToOthers() throws {
        try execute(.setProfile(about: "Wasps", by: rene), .changeUsername(username: "Rene", by: rene))  // 14
        #expect(try person(rene, as: ann).about == "Wasps")
        #expect(try person(rene, as: ann, asOf: .position(12)).about == nil)
        #expect(try person(rene, as: ann, asOf: .position(12)).username == "René Müller")
        #expect(try person(rene, as: ann, asOf: .position(13)).about == "Wasps")
        #expect(try person(rene, as: ann, asOf: .position(11)).about == nil)
        #expect(try person(rene, as: rene, asOf: .position(12)).about == "Bees")
        #expect(try store.reader(as: .host, asOf: .position(12)).person(rene).about == "Bees")
        #expect(
            try names(.user(ann), "Rene m", asOf: .position(13)) == ["René Müller"] && names(.user(ann), "Rene m") == []
        )
        // Setting none withholds the text too.
        try execute(.setProfile(by: rene))
        #expect(try person(rene, as: ann).about == nil && person(rene, as: ann, asOf: .position(13)).about == nil)
        #expect(try person(rene, as: rene, asOf: .position(13)).about == "Wasps")
    }

    @Test func eventsHaveTheCurrentTextOnly() throws {
        try execute(.setProfile(about: "Wasps", by: rene))  // 13
        func shown(_ viewer: UserID) throws -> [RecordedEvent] {
            var events: [RecordedEvent] = []
            try store.forEachEvent(matching: EventFilter(as: .user(viewer), kinds: [.profileSet])) { event, _ in
                events.append(event)
            }
            return events
        }
        #expect(try shown(ann).map(\.event.about) == [nil, "Wasps"] && shown(ann).map(\.redacted) == [.about, []])
        #expect(try shown(rene).map(\.event.about) == ["Bees", "Wasps"])
        #expect(try shown(dee) == [])
        try execute(.leaveThread(thread: garden, by: cem))
        #expect(try shown(cem) == [])
    }

    @Test func erasedTextIsNone() throws {
        try execute(.setProfile(about: "Wasps", by: rene))
        try store.eraseContent(of: PositionSet([13...13]), reason: "spam")
        for viewer in [Viewer.host, .user(rene), .user(ann)] {
            #expect(try store.reader(as: viewer).person(rene).about == nil)
        }
        // The event stays, so the former text does not become the current one.
        #expect(try person(rene, as: ann, asOf: .position(12)).about == nil)
        #expect(try person(rene, as: rene, asOf: .position(12)).about == "Bees")
        #expect(try person(rene, as: ann).username == "René Müller")
    }

    @Test func erasedUserIsNotFound() throws {
        try store.eraseUser(rene, reason: "user-request")
        #expect(try names(.user(ann)) == ["Cem"] && names(.host) == ["Ann", "Cem"])
        let found = try person(rene, as: ann)
        #expect(found.username == nil && found.about == nil && found.threads.count == 2)
        expectError("userErased") { try store.executeBlocking(.setProfile(about: "x", by: rene)) }
        #expect(try store.rebuild())
    }

    @Test func textsSurviveAReopening() throws {
        try execute(.setProfile(about: "Tea", by: ann))
        #expect(try store.rebuild())
        #expect(try person(ann, as: cem).about == "Tea" && person(rene, as: cem, asOf: .position(12)).about == "Bees")
    }

    /// A viewer who joined later sees no event of the text, but the text, and is told of its
    /// erasure.
    @Test func whoJoinedLaterIsToldOfTheErasure() async throws {
        try execute(.joinThread(thread: garden, by: dee))  // 13
        #expect(try person(rene, as: dee).about == "Bees")
        let start = store.head.position
        try store.eraseContent(of: PositionSet([12...12]), reason: "spam")
        let stranger = UserID(bits: 5)
        try execute(.registerUser(id: stranger, username: "Eli"))
        for (viewer, isTold) in [(dee, true), (ann, true), (stranger, false)] {
            var told: [ErasedContent] = []
            let events = store.events(after: start, upTo: store.head.position, matching: EventFilter(as: .user(viewer)))
            for try await update in events.updates { if case .erased(let content, _) = update { told.append(content) } }
            #expect(told.map(\.positions) == (isTold ? [PositionSet([12...12])] : []))
            #expect(told.map(\.users) == (isTold ? [[rene]] : []))
        }
    }

    @Test func unknownViewerIsRejected() {
        #expect(throws: ChatError.rejected(.unknownUser)) { try store.reader(as: .user(UserID(bits: 77))).people() }
        #expect(throws: ChatError.rejected(.unknownUser)) { try store.reader(as: .user(UserID(bits: 77))).person(ann) }
    }

    /// A search looks at 10,000 memberships, and says if that was not enough.
    @Test func searchIsBounded() throws {
        let crowd = ThreadID(bits: 33)
        try execute(.openThread(id: crowd, name: "Crowd", by: ann))
        let users = (0..<10_050).map { UserID(bits: 1_000 + UInt128($0)) }
        _ = try store.executeBlocking(
            users.map { CommandRequest(.registerUser(id: $0, username: "Guest \($0.bits)")) })
        _ = try store.executeBlocking(users.map { CommandRequest(.joinThread(thread: crowd, by: $0)) })
        let found = try store.reader(as: .user(ann)).people(page: .all)
        #expect(found.isTruncated && found.count < 10_000 && found.count > 9_900)
        #expect(found.last?.id == users.last)
        // Those whom the bound leaves out are still persons of Ann.
        #expect(try person(rene, as: ann).about == "Bees")
        // The crowd does not count for the others.
        let other = try store.reader(as: .user(cem)).people()
        #expect(!other.isTruncated && other.map(\.username) == ["Ann", "René Müller"])
    }
}
