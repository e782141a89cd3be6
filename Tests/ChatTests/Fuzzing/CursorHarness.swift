import ChatDomain
import ChatTesting
import EventJournal
import Projections

@testable import Chat

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The invariants of a page cursor from a client: its text, its JSON and the store's answer.
///
/// The input is decoded as text and as JSON. Its bytes are also the fields of a cursor, because a
/// fuzzer rarely writes valid text:
///
/// | bytes | meaning |
/// | --- | --- |
/// | 0 | bits 0 to 2: the limit minus 1; 8: newer; 16: bound near the end; 32: another journal |
/// | 1 | the list |
/// | 2 to 9 | the bound, little-endian |
/// | 10 to 25 | the bits of the ids of another journal and of unknown entities |
enum CursorHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    static func check(_ input: [UInt8]) throws {
        let story = try fixture.get()
        let text = String(decoding: input, as: UTF8.self)
        let byText = PageCursor(text)
        if let cursor = byText {
            try require(cursor.description == text, "\(text) decodes as \(cursor)")
            try checkRoundTrip(cursor)
            try story.check(cursor, limit: 2)
        }
        if let cursor = try decode(Data(input)) { try checkRoundTrip(cursor) }
        let quoted = try decode(try JSONEncoder().encode(text))
        try require(quoted == byText, "the JSON of \(text) decodes as \(String(describing: quoted)), not \(String(describing: byText))")
        let (cursor, limit) = fields(input, story)
        try checkRoundTrip(cursor)
        try story.check(cursor, limit: limit)
    }

    /// Each cursor has one text, of printable ASCII without quotation marks.
    private static func checkRoundTrip(_ cursor: PageCursor) throws {
        let text = cursor.description
        try require(PageCursor(text) == cursor, "\(text) does not round-trip")
        try require(
            text.utf8.count <= 114 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") }, "\(text) needs escaping")
        try require(try decode(try JSONEncoder().encode(cursor)) == cursor, "\(text) does not round-trip through JSON")
    }

    private static func decode(_ json: Data) throws -> PageCursor? {
        do {
            return try JSONDecoder().decode(PageCursor.self, from: json)
        } catch is DecodingError {
            return nil
        }
    }

    private static func fields(_ input: [UInt8], _ story: Fixture) -> (cursor: PageCursor, limit: Int) {
        let bytes = Array((input.prefix(26) + repeatElement(0, count: 26)).prefix(26))
        let bound = bytes[2..<10].reversed().reduce(Position(0)) { $0 << 8 | Position($1) }
        let bits = bytes[10...].reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let lists = story.lists + [.timeline(ThreadID(bits: bits)), .replies(MessageID(bits: bits))]
        let cursor = PageCursor(
            journal: bytes[0] & 32 == 0 ? story.head.journal : JournalID(bits: bits), list: lists[Int(bytes[1]) % lists.count],
            direction: bytes[0] & 8 == 0 ? .older : .newer, bound: bytes[0] & 16 == 0 ? bound : bound % (story.head.position + 3))
        return (cursor, 1 + Int(bytes[0] & 7))
    }

    fileprivate static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }

    private static let fixture = Result { try Fixture() }
}

/// A store with a fixed history, equal for every input.
private struct Fixture {
    let store: ChatStore
    let head: JournalHead
    /// All existing lists, some of them empty.
    let lists: [PageCursor.List] =
        [.threads, .timeline(ThreadID(bits: 1)), .timeline(ThreadID(bits: 2))]
        + (1...Self.messageCount).map { .replies(MessageID(bits: $0)) }
    private static let messageCount: UInt128 = 6

    /// A page of a list as positions and cursors.
    private struct PageResult {
        var positions: [Position]
        var older: PageCursor?
        var newer: PageCursor
    }

    init() throws {
        store = try ChatStore.inMemory(
            options: StoreOptions(
                journal: JournalOptions(entropy: SeededEntropy(seed: 1)), clock: ManualClock(), ids: SeededIDs(seed: 1), checkpoints: nil))
        let ann = UserID(bits: 1)
        var commands: [ChatCommand] = [.registerUser(user: ann, username: "Ann")]
        for thread in 1...2 { commands.append(.openThread(thread: ThreadID(bits: UInt128(thread)), name: "Thread \(thread)", by: ann)) }
        for number in 1...Self.messageCount {
            commands.append(.postMessage(message: MessageID(bits: number), thread: ThreadID(bits: 1), author: ann, body: "\(number)"))
        }
        for number in 1...7 as ClosedRange<UInt128> {
            commands.append(.reply(reply: ReplyID(bits: number), message: MessageID(bits: 1), author: ann, body: "\(number)"))
        }
        for command in commands { try store.executeBlocking(command) }
        head = store.head
    }

    /// A cursor is rejected for one of two reasons, or its page and the following pages hold every
    /// entry on its side.
    func check(_ cursor: PageCursor, limit: Int) throws {
        for list in lists {
            let isOurs = cursor.journal == head.journal && cursor.list == list
            let last = cursor.direction == .older ? head.position + 1 : head.position
            switch answer(list, cursor, limit) {
            case .success(let shown):
                try CursorHarness.require(isOurs && cursor.bound <= last, "\(cursor) was accepted for \(list)")
                let isInside = shown.positions.allSatisfy { cursor.direction == .older ? $0 < cursor.bound : $0 > cursor.bound }
                try CursorHarness.require(isInside && shown.positions.count <= limit, "\(cursor) leads to \(shown.positions)")
                try checkTraversal(from: cursor, limit)
            case .failure(.foreignCursor): try CursorHarness.require(!isOurs, "\(cursor) is foreign to \(list)")
            case .failure(.rejected(let rejection)) where rejection.code == .invalidPosition:
                try CursorHarness.require(isOurs && cursor.bound > last, "\(cursor) is rejected: \(rejection)")
            case .failure(let error): throw error
            }
        }
        guard cursor.journal == head.journal, !lists.contains(cursor.list), cursor.bound <= head.position else { return }
        guard case .failure(.rejected(let rejection)) = answer(cursor.list, cursor, limit),
            [.unknownThread, .unknownMessage].contains(rejection.code)
        else { throw CursorHarness.Violation(message: "\(cursor) leads to an unknown list") }
    }

    /// Older and newer pages from a bound hold every entry once, in order.
    private func checkTraversal(from cursor: PageCursor, _ limit: Int) throws {
        var start = cursor
        // Both bounds denote the same place: no position lies between them.
        if cursor.direction == .newer { start.bound += 1 }
        start.direction = .older
        var positions: [Position] = []
        var older: PageCursor? = start
        while let next = older {
            let shown = try page(next.list, next, limit)
            positions = shown.positions + positions
            older = shown.older
            try CursorHarness.require(older == nil || !shown.positions.isEmpty, "\(next) leads to an empty page with an older cursor")
        }
        // No entry is older than position 0, and all are newer.
        if start.bound > 0 {
            var newer = start
            (newer.direction, newer.bound) = (.newer, start.bound - 1)
            while true {
                let shown = try page(newer.list, newer, limit)
                positions += shown.positions
                if shown.positions.isEmpty { break }
                newer = shown.newer
            }
            let all = try page(start.list, nil, .max).positions
            try CursorHarness.require(positions == all, "the pages from \(start) hold \(positions), not \(all)")
        }
    }

    private func answer(_ list: PageCursor.List, _ cursor: PageCursor, _ limit: Int) -> Result<PageResult, ChatError> {
        Result { () throws(ChatError) in try page(list, cursor, limit) }
    }

    private func page(_ list: PageCursor.List, _ cursor: PageCursor?, _ limit: Int) throws(ChatError) -> PageResult {
        let page = PageRequest(limit: limit)
        switch list {
        case .threads:
            let found = try store.threads(page: page, at: cursor, as: .host)
            return PageResult(positions: found.entries.map(\.lastPosition), older: found.older, newer: found.newer)
        case .timeline(let thread):
            let found = try store.timeline(thread, page: page, at: cursor, as: .host)
            return PageResult(positions: found.entries.map(\.position), older: found.older, newer: found.newer)
        case .replies(let message):
            let found = try store.replies(to: message, page: page, at: cursor, as: .host)
            return PageResult(positions: found.entries.map(\.position), older: found.older, newer: found.newer)
        }
    }
}
