import ChatDomain
import EventJournal

/// The ids of imported things, derived so that importing the same history again meets the same ids.
///
/// A name-based UUIDv8 as RFC 9562 appendix B.2 shows it: the first 16 bytes of SHA-256 over the namespace UUID
/// `ce1f7a5e-0b5d-8c3a-9d41-63686174696d` and the name, with version and variant set. The name is one byte for the kind (`u` nickname, `a` account, `t` thread, `m` message,
/// `r` reply), then each of its texts as the length in bytes (8 bytes, big-endian) and the UTF-8. The text of a nickname is its fold key, of an account its id, of a thread
/// the channel; of a message or a reply the texts are the channel and the id.
///
/// The namespace is no secret: who knows a nickname or a channel can compute the id. So an id that something native bears is never taken for an import's.
enum ImportedID {
    static func user(_ foldKey: String) -> UserID { UserID(bits: derive("u", [foldKey])) }

    static func account(_ id: String) -> UserID { UserID(bits: derive("a", [id])) }

    static func thread(_ channel: String) -> ThreadID { ThreadID(bits: derive("t", [channel])) }

    static func message(_ channel: String, _ id: String) -> MessageID { MessageID(bits: derive("m", [channel, id])) }

    static func reply(_ channel: String, _ id: String) -> ReplyID { ReplyID(bits: derive("r", [channel, id])) }

    private static let namespace: UInt128 = 0xce1f_7a5e_0b5d_8c3a_9d41_6368_6174_696d

    private static func derive(_ kind: Unicode.Scalar, _ texts: [String]) -> UInt128 {
        var name: [UInt8] = []
        append(namespace, byteCount: 16, to: &name)
        name.append(UInt8(ascii: kind))
        for text in texts {
            append(UInt128(text.utf8.count), byteCount: 8, to: &name)
            name.append(contentsOf: text.utf8)
        }
        let digest = SHA256.hash(name).prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let marks: UInt128 = 0xF000_C000_0000_0000_0000
        return digest & ~marks | 0x8000_8000_0000_0000_0000
    }

    private static func append(_ value: UInt128, byteCount: Int, to bytes: inout [UInt8]) {
        for index in (0..<byteCount).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> UInt128(8 * index))) }
    }
}
