import Foundation

/// Counts the instructions of one act each, by callgrind: unlike times, they do not depend on the
/// other work of the machine.
struct InstructionBenchmarks {
    let directory: String

    func run(_ report: inout Report) throws {
        guard report.wants("instructions") else { return }
        guard let version = try output(of: "valgrind", ["--version"]) else {
            report.skip("instructions: valgrind is missing")
            return
        }
        let place = "\(directory)/instructions"
        discard(place)
        try makeDirectory(place)
        defer { discard(place) }
        // valgrind 3.19 cannot read the compiler's debug information; the names of functions
        // remain.
        let program = "\(place)/program"
        guard try output(of: "strip", ["--strip-debug", "-o", program, CommandLine.arguments[0]]) != nil else {
            report.skip("instructions: strip (binutils) is missing")
            return
        }
        let toolchain = try toolchain(version)
        // Addresses decide how `memcpy` copies. Where the system forbids it, they stay random.
        let fixed = try output(of: "setarch", ["-R", "true"]) == nil ? [] : ["setarch", "-R"]
        let lines = try output(
            of: "env",
            ["-i", "PATH=\(ProcessInfo.processInfo.environment["PATH"] ?? "")", "SWIFT_DETERMINISTIC_HASHING=1"] + fixed
                + [
                    "valgrind", "-q", "--tool=callgrind", "--fair-sched=yes", "--callgrind-out-file=\(place)/counts",
                    "--dump-before=instructions_begin",
                    "--dump-before=instructions_end", program, "--counted-acts",
                ])
        guard let lines else { throw UsageError("valgrind ended with an error: its messages are above") }
        // Each file has the instructions since the one before, so every second one has an act.
        for (number, line) in lines.split(separator: "\n").enumerated() {
            let parts = line.split(separator: "\t")
            guard parts.count == 2, let times = Double(parts[1]) else {
                throw UsageError("an unexpected line of a counted act: \(line)")
            }
            try report.add(
                Figure(
                    workload: "instructions \(parts[0])", subject: "Chat",
                    value: try CallgrindFile("\(place)/counts.\(2 * number + 2)").count / times,
                    unit: Figure.instructions,
                    toolchain: toolchain))
        }
    }

    /// Returns what the counts depend on besides the sources: the compiler, valgrind, the C library
    /// and the processor.
    private func toolchain(_ valgrind: String) throws -> String {
        let swift = try output(of: "swiftc", ["--version"]) ?? "an unknown compiler"
        let library = try output(of: "getconf", ["GNU_LIBC_VERSION"]) ?? "an unknown C library"
        let lines = swift.split(separator: "\n").map { String($0).replacing("Target: ", with: "") }
        return (lines + [valgrind, library]).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.joined(
            separator: ", ")
    }

    /// Returns what a program prints; nil if it does not exist or fails.
    private func output(of name: String, _ arguments: [String]) throws -> String? {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [name] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
    }
}
