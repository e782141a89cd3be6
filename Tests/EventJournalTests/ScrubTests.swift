import ChatTesting
import Foundation
import Locking
import Testing

@testable import EventJournal

/// Scrubbing verifies the sealed segments in the background, one segment at a time.
@Suite struct ScrubTests {
    private func journal(_ storage: MemoryStorage, commits: Int = 40) throws -> Journal {
        let journal = try Journal.open(
            "j",
            options: JournalOptions(
                segmentSize: 2_000, storage: storage, entropy: SeededEntropy(seed: 2), slotSyncDelay: nil))
        for number in 0..<commits { try journal.append([Entry("kept \(number)", String(repeating: "e", count: 200))]) }
        return journal
    }

    private func sealedCount(_ journal: Journal) -> Int { journal.state.withLock { $0.sealedStarts.count } }

    /// Scrubs to the end of the pass.
    private func pass(_ journal: Journal) throws -> (segments: Int, findings: [JournalFinding]) {
        var findings: [JournalFinding] = []
        var segments = 0
        while try journal.scrubSegment({ findings.append($0) }) != nil { segments += 1 }
        return (segments, findings)
    }

    @Test func passReadsEverySealedSegmentOnce() throws {
        let storage = MemoryStorage()
        let journal = try journal(storage)
        #expect(sealedCount(journal) > 3)
        for number in 1...3 as ClosedRange<UInt64> {
            let (segments, findings) = try pass(journal)
            #expect(segments == sealedCount(journal) && findings.isEmpty)
            #expect(journal.scrubProgress.passes == number && journal.scrubProgress.position == 0)
        }
    }

    /// A pause longer than nanoseconds can count lasts forever; it must not end at once.
    @Test func longestPauseDoesNotOverflow() {
        let second = 1_000_000_000
        #expect(Duration.seconds(2).dispatchInterval == .nanoseconds(2 * second))
        #expect(Duration.milliseconds(-1_500).dispatchInterval == .nanoseconds(-1_500_000_000))
        for duration in [
            Duration.seconds(Int64.max), .seconds(Int64.max / 3), .seconds(20_000_000_000), .seconds(9_223_372_037),
            Duration(secondsComponent: 9_223_372_036, attosecondsComponent: 999_999_999_999_999_999),
        ] { #expect(duration.dispatchInterval == .nanoseconds(.max), "\(duration)") }
        #expect(Duration.seconds(Int64.min).dispatchInterval == .nanoseconds(.min))
    }

    @Test func scrubResumesAfterReopening() throws {
        let storage = MemoryStorage()
        var journal = try journal(storage)
        for number in 1...40 {
            let before = journal.scrubProgress
            let bytes = try journal.scrubSegment { Issue.record("\($0)") }
            let starts = journal.state.withLock { $0.sealedStarts.map(\.position) + [$0.active.header.firstPosition] }
            let after = journal.scrubProgress
            if bytes == nil {
                #expect(after.position == 0 && after.passes == before.passes + 1)
            } else {
                // The next segment follows the last scrubbed one, across openings.
                #expect(starts.first { $0 > before.position + 1 } == after.position + 1)
            }
            if number % 3 == 0 {
                try journal.close()
                journal = try self.journal(storage, commits: 1)
                _ = try journal.scrubSegment { Issue.record("\($0)") }
                #expect(
                    journal.scrubProgress.position != 0
                        ? journal.scrubProgress.position > after.position : after.position > 0)
            }
        }
    }

    @Test func scrubFindingsEqualVerification() throws {
        let storage = MemoryStorage()
        let journal = try journal(storage)
        let names = journal.state.withLock { $0.sealedStarts.map { "j/" + JournalFileName.segment($0.position) } }
        var generator = SeededGenerator()
        for _ in 0..<60 {
            let path = try #require(names.randomElement(using: &generator))
            let sound = try #require(storage.allContents()[path])
            var bytes = sound
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            storage.setContents(bytes, of: path)
            let before = journal.scrubProgress.findings
            let (segments, findings) = try pass(journal)
            #expect(segments == names.count && !findings.isEmpty, "seed \(generator.seed)")
            #expect(findings.allSatisfy { "j/" + ($0.segment ?? "") == path }, "seed \(generator.seed)")
            #expect(journal.scrubProgress.findings == before + UInt64(findings.count))
            storage.setContents(sound, of: path)
        }
        try storage.remove(names[0])
        let (segments, findings) = try pass(journal)
        #expect(segments == names.count && findings.map(\.problem) == ["unreadable"])
    }

    @Test func segmentOfAnotherHistoryIsFound() throws {
        let storage = MemoryStorage()
        let journal = try journal(storage)
        let other = MemoryStorage()
        // The same journal id, from the same entropy, with other content.
        let twin = try Journal.open(
            "j",
            options: JournalOptions(
                segmentSize: 2_000, storage: other, entropy: SeededEntropy(seed: 2), slotSyncDelay: nil))
        for number in 0..<40 { try twin.append([Entry("kept \(number)", String(repeating: "f", count: 200))]) }
        #expect(twin.id == journal.id)
        let name = "j/" + JournalFileName.segment(1)
        storage.setContents(other.allContents()[name] ?? [], of: name)
        #expect(try pass(journal).findings.map(\.problem) == ["missingRecords"])
    }

    @Test func invalidNoteIsIgnored() throws {
        let storage = MemoryStorage()
        do {
            let journal = try journal(storage)
            _ = try journal.scrubSegment { Issue.record("\($0)") }
            try journal.close()
        }
        let note = try #require(storage.allContents()["j/scrub"])
        for (index, bytes)
            in ([[], Array(note.dropLast()), note + [0]]
            + note.indices.map { place in
                var bytes = note
                bytes[place] ^= 4
                return bytes
            }).enumerated()
        {
            storage.setContents(bytes, of: "j/scrub")
            let journal = try Journal.openReadOnly("j", options: JournalOptions(storage: storage))
            let first = journal.state.withLock { $0.sealedStarts[1].position - 1 }
            _ = try journal.scrubSegment { Issue.record("\($0)") }
            // A longer file starts with a valid note; every other file restarts the pass.
            #expect(journal.scrubProgress.position == first || index == 2)
        }
        #expect(storage.allContents()["j/scrub"] != note, "a reader must not write the note")
    }

    /// The time and the result of a pass belong to the journal, not to the process.
    @Test func lastPassIsKeptAcrossOpenings() throws {
        let storage = MemoryStorage()
        var journal = try journal(storage)
        #expect(journal.scrubProgress.lastPass == nil && !journal.scrubProgress.hasFindings)
        let path = "j/" + JournalFileName.segment(1)
        var bytes = try #require(storage.allContents()[path])
        bytes[200] ^= 1
        storage.setContents(bytes, of: path)
        let count = UInt64(try pass(journal).findings.count)
        let last = try #require(journal.scrubProgress.lastPass)
        #expect(count > 0 && last.findings == count && last.endedAt > 1_600_000_000_000)
        // The second pass finds the damage in its first segment.
        _ = try journal.scrubSegment { _ in }
        let position = journal.scrubProgress.position
        try journal.close()
        journal = try self.journal(storage, commits: 0)
        // The pause is over only in a week, but a pass that has begun goes on.
        journal.startScrubbing(ScrubOptions(bytesPerSecond: .max, pause: .seconds(604_800))) { _ in }
        let loaded = journal.scrubProgress
        #expect(
            loaded.lastPass?.endedAt ?? 0 >= last.endedAt && loaded.hasFindings && loaded.position >= position
                || loaded.passes > 1)
        for _ in 0..<3_000 where journal.scrubProgress.passes < 2 { Thread.sleep(forTimeInterval: 0.01) }
        #expect(
            journal.scrubProgress.passes == 2 && journal.scrubProgress.lastPass?.findings == count,
            "also those before the opening")
        let text = journal.statistics.openMetrics()
        #expect(
            text.contains("event_journal_scrub_last_findings \(count)\n")
                && text.contains("event_journal_scrub_age_seconds "))
        try journal.close()
        journal = try self.journal(storage, commits: 0)
        let again = journal.scrubProgress
        journal.startScrubbing(ScrubOptions(pause: .seconds(604_800))) { _ in Issue.record("no pass is due") }
        #expect(again.lastPass == nil && journal.scrubProgress.passes == 2 && journal.scrubProgress.position == 0)
        try journal.close()
    }

    @Test func nextPassIsDueAfterThePause() throws {
        var progress = ScrubProgress()
        let week = Duration.seconds(604_800)
        #expect(progress.delay(pause: week, at: 5) == .zero, "the first pass begins at once")
        progress.lastPass = ScrubProgress.Pass(endedAt: 1_000_000, findings: 0)
        #expect(progress.delay(pause: week, at: 1_000_000) == week)
        #expect(progress.delay(pause: week, at: 1_001_500) == week - .milliseconds(1_500))
        #expect(progress.delay(pause: week, at: 1_000_000 + 604_800_000) == .zero)
        #expect(progress.delay(pause: week, at: .max) == .zero)
        #expect(progress.delay(pause: week, at: 999_999) == week, "the clock was set back")
        progress.position = 7
        #expect(progress.delay(pause: week, at: 1_000_000) == .zero, "a pass that has begun goes on")
    }

    @Test func backgroundScrubRunsUntilClose() throws {
        let storage = MemoryStorage()
        let journal = try journal(storage)
        let path = "j/" + JournalFileName.segment(1)
        var bytes = try #require(storage.allContents()[path])
        bytes[200] ^= 1
        storage.setContents(bytes, of: path)
        let found = Lock(0)
        journal.startScrubbing(ScrubOptions(bytesPerSecond: .max, pause: .zero)) { _ in found.withLock { $0 += 1 } }
        journal.startScrubbing { _ in Issue.record("scrubbing already runs") }
        for _ in 0..<3_000 where journal.scrubProgress.passes < 3 { Thread.sleep(forTimeInterval: 0.01) }
        #expect(journal.scrubProgress.passes >= 3 && found.withLock { $0 } >= 3)
        #expect(journal.statistics.scrub.findings >= 3)
        try journal.close()
        #expect(journalError { _ = try journal.scrubSegment { _ in } }?.code == .closed)
    }
}
