internal import Chat
internal import ChatDomain

/// A page of a list: `{"items":[...],"older":12,"newer":40}`.
///
/// If a page is cut because it is too large for an answer, it has fewer items than were asked for,
/// `"more":true`, and the bounds of the items that it has. So has a page of a thread's events for
/// which enough events were read.
struct PageAnswer<Item: Encodable & Sendable>: Encodable {
    /// The items, oldest first.
    let items: [Item]
    /// The value of `before` for the page of older items; null if there are none.
    let older: Position?
    /// The value of `after` for the page of newer items.
    let newer: Position
    /// The items that the page keeps if it is cut: those nearest to the bound that was asked for.
    private let kept: ListPart.Side
    /// Returns the bound of an item.
    private let position: (Item) -> Position
    /// Whether more items follow although the page has fewer than were asked for.
    private var hasMore = false

    private enum CodingKeys: CodingKey { case items, older, newer, more }

    /// Encodes every field.
    func encode(to encoder: any Encoder) throws {
        let part = try ListPart(items, keeping: kept, for: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(part, forKey: .items)
        try container.encode(part.range.lowerBound > 0 ? position(items[part.range.lowerBound]) : older, forKey: .older)
        try container.encode(part.range.upperBound < items.count ? position(items[part.range.upperBound - 1]) : newer, forKey: .newer)
        // The encoder adds the member to a page that is cut.
        if hasMore, !part.isCut { try container.encode(true, forKey: .more) }
    }

    /// - Parameters:
    ///   - page: The page of the store.
    ///   - request: The request of the page.
    ///   - position: Returns the bound of an entry.
    init(_ page: Page<Item>, _ request: PageRequest, position: @escaping (Item) -> Position) {
        (items, older, newer) = (page.entries, page.older?.before, page.newer.after ?? 0)
        let near = request.around.map { around in page.entries.firstIndex { position($0) >= around } ?? page.endIndex }
        kept = near.map(ListPart.Side.near) ?? (request.after == nil ? .last : .first)
        self.position = position
    }

    /// - Parameter part: The next events of a thread, whose pages lead forwards only.
    init(_ part: ThreadEvents) where Item == RecordedEvent {
        (items, older, newer) = (part.events, nil, part.end)
        (kept, position, hasMore) = (.first, \.position, part.hasMore)
    }
}

/// A list without pages: `{"items":[...]}`, with `"more":true` if it is cut.
struct ListAnswer<Item: Encodable>: Encodable {
    let items: [Item]
}
