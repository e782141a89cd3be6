import Chat
import ChatDomain
import EventJournal
import Foundation

/// Measures what `README.md` beside this file lists, each figure beside its floor in the same run.
@main
struct Program {
    var messages = 1_000_000
    var filter: String?
    var isJSON = false
    var directory: String?
    var repetitions = 5
    var isQuick = false
    var writesOnly = false
    var baseline: String?

    static func main() {
        // Away from the main thread, on which a task that awaits would come back each time; and that waits here, because valgrind dies of how Dispatch would park it.
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
            case "--quick": (messages, repetitions, isQuick) = (50_000, 3, true)
            case "--filter": filter = try value(of: argument, &rest)
            case "--directory": directory = try value(of: argument, &rest)
            case "--baseline": baseline = try value(of: argument, &rest)
            case "--messages":
                guard let number = Int(try value(of: argument, &rest).filter { $0 != "," }), number >= 1_000 else {
                    throw UsageError("--messages takes a number from 1,000 on")
                }
                messages = number
            default:
                throw UsageError(
                    """
                    \(argument) is unknown; there are --messages N, --quick, --filter WORKLOAD, --json, --baseline FILE, what an earlier run printed \
                    as JSON, and --directory DIR, where the history is kept
                    """)
            }
        }
    }

    private func value(of argument: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let value = rest.popFirst() else { throw UsageError("\(argument) takes a value") }
        return value
    }

    /// Measures; false when a figure is below its baseline.
    private func run() async throws -> Bool {
        let temporary = FileManager.default.temporaryDirectory.appending(path: "chat-journal-\(UUID().uuidString)").path()
        let directory = directory ?? temporary
        if writesOnly {
            try WrittenHistory.write(to: path(of: messages, in: directory), messages: messages)
            return true
        }
        defer { if self.directory == nil { discard(temporary) } }
        try makeDirectory(directory)
        let baseline = try baseline.map(Baseline.init)
        var report = Report(isJSON: isJSON, filter: filter)
        report.describeMachine()
        try await measure(&report, in: directory)
        report.finish()
        guard let baseline else { return true }
        return try await compare(report, with: baseline, in: directory)
    }

    private func measure(_ report: inout Report, in directory: String) async throws {
        // First, while this process holds no memory that it could use again.
        if ReadModelBenchmarks.workloads.contains(where: report.wants) {
            try ReadModelBenchmarks(history: try history(of: messages, in: directory), repetitions: repetitions).run(&report)
        }
        if report.wants("R1") {
            try ReplayBenchmarks(history: try history(of: messages, in: directory), repetitions: repetitions).run(&report)
        }
        let writing = "\(directory)/writing"
        try await WriteBenchmarks(directory: writing, messages: messages, repetitions: repetitions, isQuick: isQuick).run(&report)
        try CountBenchmarks(directory: writing).run(&report)
        #if PeerBenchmarks
            try SQLiteReading(
                directory: writing, history: { try self.history(of: messages, in: directory) }, messages: messages, repetitions: repetitions
            ).run(&report)
        #endif
        let scale = ScaleBenchmarks(directory: writing, messages: messages, repetitions: repetitions) { length in
            try history(of: length, in: directory)
        }
        try await scale.run(&report)
        try WaitBenchmarks(directory: directory, messages: messages, repetitions: repetitions, isQuick: isQuick).run(&report)
        // Two minutes alone.
        if !isQuick || filter != nil { try await FollowerBenchmarks(directory: directory).run(&report) }
    }

    /// Compares a run with an earlier one; what is below is measured again, because a machine may have had something else to do, and the better one counts.
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
        for regression in regressions { FileHandle.standardError.write(Data("below the baseline: \(regression)\n".utf8)) }
        return regressions.isEmpty
    }

    private func path(of messages: Int, in directory: String) -> String { "\(directory)/history-\(messages)" }

    /// The history of so many messages, written first if it is not there: by another process, so that the memory of the writing is not taken for that of the
    /// reading.
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

/// A command line that is not understood.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
