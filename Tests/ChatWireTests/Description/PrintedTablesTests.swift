import ChatDomain
import Foundation
import Testing

@testable import ChatWire

/// The tables of the documentation that are printed from the rows of queries, commands and events.
///
/// `CHATJOURNAL_WRITE=1 swift test --filter PrintedTablesTests` writes them, one after another.
@Suite(.serialized) struct PrintedTablesTests {
    /// A table stands between `<!-- printed: NAME -->` and `<!-- end of printed -->`.
    enum Table: String, CaseIterable {
        case events, queries, commands

        var page: String {
            switch self {
            case .events: "Sources/ChatDomain/ChatDomain.docc/EventJSON.md"
            case .queries, .commands: "Sources/ChatWire/ChatWire.docc/ChatWire.md"
            }
        }

        func lines(_ document: OrderedJSON) -> [String] {
            switch self {
            case .events:
                let rows = EventKind.allCases.map { kind in
                    (name: kind.name, fields: Self.names(kind.form.shownKeys.filter { $0.key != .outwardCode }))
                }
                // Kinds with the same fields have one row.
                let fields = rows.map(\.fields).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
                return ["| kind | fields, in their order |", "| --- | --- |"]
                    + fields.map { fields in
                        let kinds = rows.filter { $0.fields == fields }.map { "`\($0.name)`" }.joined(separator: ", ")
                        return "| \(kinds) | \(fields)\(fields.isEmpty ? "" : " ")|"
                    } + [
                        "| `unknown` | `kind` (its number), `kept`, `erasable` (both parts in lower-case hexadecimal) |"
                    ]
            case .queries:
                return ["| route | does or has |", "| --- | --- |"]
                    + ChatRoutes.routes.map { route in
                        let operation = document["paths"]?[route.pattern]?[route.method.lowercased()]
                        return "| `\(route.name)` | \(operation?["summary"]?.plainText ?? "") |"
                    }
            case .commands:
                return ["| command | fields | |", "| --- | --- | --- |"]
                    + CommandKind.allCases.filter { $0.form.sender == .client }.map { kind in
                        let keys = kind.form.fields.flatMap { field in
                            field.keys.map { (key: $0, isOptional: !field.isRequired) }
                        }
                        return "| `\(kind.form.name)` | \(Self.names(keys)) | \(kind.form.summary) |"
                    }
            }
        }

        private static func names(_ keys: [(key: FieldKey, isOptional: Bool)]) -> String {
            keys.map { "`\($0.key.stringValue)`" + ($0.isOptional ? "?" : "") }.joined(separator: ", ")
        }
    }

    @Test(arguments: Table.allCases) func tableIsThatOfTheRows(_ table: Table) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: table.page)
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: "<!-- printed: \(table.rawValue) -->\n")).upperBound
        let end = try #require(text.range(of: "<!-- end of printed -->", range: start..<text.endIndex)).lowerBound
        let printed = "\n" + table.lines(try DescribedAnswersTests.document()).joined(separator: "\n") + "\n\n"
        if ProcessInfo.processInfo.environment["CHATJOURNAL_WRITE"] == "1" {
            try text.replacingCharacters(in: start..<end, with: printed).write(
                to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(text[start..<end] == printed, "\(table.page): write the tables (CONTRIBUTING.md)")
        }
    }
}
