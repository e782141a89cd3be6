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

    static func main() async {
        do {
            var program = Program()
            try program.parse(Array(CommandLine.arguments.dropFirst()))
            try await program.run()
        } catch {
            print("Benchmarks: \(error)")
            exit(error is UsageError ? 64 : 1)
        }
    }

    private mutating func parse(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--json": isJSON = true
            case "--write-only": writesOnly = true
            case "--quick": (messages, repetitions, isQuick) = (50_000, 3, true)
            case "--filter": filter = rest.popFirst()
            case "--directory": directory = rest.popFirst()
            case "--messages":
                guard let text = rest.popFirst(), let number = Int(text.filter { $0 != "," }), number >= 1_000 else {
                    throw UsageError("--messages takes a number from 1,000 on")
                }
                messages = number
            default:
                throw UsageError(
                    "\(argument) is unknown; there are --messages N, --quick, --filter WORKLOAD, --json, and --directory DIR, where the history is kept"
                )
            }
        }
    }

    private func run() async throws {
        let temporary = FileManager.default.temporaryDirectory.appending(path: "chat-journal-\(UUID().uuidString)").path()
        let path = "\(directory ?? temporary)/history-\(messages)"
        if writesOnly { return try WrittenHistory.write(to: path, messages: messages) }
        defer { if directory == nil { remove(temporary) } }
        var report = Report(isJSON: isJSON, filter: filter)
        report.describeMachine()
        try await WriteBenchmarks(
            directory: "\(directory ?? temporary)/writing", messages: messages, repetitions: repetitions, isQuick: isQuick
        ).run(
            &report)
        if !isQuick || filter != nil { try await FollowerBenchmarks(directory: directory ?? temporary).run(&report) }
        guard ReadModelBenchmarks.workloads.contains(where: report.wants) else { return report.finish() }
        // By another process, so that the memory of the writing is not taken for that of the reading.
        try writeHistory(in: directory ?? temporary, path)
        try ReadModelBenchmarks(history: try WrittenHistory(at: path, messages: messages), repetitions: repetitions).run(&report)
        report.finish()
    }

    private func writeHistory(in directory: String, _ path: String) throws {
        if FileManager.default.fileExists(atPath: path) { return }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let writer = Process()
        writer.executableURL = URL(filePath: CommandLine.arguments[0])
        writer.arguments = ["--write-only", "--messages", "\(messages)", "--directory", directory]
        try writer.run()
        writer.waitUntilExit()
        guard writer.terminationStatus == 0 else { throw UsageError("the history could not be written to \(path)") }
    }

    private func remove(_ path: String) {
        do { try FileManager.default.removeItem(atPath: path) } catch { print("left behind: \(path): \(error)") }
    }
}

/// A command line that is not understood.
struct UsageError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
