import ChatDomain
import TestSupport
import Testing

/// Every cell of `DecisionTable.md`, executed by ``ChatState``.
struct DecisionTableTests {
    static let threads = ["open", "inviteOnly", "residents", "locked", "closed"]
    static let userStates = ["unknown", "registered", "operator", "former operator"]

    /// The lines between the markers of each table, as rows of cells, without the line of dashes.
    private func tables() throws -> [String: [[String]]] {
        var tables: [String: [[String]]] = [:]
        var name: String?
        for line in try DocumentationPage("DecisionTable.md").text.split(separator: "\n") {
            if line.hasPrefix("<!-- table: ") {
                #expect(name == nil, "the table before \(line) has no end")
                name = String(line.dropFirst("<!-- table: ".count).dropLast(" -->".count))
                #expect(tables.updateValue([], forKey: name ?? "") == nil, "\(line) occurs twice")
            } else if line == "<!-- end of table -->" {
                name = nil
            } else if let name, let cells = DocumentationPage.cells(line), cells.dropFirst().first != "---" {
                tables[name, default: []].append(cells)
            }
        }
        #expect(name == nil)
        return tables
    }

    /// Executes every cell of a table, or by default one of two in each row, and compares it with the
    /// page, which has the same rows and columns.
    private func expect(_ name: String, _ columns: [String], _ rows: [String], _ outcome: (Int, String) throws -> String) throws {
        let table = try #require(try tables()[name], "the page has no table \(name)")
        #expect(table.first == ["command"] + columns)
        #expect(table.dropFirst().map { $0[0] } == rows)
        for (index, cells) in zip(rows.indices, table.dropFirst()) {
            #expect(cells.count == columns.count + 1, "\(name), \(cells[0])")
            for column in Repetitions.oneIn(2, of: columns.indices, "\(name), \(cells[0])") where column + 1 < cells.count {
                #expect(try outcome(index, columns[column]) == cells[column + 1], "\(name), \(cells[0]), \(columns[column])")
            }
        }
    }

    @Test func pageHasTheseTables() throws {
        #expect(Set(try tables().keys) == Set(Self.threads + ["further", "users"]))
    }

    @Test(arguments: threads) func cellsOfThread(thread: String) throws {
        let rows = DecisionRow.main(thread: thread)
        try expect(thread, DecisionScene.states, rows.map(\.name)) { index, state in
            try DecisionThreadScene.outcome(thread: thread, state: state, row: rows[index])
        }
    }

    @Test func cellsOfFurtherCases() throws {
        let rows = DecisionRow.further
        try expect("further", DecisionScene.states, rows.map(\.name)) { index, state in
            try DecisionThreadScene.outcome(thread: rows[index].thread ?? "open", state: state, row: rows[index])
        }
    }

    @Test func cellsOfUsers() throws {
        let user = UserID(bits: 1 << 64), other = UserID(bits: 1 << 65), session = SessionID(bits: 1 << 64)
        let start = ChatCommand.startSession(user: user, session: session, device: "telephone")
        let end = ChatCommand.endSession(session: session)
        let rows: [(name: String, before: [ChatCommand], command: ChatCommand)] = [
            ("`registerUser` with the user's id and name", [], .registerUser(user: user, username: "user")),
            ("`registerUser` with the user's id and another name", [], .registerUser(user: user, username: "other")),
            ("`registerUser` with another id and the user's name", [], .registerUser(user: other, username: "user")),
            ("`startSession`", [], start), ("`startSession` repeated", [start], start),
            ("`endSession` of the user's session", [start], end), ("`endSession` of an ended session", [start, end], end),
            ("`grantOperator`", [], .grantOperator(user: user)), ("`revokeOperator`", [], .revokeOperator(user: user)),
        ]
        try expect("users", Self.userStates, rows.map(\.name)) { index, state in
            let scene = DecisionScene()
            if state != "unknown" {
                try scene.execute(.registerUser(user: user, username: "user"))
                for command in rows[index].before { try scene.execute(command) }
            }
            if state.hasSuffix("operator") { try scene.execute(.grantOperator(user: user)) }
            if state == "former operator" { try scene.execute(.revokeOperator(user: user)) }
            return scene.attempt(rows[index].command)
        }
    }
}
