import Foundation

/// A command of the tool with its output when the golden files were made.
struct GoldenCase: CustomStringConvertible {
    /// The folder of `Tests/Golden` that holds the command's journal.
    let folder: String
    /// The arguments; `JOURNAL` is a copy of the journal, `DEST` a directory that does not exist,
    /// `INPUT:name` a file of the folder `inputs`.
    let arguments: [String]
    let status: Int32
    /// The stable code at the start of the error; nil if there is none.
    let code: String?
    let lines: [String]

    /// The command and its options, without their values.
    var form: String { ([arguments[0]] + arguments.filter { $0.hasPrefix("--") }).joined(separator: " ") }

    var description: String { "\(folder): \(arguments.joined(separator: " "))" }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appending(path: "Golden")

    static let folders = ["history", "stubs", "damaged", "late", "community", "erasures"]

    /// The cases of a folder: blocks of `$ arguments`, `status N`, an optional `code C`, the lines
    /// of output, and an empty line.
    static func cases(of folder: String) throws -> [GoldenCase] {
        let text = try String(contentsOf: root.appending(path: folder + "/cases.txt"), encoding: .utf8)
        return try text.components(separatedBy: "\n\n").filter { !$0.isEmpty }.map { block in
            var lines = block.components(separatedBy: "\n").filter { !$0.isEmpty }[...]
            let arguments = try JSONDecoder().decode([String].self, from: Data(try field("$ ", &lines).utf8))
            guard let status = Int32(try field("status ", &lines)) else { throw Malformed(block: block) }
            let code = try? field("code ", &lines)
            return GoldenCase(folder: folder, arguments: arguments, status: status, code: code, lines: Array(lines))
        }
    }

    private struct Malformed: Error {
        let block: String
    }

    private static func field(_ name: String, _ lines: inout ArraySlice<String>) throws -> String {
        guard let line = lines.first, line.hasPrefix(name) else {
            throw Malformed(block: lines.joined(separator: "\n"))
        }
        lines.removeFirst()
        return String(line.dropFirst(name.count))
    }

    /// Copies a golden journal to a folder; returns its path.
    static func copy(of folder: String, to target: ToolProcess.Folder) throws -> String {
        let path = target.path + "/journal"
        try FileManager.default.copyItem(atPath: root.appending(path: folder + "/journal").path, toPath: path)
        return path
    }

    /// Runs the command with the present tool.
    ///
    /// - Parameter shared: A copy of the journal for commands that only read it; a command that
    ///   writes gets a copy of its own.
    func run(on shared: String) throws -> ToolProcess.Outcome {
        let target = try ToolProcess.Folder()
        let isWriting = ["run", "import"].contains(arguments[0])
        let journal = isWriting ? try Self.copy(of: folder, to: target) : shared
        // The journals stay as old as they are: from 2027 on a writer has to accept the clock.
        return try ToolProcess.run(
            arguments.map { argument in
                switch argument {
                case "JOURNAL": journal
                case "DEST": target.path + "/destination"
                case _ where argument.hasPrefix("INPUT:"):
                    Self.root.appending(path: "inputs/" + argument.dropFirst(6)).path
                default: argument
                }
            } + (isWriting ? ["--accept-clock"] : []))
    }

    /// The differences of an outcome: `status`, `code`, `lines` (their number), or the paths of
    /// fields.
    func differences(of outcome: ToolProcess.Outcome) throws -> [String] {
        var differences: [String] = []
        if outcome.status != status { differences.append("status") }
        if let code, !outcome.error.hasPrefix("chat-journal: \(code): ") { differences.append("code") }
        guard outcome.lines.count == lines.count else { return differences + ["lines"] }
        for (golden, present) in zip(lines, outcome.lines) where golden != present {
            differences += try OrderedJSON(present).differences(from: try OrderedJSON(golden))
        }
        return differences
    }
}
