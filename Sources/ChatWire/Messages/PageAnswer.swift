internal import Chat
internal import Projections
public import ChatDomain

/// A page of a list: `{"items":[...],"older":12,"newer":40}`.
public struct PageAnswer<Item: Encodable & Sendable>: Encodable, Sendable {
    /// The items, oldest first.
    public var items: [Item]
    /// The value of `before` for the page of older items; null if there are none.
    public var older: Position?
    /// The value of `after` for the page of newer items.
    public var newer: Position

    private enum CodingKeys: CodingKey { case items, older, newer }

    /// Encodes every field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(items, forKey: .items)
        try container.encode(older, forKey: .older)
        try container.encode(newer, forKey: .newer)
    }
}

extension PageAnswer {
    init(_ page: Page<Item>) where Item: Hashable & Decodable {
        self.init(items: page.entries, older: page.older?.bound, newer: page.newer.bound)
    }

    /// Selects a page of a complete list, whose items have ascending positions.
    ///
    /// - Complexity: The caller makes the whole list for each page: members and residents take time
    ///   and memory linear in their number.
    init(_ all: [Item], _ page: PageRequest, position: (Item) -> Position) {
        let range = page.indices(count: all.count) { position(all[$0]) }
        items = Array(all[range])
        // An empty page after the last item is placed at its bound.
        older = range.lowerBound > 0 ? items.first.map(position) ?? page.after.map { $0 == .max ? $0 : $0 + 1 } : nil
        newer = items.last.map(position) ?? page.after ?? page.before.map { max($0, 1) - 1 } ?? 0
    }
}

/// A list without pages: `{"items":[...]}`.
struct ListAnswer<Item: Encodable>: Encodable {
    let items: [Item]
}
