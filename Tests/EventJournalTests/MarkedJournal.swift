import ChatTesting
import Foundation
import Primitives
import StubRewriter
import Testing

@testable import EventJournal

/// Content that a search of files finds: each one has a number of its own.
enum MarkedContent {
    private static let tag = "<<content "

    /// Returns content that contains the number at its start and at its end.
    static func bytes(_ number: Int, padding: Int = 0) -> [UInt8] {
        let mark = "\(tag)\(1_000_000 + number)>>"
        return Array((mark + String(repeating: "x", count: padding) + mark).utf8)
    }

    /// Returns the numbers of all contents in some bytes, also of those of which a part is missing.
    static func numbers(in bytes: [UInt8]) -> Set<Int> {
        let data = Data(bytes)
        var found: Set<Int> = []
        var rest = data.startIndex..<data.endIndex
        while let place = data.range(of: Data(tag.utf8), in: rest) {
            let number = String(decoding: data[place.upperBound...].prefix(7), as: UTF8.self)
            found.insert(Int(number).map { $0 - 1_000_000 } ?? -1)
            rest = place.upperBound..<data.endIndex
        }
        return found
    }

    /// Returns the numbers of all contents in the files of a directory and its subdirectories.
    static func numbers(in directory: String, on storage: any JournalStorage) throws -> Set<Int> {
        var found: Set<Int> = []
        for name in try storage.list(directory) {
            let path = directory + "/" + name
            if try storage.kind(of: path) == .directory {
                found.formUnion(try numbers(in: path, on: storage))
            } else {
                found.formUnion(numbers(in: try storage.contents(of: path)))
            }
        }
        return found
    }
}

/// A journal of several small segments with marked content, and what its reads must deliver.
///
/// The content of the record at a position has the position as its number.
struct MarkedJournal {
    let path: String
    var options: JournalOptions
    var model: [Entry] = []
    let journal: Journal

    init(_ path: String, _ options: JournalOptions, seed: UInt64, commits: Int = 20, segmentSize: UInt64 = 2_048) throws
    {
        self.path = path
        self.options = options
        self.options.segmentSize = segmentSize
        self.options.entropy = SeededEntropy(seed: seed)
        journal = try Journal.open(path, options: self.options)
        var generator = SeededGenerator(seed)
        for _ in 0..<commits { try append(Int.random(in: 1...6, using: &generator), &generator) }
        try journal.waitUntilDurable(journal.lastPosition)
    }

    /// Appends a commit; some of its records have no content.
    mutating func append(_ count: Int, _ generator: inout SeededGenerator) throws {
        let entries = (0..<count).map { index in
            let hasContent = Int.random(in: 0..<5, using: &generator) > 0
            return Entry(
                kept: generator.bytes(Int.random(in: 0...30, using: &generator)),
                erasable: hasContent
                    ? MarkedContent.bytes(model.count + 1 + index, padding: Int.random(in: 0...80, using: &generator))
                    : [])
        }
        try journal.append(entries)
        model += entries
    }

    var all: ClosedRange<Position> { 1...Position(model.count) }

    /// Returns the entries after content was erased or hidden.
    func expected(without positions: PositionSet) -> [Entry] {
        model.enumerated().map { index, entry in
            entry.erasable.isEmpty || !positions.contains(Position(index + 1))
                ? entry : Entry(kept: entry.kept, erasable: [], state: .erased)
        }
    }

    /// Returns the positions whose content is left.
    func contentNumbers(without positions: PositionSet) -> Set<Int> {
        Set(
            model.indices.filter { !model[$0].erasable.isEmpty && !positions.contains(Position($0 + 1)) }.map { $0 + 1 }
        )
    }

    func segmentNames() throws -> [String] {
        try options.storage.list(path).filter { $0.hasSuffix(".segment") }.sorted()
    }

    /// Returns the stored records, commits and generation of each segment, by its first position.
    func stored() throws -> [Position: StoredRecords] {
        let directory = JournalDirectory(path, options.storage)
        return try Dictionary(
            uniqueKeysWithValues: segmentNames().map { name in
                let first = try #require(Position(name.prefix(20)))
                let file = try SegmentFile(directory, first: first, .read, journal: journal.id)
                var records = StoredRecords(generation: file.segment.header.generation)
                var reader = CommitReader(
                    file.segment, from: UInt64(SegmentHeader.size), position: first, chain: file.segment.header.chain,
                    end: file.size)
                if case .damaged(let problem) = try reader.read(&records) {
                    throw problem.error(in: name, of: directory)
                }
                return (first, records)
            })
    }

    /// Adds checkpoints and cut bytes with content.
    func addCopiesOfContent() throws {
        let storage = options.storage
        if try storage.kind(of: path + "/cut") == nil { try storage.createDirectory(path + "/cut") }
        for name in [
            "views.checkpoint", "people.00000000000000000003.checkpoint", "views.checkpoint.tmp", "cut/1-128.cut",
        ] {
            let file = try storage.open(path + "/" + name, .create)
            try MarkedContent.bytes(1).withBytes { (span) throws(StorageError) in try file.write(span, at: 0) }
        }
    }

    /// Checks the journal of the path in a reader and, after it was closed, in a new writer.
    func checkFiles(without erased: PositionSet, _ head: JournalHead, order: Position) throws {
        try Journal.verify(path, options: options) { Issue.record("\($0)") }
        let reader = try Journal.openReadOnly(path, options: options)
        #expect(try reader.entries() == expected(without: erased))
        #expect(reader.head == head && reader.erasedThrough == order)
        try reader.verify { Issue.record("\($0)") }
        #expect(try MarkedContent.numbers(in: path, on: options.storage) == contentNumbers(without: erased))
    }
}

/// The stored bytes of the records of a segment, and where its commits end.
struct StoredRecords: CommitVisitor, Equatable {
    var generation: UInt32
    var records: [[UInt8]] = []
    var commitEnds: [Position] = []

    init(generation: UInt32) { self.generation = generation }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    {
        records.append(bytes.toArray())
        return true
    }

    mutating func endCommit(_ header: CommitHeader, at offset: UInt64) { commitEnds.append(header.lastPosition) }
}

extension SeededGenerator {
    /// Returns random positions up to a last one: none, all, single ones, or ranges across
    /// segments.
    mutating func positions(through last: Position) -> PositionSet {
        switch Int.random(in: 0..<8, using: &self) {
        case 0: return PositionSet()
        case 1: return PositionSet([1...last])
        case 2: return PositionSet([last...last])
        case 3:
            let first = Position.random(in: 1...last, using: &self)
            return PositionSet([first...last])
        default:
            return PositionSet(
                (0..<Int.random(in: 1...4, using: &self)).map { _ in
                    let first = Position.random(in: 1...last, using: &self)
                    return first...min(last, first + Position.random(in: 0...12, using: &self))
                })
        }
    }
}

extension PositionSet {
    func union(_ other: PositionSet) -> PositionSet {
        var union = self
        union.formUnion(other)
        return union
    }
}
