import ChatDomain
import ChatWire
import Foundation
import Locking
import Testing

/// Collects the blocks of a stream that runs in a task of its own.
final class StreamReader: Sendable {
    /// The error with which a sink ends a stream.
    struct Enough: Error {}

    /// A block of Server-Sent Events.
    struct Block: Equatable {
        var id: String?
        var data: String?
        var event: String?
        var retry: String?

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
                let value = sides.count < 2 ? "" : sides[1].hasPrefix(" ") ? String(sides[1].dropFirst()) : sides[1]
                switch sides[0] {
                case "id": id = value
                case "data": data = data.map { $0 + "\n" + value } ?? value
                case "event": event = value
                case "retry": retry = value
                default: break
                }
            }
        }

        var json: [String: Any]? {
            data.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        }

        var position: UInt64? { (json?["position"] as? NSNumber)?.uint64Value }
        var body: String? { ((json?["messagePosted"] as? [String: Any])?["body"]) as? String }
    }

    private let texts = Lock([String]())

    /// The blocks so far, without the opening.
    var blocks: [Block] { texts.withLock { $0 }.dropFirst().map(Block.init) }

    /// Reads until a block satisfies the condition, and returns the blocks after the opening.
    static func read(_ response: WireResponse, until isLast: @Sendable @escaping (Block) -> Bool) async throws
        -> [Block]
    {
        let stream = try #require(response.stream)
        let reader = StreamReader()
        do {
            _ = try await stream.run { bytes, _ in
                let text = String(decoding: bytes, as: UTF8.self)
                reader.texts.withLock { $0.append(text) }
                if reader.texts.withLock({ $0.count }) > 1, isLast(Block(text)) { throw Enough() }
            }
        } catch is Enough {}
        return reader.blocks
    }
}
