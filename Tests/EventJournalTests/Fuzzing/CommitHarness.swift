import Primitives

@testable import EventJournal

/// Invariants of the commit reader on arbitrary bytes: its results do not depend on the sizes of
/// the input pieces.
enum CommitHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    private struct Trace: CommitVisitor, Equatable {
        var steps: [String] = []

        mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool {
            steps.append("begin \(offset) \(header)")
            return true
        }

        mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64)
            -> Bool
        {
            steps.append("record \(place) \(layout) \(bytes.byteCount) \(chain)")
            return true
        }

        mutating func endCommit(_ header: CommitHeader, at offset: UInt64) { steps.append("end \(offset)") }
    }

    static func check(_ input: [UInt8]) throws {
        let image = try JournalImage(input)
        let bytes = image.lastCommits
        let whole = try trace(bytes, image.lastHeader, piece: bytes.count)
        let pieces = try trace(bytes, image.lastHeader, piece: 1 + Int(image.controlBytes[15]))
        guard whole == pieces else { throw Violation(message: "in one: \(whole.steps)\nin pieces: \(pieces.steps)") }
        try checkCanonicalEncoding(bytes)
    }

    private static func trace(_ bytes: [UInt8], _ header: SegmentHeader, piece: Int) throws -> Trace {
        var parser = CommitParser(
            seed: header.framingSeed, end: UInt64(bytes.count), from: 0, position: header.firstPosition,
            chain: header.chain)
        var trace = Trace()
        var needed = piece
        while true {
            let start = Int(parser.offset)
            guard start <= bytes.count else { throw Violation(message: "the parser is beyond the bytes at \(start)") }
            let step = bytes.withBytes(start..<min(bytes.count, start + max(needed, piece))) {
                parser.consume($0, &trace)
            }
            switch step {
            case .needsBytes(let count):
                // A request for bytes that the parser already has, or that do not exist, would loop
                // forever.
                let had = min(bytes.count - start, max(needed, piece)) - (Int(parser.offset) - start)
                guard count > had || Int(parser.offset) > start, count <= bytes.count - Int(parser.offset) else {
                    throw Violation(
                        message: "it needs \(count) bytes at \(parser.offset) of \(bytes.count), having \(had)")
                }
                needed = count
            case .ended(let outcome):
                trace.steps.append("\(outcome) \(parser.offset) \(parser.position) \(parser.chain)")
                return trace
            }
        }
    }

    /// Every number has exactly one encoding.
    private static func checkCanonicalEncoding(_ bytes: [UInt8]) throws {
        let result = bytes.withBytes(0..<bytes.count) { LEB128.decode($0, at: 0, limit: 1 << 28 - 1) }
        guard case .value(let value, let next) = result else { return }
        var again: [UInt8] = []
        LEB128.append(value, to: &again)
        guard again == Array(bytes.prefix(next)), LEB128.size(value) == next else {
            throw Violation(message: "the number \(value) has two encodings")
        }
    }
}
