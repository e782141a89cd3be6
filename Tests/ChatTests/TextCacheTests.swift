import ChatDomain
import ChatTesting
import EventJournal
import Projections
import TestSupport
import Testing

@testable import Chat

@Suite struct TextCacheTests {
    private func text(_ body: String?) -> TextCache.Text {
        TextCache.Text(body: body, createdAt: Timestamp(millisecondsSince1970: 1))
    }

    @Test func addedTextIsFound() {
        var cache = TextCache(capacity: 10_000)
        #expect(cache.text(1) == nil)
        cache.insert(text("one"), at: 1)
        cache.insert(text(nil), at: 2)
        #expect(cache.text(1) == text("one"))
        #expect(cache.text(2) == text(nil))
    }

    @Test(arguments: Seeds.seeds(8)) func cacheStaysWithinCapacityAndReturnsRightText(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let capacity = Int.random(in: 0...20_000, using: &random)
        var cache = TextCache(capacity: capacity)
        for step in 0..<3_000 {
            let position = Position.random(in: 1...200, using: &random)
            let body = String(repeating: "x", count: Int(position * 7 % 400))
            if let found = cache.text(position) {
                #expect(found == text(body))
            } else {
                cache.insert(text(body), at: position)
            }
            guard step % 16 == 0 else { continue }
            // `text` counts as use, so look up in a copy.
            var copy = cache
            let held = (1...200 as ClosedRange<Position>).compactMap { copy.text($0)?.body }
            #expect(held.count == cache.count)
            // Each text costs 96 bytes of overhead.
            #expect(held.reduce(0) { $0 + $1.utf8.count + 96 } <= capacity)
        }
    }

    /// Covers short texts, which fill the slots first, and long texts, which fill the bytes first.
    @Test(arguments: [(4_000, 4), (40_000, 1_000)]) func usedTextStaysAndUnusedTextIsEvicted(capacity: Int, length: Int)
    {
        var cache = TextCache(capacity: capacity)
        let often = text(String(repeating: "o", count: length))
        cache.insert(often, at: 1)
        for position in 2..<1_000 as Range<Position> {
            // Twice, because a full cache rejects a text the first time.
            for _ in 0..<2 { cache.insert(text(String(repeating: "x", count: length)), at: position) }
            #expect(cache.text(1) == often)
        }
        #expect(cache.text(2) == nil)
    }

    /// Covers short texts, which fill the slots first, and long texts, which fill the bytes first.
    @Test(arguments: [(4_000, 4), (40_000, 1_000)]) func fullCacheKeepsTextAddedTwice(capacity: Int, length: Int) {
        var cache = TextCache(capacity: capacity)
        let text = text(String(repeating: "x", count: length))
        for position in 1...1_000 as ClosedRange<Position> { cache.insert(text, at: position) }
        let kept = (1...1_000 as ClosedRange<Position>).filter { cache.text($0) != nil }
        #expect(kept.count == cache.count && kept.count >= 16)
        // A scan of a long thread evicts nothing.
        for position in 1_001...2_000 as ClosedRange<Position> { cache.insert(text, at: position) }
        #expect(kept.allSatisfy { cache.text($0) != nil })
        var count = 0
        for position in 2_001...2_100 as ClosedRange<Position> {
            cache.insert(text, at: position)
            guard cache.text(position) == nil else { continue }
            cache.insert(text, at: position)
            #expect(cache.text(position) == text)
            count += 1
        }
        #expect(count >= 90)
    }

    /// Each set remembers its last rejected positions as ghost entries, in order.
    @Test func rejectedTextsAreRememberedAsGhosts() {
        var cache = TextCache(capacity: 128 << 10)
        // Fills every slot; the byte capacity is not reached.
        for position in 1...20_000 as ClosedRange<Position> { cache.insert(text("short"), at: position) }
        let wanted = 30_000..<30_200 as Range<Position>
        for position in wanted { cache.insert(text("short"), at: position) }
        let kept = wanted.count { position in
            cache.insert(text("short"), at: position)
            return cache.text(position) != nil
        }
        #expect(kept >= 190)
    }

    /// A poor hash would keep few positions, whether dense or sparse.
    @Test(arguments: [1 << 20, 16 << 20], [17, 20, 24, 40])
    func cacheKeepsNearlyAllTextsThatFit(capacity: Int, bits: Int) {
        var random = SeededRandom(seed: 1)
        // A third of the slots, so that about one in a hundred random positions finds its set full.
        let positions = (0..<capacity / 384).map { _ in Position.random(in: 1...1 << bits, using: &random) }
        var cache = TextCache(capacity: capacity)
        for position in positions { cache.insert(text("short"), at: position) }
        let kept = positions.count { cache.text($0) != nil }
        #expect(kept * 100 >= positions.count * 97)
    }

    @Test func oversizedTextIsNotKept() {
        var cache = TextCache(capacity: 1_000)
        cache.insert(text("small"), at: 1)
        cache.insert(text(String(repeating: "x", count: 600)), at: 2)
        #expect(cache.text(2) == nil)
        #expect(cache.text(1) == text("small"))
    }

    /// Answers do not depend on the size of the cache, now and as of earlier positions.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 6))) func cacheSizeDoesNotChangeAnswers(seed: UInt64) throws {
        let fixture = StoreFixture(seed: seed, segmentSize: 4_096)
        let writer = try fixture.open()
        var generator = CommandGenerator(seed: seed)
        let readers = try [0, 1_500, 1 << 20].map { bytes in
            var options = fixture.options
            options.textCacheByteCount = bytes
            return try ChatStore.openReadOnly(fixture.directory, options: options)
        }
        var shown = 0
        for _ in 0..<12 {
            for _ in 0..<20 { _ = try answer(generator.nextRequest(), of: writer) }
            for reader in readers { try reader.refresh() }
            let head = writer.head.position
            for moment in [AsOf.now, .position(head / 2), .position(head)] {
                for thread in try writer.reader(as: .host, asOf: moment).threads(page: .latest(.max)) {
                    let expected = try readers[0].reader(as: .host, asOf: moment).timeline(thread.id)
                    shown += expected.count
                    for reader in readers.dropFirst() {
                        #expect(try reader.reader(as: .host, asOf: moment).timeline(thread.id) == expected)
                        #expect(try reader.reader(as: .host, asOf: moment).timeline(thread.id) == expected)
                    }
                    for message in expected {
                        let replies = try readers[0].reader(as: .host, asOf: moment).replies(to: message.message)
                        for reader in readers.dropFirst() {
                            #expect(try reader.reader(as: .host, asOf: moment).replies(to: message.message) == replies)
                        }
                    }
                }
            }
        }
        #expect(shown > 100)
    }
}
