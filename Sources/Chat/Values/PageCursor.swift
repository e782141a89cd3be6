import ChatDomain
import EventJournal

/// Where a list goes on, older or newer: to be handed to a client and given back, on whatever store of the same journal.
///
/// Opaque: the text is for a URL or a message between programs, its form may change, and nothing but the store reads it. It is no permission: whoever gives it back is asked
/// for theirs anew. It stays good for as long as the journal, since positions never change.
public struct PageCursor: Hashable, Sendable {
    /// The list that a cursor belongs to.
    enum List: Hashable, Sendable {
        case threads
        case timeline(ThreadID)
        case replies(MessageID)
    }

    /// Which way a cursor leads; the bound is exclusive.
    enum Direction: String, Sendable {
        case older
        case newer
    }

    var journal: JournalID
    var list: List
    var direction: Direction
    var bound: Position
}

extension PageCursor: LosslessStringConvertible {
    /// The text form: letters, digits, hyphens and dots.
    public var description: String {
        let place =
            switch list {
            case .threads: "threads"
            case .timeline(let thread): "timeline.\(thread)"
            case .replies(let message): "replies.\(message)"
            }
        return "1.\(journal).\(place).\(direction.rawValue).\(bound)"
    }

    /// Reads the text form; nil when it is anything else.
    public init?(_ text: String) {
        // The longest there is has 114 bytes.
        guard text.utf8.count <= 128 else { return nil }
        var parts = text.split(separator: ".", omittingEmptySubsequences: false)[...]
        guard parts.popFirst() == "1", let journal = parts.popFirst().flatMap({ JournalID(String($0)) }),
            let bound = parts.popLast().flatMap({ Position($0) }),
            let direction = parts.popLast().flatMap({ Direction(rawValue: String($0)) }),
            let list = List(Array(parts))
        else { return nil }
        self.init(journal: journal, list: list, direction: direction, bound: bound)
        // The one canonical text is compared whole, so that leading zeros, signs and capitals all fall here.
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

extension PageCursor: Codable {
    /// Decodes the text form; any other string is a decoding error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let cursor = PageCursor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a cursor of a page")
        }
        self = cursor
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A page of a list, oldest first, with the ways on from it.
public struct Page<Entry: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
    /// What stands on the page.
    public var entries: [Entry]
    /// Leads to what stands before the page; nil if nothing does.
    public var older: PageCursor?
    /// Leads to what stands after the page, also while nothing does: an empty page then, and what has come since when it is asked again.
    public var newer: PageCursor

    private enum CodingKeys: CodingKey { case entries, older, newer }

    /// Writes every field; what is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entries, forKey: .entries)
        try container.encode(older, forKey: .older)
        try container.encode(newer, forKey: .newer)
    }
}
