import Foundation
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Runs the tool as a process with arguments, input, output and an exit status.
struct ToolProcess {
    /// A folder for one test, removed with this object.
    final class Folder {
        let path: String

        init() throws {
            path = NSTemporaryDirectory() + "chat-journal-tool-" + UUID().uuidString
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }

        deinit {
            // The system cleans up a temporary folder that cannot be removed.
            try? FileManager.default.removeItem(atPath: path)
        }

        func file(_ name: String, _ contents: some DataProtocol) throws -> String {
            try Data(contents).write(to: URL(fileURLWithPath: path + "/" + name))
            return path + "/" + name
        }

        func file(_ name: String, _ text: String) throws -> String { try file(name, Data(text.utf8)) }
    }

    struct Outcome: Equatable {
        let status: Int32
        let output: String
        let error: String

        var lines: [String] { output.utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) } }
    }

    /// The executable beside the test bundle.
    static let executable: URL = {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let folder =
            bundle?.deletingLastPathComponent()
            ?? URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        return folder.appendingPathComponent("chat-journal")
    }()

    /// Runs the tool; its output goes to files, because a pipe can fill.
    static func run(_ arguments: [String], input: String = "", inputBytes: [UInt8]? = nil) throws -> Outcome {
        try run(executable, arguments, input: input, inputBytes: inputBytes)
    }

    /// Runs a shell script with arguments `$1` and so on.
    static func shell(_ script: String, _ arguments: [String]) throws -> Outcome {
        try run(URL(fileURLWithPath: "/bin/sh"), ["-c", script, "sh"] + arguments)
    }

    private static func run(_ executable: URL, _ arguments: [String], input: String = "", inputBytes: [UInt8]? = nil)
        throws -> Outcome
    {
        let folder = try Folder()
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let names = try ["in", "out", "err"].map {
            try folder.file($0, $0 == "in" ? Data(inputBytes ?? Array(input.utf8)) : Data())
        }
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: names[0]))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: names[1]))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: names[2]))
        try process.run()
        // A tool that does not end fails its test, not the whole run.
        let (number, end) = (process.processIdentifier, DispatchTime.now() + 300)
        let watchdog = DispatchWorkItem { kill(number, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: end, execute: watchdog)
        process.waitUntilExit()
        watchdog.cancel()
        func text(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(fileURLWithPath: name)), as: UTF8.self)
        }
        return Outcome(status: process.terminationStatus, output: try text(names[1]), error: try text(names[2]))
    }
}
