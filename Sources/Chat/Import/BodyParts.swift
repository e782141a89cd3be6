import ChatDomain

extension ImportedMessage {
    /// The maximum length of the body of an imported message, in bytes of UTF-8.
    ///
    /// A body over `MessageBody.maximumByteCount` is split into several posts.
    public static let maximumBodyByteCount = 1 << 20
}

extension MessageBody {
    /// Returns the bodies of the posts for an imported body; empty if it is invalid.
    ///
    /// A part ends at a line end or else at a space, if one is near the limit, otherwise between
    /// two scalars. The parts together are the body, without parts of white space alone.
    static func parts(ofImported body: String) -> [String] {
        if body.utf8.count <= maximumByteCount { return isValid(body) ? [body] : [] }
        guard body.utf8.count <= ImportedMessage.maximumBodyByteCount else { return [] }
        let bytes = Array(body.utf8)
        var parts: [String] = []
        var start = 0
        while start < bytes.count {
            var end = min(start + maximumByteCount, bytes.count)
            if end < bytes.count {
                let near = bytes[(end - maximumByteCount / 8)..<end]
                if let last = near.lastIndex(of: UInt8(ascii: "\n")) ?? near.lastIndex(of: UInt8(ascii: " ")) {
                    end = last + 1
                } else {
                    // Continuation bytes belong to the scalar before them.
                    while bytes[end] & 0xC0 == 0x80 { end -= 1 }
                }
            }
            let part = String(decoding: bytes[start..<end], as: UTF8.self)
            if isValid(part) { parts.append(part) }
            start = end
        }
        return parts
    }
}
