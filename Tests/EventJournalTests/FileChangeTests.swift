import ChatTesting
import Foundation
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// Files change under an open reader.
///
/// Each read returns the written bytes or throws; it never traps and never returns other bytes.
@Suite struct FileChangeTests {
    /// A journal of several segments on the file system.
    ///
    /// Commits have 1 to 40 records; some exceed the spacing of the index.
    private final class Specimen: Sendable {
        let folder: TemporaryDirectory
        let path: String
        let model: [Entry]
        let names: [String]

        init(seed: UInt64, commits: Int = 24) throws {
            folder = try TemporaryDirectory()
            path = folder.file("journal")
            let journal = try Journal.open(
                path, options: JournalOptions(segmentSize: 24 << 10, entropy: SeededEntropy(seed: seed)))
            var generator = SeededGenerator(seed)
            var model: [Entry] = []
            for _ in 0..<commits {
                let entries = (0..<Int.random(in: 1...40, using: &generator)).map { _ in
                    generator.entry(kept: 40, erasable: 300)
                }
                try journal.append(entries)
                model += entries
            }
            try journal.close()
            self.model = model
            names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }
                .sorted()
        }

        /// The end of the records in a segment.
        ///
        /// Readers do not need the bytes after it.
        func end(ofRecordsIn index: Int) throws -> Int {
            let first = try #require(Position(names[index].prefix(20)))
            let journal = try Journal.openReadOnly(path).id
            let opened = try SegmentFile(JournalDirectory(path, FileStorage()), first: first, .read, journal: journal)
            return Int(try opened.footer()?.offset ?? opened.size)
        }

        func segment(_ index: Int) -> String { path + "/" + names[index] }

        /// Reads records one by one (by default one in three), then all, then random ranges, and
        /// compares them with the written ones.
        ///
        /// Returns the number of failed reads.
        func check(_ journal: Journal, _ place: @autoclosure () -> String, _ generator: inout SeededGenerator) -> Int {
            let last = Position(model.count)
            var ranges =
                Repetitions.oneIn(12, of: 1..<model.count + 1, place()).map { Position($0)...Position($0) } + [1...last]
            for _ in 0..<10 {
                let first = Position.random(in: 1...last, using: &generator)
                ranges.append(first...Position.random(in: first...last, using: &generator))
            }
            var failures = 0
            for range in ranges {
                var next = range.lowerBound
                do throws(ReadError<Never>) {
                    try journal.read(range) { position, state, kept, erasable in
                        if position != next
                            || model[Int(position) - 1]
                                != Entry(kept: kept.toArray(), erasable: erasable.toArray(), state: state)
                        {
                            Issue.record("unexpected record at \(position), expected \(next): \(place())")
                        }
                        next += 1
                    }
                    if next != range.upperBound + 1 {
                        Issue.record("reading \(range) ended before \(next) without an error: \(place())")
                    }
                } catch {
                    guard case .journal(let error) = error else { continue }
                    failures += 1
                    if ![.damaged, .ioFailed, .notFound].contains(error.code) { Issue.record("\(error): \(place())") }
                }
            }
            return failures
        }
    }

    /// Truncates each segment to many lengths through another descriptor, before or after the
    /// journal has read it; then restores it.
    @Test(arguments: [true, false]) func truncatedFileFailsReads(readBefore: Bool) throws {
        let specimen = try Specimen(seed: 1)
        var generator = SeededGenerator(2)
        #expect(specimen.names.count >= 4)
        for index in specimen.names.indices {
            let file = specimen.segment(index)
            let whole = try #require(FileManager.default.contents(atPath: file))
            let end = try specimen.end(ofRecordsIn: index)
            let other = try #require(FileHandle(forUpdatingAtPath: file))
            defer { other.closeFile() }
            let lengths =
                [0, 1, 127, 128, 129, 167, 168, end - 1, end, whole.count - 1]
                + (0..<12).map { _ in Int.random(in: 0..<whole.count, using: &generator) }
            for length in Repetitions.oneIn(16, of: lengths.indices).map({ lengths[$0] }) {
                let journal = try Journal.openReadOnly(specimen.path)
                if readBefore { #expect(specimen.check(journal, "whole", &generator) == 0) }
                other.truncateFile(atOffset: UInt64(length))
                let failures = specimen.check(journal, "segment \(index) cut to \(length)", &generator)
                #expect((failures > 0) == (length < end), "segment \(index) cut to \(length), records end at \(end)")
                // The file has its old length again, with zeros after the cut.
                other.truncateFile(atOffset: UInt64(whole.count))
                if length < end, whole[length..<end].contains(where: { $0 != 0 }) {
                    #expect(specimen.check(journal, "segment \(index) zero from \(length)", &generator) > 0)
                }
                other.seek(toFileOffset: UInt64(length))
                other.write(whole[length...])
                #expect(
                    specimen.check(journal, "segment \(index) whole again", &generator) == 0,
                    "a failed read can be retried")
            }
        }
    }

    /// Records that lie entirely before the cut remain readable one by one.
    @Test func recordsBeforeTruncationAreRead() throws {
        let specimen = try Specimen(seed: 3, commits: 4)
        let journal = try Journal.openReadOnly(specimen.path)
        let other = try #require(FileHandle(forUpdatingAtPath: specimen.segment(0)))
        defer { other.closeFile() }
        let size = other.seekToEndOfFile()
        var readable: Int?
        for length in stride(from: size, through: 0, by: -97) {
            other.truncateFile(atOffset: length)
            var count = 0
            while count < specimen.model.count,
                (try? journal.entries(Position(count + 1)...Position(count + 1))) == [specimen.model[count]]
            { count += 1 }
            #expect(count <= readable ?? specimen.model.count)
            readable = count
            // Reads after the first unreadable record fail too.
            for position in count..<specimen.model.count {
                #expect(
                    journalError { _ = try journal.entries(Position(position + 1)...Position(position + 1)) } != nil)
            }
        }
        #expect(readable == 0)
    }

    /// Truncates and restores a file repeatedly while threads read it.
    @Test func concurrentTruncationNeverCorruptsReads() throws {
        let specimen = try Specimen(seed: 4)
        let file = specimen.segment(1)
        let whole = try #require(FileManager.default.contents(atPath: file))
        let other = try #require(FileHandle(forUpdatingAtPath: file))
        defer { other.closeFile() }
        let journal = try Journal.openReadOnly(specimen.path)
        DispatchQueue.concurrentPerform(iterations: 3) { number in
            var generator = SeededGenerator(UInt64(number))
            for _ in 0..<40 {
                if number == 0 {
                    let length = Int.random(in: 0..<whole.count, using: &generator)
                    other.truncateFile(atOffset: UInt64(length))
                    other.seek(toFileOffset: UInt64(length))
                    other.write(whole[length...])
                } else {
                    _ = specimen.check(journal, "cut meanwhile", &generator)
                }
            }
        }
        var generator = SeededGenerator(5)
        #expect(specimen.check(journal, "whole again", &generator) == 0)
    }

    /// The file is removed or replaced before the reader opens it to read records.
    ///
    /// Reads fail or return the written bytes.
    @Test(arguments: ["removed", "of another journal", "of the same lengths", "of another segment", "a directory"])
    func replacedFileNeverCorruptsReads(by what: String) throws {
        let specimen = try Specimen(seed: 6)
        // The twin's records have the same lengths and other bytes, so that each offset holds a
        // decodable record.
        let twin = try Specimen(seed: 6)
        let other = what == "of another journal" ? try Specimen(seed: 8) : nil
        var generator = SeededGenerator(7)
        for readBefore in [false, true] {
            for index in Repetitions.oneIn(4, of: specimen.names.indices, "\(what), read before: \(readBefore)") {
                let file = specimen.segment(index)
                let whole = try #require(FileManager.default.contents(atPath: file))
                let journal = try Journal.openReadOnly(specimen.path)
                if readBefore { #expect(specimen.check(journal, "whole", &generator) == 0) }
                try FileManager.default.removeItem(atPath: file)
                switch what {
                case "of another journal":
                    let other = try #require(other)
                    try FileManager.default.copyItem(
                        atPath: other.segment(min(index, other.names.count - 1)), toPath: file)
                case "of the same lengths": try Self.rewrite(twin, index).write(to: URL(fileURLWithPath: file))
                case "of another segment":
                    let another = specimen.segment((index + 1) % specimen.names.count)
                    try FileManager.default.copyItem(atPath: another, toPath: file)
                case "a directory":
                    try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
                default: break
                }
                _ = specimen.check(journal, "segment \(index) \(what), read before: \(readBefore)", &generator)
                if FileManager.default.fileExists(atPath: file) { try FileManager.default.removeItem(atPath: file) }
                try whole.write(to: URL(fileURLWithPath: file))
                #expect(specimen.check(journal, "segment \(index) back again", &generator) == 0)
            }
        }
    }

    /// A segment of other records with the same lengths: all content differs, all checksums and the
    /// footer are valid.
    ///
    /// A diverged copy of the journal has such a segment.
    private static func rewrite(_ specimen: Specimen, _ index: Int) throws -> Data {
        var bytes = [UInt8](try #require(FileManager.default.contents(atPath: specimen.segment(index))))
        let end = bytes.count
        var header = try bytes.withBytes(0..<SegmentHeader.size) { (span) throws(SegmentHeader.Problem) in
            try SegmentHeader(decoding: span)
        }
        header.salt &+= 1
        bytes.storeBytes(header.encoded(), 0..<SegmentHeader.size, at: 0)
        var offset = SegmentHeader.size
        while offset < end {
            let length = Int(bytes.withBytes(0..<end) { $0.integer(at: offset, as: UInt32.self) })
            let count = bytes.withBytes(0..<end) { $0.integer(at: offset + 4, as: UInt32.self) }
            if length == 0 || count == 0 { break }
            var cursor = offset + CommitHeader.size
            while cursor < offset + length {
                guard case .record(let layout) = bytes.withBytes(0..<end, { RecordLayout.decode($0, at: cursor) })
                else { break }
                for place in layout.kept { bytes[cursor + place] ^= 0x55 }
                bytes.store(
                    bytes.withBytes((cursor + 4)..<(cursor + layout.length)) { CRC32C.checksum(of: $0) }, at: cursor)
                cursor += layout.length
            }
            offset += length
        }
        var sealer = CommitSealer(position: header.firstPosition, chain: header.chain)
        var commits = Array(bytes[SegmentHeader.size..<offset])
        _ = sealer.seal(&commits, seed: header.framingSeed)
        let segment = bytes[..<SegmentHeader.size] + commits
        let aside = MemoryStorage()
        aside.setContents(Array(segment), of: "aside/" + specimen.names[index])
        let opened = try SegmentFile(
            JournalDirectory("aside", aside), first: header.firstPosition, .read, journal: header.journal)
        var scan = SegmentScan(opened.segment, size: opened.size)
        try scan.run()
        return Data(segment + scan.segment.footer(scan.chain))
    }
}
