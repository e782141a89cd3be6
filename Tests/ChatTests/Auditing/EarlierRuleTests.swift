import Chat
import ChatDomain
import ChatTesting
import Testing

/// A history with events that only the rules of an earlier version permitted.
@Suite struct EarlierRuleTests {
    private typealias F = EarlierRuleTests

    private static let (ann, bob) = (UserID(bits: 1), UserID(bits: 2))
    private static let garden = ThreadID(bits: 3)

    /// Ann invites, mutes, bans and blocks Bob, as an earlier version let her after his erasure.
    private static let spared: [ChatCommand] = [
        .invite(user: bob, thread: garden, by: ann), .mute(user: bob, thread: garden, reason: "spam", by: ann),
        .ban(user: bob, thread: garden, reason: "spam", by: ann), .block(user: bob, by: ann),
    ]

    /// The events of the commands, with Bob's erasure before them, as an export has them.
    private static func exported(_ commands: [ChatCommand]) throws -> [ExportedEvent] {
        var given = DeciderSpecification().given(
            .registerUser(id: ann, username: "Ann"), .registerUser(id: bob, username: "Bob"),
            .openThread(id: garden, name: "Garden", by: ann), .joinThread(thread: garden, by: bob),
            .leaveThread(thread: garden, by: bob))
        let position = given.state.head
        var events = given.history.map(\.event)
        events.append(
            ChatEvent(
                recordedAt: given.state.lastRecordedAt, details: .init(.userErased, .user(bob)),
                content: .erasure(reason: "user-request", positions: nil)))
        for command in commands {
            events += given.when(command).events
            given = given.given(command)
        }
        #expect(events.count == Int(position) + 1 + commands.count)
        return events.enumerated().map {
            ExportedEvent(RecordedEvent(position: Position($0.offset + 1), event: $0.element))
        }
    }

    private static func `import`(_ events: [ExportedEvent], into directory: String, _ options: StoreOptions) throws {
        var importer = try EventImporter(into: directory, options: options.journal)
        for (index, event) in events.enumerated() { try importer.add(event, line: index + 1) }
        try importer.finish()
    }

    @Test func importAcceptsAndVerificationNotes() throws {
        let fixture = StoreFixture()
        try F.import(try F.exported(F.spared), into: fixture.directory, fixture.options)
        // The opening carries out the erasure.
        let store = try fixture.open()
        let exported = try store.allExported()
        try store.close()
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true)
        #expect(report.findings == [] && report.isValid)
        let note = try #require(report.earlierRules.first)
        #expect(report.earlierRules.count == 1 && note.rule == .actsOnErasedUser)
        #expect(note.eventCount == 4 && note.first == 8 && note.last == 11)
        // An export of such a journal is imported again.
        let other = StoreFixture(seed: 2)
        try F.import(exported, into: other.directory, other.options)
        #expect(try ChatStore.head(ofJournalAt: other.directory, options: other.options.journal).position == 11)
    }

    /// An earlier version let a user block any number of others.
    @Test func moreBlocksThanTheMaximumAreNoted() throws {
        let users = (1...1_004).map { UserID(bits: UInt128($0)) }
        var given = DeciderSpecification().given(
            users.map { CommandRequest(.registerUser(id: $0, username: "u\($0.bits)")) })
        given = given.given(.openThread(id: F.garden, name: "Garden", by: users[0]))
        given = given.given(users[1...].map { CommandRequest(.joinThread(thread: F.garden, by: $0)) })
        given = given.given(users[1...1_000].map { CommandRequest(.block(user: $0, by: users[0])) })
        #expect(given.when(.block(user: users[1_001], by: users[0])).rejection?.code == .tooManyBlocks)
        for user in users[1_001...] {
            let event = ChatEvent(
                recordedAt: given.state.lastRecordedAt, details: .init(.userBlocked, .block(user: user, by: users[0])))
            #expect(
                given.state.faults(of: event).isEmpty && given.state.earlierRules(of: event) == [.anyNumberOfBlocks])
            given = given.given(event)
        }
        // One more must end before the next begins.
        let ended = given.given(.unblock(user: users[1], by: users[0]))
        #expect(ended.when(.block(user: users[1], by: users[0])).rejection?.code == .tooManyBlocks)
        let fixture = StoreFixture()
        let exported = given.history.map { ExportedEvent($0) }
        try F.import(exported, into: fixture.directory, fixture.options)
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal)
        #expect(
            report.isValid && report.earlierRules.map(\.rule) == [.anyNumberOfBlocks]
                && report.earlierRules[0].eventCount == 3)
        // The decider of a store that opens such a journal has the count, also from a checkpoint.
        let store = try fixture.open()
        expectRejection(.tooManyBlocks) { () throws(ChatError) in
            try store.executeBlocking(.block(user: users[0], by: users[0]))
            for user in users.prefix(4) { try store.executeBlocking(.unblock(user: user, by: users[0])) }
            try store.executeBlocking(.block(user: users[1], by: users[0]))
            try store.executeBlocking(.block(user: users[2], by: users[0]))
        }
        try store.close()
    }

    /// An earlier version let people write who are alone in a direct thread of two, and open groups
    /// with blocks.
    @Test func directThreadsOfBeforeAreNoted() throws {
        let (cem, pair, group) = (UserID(bits: 5), ThreadID(bits: 6), ThreadID(bits: 7))
        let hello = MessageID(bits: 8)
        var given = DeciderSpecification().given(
            .registerUser(id: F.ann, username: "Ann"), .registerUser(id: F.bob, username: "Bob"),
            .registerUser(id: cem, username: "Cem"),
            .openThread(id: F.garden, name: "Garden", by: F.ann), .joinThread(thread: F.garden, by: F.bob),
            .joinThread(thread: F.garden, by: cem), .openDirect(id: pair, with: [F.bob], by: F.ann))
        let opening = given.when(.openDirect(id: group, with: [F.bob, cem], by: F.ann)).events
        given = given.given(.block(user: F.bob, by: cem))
        for event in opening { given = given.given(event) }
        given = given.given(.leaveThread(thread: pair, by: F.bob))
        let post = EventDetails(.messagePosted, .message(thread: pair, number: 5, message: hello, by: F.ann))
        let reply = EventDetails(
            .replyPosted, .reply(thread: pair, number: 6, message: hello, reply: ReplyID(bits: 9), by: F.ann))
        for details in [post, reply] {
            given = given.given(
                ChatEvent(recordedAt: given.state.lastRecordedAt, details: details, content: .body("Bob?")))
        }
        let fixture = StoreFixture()
        try F.import(given.history.map { ExportedEvent($0) }, into: fixture.directory, fixture.options)
        let store = try fixture.open()
        let exported = try store.allExported()
        // Bob comes back to what was written to him.
        try store.executeBlocking(.openDirect(with: [F.ann], by: F.bob))
        #expect(try store.reader(as: .user(F.bob)).timeline(pair).map(\.body) == ["Bob?"])
        try store.close()
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true)
        #expect(report.isValid && report.earlierRules.map(\.rule) == [.groupsWithBlocks, .postsToNobody])
        #expect(report.earlierRules.map(\.eventCount) == [1, 2])
        let other = StoreFixture(seed: 2)
        try F.import(exported, into: other.directory, other.options)
        #expect(
            try ChatStore.head(ofJournalAt: other.directory, options: other.options.journal).position
                == Position(exported.count))
    }

    @Test func historyWithoutSuchEventsHasNoNote() throws {
        let fixture = StoreFixture()
        try F.import(try F.exported([]), into: fixture.directory, fixture.options)
        try fixture.open().close()
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal)
        #expect(report.isValid && report.earlierRules == [])
    }
}

extension ChatStore {
    fileprivate func allExported() throws(ChatError) -> [ExportedEvent] {
        var events: [ExportedEvent] = []
        try forEachExportedEvent { event, _ in
            events.append(event)
        }
        return events
    }
}
