import EventJournal
import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A process of `run` that keeps its head in a file, and is sent one command after another.
final class RunningTool {
    private let process = Process()
    private let (input, output) = (Foundation.Pipe(), Foundation.Pipe())
    private var received = Data()

    init(_ arguments: [String]) throws {
        process.executableURL = ToolProcess.executable
        process.arguments = arguments
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Sends a command and returns its answer.
    func answer(to command: String) throws -> String {
        try input.fileHandleForWriting.write(contentsOf: Data((command + "\n").utf8))
        return try line()
    }

    func line() throws -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received = Data(received[received.index(after: end)...]) }
                return String(decoding: received[..<end], as: UTF8.self)
            }
            let bytes = output.fileHandleForReading.availableData
            try #require(!bytes.isEmpty, "the tool has ended")
            received += bytes
        }
    }

    /// Closes the input and returns the exit status.
    func end() throws -> Int32 {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus
    }

    func end(with signal: Int32) -> Int32 {
        kill(process.processIdentifier, signal)
        process.waitUntilExit()
        return process.terminationStatus
    }
}

/// `run` and `serve` keep the last head, and end if the log does not contain it at the next start.
@Suite struct RollbackTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let setUp = """
        {"registerUser":{"user":"\(ann)","username":"Ann"}}
        {"setPostcode":{"user":"\(ann)","postcode":"SW1A 1AA"}}

        """

    private static func post(_ text: String) -> String {
        #"{"postMessage":{"thread":"SW1A","author":"\#(ann)","body":"\#(text)"}}"#
    }

    /// The number of faults: `CHATJOURNAL_ROLLBACK_ROUNDS`.
    private static func rounds(_ few: Int, of all: Int) -> Int {
        ProcessInfo.processInfo.environment["CHATJOURNAL_ROLLBACK_ROUNDS"].flatMap { Int($0) }
            ?? Repetitions.few(few, of: all)
    }

    private static func kept(_ path: String) throws -> JournalHead {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try #require(JournalHead(String(text.dropLast())), "\(text)")
    }

    private static func contents(_ directory: String) throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: directory).reduce(into: [:]) {
            $0[$1] = FileManager.default.contents(atPath: directory + "/" + $1) ?? Data()
        }
    }

    /// The directories of the journal and of the head may be reached by links; the file of the head
    /// is none, because a write would replace it.
    @Test func linkedHeadIsRefusedAndNamed() throws {
        let folder = try ToolProcess.Folder()
        try FileManager.default.createDirectory(atPath: folder.path + "/real", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "real")
        func run(_ head: String) throws -> ToolProcess.Outcome {
            try ToolProcess.run(
                ["run", folder.path + "/link/J", "--head", folder.path + head], input: Self.setUp)
        }
        #expect(try run("/link/H").status == 0)
        #expect(try run("/real/H").status == 0)
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/K", withDestinationPath: "real/H")
        let outcome = try run("/K")
        #expect(
            outcome.status != 0 && outcome.error.contains("/K: a symbolic link, which is not followed"),
            "\(outcome.error)")
        #expect(try Self.kept(folder.path + "/real/H").position > 0)
    }

    /// A log in a directory whose posts are known, and faults between its restarts.
    private struct World {
        let folder: ToolProcess.Folder
        /// The number of events before the first post; every post is one event.
        let base: Position
        var random: SplitMix64
        /// The posts of the log, those that the kept head covers, and the posts of older copies.
        var posts: [String] = []
        var kept: [String] = []
        var copies: [(path: String, posts: [String])] = []
        var counts = (refused: 0, accepted: 0)
        private var count = 0

        var journal: String { folder.path + "/J" }
        var head: String { folder.path + "/H" }

        init(seed: UInt64) throws {
            folder = try ToolProcess.Folder()
            random = SplitMix64(seed: seed)
            #expect(
                try ToolProcess.run(
                    ["run", folder.path + "/J", "--head", folder.path + "/H"], input: RollbackTests.setUp
                ).status == 0)
            base = try RollbackTests.kept(folder.path + "/H").position
        }

        private mutating func newText() -> String {
            count += 1
            return "post \(count)"
        }

        /// Posts, with the head kept, and ends the process in a random way.
        mutating func work() throws {
            let tool = try RunningTool(["run", journal, "--head", head])
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let text = newText()
                let position = base + Position(posts.count) + 1
                let answer = try tool.answer(to: RollbackTests.post(text))
                try #require(answer.contains("\"positions\":[\(position),\(position)]"), "\(answer)")
                posts.append(text)
            }
            let last = base + Position(posts.count)
            if Int.random(in: 0..<3, using: &random) == 0 {
                // The head follows while the process waits for input.
                #expect(try inTurns { try RollbackTests.kept(head).position == last })
            }
            if Bool.random(using: &random) {
                #expect(tool.end(with: SIGKILL) == SIGKILL)
            } else {
                #expect(try tool.end() == 0)
                #expect(try RollbackTests.kept(head).position == last)
            }
            kept = Array(posts.prefix(Int(try RollbackTests.kept(head).position - base)))
            if Bool.random(using: &random) {
                let path = folder.path + "/copy-\(count)"
                try FileManager.default.copyItem(atPath: journal, toPath: path)
                copies.append((path, posts))
                if copies.count > 4 { try FileManager.default.removeItem(atPath: copies.removeFirst().path) }
            }
        }

        /// Puts another log in the place of the journal, starts again, and compares with what is
        /// known.
        mutating func fault(_ context: Comment) throws {
            let files = FileManager.default
            let real = folder.path + "/real"
            try files.moveItem(atPath: journal, toPath: real)
            var present: [String]?
            if let copy = copies.randomElement(using: &random), Int.random(in: 0..<4, using: &random) > 0 {
                try files.copyItem(atPath: copy.path, toPath: journal)
                present = copy.posts
                if Bool.random(using: &random) {
                    // Another history, of any length.
                    let others = (0...Int.random(in: 0...6, using: &random)).map { _ in newText() }
                    let input = others.map(RollbackTests.post).joined(separator: "\n")
                    #expect(try ToolProcess.run(["run", journal], input: input).status == 0)
                    present = copy.posts + others
                }
            } else if Bool.random(using: &random) {
                // The same log, untouched.
                try files.copyItem(atPath: real, toPath: journal)
                present = posts
            } else if Bool.random(using: &random) {
                // Another log; and otherwise none at all.
                #expect(try ToolProcess.run(["run", journal], input: RollbackTests.setUp).status == 0)
            }
            let isContained = present.map { $0.starts(with: kept) } ?? false
            let before = (
                present == nil ? nil : try RollbackTests.contents(journal),
                try Data(contentsOf: URL(fileURLWithPath: head))
            )
            let outcome = try ToolProcess.run(["run", journal, "--head", head])
            #expect(outcome.status == (isContained ? 0 : 65), "\(context): \(outcome.error)")
            if isContained {
                counts.accepted += 1
                posts = present ?? []
                kept = posts
                try files.removeItem(atPath: real)
                return
            }
            counts.refused += 1
            #expect(
                outcome.error.hasPrefix("chat-journal: rolledBack: ") && outcome.error.contains(head),
                "\(outcome.error)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: head)) == before.1, context)
            if let files = before.0 {
                #expect(
                    try RollbackTests.contents(journal).filter { $0.key != "lock" }
                        == files.filter { $0.key != "lock" }, context)
            }
            if let present, Bool.random(using: &random) {
                #expect(
                    try ToolProcess.run(["run", journal, "--head", head, "--accept-rollback"]).status == 0, context)
                posts = present
                kept = present
                #expect(try RollbackTests.kept(head).position == base + Position(present.count), context)
                try files.removeItem(atPath: real)
            } else {
                if files.fileExists(atPath: journal) { try files.removeItem(atPath: journal) }
                try files.moveItem(atPath: real, toPath: journal)
            }
        }
    }

    /// The log is replaced by older copies, other histories and other logs, between restarts at
    /// random moments.
    @Test func olderAndOtherLogsAreRefused() throws {
        let seed = Repetitions.seed
        var world = try World(seed: seed)
        let count = Self.rounds(5, of: 200)
        for round in 0..<count {
            try world.work()
            try world.fault("seed \(seed), round \(round)")
        }
        print("rollback: \(count) faults, \(world.counts.refused) refused, \(world.counts.accepted) accepted")
        #expect(world.counts.refused + world.counts.accepted == count)
    }

    /// An erasure changes bytes of the log, and no head.
    @Test func erasedLogKeepsItsHeads() throws {
        let folder = try ToolProcess.Folder()
        let (journal, head) = (folder.path + "/J", folder.path + "/H")
        #expect(try ToolProcess.run(["run", journal, "--head", head], input: Self.setUp + Self.post("x")).status == 0)
        let kept = try Self.kept(head)
        #expect(try ToolProcess.run(["erase", journal, "--user", "Ann", "--reason", "user-request"]).status == 0)
        #expect(try ToolProcess.run(["run", journal, "--head", head, "--expect", "\(kept)"]).status == 0)
        #expect(try Self.kept(head).position == kept.position + 1)
    }

    /// Without a sync, a power failure may lose what was answered.
    @Test func unsyncedHeadIsNotKept() throws {
        let folder = try ToolProcess.Folder()
        let arguments = ["run", folder.path + "/J", "--head", folder.path + "/H", "--durability", "written"]
        #expect(try ToolProcess.run(arguments, input: Self.setUp).status == 0)
        let kept = try Self.kept(folder.path + "/H")
        let tool = try RunningTool(arguments)
        _ = try tool.answer(to: Self.post("x"))
        usleep(1_500_000)
        #expect(tool.end(with: SIGKILL) == SIGKILL)
        #expect(try Self.kept(folder.path + "/H") == kept)
        #expect(try ToolProcess.run(arguments).status == 0)
        #expect(try Self.kept(folder.path + "/H").position == kept.position + 1)
    }

    /// A writer that was superseded while it was paused does not put its head over that of its
    /// successor.
    @Test func headOfAnotherProcessIsKept() throws {
        let folder = try ToolProcess.Folder()
        let (journal, head, copy) = (folder.path + "/J", folder.path + "/H", folder.path + "/copy")
        #expect(try ToolProcess.run(["run", journal, "--head", head], input: Self.setUp).status == 0)
        try FileManager.default.copyItem(atPath: journal, toPath: copy)
        let tool = try RunningTool(["run", journal, "--head", head])
        _ = try tool.answer(to: Self.post("x"))
        // As a successor would, of a log that has gone on elsewhere.
        #expect(try ToolProcess.run(["run", copy], input: Self.post("y") + "\n" + Self.post("z")).status == 0)
        let other = try #require(try ToolProcess.run(["head", copy]).lines.first) + "\n"
        _ = try folder.file("H", other)
        _ = try tool.answer(to: Self.post("x"))
        // Longer than the interval of the keeper.
        usleep(1_500_000)
        #expect(try String(contentsOfFile: head, encoding: .utf8) == other)
        #expect(try tool.end() == 1)
        #expect(try String(contentsOfFile: head, encoding: .utf8) == other)
        #expect(try ToolProcess.run(["run", journal, "--head", head]).status == 65)
    }

    @Test func fileIsPrivateAndReplacedWhole() throws {
        let folder = try ToolProcess.Folder()
        let (journal, head) = (folder.path + "/J", folder.path + "/H")
        // Left by a process that was killed.
        _ = try folder.file("H.new", "cj1-")
        #expect(try ToolProcess.run(["run", journal, "--head", head], input: Self.setUp).status == 0)
        #expect(try FileManager.default.attributesOfItem(atPath: head)[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["H", "J"])
        #expect(try Self.kept(head).description == ToolProcess.run(["head", journal]).lines[0])
        let text = try String(contentsOfFile: head, encoding: .utf8)
        for wrong in ["", "\n", String(text.dropLast()), text + text, "cj1-\n", String(repeating: "x", count: 500)] {
            _ = try folder.file("H", wrong)
            let outcome = try ToolProcess.run(["run", journal, "--head", head])
            // Another start cannot succeed.
            #expect(outcome.status == 65 && outcome.error.contains("--accept-rollback"), "\(outcome.error)")
            #expect(try String(contentsOfFile: head, encoding: .utf8) == wrong)
        }
        #expect(try ToolProcess.run(["run", journal, "--head", head, "--accept-rollback"]).status == 0)
        #expect(try String(contentsOfFile: head, encoding: .utf8) == text)
        #expect(try ToolProcess.run(["run", journal, "--head", folder.path + "/missing/H"]).status == 1)
    }

    @Test func expectedHeadMustBeContained() throws {
        let folder = try ToolProcess.Folder()
        let (journal, head) = (folder.path + "/J", folder.path + "/H")
        #expect(try ToolProcess.run(["run", journal], input: Self.setUp).status == 0)
        let early = try ToolProcess.run(["head", journal]).lines[0]
        try FileManager.default.copyItem(atPath: journal, toPath: folder.path + "/older")
        #expect(
            try ToolProcess.run(["run", journal, "--expect", early, "--head", head], input: Self.post("x")).status == 0)
        let late = try ToolProcess.run(["head", journal]).lines[0]
        #expect(try ToolProcess.run(["run", journal, "--expect", early, "--head", head]).status == 0)
        // Also beside a kept head that the log contains, and with a rollback that is accepted.
        #expect(try ToolProcess.run(["run", folder.path + "/older", "--expect", late]).status == 65)
        let outcome = try ToolProcess.run([
            "run", folder.path + "/older", "--expect", late, "--head", head, "--accept-rollback",
        ])
        #expect(outcome.status == 65 && outcome.error.contains("--expect"), "\(outcome.error)")
        _ = try folder.file("H", early + "\n")
        #expect(try ToolProcess.run(["run", folder.path + "/older", "--expect", late, "--head", head]).status == 65)
        for wrong in [["--expect", "cj1-x"], ["--accept-rollback"]] {
            #expect(try ToolProcess.run(["run", journal] + wrong).status == 64)
        }
    }

    #if Server
        @Test func serverKeepsTheHeadBesideItsAccounts() throws {
            let folder = try ToolProcess.Folder()
            let (journal, accounts) = (folder.path + "/J", folder.path + "/A")
            #expect(try ToolProcess.run(["run", journal], input: Self.setUp).status == 0)
            let arguments = [
                "serve", journal, "--accounts", accounts, "--listen", "127.0.0.1:0", "--mail", folder.path,
            ]
            func serve(_ more: String...) throws {
                let tool = try RunningTool(arguments + more)
                #expect(try tool.line().hasPrefix("http://"))
                #expect(tool.end(with: SIGTERM) == 0)
                #expect(try Self.kept(accounts + ".head").description == ToolProcess.run(["head", journal]).lines[0])
            }
            try serve()
            #expect(
                try FileManager.default.attributesOfItem(atPath: accounts + ".head")[.posixPermissions] as? Int == 0o600
            )
            try FileManager.default.copyItem(atPath: journal, toPath: folder.path + "/older")
            #expect(try ToolProcess.run(["run", journal], input: Self.post("x")).status == 0)
            try serve()
            let late = try Self.kept(accounts + ".head")
            try FileManager.default.removeItem(atPath: journal)
            try FileManager.default.moveItem(atPath: folder.path + "/older", toPath: journal)
            let outcome = try ToolProcess.run(arguments)
            #expect(
                outcome.status == 65 && outcome.error.contains("rolledBack: ") && outcome.output == "",
                "\(outcome.error)")
            #expect(try Self.kept(accounts + ".head") == late)
            #expect(try ToolProcess.run(arguments + ["--accept-rollback", "--expect", "\(late)"]).status == 65)
            try serve("--accept-rollback")
            try serve("--head", folder.path + "/H")
            #expect(try Self.kept(folder.path + "/H") == Self.kept(accounts + ".head"))
            for option in [
                ["--head", "x"], ["--expect", "\(late)"], ["--accept-rollback"], ["--operator", "ann@example.org"],
            ] {
                let reader = ["serve", journal, "--listen", "127.0.0.1:0", "--writer", "http://127.0.0.1:1"]
                #expect(try ToolProcess.run(reader + option).status == 64)
            }
        }
    #endif

    #if Postgres
        /// A server with older data stands for a failover that has lost commits, or a restored
        /// dump.
        @Test(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed")) func olderDatabaseIsRefused()
            throws
        {
            let server = try #require(try PostgresServer.start())
            let folder = try ToolProcess.Folder()
            let (log, head) = (server.newAddress(.tcp), folder.path + "/H")
            func run(_ arguments: [String] = [], _ input: String = "") throws -> ToolProcess.Outcome {
                try ToolProcess.run(["run", log, "--head", head] + arguments, input: input)
            }
            var random = SplitMix64(seed: Repetitions.seed)
            #expect(try run([], Self.setUp).status == 0)
            let count = Self.rounds(1, of: 40)
            for round in 0..<count {
                try server.save()
                let tool = try RunningTool(["run", log, "--head", head])
                var last: Position = 0
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    _ = try tool.answer(to: Self.post("\(round)"))
                    last += 1
                }
                let saved = try Self.kept(head).position
                if Bool.random(using: &random) {
                    _ = try inTurns { try Self.kept(head).position != saved }
                    _ = tool.end(with: SIGKILL)
                } else {
                    #expect(try tool.end() == 0)
                }
                let kept = try Self.kept(head)
                #expect(try run().status == 0)
                try server.swapSaved()
                let outcome = try run()
                #expect(
                    outcome.status == 65 && outcome.error.contains("rolledBack"), "round \(round): \(outcome.error)")
                #expect(try Self.kept(head).position >= kept.position)
                try server.swapSaved()
                #expect(try run().status == 0, "round \(round)")
                try server.discardSaved()
            }
            print("rollback on PostgreSQL: \(count) faults")
            try server.save()
            #expect(try run([], Self.post("y")).status == 0)
            try server.restore()
            try server.setStandby("")
            #expect(try run().status == 65)
            #expect(try run(["--accept-rollback"]).status == 0)
            #expect(try run().status == 0)
            // A name that has no log yet.
            let missing = try ToolProcess.run(["run", server.newAddress(.tcp), "--head", head])
            #expect(missing.status == 65, "\(missing.error)")
        }
    #endif
}
