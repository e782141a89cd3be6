import Foundation

/// A page of the module's documentation.
struct DocumentationPage {
    private static let catalog = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources/ChatDomain/ChatDomain.docc")

    let text: String

    /// Reads a page.
    init(_ name: String) throws {
        text = try String(contentsOf: Self.catalog.appending(path: name), encoding: .utf8)
    }

    /// The rows of the page's tables, as cell texts.
    var rows: [[String]] { text.split(separator: "\n").compactMap { Self.cells($0) } }

    /// The rows of the page's table of commands: name, events and rejections.
    var commands: [[String]] {
        Array(rows.drop { $0.count != 3 || $0[0] != "command" }.prefix { $0.count == 3 }.dropFirst(2))
    }

    /// The cell texts of a line, or nil if the line is no row of a table.
    static func cells(_ line: some StringProtocol) -> [String]? {
        guard line.hasPrefix("|") else { return nil }
        return String(line).dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
