import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import TestSupport
import Testing

@testable import Chat

/// Commands that name the position that their user knew, in a store.
@Suite struct SeenTests {
    private static let (ann, bob) = (UserID(bits: 1), UserID(bits: 2))
    private static let garden = ThreadID(bits: 31)
    private static let post = PostID.message(MessageID(bits: 0x77))

    /// Two acts that undo each other.
    enum Act: CaseIterable, Sendable {
        case markRead, markUnread, react, unreact

        var opposite: Act {
            switch self {
            case .markRead: .markUnread
            case .markUnread: .markRead
            case .react: .unreact
            case .unreact: .react
            }
        }

        func command(seen: Position? = nil, by user: UserID = ann) -> ChatCommand {
            switch self {
            case .markRead: .markRead(thread: garden, upTo: 5, seen: seen, by: user)
            case .markUnread: .markUnread(thread: garden, from: 5, seen: seen, by: user)
            case .react: .react(post, emoji: "🎉", seen: seen, by: user)
            case .unreact: .unreact(post, emoji: "🎉", seen: seen, by: user)
            }
        }
    }

    /// Bob has written a message.
    private static func open(_ fixture: StoreFixture = StoreFixture()) throws -> ChatStore {
        let store = try fixture.openGarden(garden, [(ann, "Ann"), (bob, "Bob")])
        try store.executeBlocking(
            .postMessage(id: MessageID(bits: 0x77), thread: garden, body: "Milk?", by: bob))
        return store
    }

    private static func has(_ act: Act, _ seen: Position?, in store: ChatStore) throws -> Bool {
        try store.executeBlocking(act.command(seen: seen)).positions != nil
    }

    /// The act was done first if only its opposite can have an effect then.
    @Test(arguments: Act.allCases) func theOppositeSinceKeepsTheCommandFromItsEffect(_ act: Act) throws {
        let store = try Self.open()
        try store.executeBlocking(act.command())
        let seen = store.head.position
        try store.executeBlocking(act.opposite.command())
        let undone = store.head.position
        try #require(undone == seen + 1)
        for known in [0, seen - 1, seen] { #expect(try !Self.has(act, known, in: store)) }
        #expect(store.head.position == undone)
        // Who knew the opposite, or says nothing, is not kept from it.
        #expect(try Self.has(act, undone, in: store))
        try store.executeBlocking(act.opposite.command())
        #expect(try Self.has(act, .max, in: store))
        try store.executeBlocking(act.opposite.command())
        #expect(try Self.has(act, nil, in: store))
    }

    /// What others do, on the same post or elsewhere, keeps nobody from anything.
    @Test(arguments: Act.allCases) func onlyTheSameActOfTheSameUserCounts(_ act: Act) throws {
        let store = try Self.open()
        try store.executeBlocking(act.opposite.command())
        let seen = store.head.position
        for other in [act, act.opposite] { try store.executeBlocking(other.command(by: Self.bob)) }
        try store.executeBlocking(.react(Self.post, emoji: "👍", by: Self.ann))
        try store.executeBlocking(.unreact(Self.post, emoji: "👍", by: Self.ann))
        #expect(try Self.has(act, seen, in: store))
    }

    /// A reaction whose tally has ended, and one that was added again to a tally that has not.
    @Test(arguments: [false, true]) func eachChangeOfAReactionIsKnown(_ isShared: Bool) throws {
        let fixture = StoreFixture()
        var store = try Self.open(fixture)
        if isShared { try store.executeBlocking(Act.react.command(by: Self.bob)) }
        for round in 0..<5 {
            try store.executeBlocking(Act.react.command())
            let added = store.head.position
            #expect(try !Self.has(.unreact, added - 1, in: store))
            if round == 2 {
                try store.close()
                store = try fixture.open()
            }
            #expect(try !Self.has(.unreact, added - 1, in: store))
            #expect(try Self.has(.unreact, added, in: store))
            #expect(try !Self.has(.react, added, in: store))
        }
        try store.close()
        #expect(
            try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings.isEmpty)
    }

    /// The memory comes from the events: with a checkpoint and without.
    @Test(arguments: Act.allCases, [false, true]) func aRestartForgetsNothing(_ act: Act, _ removesCheckpoint: Bool)
        throws
    {
        let fixture = StoreFixture()
        var store = try Self.open(fixture)
        try store.executeBlocking(act.command())
        let seen = store.head.position
        try store.executeBlocking(act.opposite.command())
        try store.close()
        if removesCheckpoint {
            let storage = try #require(fixture.options.journal.storage as? MemoryStorage)
            for path in storage.allContents().keys where path.hasSuffix(".checkpoint") { try storage.remove(path) }
        }
        store = try fixture.open()
        #expect(try !Self.has(act, seen, in: store))
        #expect(try Self.has(act, seen + 1, in: store))
    }

    /// The rules of a command come first.
    @Test func whatIsRejectedIsRejectedWhateverWasSeen() throws {
        let store = try Self.open()
        let last = store.head.position
        for command: ChatCommand in [
            .markRead(thread: Self.garden, upTo: last + 1, seen: 0, by: Self.ann),
            .markUnread(thread: Self.garden, from: 0, seen: 0, by: Self.ann),
            .react(Self.post, emoji: "no emoji", seen: 0, by: Self.ann),
        ] {
            #expect(throws: Rejection.self) { try store.executeBlocking([CommandRequest(command)])[0].get() }
        }
    }

    @Test(arguments: Act.allCases) func theFieldIsInTheJSONOfTheCommandAlone(_ act: Act) throws {
        let command = act.command(seen: 12)
        let line = command.description
        #expect(line.contains("\"seen\":12") && !act.command().description.contains("seen"))
        let request = try JSONDecoder().decode(CommandRequest.self, from: Data(line.utf8))
        #expect(request.command == command)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                CommandRequest.self, from: Data(line.replacingOccurrences(of: ":12", with: ":-1").utf8))
        }
        let store = try Self.open()
        try store.executeBlocking(command)
        #expect(try !store.allEvents().contains { "\($0)".contains("seen") })
    }

    /// Other commands have no such field.
    @Test func otherKindsRefuseTheField() throws {
        let line = #"{"joinThread":{"user":"\#(Self.ann)","thread":"\#(Self.garden)","seen":1}}"#
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(CommandRequest.self, from: Data(line.utf8)) }
    }
}
