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
    /// A store cuts only pages of an inbox and of custom events, a server any page that is too large
    /// for an answer. A page of people has it if people can be missing from the list, because too many memberships
    /// were looked at.
    public var isTruncated = false

    /// Creates a page, for example in a test.
    public init(entries: [Entry], older: PageRequest? = nil, newer: PageRequest, isTruncated: Bool = false) {
        (self.entries, self.older, self.newer, self.isTruncated) = (entries, older, newer, isTruncated)
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
        older = hasOlder ? PageRequest.before(first ?? place + 1, limit: request.limit) : nil
        // A client may have seen more than this store: it must not be sent back.
        newer = PageRequest.after(last ?? Swift.max(low, place), limit: request.limit)
    }
}

private enum PageKeys: CodingKey { case items, older, newer, more, unread }

/// An encoder of answers, which have room for a limited part of a list.
package protocol AnswerEncoder: Encoder {
    /// The page that was asked for.
    var request: PageRequest { get }

    /// Adds a list to the object of the encoder, with as many items as there is room for: on both
    /// sides of an index in turns, beginning with the item at it. At the end of an object that lacks
    /// items, the encoder adds the member `"more":true`.
    ///
    /// - Returns: The indices of the items that were added.
    func encode(_ items: [some Encodable], around index: Int, forKey key: any CodingKey) throws -> Range<Int>
}

extension Page: Encodable where Entry: Encodable & PageEntry {
    /// Encodes the form of the HTTP API, `{"items":[...],"older":12,"newer":40}`, without the limit
    /// of the requests; `more` only if it is true.
    ///
    /// In a response of a server a page has as many entries as there is room for, nearest to the
    /// bound that was asked for, and leads to the others.
    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, unread: nil) }

    /// Encodes the page, and the count of an inbox, in the object of an encoder.
    fileprivate func encode(to encoder: any Encoder, unread: InboxCount?) throws {
        var container = encoder.container(keyedBy: PageKeys.self)
        var shown = 0..<count
        if let encoder = encoder as? any AnswerEncoder {
            shown = try encoder.encode(entries, around: nearestIndex(to: encoder.request), forKey: PageKeys.items)
        } else {
            try container.encode(entries, forKey: .items)
        }
        let first = shown.lowerBound > 0 ? entries[shown.lowerBound].pageKey : nil
        let last = shown.upperBound < count ? entries[shown.upperBound - 1].pageKey : nil
        try container.encode((Entry.isNewestFirst ? last : first) ?? older?.before, forKey: .older)
        try container.encode((Entry.isNewestFirst ? first : last) ?? newer.after ?? 0, forKey: .newer)
        try container.encodeIfPresent(unread, forKey: .unread)
        if isTruncated, shown.count == count { try container.encode(true, forKey: .more) }
    }

    /// The index of the entry, or of the end, that is nearest to the bound that was asked for.
    private func nearestIndex(to request: PageRequest) -> Int {
        if let around = request.around {
            return entries.firstIndex { Entry.isNewestFirst ? $0.pageKey < around : $0.pageKey >= around } ?? count
        }
        return (request.after == nil) == Entry.isNewestFirst ? 0 : count
    }
}

extension Page: Decodable where Entry: Decodable {
    /// Decodes a page of the HTTP API.
    ///
    /// The requests have the default limit.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: PageKeys.self)
        entries = try container.decode([KnownEntry<Entry>].self, forKey: .items).compactMap(\.entry)
        older = try container.decodeIfPresent(Position.self, forKey: .older).map { PageRequest.before($0) }
        newer = PageRequest.after(try container.decode(Position.self, forKey: .newer))
        isTruncated = try container.decodeIfPresent(Bool.self, forKey: .more) ?? false
    }
}

/// The answer about an inbox: a page with the number of unread entries.
package struct InboxAnswer: Codable, Hashable, Sendable {
    package var page: Page<InboxEntry>
    package var unread: InboxCount

    package init(page: Page<InboxEntry>, unread: InboxCount) { (self.page, self.unread) = (page, unread) }

    package init(from decoder: any Decoder) throws {
        page = try Page(from: decoder)
        unread = try decoder.container(keyedBy: PageKeys.self).decode(InboxCount.self, forKey: .unread)
    }

    package func encode(to encoder: any Encoder) throws { try page.encode(to: encoder, unread: unread) }
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
