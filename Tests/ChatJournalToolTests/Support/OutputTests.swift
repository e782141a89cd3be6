import Testing

@testable import chat_journal

@Suite struct OutputTests {
    private func read(_ pipe: Pipe) throws -> String {
        pipe.closeWriteEnd()
        var reader = LineReader(descriptor: pipe.readEnd, owned: false, name: "pipe")
        var text = ""
        while case .bytes(let line)? = try reader.next() { text += String(decoding: line, as: UTF8.self) + "|" }
        return text
    }

    @Test func nothingIsWrittenBeforeAFlush() throws {
        let pipe = try Pipe()
        var output = BufferedOutput(descriptor: try #require(pipe.writeEnd), name: "pipe")
        try output.write("a")
        try output.writeLine("b")
        try output.writeLine(json: ["k": 1])
        #expect(!SystemIO.isReadable(pipe.readEnd))
        try output.flush()
        #expect(SystemIO.isReadable(pipe.readEnd))
        try output.writeLine("lost")
        #expect(try read(pipe) == #"ab|{"k":1}|"#)
    }

    @Test func failedEncodingWritesNothing() throws {
        let pipe = try Pipe()
        var output = BufferedOutput(descriptor: try #require(pipe.writeEnd), name: "pipe")
        try output.writeLine("before")
        var isRefused = false
        do { try output.writeLine(json: [1, Double.nan]) } catch is EncodingError { isRefused = true }
        #expect(isRefused)
        try output.writeLine("after")
        try output.flush()
        #expect(try read(pipe) == "before|after|")
    }

    @Test func fullBufferIsWritten() throws {
        let pipe = try Pipe()
        var output = BufferedOutput(descriptor: try #require(pipe.writeEnd), name: "pipe")
        // The last line fills the buffer to the capacity of a pipe, which has no reader yet.
        for _ in 0..<1_024 { try output.writeLine(String(repeating: "x", count: 63)) }
        #expect(SystemIO.isReadable(pipe.readEnd))
    }

    @Test func closedReaderIsAQuietError() throws {
        SystemIO.ignoreWriteSignals()
        let end: Int32
        do {
            let pipe = try Pipe()
            end = try pipe.keepWriteEnd()
        }
        defer { SystemIO.closeAfterReading(end) }
        var output = BufferedOutput(descriptor: end, name: "pipe")
        try output.writeLine("x")
        var failure: ToolError?
        do { try output.flush() } catch { failure = error }
        #expect(failure?.code == .outputClosed)
        #expect(failure?.endsSilently == true)
    }

    #if os(Linux)
        @Test func fullDiskIsAnError() throws {
            let full = try openForWriting("/dev/full")
            defer { SystemIO.closeAfterReading(full) }
            var output = BufferedOutput(descriptor: full)
            try output.writeLine("x")
            var failure: ToolError?
            do { try output.flush() } catch { failure = error }
            #expect(failure?.code == .storageFull)
            #expect(failure?.endsSilently == false)
            #expect(failure?.description == "cannot write to standard output: No space left on device (errno 28)")
        }
    #endif

    @Test func progressWaitsAndIsRateLimited() {
        var pace = ProgressThrottle()
        #expect(!pace.hasShown)
        let moments = [0, 999, 1_000, 1_099, 1_100, 9_000, 9_050]
        let due = moments.filter { pace.isDue(at: .milliseconds($0)) }
        #expect(due == [1_000, 1_100, 9_000])
        #expect(pace.hasShown)
        #expect(
            ProgressThrottle.text(label: "import", done: 120_000, total: 238_041) == "import: 120000 of 238041 (50 %)")
        #expect(ProgressThrottle.text(label: "a\u{1b}", done: 3, total: nil) == #"a\u{1b}: 3"#)
        #expect(ProgressThrottle.text(label: "empty", done: 0, total: 0) == "empty: 0")
    }
}
