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
        // Unsafe by the standard library's annotation alone: a span of bytes has no padding that its raw view could show.
        try unsafe ChatEvent(kept: kept.span.bytes, erasable: erasable.span.bytes, contents: contents)
    }

    /// Decodes the event from a stub, whose erasable part is gone.
    func stub(_ contents: ContentSelection = .all) throws(EventDecodingError) -> ChatEvent {
        // As above.
        try unsafe ChatEvent(kept: kept.span.bytes, erasable: nil, contents: contents)
    }

    /// Decodes what the event says and when it was created, from the whole record or from a stub.
    func text(isStub: Bool = false) throws(EventDecodingError) -> (body: String?, createdAt: Timestamp) {
        // As above.
        if isStub { return try unsafe ChatEvent.text(kept: kept.span.bytes, erasable: nil) }
        return try unsafe ChatEvent.text(kept: kept.span.bytes, erasable: erasable.span.bytes)
    }

    /// Decodes the kept part as plain numbers.
    func row() throws(EventDecodingError) -> EventRow { try unsafe EventRow(kept: kept.span.bytes) }

    /// Decodes the content beside a row, from the whole record or from a stub.
    func indexedContent(_ row: EventRow, isStub: Bool = false) throws(EventDecodingError) -> EventContent {
        try unsafe isStub ? EventContent(indexedOf: row, erasable: nil) : EventContent(indexedOf: row, erasable: erasable.span.bytes)
    }

    /// What is wrong with the bytes, nil if they are an event.
    var problem: EventDecodingError? {
        do throws(EventDecodingError) {
            _ = try event()
            return nil
        } catch {
            return error
        }
    }
}

/// Bytes in the way that people write them down: pairs of digits, with spaces and line ends wherever they help.
func bytes(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
