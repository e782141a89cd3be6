import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

@testable import Chat

/// The users whom posts mention: in posts, events and receipts, as of every point, after an
/// erasure, and in exports.
@Suite struct MentionTests {
    static let (ann, bob, cem, dee) = (UserID(bits: 0xA), UserID(bits: 0xB), UserID(bits: 0xC), UserID(bits: 0xD))
    static let garden = ThreadID(bits: 0x6A)
    static let milk = MessageID(bits: 0x51)
    static let yes = ReplyID(bits: 0x71)

    /// Ann, who opened the thread about the garden, Bob and Cem are its members; Dee is not.
    private func store(_ fixture: StoreFixture = StoreFixture()) throws -> ChatStore {
        let store = try fixture.open()
        for (user, name) in [(Self.ann, "Ann"), (Self.bob, "Bob"), (Self.cem, "Cem"), (Self.dee, "Dee")] {
            try store.executeBlocking(.registerUser(id: user, username: name))
        }
        try store.executeBlocking(.openThread(id: Self.garden, name: "Garden", by: Self.ann))
        for user in [Self.bob, Self.cem] { try store.executeBlocking(.joinThread(thread: Self.garden, by: user)) }
        return store
    }

    private func post(_ mentions: [UserID]) -> ChatCommand {
        .postMessage(id: Self.milk, thread: Self.garden, body: "Milk?", mentions: mentions, by: Self.ann)
    }

    private func edit(_ mentions: [UserID], _ body: String = "Oat milk?") -> ChatCommand {
        .edit(.message(Self.milk), body: body, mentions: mentions, by: Self.ann)
    }

    // MARK: Found in the text

    private func find(_ body: String, mentions: [UserID] = [], id: MessageID? = nil) -> ChatCommand {
        .postMessage(id: id, thread: Self.garden, body: body, mentions: mentions, findMentions: true, by: Self.ann)
    }

    @Test func membersNamedInTheTextAreMentioned() throws {
        let store = try store()
        func mentions(_ command: ChatCommand) throws -> [[UserID]] {
            try store.executeBlocking(command).events.map(\.mentions)
        }
        #expect(try mentions(find("@bob and @Cem, `@Bob`")) == [[Self.bob, Self.cem]])
        // The author, a user who is no member, and a name that nobody has.
        #expect(try mentions(find("@Ann @Dee @Eli")) == [[]])
        // Those listed are the first, and can be the author.
        #expect(try mentions(find("@Bob @Cem", mentions: [Self.ann, Self.cem])) == [[Self.ann, Self.cem, Self.bob]])
        #expect(try mentions(post([])) == [[]])
        let reply = ChatCommand.reply(id: Self.yes, to: Self.milk, body: "@Ann", findMentions: true, by: Self.bob)
        #expect(try mentions(reply) == [[Self.ann]])
        expectRejection(.notAMember) { () throws(ChatError) in
            _ = try store.executeBlocking(find("@Bob", mentions: [Self.dee]))
        }
        // The name of somebody who has just joined.
        try store.executeBlocking(.joinThread(thread: Self.garden, by: Self.dee))
        #expect(try mentions(find("@Dee")) == [[Self.dee]])
    }

    @Test func aNameOfNoMemberHidesNoShorterOne() throws {
        let store = try store()
        try store.executeBlocking(.registerUser(username: "Bob Lee"))
        #expect(try store.executeBlocking(find("@Bob Lee")).events.map(\.mentions) == [[Self.bob]])
    }

    @Test func whoIsFoundAfterFiftyMentionsIsLeftOut() throws {
        let store = try store()
        let users = (1...60).map { UserID(bits: 0x100 + UInt128($0)) }
        for (index, user) in users.enumerated() {
            try store.executeBlocking(.registerUser(id: user, username: "N\(index)"))
            try store.executeBlocking(.joinThread(thread: Self.garden, by: user))
        }
        let text = users.indices.map { "@N\($0)" }.joined(separator: " ")
        #expect(try store.executeBlocking(find(text)).events[0].mentions == Array(users.prefix(50)))
        let listed = Array(users.suffix(45)) + [Self.bob]
        #expect(
            try store.executeBlocking(find(text, mentions: listed)).events[0].mentions == listed + users.prefix(4))
    }

    @Test func anEditKeepsTheMentionsWhoseFormerNamesStand() throws {
        let store = try store()
        func edit(_ body: String) throws -> [UserID] {
            try store.executeBlocking(
                .edit(.message(Self.milk), body: body, findMentions: true, by: Self.ann)
            ).events[0].mentions
        }
        try store.executeBlocking(find("@Bob, mlik?", id: Self.milk))
        try store.executeBlocking(.changeUsername(username: "Robert", by: Self.bob))
        try store.executeBlocking(.changeUsername(username: "Bob", by: Self.cem))
        #expect(try edit("@Bob, milk?") == [Self.bob])
        // That text was written when the name was Cem's.
        #expect(try edit("@Bob, @Robert: milk?") == [Self.cem, Self.bob])
        #expect(try edit("Milk?") == [])
        #expect(try edit("@Bob") == [Self.cem])
    }

    @Test func aFormerNameThatDidNotStandInTheTextIsNone() throws {
        let store = try store()
        try store.executeBlocking(post([Self.bob]))
        try store.executeBlocking(.changeUsername(username: "Robert", by: Self.bob))
        let edit = ChatCommand.edit(.message(Self.milk), body: "@Bob", findMentions: true, by: Self.ann)
        #expect(try store.executeBlocking(edit).events[0].mentions == [])
    }

    @Test func aDuplicateKeepsItsFirstMentions() throws {
        let store = try store()
        let command = find("@Bob", id: Self.milk)
        let first = try store.executeBlocking(command)
        try store.executeBlocking(.changeUsername(username: "Robert", by: Self.bob))
        let second = try store.executeBlocking(command)
        #expect(second.isDuplicate && second.events.map(\.mentions) == first.events.map(\.mentions))
        // Another text tells nothing of the first one.
        #expect(try store.executeBlocking(find("@Cem", id: Self.milk)).events.map(\.mentions) == [[]])
        #expect(try store.reader(as: .host).message(Self.milk).mentions == [Self.bob])
    }

    @Test func aMentionBringsBackTheOtherOneOfTwo() throws {
        let store = try store()
        let thread = ThreadID(bits: 0xD1)
        try store.executeBlocking(.openDirect(id: thread, with: [Self.bob], by: Self.ann))
        try store.executeBlocking(.leaveThread(thread: thread, by: Self.bob))
        let posted = try store.executeBlocking(
            .postMessage(thread: thread, body: "@Bob @Cem", findMentions: true, by: Self.ann))
        #expect(posted.events.map(\.mentions) == [[], [Self.bob]])
    }

    // MARK: Posts

    @Test func postsHaveTheMentionsOfTheirText() throws {
        let fixture = StoreFixture()
        let store = try store(fixture)
        let posted = try store.executeBlocking(post([Self.cem, Self.bob, Self.cem]))
        #expect(posted.events.map(\.mentions) == [[Self.cem, Self.bob]])
        let replied = try store.executeBlocking(
            .reply(id: Self.yes, to: Self.milk, body: "Yes", mentions: [Self.ann], by: Self.bob))
        let edited = try store.executeBlocking(edit([Self.bob]))
        let cleared = try store.executeBlocking(edit([]))
        func mentions(_ asOf: Position, in store: ChatStore) throws -> [[UserID]] {
            let posts = try store.reader(as: .host, asOf: .position(asOf)).timeline(Self.garden).map(\.mentions)
            return try posts + store.reader(as: .host, asOf: .position(asOf)).replies(to: Self.milk).map(\.mentions)
        }
        // Twice: from the journal, and from the cache.
        for store in [store, store, try ChatStore.openReadOnly(fixture.directory, options: fixture.options)] {
            #expect(try mentions(posted.position, in: store) == [[Self.cem, Self.bob]])
            #expect(try mentions(replied.position, in: store) == [[Self.cem, Self.bob], [Self.ann]])
            #expect(try mentions(edited.position, in: store) == [[Self.bob], [Self.ann]])
            #expect(try mentions(cleared.position, in: store) == [[], [Self.ann]])
        }
        #expect(
            try store.reader(as: .host).details(of: .message(Self.milk)).history.map(\.mentions) == [
                [Self.cem, Self.bob], [Self.bob], [],
            ])
        #expect(try store.reader(as: .host, asOf: .position(edited.position)).message(Self.milk).mentions == [Self.bob])
    }

    @Test func withdrawnPostsMentionNobody() throws {
        for isRemoved in [false, true] {
            let store = try store()
            let posted = try store.executeBlocking(
                .postMessage(id: Self.milk, thread: Self.garden, body: "Milk?", mentions: [Self.ann], by: Self.bob))
            try store.executeBlocking(
                isRemoved
                    ? .remove(.message(Self.milk), reason: "spam", by: Self.ann)
                    : .retract(.message(Self.milk), by: Self.bob))
            for viewer in [Viewer.host, .user(Self.ann), .user(Self.bob), .user(Self.cem)] {
                #expect(try store.reader(as: viewer).timeline(Self.garden).map(\.mentions) == [[]])
            }
            let then = AsOf.position(posted.position)
            #expect(try store.reader(as: .host, asOf: then).message(Self.milk).mentions == [Self.ann])
            #expect(try store.reader(as: .user(Self.bob), asOf: then).message(Self.milk).mentions == [Self.ann])
            #expect(try store.reader(as: .user(Self.cem), asOf: then).message(Self.milk).mentions == [])
        }
    }

    // MARK: Events

    /// Who may not see a text that was edited away does not learn whom it mentioned.
    @Test func hiddenTextHidesItsMentions() throws {
        let store = try store()
        let posted = try store.executeBlocking(post([Self.cem]))
        func events(_ viewer: Viewer) throws -> [RecordedEvent] {
            var events: [RecordedEvent] = []
            try store.forEachEvent(matching: EventFilter(as: viewer, kinds: [.messagePosted, .messageEdited])) {
                event, _ in
                events.append(event)
            }
            return events
        }
        #expect(try events(.user(Self.bob)).map(\.mentions) == [[Self.cem]])
        try store.executeBlocking(edit([Self.bob]))
        #expect(try events(.host).map(\.mentions) == [[Self.cem], [Self.bob]])
        #expect(try events(.user(Self.ann)).map(\.mentions) == [[Self.cem], [Self.bob]])
        #expect(try events(.user(Self.bob)).map(\.mentions) == [[], [Self.bob]])
        #expect(try events(.user(Self.bob)).map(\.redacted) == [.body, []])
        #expect(
            try store.reader(as: .user(Self.bob), asOf: .position(posted.position)).message(Self.milk).mentions == [])
        let history = try store.reader(as: .user(Self.bob)).details(of: .message(Self.milk)).history
        #expect(history.map(\.mentions) == [[], [Self.bob]])
    }

    /// The receipt of a repeated command has only what its sender sent.
    @Test func repeatedCommandIsShownWhatItSent() throws {
        let store = try store()
        try store.executeBlocking(post([Self.bob, Self.cem]))
        func repeated(_ command: ChatCommand) throws -> RecordedEvent {
            let receipt = try store.executeBlocking(command)
            #expect(receipt.isDuplicate)
            return try #require(receipt.events.first)
        }
        #expect(try repeated(post([Self.cem, Self.bob])).mentions == [Self.bob, Self.cem])
        #expect(try repeated(post([Self.cem, Self.dee])).mentions == [Self.cem])
        #expect(try repeated(post([])).mentions == [])
        let other = ChatCommand.postMessage(
            id: Self.milk, thread: Self.garden, body: "Tea?", mentions: [Self.bob], by: Self.ann)
        #expect(try repeated(other).mentions == [] && repeated(other).redacted == [.body])
    }

    // MARK: Erasures

    @Test func erasureKeepsMentions() throws {
        let fixture = StoreFixture(segmentSize: 2_048)
        let store = try store(fixture)
        let posted = try store.executeBlocking(post([Self.cem]))
        let edited = try store.executeBlocking(edit([Self.bob, Self.cem]))
        #expect(try store.reader(as: .host).timeline(Self.garden).map(\.mentions) == [[Self.bob, Self.cem]])
        _ = try store.eraseContent(
            of: PositionSet([posted.position...posted.position, edited.position...edited.position]),
            reason: "user-request")
        func check(_ store: ChatStore) throws {
            let now = try #require(try store.reader(as: .host).timeline(Self.garden).first)
            #expect(now.body == nil && now.mentions == [Self.bob, Self.cem])
            #expect(
                try store.reader(as: .host, asOf: .position(posted.position)).message(Self.milk).mentions == [Self.cem])
            #expect(try store.reader(as: .user(Self.bob)).message(Self.milk).mentions == [Self.bob, Self.cem])
            #expect(
                try store.reader(as: .user(Self.bob), asOf: .position(posted.position)).message(Self.milk).mentions
                    == [])
            let events = try store.allEvents().filter { $0.message == Self.milk }
            #expect(
                events.map(\.mentions) == [[Self.cem], [Self.bob, Self.cem]] && events.allSatisfy { $0.event.isErased })
            // The text is gone for everyone; the list of the text before the edit is not for
            // others.
            #expect(
                try store.reader(as: .user(Self.bob)).details(of: .message(Self.milk)).history.map(\.mentions) == [
                    [], [Self.bob, Self.cem],
                ])
            #expect(
                try store.reader(as: .user(Self.ann)).details(of: .message(Self.milk)).history.map(\.mentions) == [
                    [Self.cem], [Self.bob, Self.cem],
                ])
        }
        try check(store)
        try store.close()
        try check(try fixture.open())
        #expect(try ChatStore.verify(fixture.directory, options: fixture.options.journal).findings == [])
    }

    // MARK: Properties

    /// The next command of a generator, executed; a text also names some of the people.
    private func executeNext(
        of generator: inout CommandGenerator, in store: ChatStore, _ names: inout [String], _ random: inout SeededRandom
    ) throws -> [RecordedEvent] {
        var request = generator.nextRequest()
        if [.postMessage, .reply, .edit].contains(request.command.kind), request.command.text.utf8.count < 1_000 {
            let named = names.shuffled(using: &random).prefix(12)
            request.command.text += named.map { " @\($0)" }.joined()
            request.command.findsMentions = true
        }
        let events = (try? answer(request, of: store).get())?.events ?? []
        for case .registration(let name, _) in events.map(\.content) { names.append(name.text) }
        return events.filter { event in event.mentions.contains { !request.command.listedMentions.contains($0) } }
    }

    /// The mentions of a post are those of the event that wrote its text, for the host and as of
    /// every point, and stay after erasures, in which no audit finds a fault.
    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 40))) func mentionsAreThoseOfTheText(seed: UInt64) throws {
        let fixture = StoreFixture(seed: seed, segmentSize: 16_384)
        let store = try fixture.open()
        var generator = CommandGenerator(seed: seed)
        var (random, names, found): (SeededRandom, [String], [RecordedEvent]) = (SeededRandom(seed: seed), [], [])
        for _ in 0..<600 { found += try executeNext(of: &generator, in: store, &names, &random) }
        #expect(found.count > 10)
        let events = try store.allEvents()
        var (mentions, withdrawn, listCount): ([PostID: [UserID]], Set<PostID>, Int) = ([:], [], 0)
        for event in events {
            let post: PostID? = event.reply.map(PostID.reply) ?? event.message.map(PostID.message)
            switch (event.kind, post) {
            case (.messagePosted, let post?), (.replyPosted, let post?), (.messageEdited, let post?),
                (.replyEdited, let post?):
                mentions[post] = event.mentions
                listCount += event.mentions.isEmpty ? 0 : 1
            case (.messageRetracted, let post?), (.replyRetracted, let post?), (.messageRemoved, let post?),
                (.replyRemoved, let post?):
                withdrawn.insert(post)
            default: break
            }
            guard event.position % 50 == 0 || event.position == store.head.position else { continue }
            for (post, users) in mentions {
                let found: Post =
                    switch post {
                    case .message(let id): try store.reader(as: .host, asOf: .position(event.position)).message(id)
                    case .reply: try store.reader(as: .host, asOf: .position(event.position)).details(of: post).post
                    }
                #expect(found.mentions == (withdrawn.contains(post) ? [] : users), "\(post) at \(event.position)")
            }
        }
        #expect(listCount > 5)

        // An author, somebody who is mentioned, and a text; after each the others go on.
        let authors = found.compactMap(\.user)
        let author = try #require(authors.randomElement(using: &random))
        let people = found.flatMap(\.mentions).filter { $0 != author }
        let mentioned = try #require(people.randomElement(using: &random))
        let text = try #require(
            found.filter { $0.user != author && $0.user != mentioned }.randomElement(using: &random))
        let erasures: [() throws -> Void] = [
            { try store.eraseUser(author, reason: "spam") }, { try store.eraseUser(mentioned, reason: "spam") },
            { _ = try store.eraseContent(of: PositionSet([text.position...text.position]), reason: "spam") },
        ]
        var later = 0
        for erase in erasures {
            try erase()
            for _ in 0..<100 { later += try executeNext(of: &generator, in: store, &names, &random).count }
            #expect(
                try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings == [])
        }
        #expect(later > 0)
        let after = try store.allEvents()
        #expect(zip(events, after).allSatisfy { $0.kind == $1.kind && $0.mentions == $1.mentions })
        #expect(after.count { $0.event.isErased && found.map(\.position).contains($0.position) } > 1)
        let copy = StoreFixture(seed: seed)
        var importer = try EventImporter(into: copy.directory, options: copy.options.journal)
        var exported: [ExportedEvent] = []
        try store.forEachExportedEvent { event, _ in exported.append(event) }
        for (line, event) in exported.enumerated() { try importer.add(event, line: line + 1) }
        try importer.finish()
        #expect(try copy.open().allEvents() == after)
    }

    // MARK: Texts in the cache

    @Test func cacheCountsTheMentions() {
        let users = (0..<50).map { UserID(bits: UInt128($0)) }
        let text = TextCache.Text(body: "x", createdAt: Timestamp(millisecondsSince1970: 1), mentions: users)
        var cache = TextCache(capacity: 100_000)
        for position in 1...1_000 as ClosedRange<Position> { for _ in 0..<2 { cache.insert(text, at: position) } }
        #expect((1...100_000 / (128 + 50 * 16)).contains(cache.count))
        #expect(cache.text(1) == nil || cache.text(1) == text)
    }

    // MARK: Exports

    /// An export of events has the mentions, and so has the journal that is made of it.
    @Test func exportedEventsKeepMentions() throws {
        let fixture = StoreFixture()
        let store = try store(fixture)
        try store.executeBlocking(post([Self.cem, Self.bob]))
        try store.executeBlocking(edit([Self.bob]))
        try store.close()
        let copy = StoreFixture()
        var importer = try EventImporter(into: copy.directory, options: copy.options.journal)
        var exported: [ExportedEvent] = []
        try ChatStore.forEachExportedEvent(ofJournalAt: fixture.directory, options: fixture.options.journal) {
            event, _, _ in
            exported.append(event)
        }
        for (line, event) in exported.enumerated() { try importer.add(event, line: line + 1) }
        try importer.finish()
        #expect(try copy.open().allEvents() == fixture.open().allEvents())
        #expect(try copy.open().reader(as: .host).timeline(Self.garden).map(\.mentions) == [[Self.bob]])
    }
}
