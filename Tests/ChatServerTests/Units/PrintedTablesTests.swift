#if Server
    import ChatDomain
    import ChatWire
    import Foundation
    import Testing

    @testable import ChatServer

    /// The tables that the server prints for the page.
    @Suite struct PrintedTablesTests {
        /// Decodes a constant of the module.
        private func table<Table: Decodable>(_ name: String, as type: Table.Type = Table.self) throws -> Table {
            let start = "export const \(name) = "
            let line = try #require(PrintedTables.module.split(separator: "\n").first { $0.hasPrefix(start) })
            #expect(line.hasSuffix(";"))
            return try JSONDecoder().decode(type, from: Data(line.dropFirst(start.count).dropLast().utf8))
        }

        private func changedAnswers() throws -> [String: Set<String>] { try table("changedAnswers") }

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

        /// The server rejects an id beside any other command.
        @Test func commandsWithAnIDBesideThemAreThoseOfTheRules() throws {
            let printed: Set<String> = try table("onceCommands")
            #expect(printed == Set(CommandKind.allCases.filter(\.takesOnce).map(\.form.name)))
            #expect(printed.isSuperset(of: ["joinThread", "setRole", "ban"]))
            #expect(printed.isDisjoint(with: ["postMessage", "edit", "openThread", "markRead", "react"]))
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
