import ChatTesting
import EventJournal
import Testing

/// Runs the explorer on a small correct program and on variants with a bug.
@Suite struct CrashExplorerTests {
    /// The possible bugs of a program that stores one number in a file.
    enum Mistake: CaseIterable {
        case none, fileNotSynced, directoryNotSynced, writtenInPlace, acknowledgedTooEarly
    }

    /// A number stored in two sectors of a file.
    ///
    /// A store writes a temporary file and renames it.
    struct Counter: Sendable {
        var begun: UInt8 = 0
        var acknowledged: UInt8 = 0
    }

    static func explorer(_ mistake: Mistake, name: String? = nil) -> CrashExplorer<Counter> {
        CrashExplorer(name ?? "counter-\(mistake)", model: Counter()) { disk, recorder in
            for value in 1...3 as ClosedRange<UInt8> { try store(value, mistake, disk, recorder) }
        } recovery: { disk, recorder in
            let bytes = try disk.sectors(of: "number") ?? [0, 0]
            let model = recorder.model
            guard bytes.count == 2, bytes[0] == bytes[1] else { throw Surprise("half a number: \(bytes)") }
            guard (model.acknowledged...model.begun).contains(bytes[0]) else {
                throw Surprise("\(bytes[0]), not \(model)")
            }
            // A delivered value must survive later crashes.
            try disk.syncDirectory("/")
            recorder.update { $0 = Counter(begun: bytes[0], acknowledged: bytes[0]) }
            try store(bytes[0] + 1, mistake, disk, recorder)
        }
    }

    static func store(_ value: UInt8, _ mistake: Mistake, _ disk: SimulatedDisk, _ recorder: CrashRecorder<Counter>)
        throws
    {
        recorder.update { $0.begun = value }
        let path = mistake == .writtenInPlace ? "number" : "number.tmp"
        let file = try mistake == .writtenInPlace ? disk.existing(path) : disk.open(path, .create)
        let bytes = [UInt8](repeating: value, count: 1024)
        try file.write(unsafe bytes.span.bytes, at: 0)
        if mistake == .acknowledgedTooEarly { recorder.update { $0.acknowledged = value } }
        if mistake != .fileNotSynced { try file.sync() }
        if mistake != .writtenInPlace { try disk.rename(path, to: "number") }
        if mistake != .directoryNotSynced { try disk.syncDirectory("/") }
        recorder.update { $0.acknowledged = value }
    }

    @Test(arguments: Mistake.allCases) func findsBugsWithoutFalseAlarms(_ mistake: Mistake) throws {
        var explorer = Self.explorer(mistake)
        explorer.crashesInRecovery = 4
        let report = try explorer.run()
        if report.isReplay { return }
        #expect(report.failures.isEmpty == (mistake == .none), "\(report)")
        if mistake == .none {
            #expect(report.crashPoints > 10 && report.states > 100 && report.statesInRecovery > 80, "\(report)")
        }
    }

    @Test func failureReplays() throws {
        var explorer = Self.explorer(.directoryNotSynced)
        explorer.crashesInRecovery = 4
        let report = try explorer.run()
        if report.isReplay { return }
        for failure in report.failures {
            let path = try #require(CrashPath("\(failure.path)"))
            #expect(path == failure.path)
            #expect(try explorer.replay(path).failures == [failure])
        }
        #expect(!report.failures.isEmpty)
    }

    /// A bug that only some seeds have, so that a series finds it after explorers without failures.
    static func series() -> CrashSeries<Counter> {
        CrashSeries { seed in
            var explorer = Self.explorer(seed % 4 == 3 ? .directoryNotSynced : .none, name: "series-\(seed)")
            explorer.crashesInRecovery = 2
            explorer.seed = seed
            return explorer
        }
    }

    @Test func failureOfSeriesReplays() throws {
        var series = Self.series()
        let report = try series.run(states: .max)
        if report.isReplay { return }
        #expect(series.nextSeed == 104 && !report.failures.isEmpty, "\(report)")
        for failure in report.failures {
            let path = try #require(CrashPath("\(failure.path)"))
            // Replays in a series that has not explored any state yet.
            #expect(try Self.series().replay(path)?.failures == [failure])
        }
        for text in ["series/1:", "other-103/1:", "series-x/1:", "series-0103/1:"] {
            #expect(try series.replay(try #require(CrashPath(text))) == nil, "\(text)")
        }
    }

    @Test(arguments: ["counter/999:1", "counter/3:2.2", "counter/3:7>1:"]) func unknownPathIsRejected(_ text: String)
        throws
    {
        let path = try #require(CrashPath(text))
        #expect(throws: CrashReplayError.self) { try Self.explorer(.none).replay(path) }
    }

    @Test(arguments: ["", "a", "a/", "a/1", "a/x:1", "a/1:1.", "a/1:1>", "a/1:1.x", "a/1:1:1", "a/1:kil", "a/1:kill.1"])
    func invalidPathTextIsRejected(_ text: String) {
        #expect(CrashPath(text) == nil)
    }

    @Test(arguments: ["a/1:", "a/4:kill>5:1", "append synced/b/41:0.1.12>7:1.0>3:"]) func pathsRoundTripAsText(
        _ text: String
    ) {
        #expect(CrashPath(text)?.description == text)
    }

    @Test func outcomesAreDistinctAndIncludeExtremes() throws {
        var seen: [String: Int] = [:]
        var explorer = CrashExplorer("sectors", model: 0) { disk, _ in
            _ = try disk.open("a", .create)
            try disk.syncDirectory("/")
            try disk.truncate("a", to: 4096)
            try disk.sync("a")
            try disk.write(1, sectors: 0..<8, to: "a")
        } recovery: { disk, recorder in
            let sectors = try disk.sectors(of: "a").map { $0.map(String.init).joined() } ?? "-"
            recorder.update { $0 += 1 }
            seen[sectors, default: 0] += 1
        }
        explorer.crashesInRecovery = 0
        if try explorer.run().isReplay { return }
        let whole = seen.filter { $0.key.count == 8 }
        #expect(whole.count == 256)
        explorer.exhaustiveLimit = 255
        explorer.outcomesPerCrash = 20
        seen = [:]
        let report = try explorer.run()
        #expect(seen["11111111"] == 1 && seen["10000000"] == 1 && seen["11110111"] == 1, "\(report)")
        #expect(seen.filter { $0.key.count == 8 && $0.key != "00000000" }.count == 19, "\(seen)")
    }
}
