/// Encodes events into the two parts of a record; <doc:EventEncoding> specifies the bytes.
///
/// The encoder reuses its two buffers for all events.
package struct EventEncoder {
    private var keptWriter = ByteWriter()
    private var erasableWriter = ByteWriter()

    /// Creates an encoder with empty buffers.
    package init() {}

    /// The kept part of the last encoded event.
    package var kept: [UInt8] { keptWriter.bytes }

    /// The erasable part of the last encoded event.
    package var erasable: [UInt8] { erasableWriter.bytes }

    /// Encodes an event into ``kept`` and ``erasable``.
    ///
    /// - Precondition: The content is present: neither ``ChatEvent/isErased`` nor
    ///   ``ChatEvent/isOmitted``, except for an event of unknown kind.
    package mutating func encode(_ event: ChatEvent) {
        keptWriter.bytes.removeAll(keepingCapacity: true)
        erasableWriter.bytes.removeAll(keepingCapacity: true)
        if case .opaque(let kept, let erasable) = event.content {
            keptWriter.bytes.append(contentsOf: kept)
            erasableWriter.bytes.append(contentsOf: erasable ?? [])
            return
        }
        encode(event.row, kindByte: event.details.kindByte, event.content, correlation: event.correlation)
    }

    /// Encodes a row of a known kind and its content into ``kept`` and ``erasable``.
    package mutating func encode(_ row: EventRow, _ content: borrowing EventContent, correlation: String?) {
        keptWriter.bytes.removeAll(keepingCapacity: true)
        erasableWriter.bytes.removeAll(keepingCapacity: true)
        encode(row, kindByte: row.kind?.rawValue ?? 0, content, correlation: correlation)
    }

    private mutating func encode(_ row: EventRow, kindByte: UInt8, _ content: borrowing EventContent, correlation: String?) {
        // The kind, the flags and six bytes of time form one word.
        let time = UInt64(clamping: row.recordedAt.millisecondsSince1970)
        keptWriter.write(littleEndian: UInt64(kindByte) | UInt64(row.flags.rawValue) << 8 | time << 16)
        if row.flags.contains(.sentAt) { keptWriter.write(littleEndian: UInt64(bitPattern: row.createdAt.millisecondsSince1970)) }
        if let correlation { erasableWriter.write(counted: correlation) }
        encodeFields(row)
        encode(content)
    }

    /// Empties the erasable part, as in a stub.
    mutating func removeErasable() { erasableWriter.bytes.removeAll(keepingCapacity: true) }

    private mutating func encodeFields(_ row: EventRow) {
        guard let layout = row.kind?.layout else { return }
        switch layout {
        case .user: keptWriter.write(ids: [row.user])
        case .postcode: keptWriter.write(ids: [row.user, row.thread])
        case .thread:
            keptWriter.write(ids: [row.thread, row.user])
            keptWriter.write(leb128: row.number)
        case .threadPolicy:
            keptWriter.write(ids: [row.thread, row.user])
            keptWriter.write(leb128: row.number)
            keptWriter.write(leb128: row.value >> 8)
            keptWriter.write(leb128: row.value & 0xFF)
        case .message:
            keptWriter.write(ids: [row.thread, row.secondID, row.user])
            keptWriter.write(leb128: row.number)
        case .reply:
            keptWriter.write(ids: [row.thread, row.message, row.secondID, row.user])
            keptWriter.write(leb128: row.number)
        case .marker:
            keptWriter.write(ids: [row.user, row.thread])
            keptWriter.write(leb128: row.number)
        case .session, .block: keptWriter.write(ids: [row.user, row.secondID])
        case .member:
            keptWriter.write(ids: [row.thread, row.user, row.otherActor])
            keptWriter.write(leb128: row.number)
        case .role, .sanction:
            keptWriter.write(ids: [row.thread, row.user, row.otherActor])
            keptWriter.write(leb128: row.number)
            keptWriter.write(leb128: row.value)
        case .messageReport: keptWriter.write(ids: [row.thread, row.secondID, row.user])
        case .replyReport: keptWriter.write(ids: [row.thread, row.message, row.secondID, row.user])
        case .custom:
            keptWriter.write(ids: [row.thread, row.secondID, row.user])
            // The kind follows with the content.
            keptWriter.write(leb128: row.number)
        // The reason and the positions follow with the content.
        case .userErasure: keptWriter.write(ids: [row.user])
        case .contentErasure, .none: break
        }
    }

    private mutating func encode(_ content: borrowing EventContent) {
        // Explicit copy: a `borrowing` parameter is not implicitly copyable.
        switch copy content {
        case .none: break
        case .registration(let username, let subject):
            erasableWriter.write(counted: username.text)
            erasableWriter.write(counted: username.foldKey)
            erasableWriter.write(counted: subject ?? "")
        case .username(let username):
            erasableWriter.write(counted: username.text)
            erasableWriter.write(counted: username.foldKey)
        case .postcode(let postcode): erasableWriter.write(littleEndian: postcode.ascii)
        case .threadName(let text), .body(let text), .device(let text), .reason(let text): erasableWriter.write(text)
        case .custom(let kind, .present(let payload)):
            keptWriter.write(counted: kind)
            erasableWriter.write(payload.text)
        case .erasure(let reason, let positions):
            keptWriter.write(counted: reason)
            if let positions { keptWriter.write(positions) }
        case .erased, .omitted, .opaque, .custom: preconditionFailure("cannot encode an event without its content")
        }
    }
}

extension EventDetails {
    /// The first byte of the kept part.
    var kindByte: UInt8 {
        if case .unknown(let byte) = self { return byte }
        return kind?.rawValue ?? 0
    }
}

extension EventEncoder {
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
            kept.correlation = event.details.kind?.hasContent(event.details.thread) == true ? nil : ""
        }
        encode(kept)
        removeErasable()
    }
}
