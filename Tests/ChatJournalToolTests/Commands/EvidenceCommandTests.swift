import Foundation
import Testing

/// The commands `evidence` and `check-evidence`; `Tests/checks/evidence.py` has the wrong
/// directories.
@Suite struct EvidenceCommandTests {
    private static let ann = "0190a000-0000-7000-8000-0000000000a1"
    private static let bob = "0190a000-0000-7000-8000-0000000000b2"
    private static let sw1a = "53573141-0000-8000-806f-757477617264"
    private static let commands = """
        {"registerUser":{"user":"\(ann)","username":"Ann","subject":"sub|1"}}
        {"registerUser":{"user":"\(bob)","username":"Bob"}}
        {"setPostcode":{"user":"\(ann)","postcode":"SW1A 1AA"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"Milk? \\u001b[31m"}}
        {"setPostcode":{"user":"\(bob)","postcode":"M1 1AE"}}
        {"postMessage":{"thread":"M1","author":"\(bob)","body":"Bread?"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"Oat milk"}}

        """

    /// A journal of eleven events, and a directory with the evidence of SW1A: the events 4, 5, 6
    /// and 11.
    private struct Files {
        let folder: ToolProcess.Folder
        let journal: String
        let directory: String
        let checkpoint: String

        init() throws {
            folder = try ToolProcess.Folder()
            (journal, directory) = (folder.path + "/journal", folder.path + "/evidence")
            #expect(try ToolProcess.run(["run", journal], input: EvidenceCommandTests.commands).status == 0)
            checkpoint = try folder.file("trusted", try Self.output(["checkpoint", journal]))
            _ = try Self.output(["evidence", journal, "SW1A", "--out", directory])
        }

        static func output(_ arguments: [String]) throws -> String {
            let outcome = try ToolProcess.run(arguments)
            #expect(outcome.status == 0 && outcome.error == "", "\(outcome)")
            return outcome.output
        }

        var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
        }

        func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

        func check(_ options: String...) throws -> ToolProcess.Outcome {
            try ToolProcess.run(["check-evidence", directory, "--checkpoint", checkpoint] + options)
        }
    }

    @Test func evidenceIsAcceptedWithoutTheJournal() throws {
        let files = try Files()
        let origin = String(try files.text(files.checkpoint).split(separator: "\n")[0])
        try FileManager.default.removeItem(atPath: files.journal)
        let expected = [
            "thread \(Self.sw1a): events number 1 to 4, none missing, at positions 4 to 11 of the tree of size 11 of \(origin)",
            "they begin with the first event of the thread", "records without content, which is erased or withheld: 0",
            "registrations and changes of usernames: 0",
            "readers after position 11: 1 proven by their join, 0 stated by the host only",
            "  \(Self.ann) since position 5",
        ]
        let outcome = try files.check()
        #expect(outcome.status == 0 && outcome.error == "" && outcome.lines == expected)
        let lines = try files.check("--events").lines
        #expect(
            Array(lines.prefix(6)) == expected
                && lines.dropFirst(6).map { String($0.prefix { $0 != " " }) } == ["4", "5", "6", "11"])
        #expect(lines.last?.hasSuffix(#""body":"Oat milk"}"#) == true)
        // Text of the events cannot control a terminal.
        #expect(!lines.joined().contains("\u{1b}"))
        let json = try files.check("--events", "--json").lines
        #expect(
            json.count == 5
                && json[0].hasPrefix(
                    #"{"thread":"\#(Self.sw1a)","numbers":[1,4],"positions":[4,11],"beginsWithFirstEvent":true,"#)
        )
        #expect(
            json[0].contains(
                #""withoutContent":0,"registrations":0,"provenReaders":[{"user":"\#(Self.ann)","since":5}],"statedReaders":[],"#
            ))
    }

    @Test func directoryHasThreeFilesOfTheOwner() throws {
        let files = try Files()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: files.directory).sorted() == [
                "README.md", "checkpoint", "evidence",
            ])
        #expect(try files.text(files.directory + "/checkpoint") == files.text(files.checkpoint))
        for (name, mode) in [("", 0o700), ("/README.md", 0o600), ("/checkpoint", 0o600), ("/evidence", 0o600)] {
            #expect(
                try FileManager.default.attributesOfItem(atPath: files.directory + name)[.posixPermissions] as? Int
                    == mode)
        }
        let readme = try files.text(files.directory + "/README.md")
        #expect(
            readme.contains("| thread | `\(Self.sw1a) (SW1A)` |")
                && readme.contains("chat-journal check-evidence DIR --checkpoint FILE"))
        #expect(try files.names == ["evidence", "journal", "trusted"])
    }

    /// Nothing is replaced, and an interrupted run is reported.
    @Test func existingEntriesAreKept() throws {
        let files = try Files()
        let before = try files.text(files.directory + "/evidence")
        func run(_ out: String) throws -> ToolProcess.Outcome {
            try ToolProcess.run(["evidence", files.journal, "SW1A", "--out", out])
        }
        for out in [files.directory, files.directory + "/", files.checkpoint, files.journal] {
            let message = "chat-journal: \(out): not a new or an empty directory; nothing is replaced\n"
            #expect(try run(out) == ToolProcess.Outcome(status: 1, output: "", error: message))
        }
        #expect(try files.text(files.directory + "/evidence") == before)
        let empty = files.folder.path + "/empty"
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
        // Through a link to an empty directory nothing is written.
        try FileManager.default.createSymbolicLink(atPath: files.folder.path + "/link", withDestinationPath: empty)
        let link = try run(files.folder.path + "/link")
        #expect(
            link.status == 1 && link.error.contains("/link: a symbolic link, which is not followed"), "\(link.error)")
        #expect(try run(files.folder.path + "/link/new").status == 0)
        try FileManager.default.removeItem(atPath: empty + "/new")
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty) == [])
        #expect(try run(empty + "/").status == 0)
        #expect(try files.text(empty + "/evidence") == before)
        let incomplete = files.folder.path + "/other.incomplete"
        try FileManager.default.createDirectory(atPath: incomplete, withIntermediateDirectories: false)
        let outcome = try run(files.folder.path + "/other")
        #expect(
            outcome.status == 1
                && outcome.error.contains("other.incomplete: the directory of a run that was interrupted"))
        #expect(try files.names == ["empty", "evidence", "journal", "link", "other.incomplete", "trusted"])
    }

    /// After an error there is neither the directory nor its incomplete form.
    @Test func errorLeavesNothing() throws {
        let files = try Files()
        let out = files.folder.path + "/other"
        let wrong: [([String], String)] = [
            (["SW1A", "--from", "7", "--to", "10"], "outOfRange: The thread has no event at these positions."),
            (["SW1A", "--to", "12"], "outOfRange: The tree has the positions from 1 to 11, not 12."),
            (["SW1A", "--at", "3"], "unknownThread: "), (["SW9"], "unknownThread: "),
        ]
        for (options, message) in wrong {
            let outcome = try ToolProcess.run(["evidence", files.journal] + options + ["--out", out])
            #expect(
                outcome.status == 1 && outcome.output == "" && outcome.error.hasPrefix("chat-journal: \(message)"),
                "\(outcome)")
        }
        for options in [
            ["SW1A"], ["SW1A", "--out", ""], ["SW1A", "--out", out, "--from", "9", "--to", "8"],
            ["SW1A", "--out", out, "--from", "0"],
        ] {
            #expect(try ToolProcess.run(["evidence", files.journal] + options).status == 64, "\(options)")
        }
        #expect(try files.names == ["evidence", "journal", "trusted"])
    }

    @Test func recordOfTheEvidenceIsProvedAlone() throws {
        let files = try Files()
        let entry = files.folder.path + "/entry"
        let proof = try files.check("--event", "6", "--entry", entry)
        #expect(
            try proof.output
                == Files.output(["prove", files.journal, "--event", "6", "--entry", files.folder.path + "/same"]))
        #expect(try files.text(entry) == files.text(files.folder.path + "/same"))
        let file = try files.folder.file("proof", proof.output)
        let output = try Files.output(["check-proof", file, "--checkpoint", files.checkpoint, "--event", entry])
        #expect(output.hasPrefix("position 6 of the tree of size 11") && output.contains("Milk?"))
        let absent = try files.check("--event", "7")
        #expect(absent.status == 1 && absent.output == "" && absent.error.contains("is not disclosed"))
        #expect(try files.check("--event", "6", "--entry", entry).status == 1)
        #expect(try files.check("--entry", entry).status == 64)
        #expect(try files.check("--event", "6", "--events").status == 64)
        #expect(try files.check("--event", "6", "--json").status == 64)
        #expect(try ToolProcess.run(["check-evidence", files.directory]).status == 64)
    }

    @Test func selectionAndNamesAreOptions() throws {
        let files = try Files()
        let out = files.folder.path + "/names"
        let json = try Files.output(
            [
                "evidence", files.journal, Self.sw1a, "--from", "5", "--to", "8", "--at", "9", "--with-registrations",
                "--json", "--out", out,
            ])
        #expect(
            json.hasPrefix(
                #"{"thread":"\#(Self.sw1a)","numbers":[2,3],"positions":[5,6],"registrations":1,"readers":1,"checkpoint":{"#
            ))
        let checkpoint = try files.folder.file("early", try Files.output(["checkpoint", files.journal, "--at", "9"]))
        let output = try Files.output(["check-evidence", out, "--checkpoint", checkpoint, "--events"])
        #expect(
            output.contains("nothing is shown about the events before number 2\n")
                && output.contains(#""username":"Ann""#))
        let later = try ToolProcess.run(["check-evidence", out, "--checkpoint", files.checkpoint])
        #expect(
            later.status == 1
                && later.error == "chat-journal: \(out)/checkpoint: another checkpoint than that of --checkpoint\n")
    }

    /// A message names the file and the line, and shows no control character of the files.
    @Test func wrongFilesAreNamed() throws {
        let files = try Files()
        let path = files.directory + "/evidence"
        let lines = try files.text(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let body = Data("Oat milk".utf8).base64EncodedString()
        let changed = try #require(lines.firstIndex { $0.hasSuffix(body) })
        func check(_ lines: [String]) throws -> String {
            try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
            let outcome = try files.check("--events")
            #expect(outcome.status == 1 && outcome.output == "")
            return outcome.error
        }
        var wrong = lines
        wrong[changed] = lines[changed].replacing(body, with: Data("Oat mi1k".utf8).base64EncodedString())
        #expect(
            try check(wrong)
                == "chat-journal: \(path): The records and hashes lead to another root than that of the checkpoint.\n")
        wrong.remove(at: changed)
        #expect(
            try check(wrong)
                == "chat-journal: \(path): The parts end after position 10, and the tree has the size 11.\n")
        wrong.remove(at: changed - 1)
        #expect(
            try check(wrong) == "chat-journal: \(path): The parts end after position 8, and the tree has the size 11.\n"
        )
        wrong = [lines[0]] + lines.dropFirst(2)
        #expect(
            try check(wrong) == "chat-journal: \(path): line 2: The leaf of index 0 is expected, not that of index 2.\n"
        )
        #expect(try check(lines.map { $0 + "\r" }).hasPrefix("chat-journal: \(path): line 1: the title "))
        #expect(
            try check([lines[0], "\u{1b}[31m"])
                == "chat-journal: \(path): line 2: neither 'record' and four words, nor 'stub' or 'hash' and three words\n"
        )
        #expect(try check([]) == "chat-journal: \(path): the file is empty\n")
    }

    /// A FIFO has no end without a writer, and a device may have none.
    @Test(arguments: ["checkpoint", "evidence"], ["mkfifo \"$1\"", "ln -s /dev/zero \"$1\""])
    func onlyRegularFilesAreRead(name: String, command: String) throws {
        let files = try Files()
        let path = files.directory + "/" + name
        try FileManager.default.removeItem(atPath: path)
        #expect(try ToolProcess.shell(command, [path]).status == 0)
        #expect(
            try files.check()
                == ToolProcess.Outcome(status: 1, output: "", error: "chat-journal: \(path): not a regular file\n"))
    }

    /// A line without an end is not read to the end of the file.
    @Test func longLineIsRejectedEarly() throws {
        let files = try Files()
        let path = files.directory + "/evidence"
        let lineCount = try files.text(path).count { $0 == "\n" }
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.truncate(atOffset: 1 << 36)
        try file.close()
        let message = "chat-journal: \(path): line \(lineCount + 1): too long, or not UTF-8\n"
        #expect(try files.check() == ToolProcess.Outcome(status: 1, output: "", error: message))
    }
}
