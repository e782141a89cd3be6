import ChatDomain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Invariants of the event decoder, and of the state built from its events, on arbitrary bytes.
///
/// The input is a sequence of records: one byte for the length of the kept part, one for the length
/// of the erasable part (255: a stub), and the parts.
enum EventHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    static func check(_ input: [UInt8]) throws {
        var rest = input[...]
        var state = ChatState()
        while rest.count >= 2 {
            let lengths = (Int(rest[rest.startIndex]), Int(rest[rest.startIndex + 1]))
            let kept = Array(rest.dropFirst(2).prefix(lengths.0))
            rest = rest.dropFirst(2 + kept.count)
            let erasable = lengths.1 == 255 ? nil : Array(rest.prefix(lengths.1))
            rest = rest.dropFirst(erasable?.count ?? 0)
            try check(kept, erasable, &state)
        }
    }

    private static func check(_ kept: [UInt8], _ erasable: [UInt8]?, _ state: inout ChatState) throws {
        let event: ChatEvent
        do throws(EventDecodingError) {
            event = try decode(kept, erasable)
        } catch {
            let count = error.part == .kept ? kept.count : erasable?.count ?? 0
            try require((0...count).contains(error.offset), "the error is outside the part: \(error)")
            return
        }
        let indexed = try decode(kept, erasable, .indexed)
        try require(
            indexed.details == event.details && indexed.recordedAt == event.recordedAt, "the selection changes the fact"
        )
        let stub = try decode(kept, nil)
        try require(stub.details == event.details && stub.origin == event.origin, "the erasable part changes the fact")
        try checkEncoding(event)
        try checkJSON(event)
        for fault in state.faults(of: event) { try require(!fault.message.isEmpty, "a fault has an empty message") }
        state.evolve(event, at: state.head + 1)
    }

    private static func checkEncoding(_ event: ChatEvent) throws {
        if event.content == .erased || event.isErased { return }
        var encoder = EventEncoder()
        encoder.encode(event)
        let (kept, erasable) = (encoder.kept, encoder.erasable)
        let again = try decode(kept, erasable)
        try require(again == event, "decoding its encoding gives another event: \(event) and \(again)")
        encoder.encode(again)
        try require(encoder.kept == kept && encoder.erasable == erasable, "encoding again gives other bytes: \(event)")
    }

    /// JSON omits the fold key and rejects values that no journal of this decider holds.
    ///
    /// Accepted JSON round-trips.
    private static func checkJSON(_ event: ChatEvent) throws {
        let json = try JSONEncoder().encode(RecordedEvent(position: 1, event: event))
        let again: RecordedEvent
        do {
            again = try JSONDecoder().decode(RecordedEvent.self, from: json)
        } catch is DecodingError {
            return
        }
        let expected = try JSONDecoder().decode(RecordedEvent.self, from: try JSONEncoder().encode(again))
        try require(again == expected, "JSON is not stable: \(again) and \(expected)")
    }

    private static func decode(
        _ kept: [UInt8], _ erasable: [UInt8]?, _ contents: ContentSelection = .all
    ) throws(EventDecodingError) -> ChatEvent {
        // Marked unsafe only by the standard library: bytes have no padding.
        guard let erasable else {
            return try unsafe ChatEvent(kept: kept.span.bytes, erasable: nil, contents: contents)
        }
        return try unsafe ChatEvent(kept: kept.span.bytes, erasable: erasable.span.bytes, contents: contents)
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }
}
