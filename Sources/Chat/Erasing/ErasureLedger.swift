public import ChatDomain
public import MerkleLog
import Primitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The list of the erasures that were ordered in a journal, which is kept beside its segments.
///
/// An older copy of the journal does not have the later orders. A ledger beside it repeats them:
/// see the article on erasing content. The ledger contains no personal data except the ids of
/// users.
///
/// The text form has a title, a JSON object on each line, and the CRC32C of all that precedes:
///
///     chat-journal/ledger@v1
///     {"position":18,"reason":"user-request","recordedAt":"2026-11-23T22:44:07.521Z","user":"01a2..."}
///     {"leaves":["ZbZ5..."],"position":19,"positions":[[12,12]],"reason":"wrong-address","recordedAt":"..."}
///     crc32c 1a2b3c4d
public struct ErasureLedger: Hashable, Sendable {
    /// The erasures, in the order of their times and positions.
    public private(set) var entries: [Entry] = []

    /// Creates an empty ledger.
    public init() {}

    /// One erasure that was ordered.
    public struct Entry: Hashable, Sendable {
        /// The position of the event that orders the erasure, in the journal where it was ordered.
        public var position: Position
        /// The time of the order.
        public var recordedAt: Timestamp
        /// The user whose content was erased; nil if the order names events.
        public var user: UserID?
        /// The events whose content was erased; nil in the ledger's entry for a user.
        public var positions: PositionSet?
        /// The hashes of the leaves of the events, in order; nil without ``positions``.
        ///
        /// An event of another history is the same event if its leaf is the same.
        public var leaves: [MerkleHash]?
        /// The reason of the order.
        public var reason: String

        /// Creates an entry.
        public init(
            position: Position, recordedAt: Timestamp, user: UserID? = nil, positions: PositionSet? = nil,
            leaves: [MerkleHash]? = nil,
            reason: String
        ) {
            self.position = position
            self.recordedAt = recordedAt
            self.user = user
            self.positions = positions
            self.leaves = leaves
            self.reason = reason
        }
    }

    /// Adds entries; those that the ledger has already change nothing.
    ///
    /// - Complexity: O(*n* log *n*) in all entries.
    public mutating func add(_ others: some Sequence<Entry>) {
        let known = Set(entries)
        var added = Set<Entry>()
        let new = others.filter { !known.contains($0) && added.insert($0).inserted }
        if new.isEmpty { return }
        entries = (entries + new).sorted { ($0.recordedAt, $0.position) < ($1.recordedAt, $1.position) }
    }
}

// MARK: Text

extension ErasureLedger {
    private static let title = "chat-journal/ledger@v1"

    /// The text form.
    public var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var text = "\(Self.title)\n"
        for entry in entries {
            guard let line = try? encoder.encode(entry) else {
                preconditionFailure("An entry has values that JSON can represent.")
            }
            text += "\(String(decoding: line, as: UTF8.self))\n"
        }
        return text + "crc32c \(Self.checksum(of: text))\n"
    }

    /// Parses the text form.
    ///
    /// - Throws: `ProofTextError` with the line that is not as the format requires. A ledger that
    ///   was changed or cut off is an error as a whole.
    public init(parsing text: String) throws(ProofTextError) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first.map(String.init) == Self.title else {
            throw ProofTextError(line: 1, "the title '\(Self.title)' is missing")
        }
        guard lines.popLast()?.isEmpty == true, lines.count >= 2, let last = lines.popLast(), last.hasPrefix("crc32c ")
        else {
            throw ProofTextError(line: lines.count + 1, "the last line, 'crc32c' and the checksum, is missing")
        }
        let checked = text.dropLast(last.count + 1)
        guard last.dropFirst("crc32c ".count) == Self.checksum(of: checked) else {
            throw ProofTextError(line: lines.count + 1, "the ledger was changed: it does not have this checksum")
        }
        let decoder = JSONDecoder()
        var parsed: [Entry] = []
        for (index, line) in lines.enumerated().dropFirst() {
            do { parsed.append(try decoder.decode(Entry.self, from: Data(line.utf8))) } catch {
                throw ProofTextError(line: index + 1, "not an erasure: \(Self.reason(of: error))")
            }
        }
        add(parsed)
    }

    private static func checksum(of text: some StringProtocol) -> String {
        let digits = String(CRC32C.checksum(of: Array(text.utf8)), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func reason(of error: any Error) -> String {
        switch error {
        case DecodingError.dataCorrupted(let context): context.debugDescription
        case DecodingError.keyNotFound(let key, _): "the field '\(key.stringValue)' is missing"
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            context.debugDescription
        default: "\(error)"
        }
    }
}

extension ErasureLedger.Entry: Codable {
    private enum CodingKeys: CodingKey { case position, recordedAt, user, positions, leaves, reason }

    /// Decodes an entry of a ledger.
    ///
    /// - Throws: `DecodingError`, also for an entry that has neither a user nor events with
    ///   their leaves, or has both.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        position = try container.decode(Position.self, forKey: .position)
        recordedAt = try container.decode(Timestamp.self, forKey: .recordedAt)
        user = try container.decodeIfPresent(UserID.self, forKey: .user)
        positions = try container.decodeIfPresent(PositionSet.self, forKey: .positions)
        reason = try container.decode(String.self, forKey: .reason)
        leaves = try container.decodeIfPresent([String].self, forKey: .leaves)?.map { text in
            guard let hash = MerkleHash(base64: text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .leaves, in: container, debugDescription: "a leaf is not a hash in base64")
            }
            return hash
        }
        let problem: String? =
            if position == 0 {
                "the position is 0"
            } else if !ErasureReason.isValid(reason) {
                "the reason is not a code of lower-case letters, digits and hyphens"
            } else if (user == nil) == (positions == nil) || positions?.isEmpty == true
                || leaves.map({ UInt64($0.count) }) != positions?.count
            {
                "an entry has a user, or positions and a leaf for each"
            } else {
                nil
            }
        if let problem {
            throw DecodingError.dataCorruptedError(forKey: .position, in: container, debugDescription: problem)
        }
    }

    /// Encodes the fields that are present; the positions as ranges `[first, last]`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        try container.encode(recordedAt, forKey: .recordedAt)
        try container.encodeIfPresent(user, forKey: .user)
        try container.encodeIfPresent(positions, forKey: .positions)
        try container.encodeIfPresent(leaves?.map(\.base64), forKey: .leaves)
        try container.encode(reason, forKey: .reason)
    }
}
