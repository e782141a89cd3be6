@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

@Suite struct RecentEventsTests {
    /// The ring holds the latest events within its bounds of count and bytes.
    @Test(arguments: Seeds.seeds(20)) func ringHoldsLatestEvents(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let (capacity, byteCapacity) = (Int.random(in: 1...12, using: &random), Int.random(in: 0...200, using: &random))
        var ring = RecentEvents(capacity: capacity, byteCapacity: byteCapacity)
        var model: [FollowedEvent] = []
        var last: Position = 0
        for _ in 0..<300 {
            if random.oneIn(25) {
                last += Position.random(in: 0...30, using: &random)
                ring.skip(to: last)
                model = []
            } else {
                last += 1
                let body = String(repeating: "x", count: Int.random(in: 0...60, using: &random))
                let recorded = RecordedEvent(
                    position: last,
                    event: ChatEvent(
                        recordedAt: Timestamp(millisecondsSince1970: 0), details: .init(.lost), content: .body(body)))
                let head = JournalHead(journal: JournalID(bits: 1), position: last, chain: random.next())
                let event = FollowedEvent(recorded: recorded, resumeToken: ResumeToken(after: last, in: head))
                ring.append(event)
                model.append(event)
                while model.count > capacity
                    || model.count > 1 && model.reduce(0, { $0 + $1.event.textByteCount }) > byteCapacity
                {
                    model.removeFirst()
                }
            }
            #expect(ring.position == last && ring.firstPosition == last + 1 - Position(model.count))
            let after = Position.random(in: ring.firstPosition - 1...last, using: &random)
            let limit = Int.random(in: 1...5, using: &random)
            #expect(ring.events(after: after, limit: limit) == Array(model.drop { $0.position <= after }.prefix(limit)))
        }
    }
}
