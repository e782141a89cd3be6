import Foundation
import Testing

@testable import ChatDomain

/// Whom a text names, by the rows of `mentions.jsonl`.
@Suite struct MentionedNamesTests {
    /// A text, and the names of the people whom it mentions.
    private struct Row: Decodable {
        var text: String
        var names: [String]

        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            text = try container.decode(String.self)
            names = try container.decode([String].self)
        }
    }

    /// The names of the members, and the rows.
    private static func table() throws -> (names: [String], rows: [Row]) {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let lines = try String(contentsOf: tests.appending(path: "checks/mentions.jsonl"), encoding: .utf8)
            .split(separator: "\n")
        return (
            try JSONDecoder().decode([String].self, from: Data(lines[0].utf8)),
            try lines.dropFirst().map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
        )
    }

    private func named(_ text: String, _ names: [String], limit: Int = 100) throws -> [String] {
        var users: [String: UserID] = [:]
        for (index, name) in names.enumerated() {
            users[try #require(Username(name)).foldKey] = UserID(bits: UInt128(index))
        }
        return MentionedNames(in: text).users(limit: limit) { users[$0] }.map { names[Int($0.bits)] }
    }

    @Test func textsMentionTheExpectedPeople() throws {
        let (names, rows) = try Self.table()
        #expect(rows.count > 200)
        for row in rows { #expect(try named(row.text, names) == row.names, "\(row.text)") }
    }

    /// Work is bounded for hostile texts, and honest names are found beside them.
    @Test(arguments: [
        "@", "@a ", "@ a", "@\u{301}", "@\u{200D}", "`", "``a`", "[", "[a](http://", "a.", "a-", "www.", "http://a/",
        "http://)", ">", "> ", "- ", "1. ", "  - a\n", "```\n", "\n", "@字", "@김", "*", "\\", "@@a@b ",
    ])
    func hostileTextsTakeLittleTime(part: String) throws {
        let text = "@Ann\n" + String(repeating: part, count: 65_536 / part.utf8.count)
        let clock = ContinuousClock()
        var count = 0
        let time = clock.measure {
            _ = MentionedNames(in: text).users(limit: 50) { _ in
                count += 1
                return nil
            }
        }
        #expect(count <= MentionedNames.maximumNameCount)
        #expect(time < .seconds(10), "\(time)")
        #expect(try named(text, ["Ann"]) == ["Ann"])
    }

    /// Each number of backquotes is looked for once.
    @Test func backquotesOfEachLengthTakeLittleTime() throws {
        let text = (1...350).map { String(repeating: "`", count: $0) + "a" }.joined()
        let time = ContinuousClock().measure { _ = MentionedNames(in: text + "@Ann") }
        #expect(time < .seconds(10), "\(time)")
    }

    @Test func longestNamesAreFound() throws {
        // U+0390 has the longest key of a name, and may be written as three scalars.
        let names = [String(repeating: "\u{390}", count: 64), String(repeating: "字", count: 64)]
        for name in names {
            #expect(try named("@\(name)", names) == [name])
            #expect(try named("@\(name)字", names) == (name == names[1] ? [name] : []))
            #expect(try named("@\(name.decomposedStringWithCanonicalMapping) x", names) == [name])
        }
    }

    @Test func onlyTheFirstUsersAreFound() throws {
        let names = (1...60).map { "N\($0)" }
        let text = names.map { "@\($0)" }.joined(separator: " ")
        #expect(try named(text, names, limit: 50) == Array(names.prefix(50)))
    }
}
