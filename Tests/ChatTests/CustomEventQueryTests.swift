import ChatTesting
import TestSupport
import Testing

@testable import Chat

/// The pages of the custom events of a thread.
@Suite struct CustomEventQueryTests {
    private static let (poll, vote): (CustomKind, CustomKind) = ("com.example.poll", "com.example.vote")
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let cem = UserID(bits: 3)
    private let garden = ThreadID(bits: 30)
    private let store: ChatStore

    init() throws {
        store = try ChatStore.inMemory()
        for (id, name) in [(ann, "Ann"), (bob, "Bob"), (cem, "Cem")] {
            try store.executeBlocking(.registerUser(id: id, username: name))
        }
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        try store.executeBlocking(.joinThread(thread: garden, by: bob))
    }

    private func record(_ text: String, _ kind: CustomKind = vote, by user: UserID) throws {
        let payload = try #require(CustomPayload(text))
        try store.executeBlocking(.custom(kind: kind, thread: garden, payload: payload, by: user))
    }

    private func payloads(_ viewer: Viewer, _ kind: CustomKind? = nil, _ page: PageRequest = .all) throws -> [String] {
        try store.reader(as: viewer).customEvents(in: garden, kind: kind, page: page).map(\.payload.text)
    }

    @Test func theValueHasTheFieldsOfTheEvent() throws {
        try record(#"{"b":1.50,"a":2}"#, Self.poll, by: bob)
        let found = try #require(try store.reader(as: .user(ann)).customEvents(in: garden).entries.first)
        #expect(found.kind == Self.poll && found.payload.text == #"{"b":1.50,"a":2}"# && found.by == bob)
        #expect(found.position == store.head.position && !found.isFromBlockedUser)
        try store.executeBlocking(.block(user: bob, by: ann))
        #expect(try store.reader(as: .user(ann)).customEvents(in: garden).map(\.isFromBlockedUser) == [true])
    }

    @Test func pagesHaveTheEventsOfAKindInTheirOrder() throws {
        for number in 0..<40 {
            try record("\(number)", number % 4 == 0 ? Self.poll : Self.vote, by: number % 2 == 0 ? ann : bob)
            try store.executeBlocking(.postMessage(thread: garden, body: "\(number)", by: ann))
        }
        let polls = stride(from: 0, to: 40, by: 4).map(String.init)
        #expect(try payloads(.user(ann)) == (0..<40).map(String.init))
        #expect(try payloads(.user(ann), Self.poll) == polls && payloads(.host, Self.poll) == polls)
        var (page, found) = (PageRequest.after(0, limit: 3), [] as [String])
        while true {
            let answer = try store.reader(as: .user(bob)).customEvents(in: garden, kind: Self.poll, page: page)
            if answer.isEmpty { break }
            #expect(answer.count <= 3)
            found += answer.map(\.payload.text)
            page = answer.newer
            page.limit = 3
        }
        #expect(found == polls)
        var older: PageRequest? = .latest(3)
        found = []
        while let request = older {
            let answer = try store.reader(as: .user(bob)).customEvents(in: garden, kind: Self.poll, page: request)
            found = answer.map(\.payload.text) + found
            older = answer.older
        }
        #expect(found == polls)
    }

    /// A page reads a bounded number of events, and says how it continues.
    @Test func aPageForWhichTheReadsAreNotEnoughIsCut() throws {
        try record("0", Self.poll, by: ann)
        let payload = CustomPayload(unchecked: "1")
        let answers = try store.executeBlocking(
            (0..<1_100).map { _ in CommandRequest(.custom(kind: Self.vote, thread: garden, payload: payload, by: bob)) }
        )
        for answer in answers { _ = try answer.get() }
        let page = try store.reader(as: .user(ann)).customEvents(in: garden, kind: Self.poll, page: .latest(5))
        #expect(page.isEmpty && page.isTruncated)
        let older = try store.reader(as: .user(ann)).customEvents(
            in: garden, kind: Self.poll, page: try #require(page.older))
        #expect(older.map(\.payload.text) == ["0"] && older.older == nil && !older.isTruncated)
        // Forwards too: a reader that goes on is never where it was.
        try record("1", Self.poll, by: ann)
        let after = try #require(older.last).position
        let newer = try store.reader(as: .user(ann)).customEvents(
            in: garden, kind: Self.poll, page: .after(after, limit: 5))
        #expect(newer.isEmpty && newer.isTruncated && newer.newer.after.map { $0 > after } == true)
        #expect(try payloads(.user(ann), Self.poll, newer.newer) == ["1"])
    }

    /// Who may see an event of a thread follows from the rights when it was recorded, and now.
    @Test func onlyWhoCouldReadThemIsShownThem() throws {
        try record("1", by: ann)
        #expect(throws: ChatError.rejected(.notAMember)) { try payloads(.user(cem)) }
        #expect(throws: ChatError.rejected(.unknownThread)) {
            try store.reader(as: .user(ann)).customEvents(in: ThreadID(bits: 99))
        }
        try store.executeBlocking(.joinThread(thread: garden, by: cem))
        try record("2", by: bob)
        #expect(
            try payloads(.user(cem)) == ["2"] && payloads(.user(bob)) == ["1", "2"] && payloads(.host) == ["1", "2"])
        let before = store.head.position
        try store.executeBlocking(.leaveThread(thread: garden, by: bob))
        #expect(throws: ChatError.rejected(.notAMember)) { try payloads(.user(bob)) }
        #expect(throws: ChatError.rejected(.notAMember)) {
            try store.reader(as: .user(bob), asOf: .position(before)).customEvents(in: garden)
        }
        try record("3", by: ann)
        #expect(
            try store.reader(as: .user(ann), asOf: .position(before)).customEvents(in: garden).map(\.payload.text)
                == ["1", "2"])
    }

    @Test func erasedEventsAreNotListed() throws {
        try record("1", by: ann)
        try record("2", by: bob)
        let before = store.head.position
        _ = try store.eraseUser(bob, reason: "asked")
        for viewer in [Viewer.host, .user(ann)] {
            #expect(try payloads(viewer) == ["1"])
            #expect(
                try store.reader(as: viewer, asOf: .position(before)).customEvents(in: garden).map(\.payload.text)
                    == ["1"])
        }
    }
}
