/// The second byte of the kept part, and a bit of the first.
struct EventFlags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    static let imported = EventFlags(rawValue: 1)
    static let sentAt = EventFlags(rawValue: 2)
    static let correlation = EventFlags(rawValue: 4)
    /// The erasable part ends with fields of a later version and their length in four bytes.
    static let extended = EventFlags(rawValue: 8)
    /// The kept part ends with the id of the edit, which edits of earlier versions lack.
    static let edit = EventFlags(rawValue: 16)
    /// The event, of a kind that is about messages and replies, is about a reply.
    static let ofReply = EventFlags(rawValue: 32)
    /// The kept part ends with the users whom the text mentions, or the people of a direct thread.
    static let mentions = EventFlags(rawValue: 64)
    /// The kept part ends with the ``CommandRequest/once`` of the command; in the encoding, the
    /// highest bit of the kind's byte.
    static let once = EventFlags(rawValue: 128)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Creates the flags of an event that a command produces.
    ///
    /// - Parameter fields: The flags of the fields that the event has.
    init(_ origin: EventOrigin, hasCorrelation: Bool, fields: EventFlags = []) {
        self = hasCorrelation ? fields.union(.correlation) : fields
        if case .imported(let sentAt) = origin { formUnion(sentAt == nil ? .imported : [.imported, .sentAt]) }
    }
}
