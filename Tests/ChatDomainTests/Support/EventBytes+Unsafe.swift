import ChatDomain

/// The two parts of an event's record.
struct EventBytes: Hashable {
    var kept: [UInt8]
    var erasable: [UInt8]

    init(kept: [UInt8], erasable: [UInt8] = []) {
        self.kept = kept
        self.erasable = erasable
    }

    /// Encodes an event.
    init(_ event: ChatEvent) {
        var encoder = EventEncoder()
        encoder.encode(event)
        kept = encoder.kept
        erasable = encoder.erasable
    }

    /// Decodes the event.
    func event(_ contents: ContentSelection = .all) throws(EventDecodingError) -> ChatEvent {
        // Marked unsafe only by the standard library: bytes have no padding.
        try unsafe ChatEvent(kept: kept.span.bytes, erasable: erasable.span.bytes, contents: contents)
    }

    /// Decodes the event from a stub, whose erasable part is gone.
    func stub(_ contents: ContentSelection = .all) throws(EventDecodingError) -> ChatEvent {
        // Unsafe for the same reason as `event(_:)`.
        try unsafe ChatEvent(kept: kept.span.bytes, erasable: nil, contents: contents)
    }

    /// Decodes the body, the creation time and the mentions, from a whole record or from a stub.
    func text(isStub: Bool = false) throws(EventDecodingError) -> (
        body: String?, createdAt: Timestamp, mentions: [UserID]
    ) {
        // Unsafe for the same reason as `event(_:)`.
        if isStub { return try unsafe ChatEvent.text(kept: kept.span.bytes, erasable: nil) }
        return try unsafe ChatEvent.text(kept: kept.span.bytes, erasable: erasable.span.bytes)
    }

    /// Decodes the kept part into a row of numbers.
    func row() throws(EventDecodingError) -> EventRow { try unsafe EventRow(kept: kept.span.bytes) }

    /// Decodes the content that belongs to a row, from a whole record or from a stub.
    func indexedContent(_ row: EventRow, isStub: Bool = false) throws(EventDecodingError) -> EventContent {
        try unsafe isStub
            ? EventContent(indexedOf: row, erasable: nil) : EventContent(indexedOf: row, erasable: erasable.span.bytes)
    }

    /// The decoding error of the bytes, or nil if they decode.
    var problem: EventDecodingError? {
        do throws(EventDecodingError) {
            _ = try event()
            return nil
        } catch {
            return error
        }
    }
}

/// Parses pairs of hexadecimal digits; ignores spaces and line ends.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
