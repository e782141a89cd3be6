import ChatTesting
import EventJournal
import Foundation
import TestSupport
import Testing

/// Power failures at every operation of a journal that erases content: no record is lost, no other
/// content is lost, and the content of a finished erasure is in no file.
@Suite struct EraseCrashTests {
    @Test(arguments: [1, 2] as [UInt64]) func erasuresSurvivePowerCuts(seed: UInt64) throws {
        var explorer = EraseLife.explorer(seed: seed, rounds: 2)
        explorer.exhaustiveLimit = 4
        explorer.outcomesPerCrash = 6
        try explorer.check(atLeast: 500)
    }

    /// The number of states of the long runs of erasures and of the tree; nil without one.
    static let longRun = ProcessInfo.processInfo.environment["CHATJOURNAL_ERASURE_STATES"].flatMap { Int($0) }
    /// A failed path of the long run replays without `CHATJOURNAL_ERASURE_STATES`.
    static let isLongRun = longRun != nil || CrashPath.isRequested

    /// A quarter of the states; the others are those of `TreeCrashTests` and, at a store, of
    /// `EraseSeriesTests`.
    @Test(.enabled(if: isLongRun, "set CHATJOURNAL_ERASURE_STATES")) func erasuresSurvivePowerCutsInLongRun() throws {
        var series = CrashSeries { seed in
            var explorer = EraseLife.explorer(seed: seed, rounds: 4)
            explorer.exhaustiveLimit = 16
            explorer.outcomesPerCrash = 16
            explorer.crashesAfterKill = 4
            return explorer
        }
        let report = try series.run(states: (Self.longRun ?? 0) / 4)
        if report.isReplay {
            report.printReplay()
        } else {
            print("\(report); seeds below \(series.nextSeed)")
        }
        if !report.failures.isEmpty { Issue.record("\(report)") }
    }
}

/// The records of a journal, and which of them an erasure has named.
struct EraseModel: Sendable {
    /// The numbers of the contents of each commit; nil for a record without content.
    var commits: [[Int?]] = []
    /// The number of commits that must survive.
    var promised = 0
    /// The number of contents so far; no number is used again.
    var contentCount = 0
    /// The positions that each erasure names, finished or not; the last one may be in progress.
    var orders: [Set<Position>] = []
    /// The positions of which an erasure has returned.
    var erased: Set<Position> = []
    var exists = false

    /// The numbers of all contents up to the end of some commits.
    func contents(_ commits: Int) -> [Int?] { Array(self.commits.prefix(commits).joined()) }

    func options(_ disk: SimulatedDisk) -> JournalOptions {
        JournalOptions(
            segmentSize: 1024, storage: disk, entropy: SeededEntropy(seed: UInt64(commits.count)), slotSyncDelay: nil)
    }

    static func content(_ number: Int) -> [UInt8] {
        Array("<content \(1_000_000 + number)>".utf8)
            + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: number * 37 % 150)
    }
}

/// A journal that appends and erases.
enum EraseLife {
    static func explorer(seed: UInt64, rounds: Int) -> CrashExplorer<EraseModel> {
        var explorer = CrashExplorer("erase-\(rounds)-\(seed)", model: EraseModel()) { disk, recorder in
            var random = SeededRandom(seed: seed)
            let journal = try open(disk, recorder)
            for _ in 1...rounds {
                for _ in 0..<Int.random(in: 2...5, using: &random) {
                    try append(journal, recorder, &random, waits: random.oneIn(2))
                }
                try erase(randomPositions(journal, &random), in: journal, recorder)
            }
            try append(journal, recorder, &random, waits: false)
            try journal.close()
            recorder.update { $0.promised = $0.commits.count }
        } recovery: { disk, recorder in
            try recover(disk, recorder)
        }
        explorer.seed = seed
        explorer.crashesAfterKill = 2
        return explorer
    }

    private static func randomPositions(_ journal: Journal, _ random: inout SeededRandom) -> PositionSet {
        let last = journal.lastPosition
        return PositionSet(
            (0..<3).map { _ in
                let first = Position.random(in: 1...last, using: &random)
                return first...min(last, first + Position.random(in: 0...2, using: &random))
            })
    }

    /// Opens the journal for writing; its records then survive the next power failure.
    private static func open(_ disk: SimulatedDisk, _ recorder: CrashRecorder<EraseModel>) throws -> Journal {
        let journal = try Journal.open("journal", options: recorder.model.options(disk))
        let count = try check(journal, recorder.model)
        recorder.update { model in
            model.commits = Array(model.commits.prefix(count))
            (model.promised, model.exists) = (count, true)
        }
        return journal
    }

    private static func append(
        _ journal: Journal, _ recorder: CrashRecorder<EraseModel>, _ random: inout SeededRandom, waits: Bool
    ) throws {
        var draft = CommitDraft()
        var numbers: [Int?] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let number = random.oneIn(5) ? nil : recorder.model.contentCount
            recorder.update { $0.contentCount += 1 }
            numbers.append(number)
            let content = number.map(EraseModel.content) ?? []
            // Integers have no padding, which is what makes `bytes` unsafe for other elements.
            try draft.append(kept: unsafe [UInt8(numbers.count)].span.bytes, erasable: unsafe content.span.bytes)
        }
        recorder.update { $0.commits.append(numbers) }
        let positions = try journal.append(draft, expecting: journal.lastPosition)
        if waits {
            try journal.waitUntilDurable(positions.upperBound)
            recorder.update { $0.promised = $0.commits.count }
        }
    }

    private static func erase(_ positions: PositionSet, in journal: Journal, _ recorder: CrashRecorder<EraseModel>)
        throws
    {
        let all = positions.ranges.flatMap { Array($0) }
        recorder.update { $0.orders.append(Set(all)) }
        try journal.eraseContent(of: positions, orderedThrough: Position(recorder.model.orders.count))
        recorder.update { model in
            model.erased.formUnion(all)
            model.promised = model.commits.count
        }
        _ = try check(journal, recorder.model)
    }

    /// Checks the files, recovers, repeats all erasures, appends and closes.
    private static func recover(_ disk: SimulatedDisk, _ recorder: CrashRecorder<EraseModel>) throws {
        try checkContents(disk, recorder.model)
        if try !checkReader(disk, recorder.model) && recorder.model.exists { throw Surprise("the journal is missing") }
        let journal = try open(disk, recorder)
        // A crash can have removed unsynced records that an erasure was about to name.
        let last = journal.lastPosition
        recorder.update { $0.orders = $0.orders.map { order in order.filter { $0 <= last } } }
        var findings: [JournalFinding] = []
        try journal.verify { findings.append($0) }
        if !findings.isEmpty { throw Surprise("verify: \(findings)") }
        var random = SeededRandom(seed: UInt64(recorder.model.contentCount))
        try append(journal, recorder, &random, waits: random.oneIn(2))
        try erase(
            PositionSet(recorder.model.orders.joined().map { $0...$0 } + [last + 1...last + 1]), in: journal, recorder)
        try append(journal, recorder, &random, waits: false)
        try journal.close()
        recorder.update { $0.promised = $0.commits.count }
        try checkContents(disk, recorder.model)
        _ = try checkReader(disk, recorder.model)
    }

    /// Opens and checks the journal as a reader; false if no journal exists.
    private static func checkReader(_ disk: SimulatedDisk, _ model: EraseModel) throws -> Bool {
        do throws(JournalError) {
            let journal = try Journal.openReadOnly("journal", options: model.options(disk))
            do { _ = try check(journal, model) } catch { throw JournalError(.conflict, "\(error)") }
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// Checks the records and returns the number of commits.
    private static func check(_ journal: Journal, _ model: EraseModel) throws -> Int {
        let last = Int(journal.lastPosition)
        guard let count = (0...model.commits.count).first(where: { model.contents($0).count == last }) else {
            throw Surprise("the \(last) records do not end at a commit")
        }
        if count < model.promised { throw Surprise("\(count) commits remain of \(model.promised) promised") }
        guard (journal.erasedThrough ?? 0) <= model.orders.count else {
            throw Surprise("erased through \((journal.erasedThrough ?? 0))")
        }
        // The note must not promise more than the files.
        let erased = model.erased.union(model.orders.prefix(Int((journal.erasedThrough ?? 0))).joined())
        let named = Set(model.orders.joined())
        if last == 0 { return count }
        let contents = model.contents(count)
        try journal.read(1...journal.lastPosition) { (position, state, kept, erasable) throws(Surprise) in
            let content = contents[Int(position) - 1].map(EraseModel.content) ?? []
            let isErased = state == .erased && erasable.isEmpty && !content.isEmpty && named.contains(position)
            let isWhole = state == .whole && erasable.equals(content) && (content.isEmpty || !erased.contains(position))
            guard isErased || isWhole, kept.byteCount == 1 else { throw Surprise("record \(position) is \(state)") }
        }
        return count
    }

    /// Throws if a file has the content of an erasure that has returned.
    private static func checkContents(_ disk: SimulatedDisk, _ model: EraseModel) throws {
        let contents = model.contents(model.commits.count)
        let erased = Set(model.erased.compactMap { contents[Int($0) - 1] })
        if erased.isEmpty { return }
        for path in try files(of: "journal", disk) {
            let data = Data(try disk.bytes(of: path) ?? [])
            var rest = data.startIndex..<data.endIndex
            while let place = data.range(of: Data("<content ".utf8), in: rest) {
                let number = Int(String(decoding: data[place.upperBound...].prefix(7), as: UTF8.self)).map {
                    $0 - 1_000_000
                }
                if let number, erased.contains(number) { throw Surprise("\(path) has the erased content \(number)") }
                rest = place.upperBound..<data.endIndex
            }
        }
    }

    private static func files(of directory: String, _ disk: SimulatedDisk) throws -> [String] {
        guard try disk.kind(of: directory) != nil else { return [] }
        return try disk.list(directory).flatMap { name in
            let path = directory + "/" + name
            return try disk.kind(of: path) == .directory ? try files(of: path, disk) : [path]
        }
    }
}
