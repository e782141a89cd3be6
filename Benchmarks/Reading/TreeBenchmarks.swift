import Chat
import EventJournal
import Foundation

/// Measures the Merkle tree in histories of 10,000 messages, ten times as many, and so on: the
/// building of the tree file, and heads and proofs with the file and without.
struct TreeBenchmarks {
    static let workload = "tree"

    let messages: Int
    let repetitions: Int
    /// Returns the history with a number of messages; writes it first if it does not exist.
    let history: (Int) throws -> WrittenHistory

    func run(_ report: inout Report) throws {
        guard report.wants(Self.workload) else { return }
        for length in [10_000, 100_000, 1_000_000, 10_000_000].filter({ $0 < messages }) + [messages] {
            try measure(try history(length), &report)
        }
    }

    private func measure(_ history: WrittenHistory, _ report: inout Report) throws {
        let tree = history.path + "/tree"
        let options = WrittenHistory.options.journal
        func add(_ name: String, _ value: Double, _ unit: String, _ spread: Double? = nil) throws {
            try report.add(
                Figure(
                    workload: "\(Self.workload) \(name) at \(history.messages)", subject: "Journal", value: value,
                    unit: unit,
                    spread: spread))
        }
        var build = Median()
        var records = 0.0
        for _ in 0..<repetitions {
            discard(tree)
            // From the job's start to its end.
            let journal = try Journal.open(history.path, options: options)
            records = Double(journal.durablePosition / 65_536 * 65_536)
            let size = 32 + Int(journal.durablePosition / 65_536) * 8_212
            build.add(try seconds { while records > 0, try byteCount(of: tree) < size { usleep(200) } })
            try journal.close()
        }
        if records > 0 { try add("build", records / build.value, "events/s", build.spread) }
        for hasFile in [true, false] {
            // A journal without a page has no file.
            if !hasFile { discard(tree) }
            let name = hasFile ? "with file" : "without file"
            var (head, inclusion, consistency) = (Median(), Median(), Median())
            for number in 0..<(hasFile ? 5 * repetitions : repetitions) {
                func first(_ work: (Journal, Position) throws -> Void) throws -> Double {
                    let journal = try Journal.openReadOnly(history.path, options: options)
                    let last = journal.durablePosition
                    return try seconds { try work(journal, last) }
                }
                let share = 3 + UInt64(number)
                head.add(try first { journal, last in _ = try journal.treeHead(at: last) })
                inclusion.add(try first { journal, last in _ = try journal.inclusionProof(of: last / share, at: last) })
                consistency.add(
                    try first { journal, last in _ = try journal.consistencyProof(from: last / share, at: last) })
            }
            try add("first head \(name)", head.value * 1e6, "us", head.spread)
            try add("first inclusion \(name)", inclusion.value * 1e6, "us", inclusion.spread)
            try add("first consistency \(name)", consistency.value * 1e6, "us", consistency.spread)
        }
        try measureLater(history, options, add)
    }

    /// Random heads and proofs in a journal object that has the hashes in memory.
    private func measureLater(
        _ history: WrittenHistory, _ options: JournalOptions, _ add: (String, Double, String, Double?) throws -> Void
    ) throws {
        let journal = try Journal.openReadOnly(history.path, options: options)
        let (last, count) = (journal.durablePosition, 1_000)
        _ = try journal.treeHead()
        var random = SplitMix(state: 1)
        let sizes = (0..<count).map { _ in 1 + random.next() % last }
        let positions = sizes.map { 1 + random.next() % $0 }
        func each(_ work: (Int) throws -> Void) throws -> Double {
            try seconds { for index in 0..<count { try work(index) } } / Double(count) * 1e6
        }
        var (inclusionBytes, consistencyBytes) = (0, 0)
        try add("later head", try each { _ = try journal.treeHead(at: sizes[$0]) }, "us", nil)
        try add(
            "later inclusion",
            try each { inclusionBytes += try journal.inclusionProof(of: positions[$0], at: sizes[$0]).text.utf8.count },
            "us",
            nil)
        try add(
            "later consistency",
            try each {
                consistencyBytes += try journal.consistencyProof(from: positions[$0], at: sizes[$0]).text.utf8.count
            }, "us", nil)
        let head = try journal.treeHead()
        try add("bytes of a checkpoint", Double(head.text.utf8.count), "bytes", nil)
        try add("bytes of an inclusion proof", Double(inclusionBytes) / Double(count), "bytes", nil)
        try add("bytes of a consistency proof", Double(consistencyBytes) / Double(count), "bytes", nil)
        try journal.close()
    }

    private func byteCount(of path: String) throws -> Int {
        guard FileManager.default.fileExists(atPath: path) else { return 0 }
        return try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    }
}
