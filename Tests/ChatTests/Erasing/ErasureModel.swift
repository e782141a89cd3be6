import ChatDomain
import EventJournal
import MerkleLog
import StubRewriter

@testable import Chat

/// What the host of a journal knows at a moment: what it was promised, and which content must be
/// gone.
struct ErasureModel: Sendable {
    /// The last acknowledged position.
    var position: Position = 0
    /// The number of texts so far; none is used twice.
    var textCount = 0
    /// The users and the texts of which an erasure has returned.
    var (erasedUsers, erasedTexts): (Set<UserID>, Set<ErasureText>) = ([], [])
    /// The same for the copy.
    var (usersErasedInCopy, textsErasedInCopy): (Set<UserID>, Set<ErasureText>) = ([], [])
    /// The messages that were posted and acknowledged, with their texts.
    var messages: [(id: MessageID, text: ErasureText)] = []
    /// Whether a backup was begun.
    var hasCopy = false
    /// A head that an auditor has.
    var head: TreeHead?
}

/// A text that is found wherever it is: `of-a-17;`.
struct ErasureText: Hashable, Sendable {
    /// A letter.
    var user: UInt8
    var number: Int

    init(user: UInt8, number: Int) { (self.user, self.number) = (user, number) }
    init(user: UserID, number: Int) { self.init(user: UInt8(truncatingIfNeeded: user.bits), number: number) }

    var text: String { "of-\(Character(UnicodeScalar(user)))-\(number);" }

    /// The texts within the bytes of a text or a file, in their order.
    static func all(in bytes: some Collection<UInt8>) -> [ErasureText] {
        let (bytes, hyphen) = (Array(bytes), UInt8(ascii: "-"))
        var found: [ErasureText] = []
        for start in bytes.indices.dropLast(7)
        where bytes[start] == UInt8(ascii: "o") && bytes[start + 1] == UInt8(ascii: "f") && bytes[start + 2] == hyphen {
            let digits = bytes[(start + 5)...].prefix(6).prefix { $0 != UInt8(ascii: ";") }
            guard bytes[start + 4] == hyphen, let number = Int(String(decoding: digits, as: UTF8.self)) else {
                continue
            }
            found.append(ErasureText(user: bytes[start + 3], number: number))
        }
        return found
    }

    /// The texts in the files of a directory and of those in it.
    static func all(inFilesOf directory: String, on storage: any JournalStorage) throws -> Set<ErasureText> {
        guard try storage.kind(of: directory) != nil else { return [] }
        var found: Set<ErasureText> = []
        for name in try storage.list(directory) {
            let path = directory + "/" + name
            if try storage.kind(of: path) == .directory {
                found.formUnion(try all(inFilesOf: path, on: storage))
            } else {
                found.formUnion(all(in: try storage.contents(of: path)))
            }
        }
        return found
    }
}

/// The orders of a history, and the check of its events against them.
struct ErasureHistory {
    private(set) var events: [RecordedEvent] = []
    private var users: [UserID: Position] = [:]
    private var positions = PositionSet()
    /// The events that each order names; nil for the order of a user.
    private var orders: [(position: Position, user: UserID?, named: PositionSet)] = []

    init(_ store: ChatStore) throws {
        events = try store.allEvents()
        for event in events {
            switch event.kind {
            case .userErased:
                guard let user = event.user else { continue }
                users[user] = event.position
                orders.append((event.position, user, PositionSet()))
            case .contentErased:
                let named = event.event.erasedPositions ?? PositionSet()
                positions.formUnion(named)
                orders.append((event.position, nil, named))
            default: break
            }
        }
    }

    func orders(_ user: UserID) -> Bool { users[user] != nil }

    /// The number of orders.
    var orderCount: Int { events.count { [.userErased, .contentErased].contains($0.kind) } }

    /// Throws if an event shows what an order erases, or lacks other content.
    func check() throws {
        for event in events {
            guard let user = event.user, Self.kinds.contains(event.kind) else { continue }
            let isErased = event.position < users[user] ?? 0 || positions.contains(event.position)
            let found = Set(ErasureText.all(in: "\(event)".utf8))
            let isRight =
                isErased ? found.isEmpty : found.count == 1 && found.first?.user == UInt8(truncatingIfNeeded: user.bits)
            guard isRight else {
                throw Unexpected("event \(event.position) of \(user) has \(found), erased: \(isErased)")
            }
        }
    }

    /// Throws if a copy of this history shows a part of what one order erases, and lacks another.
    func checkOrdersAreWhole(in copy: ErasureHistory) throws {
        let texts = copy.events.filter { Self.kinds.contains($0.kind) }
        let shown = Set(texts.filter { !ErasureText.all(in: "\($0)".utf8).isEmpty }.map(\.position))
        let concerned = orders.map { order in
            Set(
                texts.map(\.position).filter { position in
                    order.named.contains(position)
                        || order.user != nil && position < order.position
                            && copy.events[Int(position) - 1].user == order.user
                })
        }
        let hidden = concerned.filter { $0.isDisjoint(with: shown) }.reduce(into: Set()) { $0.formUnion($1) }
        for (order, positions) in zip(orders, concerned) where !positions.isDisjoint(with: shown) {
            let missing = positions.subtracting(hidden).subtracting(shown)
            guard missing.isEmpty else {
                throw Unexpected(
                    "the copy lacks \(missing.sorted()) and shows the rest of the order at \(order.position)")
            }
        }
    }

    /// The texts that the orders erase are in none of these.
    func checkAbsence(in found: Set<ErasureText>, of messages: [(id: MessageID, text: ErasureText)]) throws {
        if let text = found.first(where: { users[UserID(bits: UInt128($0.user))] != nil }) {
            throw Unexpected("\(text.text) of an erased user is in a file")
        }
        for event in events where positions.contains(event.position) {
            guard case (.messagePosted, .message(_, _, let itsMessage, _)) = (event.kind, event.shape) else { continue }
            if let text = messages.first(where: { $0.id == itsMessage })?.text, found.contains(text) {
                throw Unexpected("\(text.text) of an erased event is in a file")
            }
        }
    }

    /// The kinds of events that have a text of their user.
    private static let kinds: Set<EventKind?> = [
        .userRegistered, .threadOpened, .messagePosted, .replyPosted, .sessionStarted,
    ]
}

/// A failed check.
struct Unexpected: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
