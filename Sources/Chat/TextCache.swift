import ChatDomain

/// What posts say that were shown lately, so that a page of a busy thread is not read from the journal each time; bounded in bytes.
///
/// The text at a position never changes, so nothing in here is ever out of date. There are two generations: when the younger one has taken half of the space, it becomes
/// the older one and what that held is forgotten; whatever is asked for moves into the younger one. So what was not asked for lately goes, at no cost
/// for keeping an order.
struct TextCache {
    /// What an event says, and when it was created.
    struct Text: Equatable {
        var body: String?
        var createdAt: Timestamp
    }

    private let capacity: Int
    private var younger: [Position: Text] = [:]
    private var older: [Position: Text] = [:]
    private var youngerBytes = 0

    /// Makes a cache that takes about so many bytes; with 0 it keeps nothing.
    init(capacity: Int) { self.capacity = max(0, capacity) }

    /// How many texts there are.
    var count: Int { younger.count + older.count }

    /// The text of an event, if it is here.
    mutating func find(_ position: Position) -> Text? {
        if let text = younger[position] { return text }
        guard let text = older.removeValue(forKey: position) else { return nil }
        add(text, at: position)
        return text
    }

    /// Keeps a text.
    mutating func add(_ text: Text, at position: Position) {
        let bytes = Self.bytes(text)
        guard bytes <= capacity / 2 else { return }
        if youngerBytes + bytes > capacity / 2 {
            (older, younger, youngerBytes) = (younger, [:], 0)
        }
        if younger.updateValue(text, forKey: position) == nil { youngerBytes += bytes }
        older[position] = nil
    }

    /// What a text takes: its bytes, the header of a string's storage, and its share of the table.
    private static func bytes(_ text: Text) -> Int { (text.body?.utf8.count ?? 0) + 96 }
}
