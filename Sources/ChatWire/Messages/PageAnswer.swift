internal import Chat
internal import ChatDomain

/// A page of a list: `{"items":[...],"older":12,"newer":40}`.
///
/// If a page is cut because it is too large for an answer, it has fewer items than were asked for,
/// `"more":true`, and the bounds of the items that it has. So has a page of a thread's events for
/// which enough events were read.
struct PageAnswer<Item: Encodable & Sendable & PageEntry>: Encodable {
    /// The items, oldest first, or newest first.
    let items: [Item]
    /// The value of `before` for the page of older items; null if there are none.
    let older: Position?
    /// The value of `after` for the page of newer items.
    let newer: Position
    /// What follows the page in an object that is more than a page.
    private let unread: InboxCount?
    /// The items that the page keeps if it is cut: those nearest to the bound that was asked for.
    private let kept: ListPart.Side
    /// Whether more items follow although the page has fewer than were asked for.
    private var hasMore = false

    private enum CodingKeys: CodingKey { case items, older, newer, more, unread }

    /// Encodes every field.
    func encode(to encoder: any Encoder) throws {
        let part = try ListPart(items, keeping: kept, for: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(part, forKey: .items)
        let first = part.range.lowerBound > 0 ? items[part.range.lowerBound].pageKey : nil
        let last = part.range.upperBound < items.count ? items[part.range.upperBound - 1].pageKey : nil
        try container.encode((Item.isNewestFirst ? last : first) ?? older, forKey: .older)
        try container.encode((Item.isNewestFirst ? first : last) ?? newer, forKey: .newer)
        try container.encodeIfPresent(unread, forKey: .unread)
        // The encoder adds the member to a page that is cut.
        if hasMore, !part.isCut { try container.encode(true, forKey: .more) }
    }

    /// - Parameters:
    ///   - page: The page of the store.
    ///   - request: The request of the page.
    ///   - unread: The count of an inbox; nil for another list.
    init(_ page: Page<Item>, _ request: PageRequest, unread: InboxCount? = nil) {
        (items, older, newer, hasMore) = (page.entries, page.older?.before, page.newer.after ?? 0, page.hasMore)
        let isNewestFirst = Item.isNewestFirst
        let near = request.around.map { around in
            page.entries.firstIndex { isNewestFirst ? $0.pageKey < around : $0.pageKey >= around } ?? page.endIndex
        }
        kept = near.map(ListPart.Side.near) ?? ((request.after == nil) == isNewestFirst ? .first : .last)
        self.unread = unread
    }

    /// - Parameter part: The next events of a thread, whose pages lead forwards only.
    init(_ part: ThreadEvents) where Item == RecordedEvent {
        (items, older, newer) = (part.events, nil, part.end)
        (kept, hasMore, unread) = (.first, part.hasMore, nil)
    }
}
