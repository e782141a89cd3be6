import Foundation
import Testing

/// `erase`, `export --erasures-after` and `verify --ledger`.
@Suite struct LedgerCommandTests {
    private static let (ann, ben) = ("0190a000-0000-7000-8000-0000000000a1", "0190a000-0000-7000-8000-0000000000b1")
    private static let commands = """
        {"registerUser":{"user":"\(ann)","username":"Ann"}}
        {"registerUser":{"user":"\(ben)","username":"Ben"}}
        {"setPostcode":{"user":"\(ann)","postcode":"SW1A 1AA"}}
        {"setPostcode":{"user":"\(ben)","postcode":"SW1A 1AA"}}
        {"postMessage":{"thread":"SW1A","author":"\(ben)","body":"of Ben"}}
        {"postMessage":{"thread":"SW1A","author":"\(ann)","body":"of Ann"}}

        """

    /// A journal with two erasures, and a copy of before them.
    private struct Files {
        let folder: ToolProcess.Folder
        let journal: String
        let copy: String
        var ledger: String { journal + "/ledger" }

        init() throws {
            folder = try ToolProcess.Folder()
            (journal, copy) = (folder.path + "/journal", folder.path + "/copy")
            #expect(try ToolProcess.run(["run", journal], input: LedgerCommandTests.commands).status == 0)
            try Self.expect(["backup", journal, copy])
            try Self.expect(["erase", journal, "--user", "Ben", "--reason", "user-request"])
            try Self.expect(["erase", journal, "--event", "9", "--reason", "court-7"])
        }

        @discardableResult
        static func expect(_ arguments: [String], status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation)
            throws -> String
        {
            let outcome = try ToolProcess.run(arguments)
            #expect(outcome.status == status, "\(outcome)", sourceLocation: sourceLocation)
            return status == 0 || !outcome.output.isEmpty ? outcome.output : outcome.error
        }
    }

    @Test func exportListsErasures() throws {
        let files = try Files()
        let lines = try Files.expect(["export", files.journal, "--erasures-after", "0"]).split(separator: "\n").map(
            String.init)
        #expect(lines.count == 2)
        let time = #/"recordedAt":"[^"]*"/#
        #expect(
            lines.map { $0.replacing(time, with: "T") } == [
                #"{"position":10,T,"user":"\#(Self.ben)","positions":[[2,2],[6,6],[8,8]],"reason":"user-request"}"#,
                #"{"position":11,T,"positions":[[9,9]],"reason":"court-7"}"#,
            ])
        #expect(try Files.expect(["export", files.journal, "--erasures-after", "10"]) == lines[1] + "\n")
        #expect(try Files.expect(["export", files.journal, "--erasures-after", "11"]) == "")
        #expect(try Files.expect(["export", files.copy, "--erasures-after", "0"]) == "")
        try Files.expect(["export", files.journal, "--erasures-after", "x"], status: 64)
    }

    @Test func verifyNamesContentOfLedger() throws {
        let files = try Files()
        #expect(try Files.expect(["verify", files.journal, "--ledger", files.ledger]).contains("rules, ledger"))
        let output = try Files.expect(["verify", files.copy, "--ledger", files.ledger, "--json"], status: 1)
        #expect(output.components(separatedBy: "ledgerContentPresent").count - 1 == 3, "\(output)")
        #expect(try Files.expect(["verify", files.copy]).contains("sound up to position 9"))
        let foreign = try files.folder.file("foreign", "chat-journal/ledger@v1\n")
        #expect(try Files.expect(["verify", files.copy, "--ledger", foreign], status: 1).contains("line 2"))
        try Files.expect(["verify", files.copy, "--ledger", files.folder.path + "/none"], status: 1)
    }

    @Test func olderCopyBesideLedgerIsErased() throws {
        let files = try Files()
        try FileManager.default.copyItem(atPath: files.ledger, toPath: files.copy + "/ledger")
        #expect(try !Files.expect(["timeline", files.copy, "SW1A"]).contains("of "))
        try Files.expect(["run", files.copy, "/dev/null"])
        let kinds = try Files.expect(["export", files.copy]).split(separator: "\n").suffix(2)
        #expect(kinds.first?.contains("userErased") == true && kinds.last?.contains("contentErased") == true)
        for name in try FileManager.default.contentsOfDirectory(atPath: files.copy) {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: files.copy + "/" + name))
            #expect(
                bytes.range(of: Data("of Ben".utf8)) == nil && bytes.range(of: Data("of Ann".utf8)) == nil, "\(name)")
        }
        try Files.expect(["verify", files.copy, "--deep", "--ledger", files.ledger])
    }

    @Test func damagedLedgerIsNamed() throws {
        let files = try Files()
        try FileManager.default.copyItem(atPath: files.ledger, toPath: files.folder.path + "/kept")
        try Data("chat-journal/ledger@v1\n".utf8).write(to: URL(fileURLWithPath: files.ledger))
        #expect(try Files.expect(["timeline", files.journal, "SW1A"], status: 1).contains("ledgerDamaged"))
        let findings = try Files.expect(["verify", files.journal], status: 1)
        #expect(findings.contains("ledgerDamaged") && !findings.contains("repair"))
        try FileManager.default.removeItem(atPath: files.ledger)
        try Files.expect(["run", files.journal, "/dev/null"])
        #expect(FileManager.default.contentsEqual(atPath: files.ledger, andPath: files.folder.path + "/kept"))
    }
}
