import EventJournal
import TestSupport
import Testing

// EventJournal.md and the documentation of `Journal` show parts of this code, with `EventJournal`
// alone.
@Suite struct JournalExampleTests {
    @Test func appendAndRead() throws {
        let folder = try TemporaryDirectory()
        let directory = folder.file("neighbourhood.journal")
        let (kind, body) = (Array("posted".utf8), Array("Milk?".utf8))
        let journal = try Journal.open(directory)
        var draft = CommitDraft()
        try draft.append(kept: kind.span.bytes, erasable: body.span.bytes)
        try journal.reserve(draft.encodedByteCount)  // throws `storageFull` before anything is written
        let positions = try journal.append(draft, expecting: journal.lastPosition)
        try journal.waitUntilDurable(positions.upperBound)
        try journal.forEachRecord(in: positions) { position, state, kept, erasable in
            print(position, state, kept.byteCount, erasable.byteCount)
            return true
        }
        try journal.close()
        #expect(positions == 1...1)
    }

    @Test func following() async throws {
        let folder = try TemporaryDirectory()
        let journal = try Journal.open(folder.file("journal"))
        let last: Position = 3
        let content = Array("Milk?".utf8)
        for _ in 1...last {
            var draft = CommitDraft()
            try draft.append(kept: content.span.bytes, erasable: content.span.bytes)
            _ = try journal.append(draft, expecting: journal.lastPosition)
        }
        try journal.synchronize()
        var position: Position = 0
        while position < last {
            let durable = try await journal.waitForRecords(after: position)
            try journal.forEachRecord(in: position + 1...durable) { position, state, kept, erasable in
                print(position, state, kept.byteCount, erasable.byteCount)
                return true
            }
            position = durable
        }
        #expect(position == last)
    }

    @Test func verificationAndExpectedHead() throws {
        let folder = try TemporaryDirectory()
        let directory = folder.file("journal")
        let journal = try Journal.open(directory)
        let head = journal.head  // keep the text of it on another machine
        try journal.close()

        var options = JournalOptions()
        options.expectedHead = head
        // Throws `headMismatch` or `damaged` if the head is missing.
        let reopened = try Journal.open(directory, options: options)
        #expect(reopened.head == head)

        var findings = 0
        try Journal.verify(directory) { finding in
            print(finding)
            findings += 1
        }
        #expect(findings == 0)
    }

    @Test func metrics() throws {
        let folder = try TemporaryDirectory()
        let journal = try Journal.open(folder.file("neighbourhood.journal"))
        let body = journal.statistics.openMetrics(prefix: "neighbourhood")
        let contentType = JournalStatistics.openMetricsContentType
        #expect(body.hasSuffix("# EOF\n"))
        #expect(contentType.hasPrefix("application/openmetrics-text"))
    }
}
