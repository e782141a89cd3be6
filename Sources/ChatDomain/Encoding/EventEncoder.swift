/// Encodes events into the two parts of a record; <doc:EventEncoding> specifies the bytes.
///
/// The encoder reuses its two buffers for all events.
package struct EventEncoder {
    @usableFromInline var keptWriter = ByteWriter()
    @usableFromInline var erasableWriter = ByteWriter()

    /// Creates an encoder with empty buffers.
    package init() {}

    /// A copy of the kept part of the last encoded event.
    package var kept: [UInt8] { keptWriter.bytes }

    /// A copy of the erasable part of the last encoded event.
    package var erasable: [UInt8] { erasableWriter.bytes }

    /// Lends the two parts of the last encoded event.
    @inlinable @inline(__always)
    package func withParts<Result, Failure: Error>(
        _ body: (_ kept: RawSpan, _ erasable: RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try keptWriter.withBytes { (kept) throws(Failure) in
            try erasableWriter.withBytes { (erasable) throws(Failure) in try body(kept, erasable) }
        }
    }

    /// Whether another encoder's last event has the same bytes.
    package func hasParts(of other: borrowing EventEncoder) -> Bool {
        keptWriter.written == other.keptWriter.written && erasableWriter.written == other.erasableWriter.written
    }

    /// Encodes an event into ``kept`` and ``erasable``.
    ///
    /// - Precondition: The content is present: neither ``ChatEvent/isErased`` nor
    ///   ``ChatEvent/isOmitted``. Exactly an event of unknown kind has opaque content.
    package mutating func encode(_ event: ChatEvent) {
        encode(event.row, event.content, correlation: event.correlation, mentions: event.mentions)
    }

    /// Encodes a row, its content and its list into ``kept`` and ``erasable``.
    ///
    /// - Precondition: There are mentions exactly if the row says so.
    package mutating func encode(
        _ row: EventRow, _ content: consuming EventContent, correlation: String?, mentions: [UserID] = []
    ) {
        precondition(mentions.isEmpty != row.hasMentions, "the row and the list disagree")
        keptWriter.removeAll()
        erasableWriter.removeAll()
        guard let kind = row.kind else {
            guard case .opaque(let kept, let erasable) = copy content else {
                preconditionFailure("an event of unknown kind needs opaque content")
            }
            keptWriter.write(kept)
            erasableWriter.write(erasable ?? [])
            return
        }
        // The kind, the flags and six bytes of time form one word.
        let time = UInt64(clamping: row.recordedAt.millisecondsSince1970)
        let (flags, once) = (row.flags.subtracting(.once).rawValue, row.flags.intersection(.once).rawValue)
        keptWriter.write(littleEndian: UInt64(kind.rawValue | once) | UInt64(flags) << 8 | time << 16)
        if row.flags.contains(.sentAt) {
            keptWriter.write(littleEndian: UInt64(bitPattern: row.createdAt.millisecondsSince1970))
        }
        if let correlation { erasableWriter.write(counted: correlation) }
        for field in kind.form.layout(row.flags).kept { encode(field, of: row, content) }
        if let once = row.once { keptWriter.write(id: once.bits) }
        if !mentions.isEmpty { keptWriter.write(mentions) }
        content.encode(to: &erasableWriter)
    }

    @inline(__always)
    private mutating func encode(_ field: EventField, of row: EventRow, _ content: borrowing EventContent) {
        switch field {
        case .thread, .user, .message, .parent, .reply, .session, .customEvent, .otherActor, .blocked:
            keptWriter.write(id: row[id: field])
        case .edit: if let edit = row.edit { keptWriter.write(id: edit) }
        case .number, .upTo, .from: keptWriter.write(leb128: row.number)
        case .policy: keptWriter.write(leb128: row.value >> 8)
        case .history: keptWriter.write(leb128: row.value & 0xFF)
        case .role, .until: keptWriter.write(leb128: row.value)
        case .level: keptWriter.write(leb128: row.level.code)
        case .customKind: if case .custom(let kind, _) = copy content { keptWriter.write(counted: kind) }
        case .erasureReason: if case .erasure(let reason, _) = copy content { keptWriter.write(counted: reason) }
        case .ranges: if case .erasure(_, let positions?) = copy content { keptWriter.write(positions) }
        case .content: break
        }
    }

    /// Encodes a stub: the kept part of an event whose content the journal does not hold.
    ///
    /// ``erasable`` is then empty. An erased event no longer shows whether it had a correlation id,
    /// so its flag is not set. An event whose kind has no content is erased only if it had a
    /// correlation id, so its stub has the flag.
    package mutating func encodeStub(_ event: ChatEvent) {
        var kept = event
        switch event.content {
        case .opaque, .erasure: break
        case .custom(let kind, _):
            kept.content = .custom(kind: kind, payload: .present(CustomPayload(unchecked: "")))
            kept.correlation = nil
        default:
            kept.content = .none
            // An empty correlation id sets the flag; its text is in the erasable part, which is
            // removed.
            kept.correlation = event.kind?.form.hasContent(event.row) == true ? nil : ""
        }
        encode(kept)
        erasableWriter.removeAll()
    }
}
