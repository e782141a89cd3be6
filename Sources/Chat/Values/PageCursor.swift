import ChatDomain
import EventJournal
import Primitives

/// An opaque cursor for pagination, valid on every store of the same journal.
///
/// The text form suits a URL or a message between programs; only the store interprets it, and the
/// form may change. A cursor grants no permission: the store checks the viewer at each use. It
/// never expires, since positions never change.
public struct PageCursor: Hashable, Sendable {
    /// The list that a cursor belongs to.
    enum List: Hashable, Sendable {
        case threads
        case timeline(ThreadID)
        case replies(MessageID)
    }

    /// The direction of a cursor; its bound is exclusive.
    enum Direction: String, Sendable {
        case older
        case newer
    }

    var journal: JournalID
    var list: List
    var direction: Direction
    package var bound: Position
}

extension PageCursor: LosslessStringConvertible, Codable, TextValue {
    package static var decodingFailure: String { "expected a page cursor" }

    /// The text form: letters, digits, hyphens and dots.
    public var description: String {
        let listText =
            switch list {
            case .threads: "threads"
            case .timeline(let thread): "timeline.\(thread)"
            case .replies(let message): "replies.\(message)"
            }
        return "1.\(journal).\(listText).\(direction.rawValue).\(bound)"
    }

    /// Parses the text form; nil for any other text.
    public init?(_ text: String) {
        // The longest cursor has 114 bytes.
        guard text.utf8.count <= 128 else { return nil }
        var parts = text.split(separator: ".", omittingEmptySubsequences: false)[...]
        guard parts.popFirst() == "1", let journal = parts.popFirst().flatMap({ JournalID(String($0)) }),
            let bound = parts.popLast().flatMap({ Position($0) }),
            let direction = parts.popLast().flatMap({ Direction(rawValue: String($0)) }),
            let list = List(Array(parts))
        else { return nil }
        self.init(journal: journal, list: list, direction: direction, bound: bound)
        // Comparing the canonical text rejects leading zeros, signs and capitals.
        guard description == text else { return nil }
    }
}

extension PageCursor.List {
    fileprivate init?(_ parts: [Substring]) {
        switch (parts.count, parts.first) {
        case (1, "threads"): self = .threads
        case (2, "timeline"):
            guard let thread = ThreadID(String(parts[1])) else { return nil }
            self = .timeline(thread)
        case (2, "replies"):
            guard let message = MessageID(String(parts[1])) else { return nil }
            self = .replies(message)
        default: return nil
        }
    }
}

/// A page of a list, oldest entry first, with cursors in both directions: a collection of its entries.
public struct Page<Entry: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    /// The entries of the page.
    public var entries: [Entry]
    /// The cursor to older entries; nil if the page starts the list.
    public var older: PageCursor?
    /// The cursor to newer entries.
    ///
    /// If none exist yet, it leads to an empty page; a later query with it returns the entries
    /// added since.
    public var newer: PageCursor

    private enum CodingKeys: AbsentAsNullKey { case entries, older, newer }
}

extension Page: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }
    /// The number of entries.
    public var endIndex: Int { entries.count }
    /// The entry at an index, from 0.
    public subscript(index: Int) -> Entry { entries[index] }
}
