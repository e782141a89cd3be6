/// A page of a list, oldest entry first: a collection of its entries.
public struct Page<Entry> {
    /// The entries of the page.
    public var entries: [Entry]
    /// The request of the page of older entries; nil if the page starts the list.
    public var older: PageRequest?
    /// The request of the page of newer entries.
    ///
    /// If none exist yet, it gives an empty page; a later query with it returns the entries added
    /// since.
    public var newer: PageRequest

    /// Creates a page, for example in a test.
    public init(entries: [Entry], older: PageRequest? = nil, newer: PageRequest) {
        (self.entries, self.older, self.newer) = (entries, older, newer)
    }
}

extension Page: Sendable where Entry: Sendable {}
extension Page: Equatable where Entry: Equatable {}
extension Page: Hashable where Entry: Hashable {}

extension Page: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }
    /// The number of entries.
    public var endIndex: Int { entries.count }
    /// The entry at an index, from 0.
    public subscript(index: Int) -> Entry { entries[index] }
}

extension Page {
    /// Creates a page with the requests of the adjacent pages.
    ///
    /// - Parameters:
    ///   - entries: The entries of the page.
    ///   - first: The position of the first entry; nil without entries.
    ///   - last: The position of the last entry; nil without entries.
    ///   - hasOlder: Whether the list has older entries.
    ///   - request: The request of the page.
    ///   - now: The position that the list was read as of.
    package init(
        _ entries: [Entry], from first: Position?, to last: Position?, hasOlder: Bool, _ request: PageRequest, asOf now: Position
    ) {
        // An empty page is placed at its requested bound: `after` at the bound itself, `before` and
        // `around` in front of the position, no bound at the end.
        let last = last ?? Swift.min(now, request.after ?? (request.before ?? request.around).map { Swift.max($0, 1) - 1 } ?? now)
        self.entries = entries
        older = hasOlder ? PageRequest(limit: request.limit, before: first ?? last + 1) : nil
        newer = PageRequest(limit: request.limit, after: last)
    }
}

extension Page: Decodable where Entry: Decodable {
    private enum CodingKeys: CodingKey { case items, older, newer }

    /// Decodes a page of the HTTP API, `{"items":[...],"older":12,"newer":40}`.
    ///
    /// The requests have the default limit.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        entries = try container.decode([Entry].self, forKey: .items)
        older = try container.decodeIfPresent(Position.self, forKey: .older).map { PageRequest(before: $0) }
        newer = PageRequest(after: try container.decode(Position.self, forKey: .newer))
    }
}
