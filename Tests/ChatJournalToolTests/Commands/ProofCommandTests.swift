import Foundation
import Testing

/// The commands `checkpoint`, `prove` and `check-proof`, and `verify --expect` with a checkpoint.
@Suite struct ProofCommandTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let commands = """
        {"registerUser":{"user":"\(ann)","username":"Ann"}}
        {"setPostcode":{"user":"\(ann)","postcode":"SW1A 1AA"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"Milk?"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"Bread?"}}

        """

    /// A journal of six events, its checkpoints of the sizes 4 and 6, and proofs, as files.
    private struct Files {
        let folder: ToolProcess.Folder
        let journal: String
        let early: String
        let late: String
        let proof: String
        let event: String
        let growth: String

        init() throws {
            folder = try ToolProcess.Folder()
            journal = folder.path + "/journal"
            event = folder.path + "/event"
            #expect(try ToolProcess.run(["run", journal], input: ProofCommandTests.commands).status == 0)
            early = try folder.file("early", try Self.output(["checkpoint", journal, "--at", "4"]))
            late = try folder.file("late", try Self.output(["checkpoint", journal]))
            proof = try folder.file("proof", try Self.output(["prove", journal, "--event", "5", "--entry", event]))
            growth = try folder.file("growth", try Self.output(["prove", journal, "--from", "4"]))
        }

        static func output(_ arguments: [String]) throws -> String {
            let outcome = try ToolProcess.run(arguments)
            #expect(outcome.status == 0 && outcome.error == "", "\(outcome)")
            return outcome.output
        }

        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

        /// Writes a changed copy of a file.
        func changed(_ path: String, _ old: String, _ new: String) throws -> String {
            let before = try text(path)
            #expect(before.contains(old))
            return try folder.file(UUID().uuidString, before.replacing(old, with: new, maxReplacements: 1))
        }
    }

    @Test func proofsAreAcceptedWithoutTheJournal() throws {
        let files = try Files()
        let lines = try files.text(files.late).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4 && lines[0].hasPrefix("chat-journal/") && lines[1] == "6" && lines[3].isEmpty)
        try FileManager.default.removeItem(atPath: files.journal)
        let inclusion = try Files.output([
            "check-proof", files.proof, "--checkpoint", files.late, "--event", files.event,
        ])
        #expect(inclusion.hasPrefix("position 5 of the tree of size 6 of \(lines[0]) has the leaf "))
        #expect(inclusion.contains(#""body":"Milk?""#))
        let json = try Files.output([
            "check-proof", files.proof, "--checkpoint", files.late, "--event", files.event, "--json",
        ])
        #expect(json.hasPrefix(#"{"position":5,"leaf":""#) && json.contains("\n{\"position\":5,\"recordedAt\":"))
        #expect(
            try Files.output(["check-proof", files.proof, "--checkpoint", files.late]) == inclusion.prefix {
                $0 != "\n"
            } + "\n")
        let growth = try Files.output(["check-proof", files.growth, "--checkpoint", files.early, "--later", files.late])
        #expect(
            growth == "the tree of size 6 begins with the tree of size 4; the later checkpoint:\n"
                + (try files.text(files.late)))
        let permissions = try FileManager.default.attributesOfItem(atPath: files.event)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
    }

    @Test func tilesAreWrittenAndContinued() throws {
        let files = try Files()
        let directory = files.folder.path + "/tiles"
        let output = try Files.output(["tiles", files.journal, directory])
        #expect(
            output == "wrote 3 files, and removed 0 partial tiles; the checkpoint:\n" + (try files.text(files.late)))
        #expect(try files.text(directory + "/checkpoint") == files.text(files.late))
        #expect(try Data(contentsOf: URL(filePath: directory + "/tile/0/000.p/6")).count == 192)
        #expect(!FileManager.default.fileExists(atPath: directory + "/tile/entries"))
        let again = try ToolProcess.run(["tiles", files.journal, directory, "--entries", "--json"])
        #expect(again.status == 0 && again.error.hasPrefix("warning: the entries show who "))
        #expect(again.output.hasPrefix(#"{"checkpoint":{"origin":"chat-journal/"#))
        #expect(again.output.hasSuffix(#"},"writtenFiles":1,"removedFiles":0}"# + "\n"))
        let entries = try Data(contentsOf: URL(filePath: directory + "/tile/entries/000.p/6"))
        #expect(entries.count > 192 && !String(decoding: entries, as: UTF8.self).contains("Milk"))
        for (path, message) in [(files.folder.path, "notAJournal: "), (files.journal, "notAJournal: ")] {
            let outcome = try ToolProcess.run(["tiles", files.journal, path])
            #expect(outcome.status == 1 && outcome.error.contains(message) && outcome.output == "", "\(outcome)")
        }
    }

    @Test func eventWithoutContentShowsNoText() throws {
        let files = try Files()
        let event = files.folder.path + "/event-without-content"
        let proof = try Files.output(["prove", files.journal, "--event", "5", "--entry", event, "--without-content"])
        #expect(try proof == files.text(files.proof))
        let output = try Files.output(["check-proof", files.proof, "--checkpoint", files.late, "--event", event])
        #expect(output.contains(Self.ann) && !output.contains("Milk"))
    }

    /// `--entry` with the name of an existing file, for example of a journal's segment, changes
    /// nothing.
    @Test func existingFileIsNotReplaced() throws {
        let files = try Files()
        let names = try FileManager.default.contentsOfDirectory(atPath: files.journal).map { files.journal + "/" + $0 }
        #expect(names.count >= 3)
        for path in names + [files.event] {
            let before = try Data(contentsOf: URL(filePath: path))
            let outcome = try ToolProcess.run(["prove", files.journal, "--event", "5", "--entry", path])
            #expect(
                outcome.status == 1 && outcome.error.hasPrefix("chat-journal: cannot create \(path): "), "\(outcome)")
            #expect(try Data(contentsOf: URL(filePath: path)) == before)
        }
        #expect(try Files.output(["verify", files.journal]).hasPrefix("sound up to position 6"))
    }

    /// A wrong proof ends with status 1 and a sentence.
    @Test func wrongProofsAreRejected() throws {
        let files = try Files()
        let other = files.folder.path + "/other"
        _ = try Files.output(["prove", files.journal, "--event", "6", "--entry", other])
        let wrong: [([String], String)] = [
            (
                [files.proof, "--checkpoint", files.late, "--event", other],
                "The leaf is not in the tree: the hashes lead to another root."
            ),
            ([files.proof, "--checkpoint", files.early], "the proof is about another tree than that of --checkpoint"),
            (
                [try files.changed(files.proof, "index 4", "index 3"), "--checkpoint", files.late],
                "The number of hashes, 2, is not that for the index 3 and the size 6."
            ),
            ([files.growth, "--checkpoint", files.late], "The proof is from size 4, and the earlier head has size 6."),
            (
                [files.growth, "--checkpoint", files.early, "--later", files.early],
                "the proof ends at another checkpoint than that of --later"
            ),
            (
                [
                    try files.changed(files.growth, "old 4", "old 3"), "--checkpoint",
                    try files.changed(files.early, "\n4\n", "\n3\n"),
                ],
                "The number of hashes, 1, is not that for the sizes 3 and 6."
            ),
        ]
        let root = String(try files.text(files.late).split(separator: "\n")[2])
        let forged = try files.changed(files.early, String(try files.text(files.early).split(separator: "\n")[2]), root)
        let cases =
            wrong + [([files.growth, "--checkpoint", forged], "The hashes do not lead to the root of the later head.")]
        for (arguments, message) in cases {
            let outcome = try ToolProcess.run(["check-proof"] + arguments)
            #expect(outcome == ToolProcess.Outcome(status: 1, output: "", error: "chat-journal: \(message)\n"))
        }
    }

    /// A malformed file ends with status 1, its name, the line and the reason.
    @Test func malformedFilesNameTheLine() throws {
        let files = try Files()
        let index = try files.changed(files.proof, "index 4", "index 04")
        let base64 = try files.changed(files.late, "=\n", "\n")
        let record = try files.changed(files.event, "salt", "salz")
        let unterminated = try files.folder.file("unterminated", String(try files.text(files.growth).dropLast()))
        let binary = try files.folder.file("binary", Data([0xFF, 0xFE]))
        let number = "is not a number in decimal digits without leading zeros, of at most 64 bits"
        let wrong: [([String], String)] = [
            ([index, "--checkpoint", files.late], "\(index): line 3: the index \(number)"),
            ([files.proof, "--checkpoint", base64], "\(base64): line 3: the root is not 32 bytes in canonical base64"),
            ([files.proof, "--checkpoint", files.late, "--event", record], "\(record): line 3: 'salt' is expected"),
            (
                [unterminated, "--checkpoint", files.early],
                "\(unterminated): line 6: the text does not end with a line feed"
            ),
            ([binary, "--checkpoint", files.early], "\(binary): the file is not UTF-8"),
            (
                [files.early, "--checkpoint", files.early],
                "\(files.early): line 1: the title 'c2sp.org/tlog-proof@v1' is expected"
            ),
        ]
        for (arguments, message) in wrong {
            let outcome = try ToolProcess.run(["check-proof"] + arguments)
            #expect(outcome == ToolProcess.Outcome(status: 1, output: "", error: "chat-journal: \(message)\n"))
        }
    }

    @Test func verificationComparesTheCheckpoint() throws {
        let files = try Files()
        for path in [files.early, files.late] {
            let outcome = try ToolProcess.run(["verify", files.journal, "--expect", path])
            #expect(outcome.status == 0 && outcome.output.contains("rules, checkpoint"))
        }
        let wrong = try files.changed(files.early, "\n4\n", "\n5\n")
        let outcome = try ToolProcess.run(["verify", files.journal, "--expect", wrong])
        #expect(outcome.status == 1)
        #expect(
            outcome.lines.first == "journal positions 1...5: headMismatch: The events are not those of the checkpoint.")
        let malformed = try files.changed(files.early, "\n4\n", "\n04\n")
        #expect(try ToolProcess.run(["verify", files.journal, "--expect", malformed]).status == 1)
        for value in ["cj1-no", files.folder.path + "/absent"] {
            #expect(try ToolProcess.run(["verify", files.journal, "--expect", value]).status == 64)
        }
    }

    @Test func wrongUsageEndsWith64() throws {
        let files = try Files()
        for arguments in [
            ["prove", files.journal], ["prove", files.journal, "--event", "1", "--from", "1"],
            ["prove", files.journal, "--event", "0"],
            ["prove", files.journal, "--from", "1", "--entry", files.event],
            ["prove", files.journal, "--event", "1", "--without-content"],
            ["check-proof", files.proof],
            ["check-proof", files.growth, "--checkpoint", files.early, "--event", files.event],
            ["check-proof", files.proof, "--checkpoint", files.late, "--later", files.late],
            ["checkpoint", files.journal, "--at", "-1"],
        ] {
            #expect(try ToolProcess.run(arguments).status == 64, "\(arguments)")
        }
        for arguments in [
            ["prove", files.journal, "--event", "7"], ["prove", files.journal, "--event", "5", "--at", "4"],
            ["prove", files.journal, "--from", "5", "--at", "4"], ["checkpoint", files.journal, "--at", "7"],
        ] {
            let outcome = try ToolProcess.run(arguments)
            #expect(
                outcome.status == 1 && outcome.output == "" && outcome.error.hasPrefix("chat-journal: outOfRange: "))
        }
    }
}
