import ChatDomain
import Primitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The deterministic chat of every measurement, Zipf over 2,000 threads and 20,000 users.
///
/// The lengths of bodies are log-normal. Of 100 posts, 5 are replies, 1 is an edit and 1 is a
/// retraction of an earlier message of the same author and thread, if one exists; all others are
/// messages.
struct Workload {
    static let threadCount = 2_000
    static let userCount = 20_000

    let count: Int
    let seed: UInt64
    private let threads = Zipf(Workload.threadCount)
    private let users = Zipf(Workload.userCount)
    private let words: [String]
    private let wordChoice = Zipf(4_096)

    init(count: Int, seed: UInt64 = 1) {
        self.count = count
        self.seed = seed
        words = Self.vocabulary()
    }

    static func threadID(_ rank: Int) -> ThreadID { ThreadID(bits: wide(0x7468_7265_6164_0000 &+ UInt64(rank))) }

    static func userID(_ rank: Int) -> UserID { UserID(bits: wide(0x7573_6572_0000_0000 &+ UInt64(rank))) }

    private static func wide(_ seed: UInt64) -> UInt128 {
        var random = SplitMix(state: seed)
        return UInt128(random.next()) << 64 | UInt128(random.next())
    }

    /// The kind of a post.
    enum Kind { case message, reply, edit, retraction }

    /// A post, without its body.
    struct Post {
        var kind: Kind
        var thread: Int
        var user: Int
        var id: UInt128
        fileprivate var random: SplitMix
    }

    /// Returns the post at an index.
    ///
    /// It depends on the seed and the index only, so the setup can read posts in advance.
    func post(_ index: Int) -> Post {
        var random = SplitMix(state: seed &+ UInt64(index) &* 0xD134_2543_DE82_EF95)
        let choice = random.next() % 100
        let kind: Kind =
            switch choice {
            case ..<93: .message
            case 93..<98: .reply
            case 98: .edit
            default: .retraction
            }
        let thread = threads.pick(random.unit())
        let user = users.pick(random.unit())
        return Post(
            kind: kind, thread: thread, user: user, id: UInt128(random.next()) << 64 | UInt128(random.next()),
            random: random)
    }

    /// Returns the body of a post: words, some of them Cyrillic, Japanese or emoji.
    ///
    /// Bodies have 60 bytes in the median, about 90 in the mean, and at most 2,000.
    func body(of post: Post) -> String {
        var random = post.random
        let normal = (-2 * log(random.unit())).squareRoot() * cos(2 * .pi * random.unit())
        let target = min(max(1, Int(60 * exp(0.9005 * normal) + 0.5)), 2_000)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(target + 32)
        while bytes.count < target {
            bytes.append(contentsOf: words[wordChoice.pick(random.unit())].utf8)
            bytes.append(UInt8(ascii: " "))
        }
        // Cut at the start of the character that crosses the limit.
        var end = min(target, bytes.count)
        while end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        bytes.removeLast(bytes.count - end)
        return bytes.allSatisfy { $0 == UInt8(ascii: " ") } ? "." : String(decoding: bytes, as: UTF8.self)
    }

    private static func vocabulary() -> [String] {
        let latin = [
            "ka", "ti", "ro", "me", "sen", "lo", "da", "ver", "in", "shu", "pa", "tor", "el", "ni", "cho", "bu", "é",
            "ñor", "gra", "wi",
            "st",
            "th", "ou", "ly",
        ]
        let cyrillic = ["при", "вет", "да", "мо", "ло", "ко", "не", "ст"]
        let japanese = ["こん", "にち", "は", "日本", "語", "です", "あり"]
        let emoji = ["👍", "😂", "🎉", "❤️", "🚀", "👀"]
        var random = SplitMix(state: 42)
        return (0..<4_096).map { _ in
            let kind = random.next() % 100
            let syllables = kind < 85 ? latin : kind < 92 ? cyrillic : kind < 97 ? japanese : emoji
            return (0..<1 + Int(random.next() % 4)).reduce(into: "") { word, _ in
                word += syllables[Int(random.next() % UInt64(syllables.count))]
            }
        }
    }
}

/// The generator of Steele, Lea and Flood (2014).
struct SplitMix: Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Returns a number between 0 and 1, both excluded.
    mutating func unit() -> Double { (Double(next() >> 11) + 0.5) * 0x1p-53 }
}

/// Ranks by Zipf's law with exponent 1.
struct Zipf: Sendable {
    private let cumulative: [Double]

    init(_ count: Int) {
        var sum = 0.0
        let sums = (1...count).map { rank in
            sum += 1 / Double(rank)
            return sum
        }
        cumulative = sums.map { $0 / sum }
    }

    func pick(_ unit: Double) -> Int {
        cumulative.dropLast().partitioningIndex { $0 >= unit }
    }
}
