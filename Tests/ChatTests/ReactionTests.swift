import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

@testable import Chat

/// Reactions in a store: pages of users, erasures, checkpoints and live views.
@Suite struct ReactionTests {
    private let fixture = StoreFixture()
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let garden = ThreadID(bits: 31)
    private let milk = MessageID(bits: 41)
    private let yes = ReplyID(bits: 42)

    private func open() throws -> ChatStore {
        let store = try fixture.open()
        guard store.head.position == 0 else { return store }
        for command: ChatCommand in [
            .registerUser(id: ann, username: "Ann"), .registerUser(id: bob, username: "Bob"),
            .openThread(id: garden, name: "Garden", by: ann), .joinThread(thread: garden, by: bob),
            .postMessage(id: milk, thread: garden, body: "Milk?", by: ann),
            .reply(id: yes, to: milk, body: "Yes", by: bob),
        ] {
            try store.executeBlocking(command)
        }
        return store
    }

    private func counts(_ store: ChatStore, _ viewer: UserID? = nil, asOf point: AsOf = .now) throws -> [PostReaction] {
        try store.reader(as: viewer.map(Viewer.user) ?? .host, asOf: point).message(milk).reactions
    }

    @Test func countsAndPagesAreAsOfAnyPoint() throws {
        let store = try open()
        let first = try #require(
            try store.executeBlocking(.react(.message(milk), emoji: "👍", by: bob)).positions?.lowerBound)
        try store.executeBlocking(.react(.message(milk), emoji: "🎉", by: ann))
        try store.executeBlocking(.react(.message(milk), emoji: "👍", by: ann))
        try store.executeBlocking(.unreact(.message(milk), emoji: "👍", by: bob))
        try store.executeBlocking(.react(.message(milk), emoji: "🎉", by: bob))
        // The first thumb is gone, so the party began before the other thumb.
        #expect(
            try counts(store, ann) == [
                PostReaction(emoji: "🎉", count: 2, isMine: true), PostReaction(emoji: "👍", count: 1, isMine: true),
            ])
        #expect(try counts(store, ann, asOf: .position(first)) == [PostReaction(emoji: "👍", count: 1, isMine: false)])
        #expect(try counts(store, ann, asOf: .position(first - 1)) == [])
        let page = try store.reader(as: .user(ann)).reactions(to: .message(milk), page: .latest(2))
        #expect(page.entries.map(\.emoji) == ["👍", "🎉"] && page.entries.map(\.user.username) == ["Ann", "Bob"])
        let older = try store.reader(as: .user(ann)).reactions(to: .message(milk), page: try #require(page.older))
        #expect(older.entries.map(\.emoji) == ["🎉"] && older.older == nil)
        let parties = try store.reader(as: .user(bob)).reactions(to: .message(milk), emoji: Emoji("🎉"))
        #expect(parties.entries.map(\.user.id) == [ann, bob])
        #expect(try store.reader(as: .user(ann)).reactions(to: .reply(yes)).isEmpty)
        #expect(throws: ChatError.rejected(.unknownReply)) {
            try store.reader(as: .user(ann)).reactions(to: .reply(ReplyID(bits: 9)))
        }
    }

    /// Reactions move no thread in the list of threads, and are among its events.
    @Test func reactionsHaveNumbersAndMoveNoThread() throws {
        let store = try open()
        let last = try store.reader(as: .host).thread(garden).lastPosition
        let unread = try store.reader(as: .host).user(bob).threads.map(\.unreadCount)
        try store.executeBlocking(.react(.message(milk), emoji: "👍", by: bob))
        try store.executeBlocking(.react(.reply(yes), emoji: ":wave:", by: ann))
        #expect(try store.reader(as: .host).thread(garden).lastPosition == last)
        #expect(try store.reader(as: .host).user(bob).threads.map(\.unreadCount) == unread)
        let events = try store.events(of: garden, after: 0, limit: 100, matching: EventFilter(as: .host), asOf: .now)
            .events
        #expect(events.suffix(2).map(\.kind) == [.reactionAdded, .reactionAdded])
        #expect(events.compactMap(\.threadNumber) == Array(1...UInt64(events.count)))
        #expect(events.suffix(2).map(\.reply) == [nil, yes])
    }

    @Test func withdrawnPostHasNoReactions() throws {
        let store = try open()
        try store.executeBlocking(.react(.message(milk), emoji: "👍", by: bob))
        let before = store.head.position
        try store.executeBlocking(.retract(.message(milk), by: ann))
        #expect(try counts(store, bob) == [])
        #expect(try store.reader(as: .user(bob)).reactions(to: .message(milk)).isEmpty)
        #expect(try counts(store, bob, asOf: .position(before)).map(\.count) == [1])
        try store.executeBlocking(.unreact(.message(milk), emoji: "👍", by: bob))
        #expect(try counts(store, bob, asOf: .position(before)).map(\.count) == [1])
    }

    /// An erased reaction counts nowhere, as of no point: at once, after a restart and in a
    /// rebuild.
    @Test(arguments: [true, false]) func erasedReactionCountsNowhere(ofUser: Bool) throws {
        var store = try open()
        let added = try #require(try store.executeBlocking(.react(.message(milk), emoji: "👍", by: bob)).positions)
        try store.executeBlocking(.react(.message(milk), emoji: "👍", by: ann))
        let both = store.head.position
        if ofUser {
            try store.eraseUser(bob, reason: "user-request")
        } else {
            try store.eraseContent(of: PositionSet([added]), reason: "user-request")
        }
        func check() throws {
            #expect(try counts(store, ann).map(\.count) == [1])
            #expect(try counts(store, ann, asOf: .position(both)).map(\.count) == [1])
            #expect(try counts(store, ann, asOf: .position(both - 1)) == [])
            #expect(
                try store.reader(as: .host, asOf: .position(both)).reactions(to: .message(milk)).map(\.user.id) == [ann]
            )
        }
        try check()
        #expect(try store.rebuild())
        try check()
        try store.close()
        store = try fixture.open()
        try check()
        #expect(try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings == [])
        if !ofUser {
            // The reaction can be added again, and taken back.
            try store.executeBlocking(.react(.message(milk), emoji: "👍", by: bob))
            #expect(try counts(store, bob).first?.count == 2)
            try store.executeBlocking(.unreact(.message(milk), emoji: "👍", by: bob))
            #expect(
                try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings == [])
        }
    }

    /// The erasure of a removal alone brings no reaction back.
    @Test func erasedRemovalBringsNothingBack() throws {
        var store = try open()
        try store.executeBlocking(.react(.message(milk), emoji: "👍", by: bob))
        try store.executeBlocking(.react(.message(milk), emoji: "👍", by: ann))
        let removed = try #require(try store.executeBlocking(.unreact(.message(milk), emoji: "👍", by: bob)).positions)
        try store.eraseContent(of: PositionSet([removed]), reason: "user-request")
        for _ in 0..<2 {
            #expect(try counts(store, ann).map(\.count) == [1])
            #expect(try counts(store, ann, asOf: .position(removed.lowerBound - 1)).map(\.count) == [2])
            #expect(
                try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings == [])
            try store.close()
            store = try fixture.open()
        }
    }

    @Test func checkpointKeepsReactions() throws {
        var store = try open()
        for (user, emoji) in [(ann, "👍"), (bob, "👍"), (bob, "🎉")] {
            try store.executeBlocking(.react(.reply(yes), emoji: emoji, by: user))
        }
        try store.executeBlocking(.unreact(.reply(yes), emoji: "👍", by: ann))
        let expected = try store.reader(as: .user(bob)).replies(to: milk).entries
        #expect(expected.first?.reactions.map(\.count) == [1, 1])
        #expect(try store.writeCheckpoint() == store.head.position)
        try store.close()
        store = try fixture.open()
        #expect(store.statistics.checkpoints?.loadedPosition == store.head.position)
        #expect(try store.reader(as: .user(bob)).replies(to: milk).entries == expected)
        try store.executeBlocking(.react(.reply(yes), emoji: "👍", by: ann))
        #expect(
            try store.reader(as: .user(bob)).replies(to: milk).first?.reactions.first
                == PostReaction(emoji: "👍", count: 2, isMine: true))
        #expect(try store.rebuild())
    }
}
