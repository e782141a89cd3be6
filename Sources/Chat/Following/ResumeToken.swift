public import ChatDomain
public import EventJournal

/// Where a follower goes on: everything up to a position of one journal has been seen.
///
/// To be kept by a client and given back, on whatever store of the same journal. It names the history and not only the place: a token of another journal, from
/// beyond the end, or of a journal that has meanwhile been restored from an older copy and written on is refused, never followed with a gap. It is no permission, and a checksum is
/// no signature: who may read is decided by the filter's viewer.
///
/// The text form is `ct1-POSITION-HEAD-CHECK`: the position in decimal, a ``EventJournal/JournalHead`` in its own text form, and the CRC32C of all before the last hyphen as 8
/// hexadecimal digits in lower case.
public struct ResumeToken: Hashable, Sendable {
    /// Everything up to here has been seen.
    public let position: Position
    /// The history to which the position belongs: up to the end of its commit; of a log that is no journal, up to the durable end when the token was made.
    public let head: JournalHead

    /// The journal that the token was made from.
    public var journal: JournalID { head.journal }

    /// Makes a token of its parts; nil if the position lies beyond the head.
    public init?(position: Position, head: JournalHead) {
        guard position <= head.position else { return nil }
        self.position = position
        self.head = head
    }
}

extension ResumeToken: LosslessStringConvertible {
    /// The text form: letters, digits and hyphens.
    public var description: String {
        let payload = "ct1-\(position)-\(head)"
        let check = String(CRC32C.checksum(of: Array(payload.utf8)), radix: 16)
        return "\(payload)-\(String(repeating: "0", count: 8 - check.utf8.count))\(check)"
    }

    /// Reads the text form; nil when it is anything else or its check digits do not fit.
    public init?(_ text: String) {
        // The longest there is has 117 bytes.
        guard text.utf8.count <= 128 else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 8, parts[0] == "ct1", let position = Position(parts[1]),
            let head = JournalHead(parts[2...6].joined(separator: "-"))
        else { return nil }
        self.init(position: position, head: head)
        // The one canonical text is compared whole, so that leading zeros, signs and wrong check digits all fall here.
        guard description == text else { return nil }
    }
}

extension ResumeToken: Codable {
    /// Decodes the text form; any other string is a decoding error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let token = ResumeToken(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a token to resume from")
        }
        self = token
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension ChatStore {
    /// A token with which somebody who has seen everything up to a position goes on: that of an event that was delivered, for instance.
    ///
    /// - Parameter position: Up to the last one that is shown; 0 for one who has seen nothing.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` for a position beyond; ``ChatError/journal(_:)`` if the journal is closed or cannot be read.
    /// - Complexity: Reads a commit, and up to some 4 KiB before it; nothing for the last position.
    public func resumeToken(after position: Position) throws(ChatError) -> ResumeToken {
        guard position <= shownPosition else { throw .rejected(.invalidPosition) }
        let head = try wrapping { () throws(JournalError) in try journal?.head(at: position) } ?? log.head
        guard let token = ResumeToken(position: position, head: head) else { throw .rejected(.invalidPosition) }
        return token
    }

    /// Refuses a token that does not belong to the history of this store's log.
    ///
    /// A log that is no journal knows the chain value of its head alone: one that was made there is compared, of another the identity and the position.
    func check(_ token: ResumeToken) throws(ChatError) {
        guard token.journal == log.id else { throw .foreignToken }
        let head = log.head
        guard token.head.position <= head.position, token.position <= shownPosition else { throw .futureToken }
        let isContained = try wrapping { () throws(JournalError) in try journal?.contains(token.head) }
        guard isContained ?? (token.head.position < head.position || token.head == head) else { throw .rolledBackToken }
    }
}
