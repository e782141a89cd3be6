import Chat
import ChatDomain
import EventJournal
import Foundation

/// Measures the workloads of `README.md`, each figure beside its floor in the same run.
@main
struct Program {
    var messages = 1_000_000
    var filter: String?
    var isJSON = false
    var directory: String?
    var repetitions = 5
    var isQuick = false
    /// Internal: the option of the process that writes a history (``history(of:in:)``).
    var writesOnly = false
    /// Internal: the option of the process that opens a copy (``ClientBenchmarks``).
    var openedCopy: String?
    var baseline: String?
    /// The program of another build to compare this one with (``Pairs``).
    var other: String?
    var pairs = 3
    var storesTree = true
    /// The address of a database for the workloads PG.
    var postgres: String?

    static func main() throws {
        // Internal: the process whose instructions are counted, on the main thread alone.
        if CommandLine.arguments.dropFirst() == ["--counted-acts"] { return try CountedActs().run() }
        // Detached, because an awaiting task would return to the main thread each time. The main
        // thread waits on a semaphore, because valgrind crashes when Dispatch parks it.
        Task.detached {
            do {
                var program = Program()
                try program.parse(Array(CommandLine.arguments.dropFirst()))
                exit(try await program.run() ? 0 : 1)
            } catch {
                printLine("Benchmarks: \(error)")
                exit(error is UsageError ? 64 : 1)
            }
        }
        DispatchSemaphore(value: 0).wait()
    }

    private mutating func parse(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--json": isJSON = true
            case "--write-only": writesOnly = true
            case "--open-copy": openedCopy = try value(of: argument, &rest)
            case "--without-tree": storesTree = false
            case "--quick": (messages, repetitions, isQuick) = (50_000, 3, true)
            case "--filter": filter = try value(of: argument, &rest)
            case "--directory": directory = try value(of: argument, &rest)
            case "--postgres": postgres = try value(of: argument, &rest)
            case "--baseline": baseline = try value(of: argument, &rest)
            case "--against": other = try value(of: argument, &rest)
            case "--pairs":
                guard let number = Int(try value(of: argument, &rest)), number >= 1 else {
                    throw UsageError("--pairs takes a number from 1")
                }
                pairs = number
            case "--messages":
                guard let number = Int(try value(of: argument, &rest).filter { $0 != "," }), number >= 1_000 else {
                    throw UsageError("--messages takes a number of at least 1,000")
                }
                messages = number
            default:
                throw UsageError(
                    """
                    Unknown option \(argument). The options are --messages N, --quick, --filter WORKLOAD, --json, --baseline FILE (the JSON \
                    of an earlier run), --against PROGRAM (of another build) with --pairs N, --directory DIR (where the history is kept), \
                    --without-tree (for W1 to W4) and, with the trait Postgres, --postgres ADDRESS (only the workloads PG, in this database).
                    """)
            }
        }
    }

    private func value(of argument: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw UsageError("\(argument) takes a value") }
        return value
    }

    /// Runs the benchmarks.
    ///
    /// - Returns: Whether no figure is worse than the baseline.
    private func run() async throws -> Bool {
        #if Client || canImport(SQLite3)
            if let openedCopy {
                try ClientBenchmarks.open(openedCopy)
                return true
            }
        #endif
        let temporary = FileManager.default.temporaryDirectory.appending(path: "chat-journal-\(UUID().uuidString)")
            .path()
        let directory = directory ?? temporary
        if writesOnly {
            try WrittenHistory.write(to: path(of: messages, in: directory), messages: messages)
            return true
        }
        defer { if self.directory == nil { discard(temporary) } }
        try makeDirectory(directory)
        if let other {
            guard baseline == nil else { throw UsageError("--against and --baseline exclude each other") }
            try Pairs(
                program: CommandLine.arguments[0], other: other, count: pairs, isJSON: isJSON, directory: directory
            )
            .run(measurementArguments)
            return true
        }
        let baseline = try baseline.map(Baseline.init)
        var report = Report(isJSON: isJSON, filter: filter)
        report.describeMachine()
        try await measure(&report, in: directory)
        report.finish()
        guard let baseline else { return true }
        return try await compare(report, with: baseline, in: directory)
    }

    /// The arguments with which another process measures the same.
    private var measurementArguments: [String] {
        (isQuick ? ["--quick"] : []) + ["--messages", "\(messages)"] + (filter.map { ["--filter", $0] } ?? [])
            + (storesTree ? [] : ["--without-tree"]) + (postgres.map { ["--postgres", $0] } ?? [])
    }

    private func measure(_ report: inout Report, in directory: String) async throws {
        if let postgres {
            #if Postgres
                return try await PostgresBenchmarks(
                    address: postgres, directory: "\(directory)/writing", messages: messages, repetitions: repetitions,
                    isQuick: isQuick
                ).run(&report)
            #else
                throw UsageError("--postgres \(postgres) needs a build with --traits Postgres")
            #endif
        }
        try await measureJournal(&report, in: directory)
    }

    private func measureJournal(_ report: inout Report, in directory: String) async throws {
        // First, while this process has no freed memory to reuse: M measures resident memory.
        if ReadModelBenchmarks.workloads.contains(where: report.wants) {
            try ReadModelBenchmarks(history: try history(of: messages, in: directory), repetitions: repetitions).run(
                &report)
        }
        if report.wants("R1") {
            try ReplayBenchmarks(history: try history(of: messages, in: directory), repetitions: repetitions).run(
                &report)
        }
        try TreeBenchmarks(messages: messages, repetitions: repetitions) { length in
            try history(of: length, in: directory)
        }.run(&report)
        let writing = "\(directory)/writing"
        try await WriteBenchmarks(
            directory: writing, messages: messages, repetitions: repetitions, isQuick: isQuick, storesTree: storesTree
        ).run(&report)
        try CountBenchmarks(directory: writing).run(&report)
        try InstructionBenchmarks(directory: writing).run(&report)
        #if PeerBenchmarks
            try SQLiteReading(
                directory: writing, history: { try self.history(of: messages, in: directory) }, messages: messages,
                repetitions: repetitions
            ).run(&report)
        #endif
        let scale = ScaleBenchmarks(directory: writing, messages: messages, repetitions: repetitions) { length in
            try history(of: length, in: directory)
        }
        try await scale.run(&report)
        try WaitBenchmarks(directory: directory, messages: messages, repetitions: repetitions, isQuick: isQuick).run(
            &report)
        if report.wants("P") {
            let history = try history(of: messages, in: directory)
            try ProjectionBenchmarks(history: history, directory: writing, repetitions: repetitions).run(&report)
        }
        #if Client || canImport(SQLite3)
            try ClientBenchmarks(directory: writing, repetitions: repetitions).run(&report)
        #endif
        try await CatchUpBenchmarks(directory: writing, repetitions: repetitions).run(&report)
        // F is too long for a quick run, unless a filter selects it.
        if !isQuick || filter != nil { try await FollowerBenchmarks(directory: directory).run(&report) }
    }

    /// Compares a run with the baseline.
    ///
    /// A noisy figure below the baseline is measured up to two more times; the best run counts.
    private func compare(_ report: Report, with baseline: Baseline, in directory: String) async throws -> Bool {
        var figures = report.figures
        var regressions = baseline.regressions(of: figures, wants: report.wants)
        for _ in 0..<2 {
            for workload in Set(regressions.filter(\.isNoisy).map { $0.workload.prefix { $0 != " " } }) {
                var again = Report(isJSON: isJSON, filter: String(workload))
                try await measure(&again, in: directory)
                again.finish()
                figures += again.figures
            }
            regressions = baseline.regressions(of: figures, wants: report.wants)
        }
        baseline.describeToolchains(of: figures)
        for regression in regressions { printError("worse than the baseline: \(regression)") }
        return regressions.isEmpty
    }

    private func path(of messages: Int, in directory: String) -> String { "\(directory)/history-\(messages)" }

    /// Returns the history with a number of messages; writes it first if it does not exist.
    ///
    /// Another process writes it, so that the memory of writing is not counted as that of reading.
    private func history(of messages: Int, in directory: String) throws -> WrittenHistory {
        let path = path(of: messages, in: directory)
        if !FileManager.default.fileExists(atPath: path) {
            let writer = Process()
            writer.executableURL = URL(filePath: CommandLine.arguments[0])
            writer.arguments = ["--write-only", "--messages", "\(messages)", "--directory", directory]
            try writer.run()
            writer.waitUntilExit()
            guard writer.terminationStatus == 0 else { throw UsageError("the history could not be written to \(path)") }
        }
        return try WrittenHistory(at: path, messages: messages)
    }
}

/// An invalid command line, or a measurement that could not be made.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
