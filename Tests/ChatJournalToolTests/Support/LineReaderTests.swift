import TestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@testable import chat_journal

@Suite struct LineReaderTests {
    private func lines(of bytes: [UInt8], limit: Int = LineReader.defaultLimit) throws -> [LineReader.Line] {
        try withFile(bytes) { path in
            var reader = try LineReader(path: path, limit: limit)
            var lines: [LineReader.Line] = []
            while let line = try reader.next() {
                lines.append(line)
                #expect(reader.lineNumber == lines.count)
            }
            try expectNext(nil, from: &reader)
            return lines
        }
    }

    private func expectNext(
        _ expected: LineReader.Line?, from reader: inout LineReader, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let line = try reader.next()
        #expect(line == expected, sourceLocation: sourceLocation)
    }

    private func expectWaiting(
        _ expected: Bool, _ reader: inout LineReader, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let isWaiting = reader.isLineWaiting
        #expect(isWaiting == expected, comment, sourceLocation: sourceLocation)
    }

    private func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
        let url = FileManager.default.temporaryDirectory.appending(path: "chat-journal-lines-\(UUID().uuidString)")
        try Data(bytes).write(to: url)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: url) } }
        return try body(url.path)
    }

    @Test(arguments: [
        ("", []), ("\n", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\n\r\nb\r", ["a", "", "b\r"]),
        ("\n\na\n", ["", "", "a"]), ("a\rb\n", ["a\rb"]), ("\r\r\n", ["\r"]),
    ])
    func lineEnds(text: String, expected: [String]) throws {
        #expect(try lines(of: Array(text.utf8)) == expected.map { .bytes(Array($0.utf8)) })
    }

    @Test(arguments: [
        ("1234\n", false), ("1234\r\n", false), ("1234", false), ("12345\n", true), ("1234\r", true),
        ("1234\r5\n", true),
    ])
    func limit(text: String, isTooLong: Bool) throws {
        let after = "\nok\n"
        let first = try #require(
            try lines(of: Array((text + (text.hasSuffix("\n") ? "ok\n" : after)).utf8), limit: 4).first)
        let last = try #require(try lines(of: Array(text.utf8), limit: 4).first)
        if case .tooLong = last { #expect(isTooLong) } else { #expect(!isTooLong) }
        if text != "1234\r" { #expect(first == last, "a line means the same at the end of the input and before it") }
    }

    /// A line of many blocks has its exact number of bytes, and the lines around it are whole.
    @Test func hugeLine() throws {
        let huge = [UInt8](repeating: UInt8(ascii: "x"), count: 5_000_001)
        let input = Array("first\n".utf8) + huge + Array("\r\nlast\n".utf8)
        #expect(
            try lines(of: input) == [
                .bytes(Array("first".utf8)), .tooLong(byteCount: huge.count), .bytes(Array("last".utf8)),
            ])
    }

    /// The reader agrees with a split of the whole input, for lengths near those of a block and of
    /// the limit.
    @Test func randomInputs() throws {
        let seed = Repetitions.seed
        var generator = SplitMix64(seed: seed)
        let limit = 300_000
        // Made once, because a closure for each byte is slow in a debug build.
        let letters = (0..<600_026).map { UInt8(ascii: "a") + UInt8(truncatingIfNeeded: $0 % 26) }
        for _ in 0..<12 {
            var input: [UInt8] = []
            var expected: [LineReader.Line] = []
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let near = [0, 10, 262_144, limit, 600_000].randomElement(using: &generator) ?? 0
                let length = max(0, near + Int.random(in: -3...3, using: &generator))
                let line = Array(letters[..<length])
                input += line + (Bool.random(using: &generator) ? [13, 10] : [10])
                expected.append(length > limit ? .tooLong(byteCount: length) : .bytes(line))
            }
            #expect(try lines(of: input, limit: limit) == expected, "seed \(seed)")
        }
    }

    @Test func waitingLines() throws {
        let pipe = try Pipe()
        var reader = LineReader(descriptor: pipe.readEnd, owned: false, name: "pipe", limit: 8)
        expectWaiting(false, &reader)
        try pipe.write("one\ntw")
        expectWaiting(true, &reader)
        try expectNext(.bytes(Array("one".utf8)), from: &reader)
        expectWaiting(false, &reader, "half a line is no line")
        try pipe.write("o\n\nrest")
        expectWaiting(true, &reader)
        try expectNext(.bytes(Array("two".utf8)), from: &reader)
        expectWaiting(true, &reader)
        try expectNext(.bytes([]), from: &reader)
        expectWaiting(false, &reader)
        pipe.closeWriteEnd()
        expectWaiting(true, &reader, "the end of the input ends the last line")
        try expectNext(.bytes(Array("rest".utf8)), from: &reader)
        expectWaiting(false, &reader)
        try expectNext(nil, from: &reader)
    }

    @Test func lineOverTheLimitIsNotWaitingBeforeItsEnd() throws {
        let pipe = try Pipe()
        var reader = LineReader(descriptor: pipe.readEnd, owned: false, name: "pipe", limit: 8)
        try pipe.write("0123456789")
        expectWaiting(false, &reader)
        try pipe.write("ab\nnext\n")
        try expectNext(.tooLong(byteCount: 12), from: &reader)
        expectWaiting(true, &reader)
        try expectNext(.bytes(Array("next".utf8)), from: &reader)
    }

    @Test func filesThatCannotBeRead() throws {
        func failure(_ path: String) -> ToolError? {
            do {
                _ = try LineReader(path: path)
                return nil
            } catch { return error }
        }
        let absent = try #require(failure("/nonexistent/in\u{1b}put"))
        #expect(absent.code == .fileNotFound)
        #expect(absent.description.hasPrefix(#"cannot open /nonexistent/in\u{1b}put: No such file"#))
        #expect(failure("/")?.code == .isADirectory)
        #expect(try #require(failure("/")).description.contains("irectory"))
    }

    /// A failed descriptor throws its error from `next`, without waiting.
    @Test func failureIsWaiting() throws {
        let descriptor = try openForWriting("/dev/null")
        defer { SystemIO.closeAfterReading(descriptor) }
        var reader = LineReader(descriptor: descriptor, owned: false, name: "odd")
        expectWaiting(true, &reader)
        for _ in 0..<2 {
            var code: ToolError.Code?
            do { _ = try reader.next() } catch { code = error.code }
            #expect(code == .inputOutput)
        }
    }

    /// The line has no end yet: the reader does not wait for it.
    @Test(.timeLimit(.minutes(5))) func longLineEndsReading() throws {
        let pipe = try Pipe()
        try pipe.write("ok\n123456")
        var reader = LineReader(descriptor: pipe.readEnd, owned: false, name: "pipe", limit: 4, stopsAtLongLine: true)
        try expectNext(.bytes(Array("ok".utf8)), from: &reader)
        try expectNext(.tooLong(byteCount: 6), from: &reader)
        try pipe.write("7\nmore\n")
        try expectNext(nil, from: &reader)
    }
}
