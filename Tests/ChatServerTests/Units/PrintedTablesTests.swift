#if Server
    import ChatDomain
    import ChatWire
    import Foundation
    import Testing

    @testable import ChatServer

    /// The tables that the server prints for the page.
    @Suite struct PrintedTablesTests {
        private func changedAnswers() throws -> [String: Set<String>] {
            let text = PrintedTables.module
            let start = "export const changedAnswers = "
            #expect(text.hasPrefix(start) && text.hasSuffix(";\n"))
            return try JSONDecoder().decode(
                [String: Set<String>].self, from: Data(text.dropFirst(start.count).dropLast(2).utf8))
        }

        @Test func everyKindHasTheAnswersOfItsRow() throws {
            let rows = EventKind.allCases.map { kind in
                let names = ChangedAnswers.named.filter { kind.form.changes.contains($0.answers) }.map(\.name)
                return (kind.name, Set(names))
            }
            #expect(try changedAnswers() == Dictionary(uniqueKeysWithValues: rows))
        }

        /// What arrives most often in a thread makes no page read its lists again, unless the user is
        /// told of it.
        @Test func repliesAndReactionsChangeNoList() throws {
            let printed = try changedAnswers()
            for kind in [EventKind.replyPosted, .reactionAdded, .custom, .messagePinned, .sessionStarted] {
                #expect(printed[kind.name]?.isDisjoint(with: ["details", "inbox"]) == true, "\(kind)")
            }
        }

        /// The page is joined with the module.
        @Test func pageHasTheTables() throws {
            let files = StaticFiles()
            for path in [PrintedTables.path, "/store.js"] {
                let head = HTTPHead(method: "GET", version: "HTTP/1.1", target: path, headers: [], framing: .none)
                #expect(files.response(to: head)?.status == 200, "\(path)")
            }
        }
    }
#endif
