/// Encodes events into the two parts of a record; <doc:EventEncoding> writes the bytes down.
///
/// An encoder keeps its two buffers from event to event.
package struct EventEncoder {
    private var keptWriter = ByteWriter()
    private var erasableWriter = ByteWriter()

    package init() {}

    /// The kept part of the event encoded last.
    package var kept: [UInt8] { keptWriter.bytes }

    /// The erasable part of the event encoded last.
    package var erasable: [UInt8] { erasableWriter.bytes }

    /// Encodes an event into ``kept`` and ``erasable``.
    ///
    /// - Precondition: The content is there: an erased or omitted event has no encoding, and nobody appends one.
    package mutating func encode(_ event: Event) {
        keptWriter.bytes.removeAll(keepingCapacity: true)
        erasableWriter.bytes.removeAll(keepingCapacity: true)
        if case .opaque(let kept, let erasable) = event.content {
            keptWriter.bytes.append(contentsOf: kept)
            erasableWriter.bytes.append(contentsOf: erasable ?? [])
            return
        }
        var flags: EventFlags = []
        if case .imported(let sentAt) = event.origin { flags.formUnion(sentAt == nil ? .imported : [.imported, .sentAt]) }
        if event.correlation != nil { flags.insert(.correlation) }
        // The kind, the flags and six bytes of time, in one word.
        let time = UInt64(clamping: event.recordedAt.millisecondsSince1970)
        keptWriter.write(littleEndian: UInt64(event.fact.kindByte) | UInt64(flags.rawValue) << 8 | time << 16)
        if let sentAt = event.origin.sentAt {
            keptWriter.write(littleEndian: UInt64(bitPattern: sentAt.millisecondsSince1970))
        }
        if let correlation = event.correlation { erasableWriter.write(counted: correlation) }
        encode(event.fact)
        encode(event.content)
    }

    /// Leaves the kept part alone, as a stub has it.
    mutating func removeErasable() { erasableWriter.bytes.removeAll(keepingCapacity: true) }

    private mutating func encode(_ fact: Fact) {
        switch fact {
        case .userRegistered(let fact): keptWriter.write(ids: [fact.user.bits])
        case .usernameChanged(let fact): keptWriter.write(ids: [fact.user.bits])
        case .postcodeSet(let fact):
            keptWriter.write(ids: [fact.user.bits, fact.thread.bits])
        case .threadOpened(let fact):
            keptWriter.write(ids: [fact.thread.bits, fact.by.bits])
            keptWriter.write(leb128: fact.number)
        case .threadJoined(let fact):
            keptWriter.write(ids: [fact.thread.bits, fact.user.bits])
            keptWriter.write(leb128: fact.number)
        case .threadLeft(let fact):
            keptWriter.write(ids: [fact.thread.bits, fact.user.bits])
            keptWriter.write(leb128: fact.number)
        case .messagePosted(let fact):
            keptWriter.write(ids: [fact.thread.bits, fact.message.bits, fact.author.bits])
            keptWriter.write(leb128: fact.number)
        case .replyPosted(let fact):
            keptWriter.write(ids: [fact.thread.bits, fact.message.bits, fact.reply.bits, fact.author.bits])
            keptWriter.write(leb128: fact.number)
        case .messageEdited(let fact), .messageRetracted(let fact):
            keptWriter.write(ids: [fact.thread.bits, fact.message.bits, fact.by.bits])
            keptWriter.write(leb128: fact.number)
        case .replyEdited(let fact), .replyRetracted(let fact):
            keptWriter.write(ids: [fact.thread.bits, fact.message.bits, fact.reply.bits, fact.by.bits])
            keptWriter.write(leb128: fact.number)
        case .threadRead(let fact):
            keptWriter.write(ids: [fact.user.bits, fact.thread.bits])
            keptWriter.write(leb128: fact.upTo)
        case .sessionStarted(let fact):
            keptWriter.write(ids: [fact.user.bits, fact.session.bits])
        case .sessionEnded(let fact):
            keptWriter.write(ids: [fact.user.bits, fact.session.bits])
        case .lost, .unknown: break
        }
    }

    private mutating func encode(_ content: Content) {
        switch content {
        case .none: break
        case .registration(let username, let subject):
            erasableWriter.write(counted: username.text)
            erasableWriter.write(counted: username.foldKey)
            erasableWriter.write(counted: subject ?? "")
        case .username(let username):
            erasableWriter.write(counted: username.text)
            erasableWriter.write(counted: username.foldKey)
        case .postcode(let postcode): erasableWriter.write(littleEndian: postcode.ascii)
        case .threadName(let text), .body(let text), .device(let text): erasableWriter.write(text)
        case .erased, .omitted, .opaque: preconditionFailure("an event without its content has no encoding")
        }
    }
}

/// The second byte of the kept part.
struct EventFlags: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    static let imported = EventFlags(rawValue: 1)
    static let sentAt = EventFlags(rawValue: 2)
    static let correlation = EventFlags(rawValue: 4)
    /// The erasable part ends in fields of a later version and, in its last four bytes, their length without those four.
    static let extended = EventFlags(rawValue: 8)
}

extension Fact {
    /// The first byte of the kept part.
    var kindByte: UInt8 {
        if case .unknown(let byte) = self { return byte }
        return kind?.rawValue ?? 0
    }
}
