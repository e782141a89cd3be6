import ChatDomain
import ChatWire

#if canImport(ToolInput)
    @testable import ToolInput
#else
    @testable import chat_journal
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Checks the invariants of the tool's input on any bytes: how they are split into lines, and how
/// the JSON in a line is read.
///
/// The first byte of the input is the limit of a line, in 8 bytes.
enum LineHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    /// Any JSON: Foundation parses a whole document before it decodes any part.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    /// Every system's pipe holds this number of bytes, so that one thread can fill and then read
    /// it.
    private static let pipeCapacity = 4_096

    static func check(_ input: [UInt8]) throws {
        let limit = 8 * Int(input.first ?? 0)
        let bytes = Array(input.dropFirst().prefix(pipeCapacity))
        let expected = expectedLines(bytes, limit)
        let lines = try readLines(bytes, limit)
        try require(lines == expected, "the lines are \(lines), not \(expected)")
        for line in bytes.split(separator: UInt8(ascii: "\n")) { try checkJSON(Array(line)) }
    }

    /// The lines by their definition, found in the simplest way.
    private static func expectedLines(_ bytes: [UInt8], _ limit: Int) -> [LineReader.Line] {
        var pieces = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        let rest = pieces.removeLast()
        var lines = pieces.map { $0.last == UInt8(ascii: "\r") ? Array($0.dropLast()) : $0 }
        if !rest.isEmpty { lines.append(rest) }
        return lines.map { $0.count > limit ? .tooLong(byteCount: $0.count) : .bytes($0) }
    }

    private static func readLines(_ bytes: [UInt8], _ limit: Int) throws -> [LineReader.Line] {
        var ends: [Int32] = [-1, -1]
        // A system call that fills two integers.
        let status = unsafe pipe(&ends)
        try require(status == 0, "no pipe")
        do {
            defer { SystemIO.closeAfterReading(ends[1]) }
            try SystemIO.write(bytes, to: ends[1], name: "pipe")
        }
        var reader = LineReader(descriptor: ends[0], owned: true, name: "pipe", limit: limit)
        var lines: [LineReader.Line] = []
        while let line = try reader.next() {
            lines.append(line)
            try require(
                reader.lineNumber == lines.count, "the number of the line is \(reader.lineNumber), not \(lines.count)")
        }
        return lines
    }

    private static func checkJSON(_ line: [UInt8]) throws {
        if let request = try decode(CommandRequest.self, line) {
            let again = try decode(CommandRequest.self, try json(request))
            try require(again == request, "a command is \(request), and after its JSON \(String(describing: again))")
        }
        if let event = try decode(ExportedEvent.self, line) {
            let again = try decode(ExportedEvent.self, try json(event))
            try require(
                again == event, "an exported event is \(event), and after its JSON \(String(describing: again))")
        }
        if let event = try decode(RecordedEvent.self, line) {
            // A fold key is read, but only an export writes it.
            let written = try json(event)
            let again = try decode(RecordedEvent.self, written).map { try json($0) }
            try require(again == written, "the JSON of \(event) is not stable")
        }
        do {
            _ = try UTF8Span(validating: line.span)
            try JSONScanner.validate(line)
        } catch {
            // Not JSON; Foundation may accept it or not.
            return
        }
        do {
            _ = try JSONDecoder().decode(Anything.self, from: Data(line))
        } catch {
            throw Violation(message: "Foundation rejects a line that the scan accepts as JSON: \(error)")
        }
    }

    private static func json(_ value: some Encodable) throws -> [UInt8] {
        var line: [UInt8] = []
        try JSONLineEncoder().encode(value, into: &line)
        return line
    }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ line: [UInt8]) throws -> Value? {
        do throws(LineError) {
            return try decodeLine(type, from: line)
        } catch {
            try require(!error.message.isEmpty, "an error says nothing")
            try require((0...line.count).contains(error.byteOffset ?? 0), "the error is outside of the line: \(error)")
            return nil
        }
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }
}
