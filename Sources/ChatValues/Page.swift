/// A page of a list, oldest entry first, of an inbox newest first: a collection of its entries.
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
    /// Whether the page was cut: it has fewer entries than were asked for, perhaps none, although
    /// ``newer`` or ``older`` leads to more.
    ///
    /// A store cuts only pages of an inbox, a server any page that is too large for an answer. A
    /// page of people has it if people can be missing from the list, because too many memberships
    /// were looked at.
    public var hasMore = false

    /// Creates a page, for example in a test.
    public init(entries: [Entry], older: PageRequest? = nil, newer: PageRequest, hasMore: Bool = false) {
        (self.entries, self.older, self.newer, self.hasMore) = (entries, older, newer, hasMore)
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
        _ entries: [Entry], from first: Position?, to last: Position?, hasOlder: Bool, _ request: PageRequest,
        asOf now: Position
    ) {
        // An empty page is placed at its requested bound: `after` at the bound itself, `before` and
        // `around` in front of the position, no bound at the end.
        let low = request.after ?? 0
        let high = request.before.map { Swift.max($0, 1) - 1 } ?? .max
        let centre = request.around.map { Swift.max($0, 1) - 1 } ?? (request.after == nil ? .max : 0)
        let place = Swift.min(now, Swift.max(low, Swift.min(high, centre)))
        self.entries = entries
        older = hasOlder ? PageRequest(limit: request.limit, before: first ?? place + 1) : nil
        // A client may have seen more than this store: it must not be sent back.
        newer = PageRequest(limit: request.limit, after: last ?? Swift.max(low, place))
    }
}

private enum PageKeys: CodingKey { case items, older, newer, more }

extension Page: Encodable where Entry: Encodable {
    /// Encodes the form of the HTTP API, `{"items":[...],"older":12,"newer":40}`, without the limit
    /// of the requests; `more` only if it is true.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PageKeys.self)
        try container.encode(entries, forKey: .items)
        try container.encode(older?.before, forKey: .older)
        try container.encode(newer.after ?? 0, forKey: .newer)
        if hasMore { try container.encode(true, forKey: .more) }
    }
}

extension Page: Decodable where Entry: Decodable {
    /// Decodes a page of the HTTP API.
    ///
    /// The requests have the default limit.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PageKeys.self)
        entries = try container.decode([KnownEntry<Entry>].self, forKey: .items).compactMap(\.entry)
        older = try container.decodeIfPresent(Position.self, forKey: .older).map { PageRequest(before: $0) }
        newer = PageRequest(after: try container.decode(Position.self, forKey: .newer))
        hasMore = try container.decodeIfPresent(Bool.self, forKey: .more) ?? false
    }
}

extension KeyedDecodingContainer {
    /// Decodes a value of a set to which a later version can add; nil if it is absent.
    ///
    /// - Parameter cautious: What a value of a later version is taken for: the known one by which a
    ///   screen promises least.
    func decodeKnown<Value: RawRepresentable<String>>(forKey key: Key, orElse cautious: Value) throws -> Value? {
        try decodeIfPresent(String.self, forKey: key).map { Value(rawValue: $0) ?? cautious }
    }
}

/// An entry has a value that this version does not know; a page is decoded without the entry.
struct UnknownValue: Error {}

/// An entry, or nil if a later version has added its kind.
private struct KnownEntry<Entry: Decodable>: Decodable {
    let entry: Entry?

    init(from decoder: any Decoder) throws {
        do { entry = try Entry(from: decoder) } catch is UnknownValue { entry = nil }
    }
}
