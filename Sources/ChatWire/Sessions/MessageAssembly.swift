/// Joins the fragments of one message after another, in bounded memory.
///
/// A pure value, independent of the frames that carry the fragments. A control frame between two
/// fragments does not concern it.
package struct MessageAssembly: Sendable {
    private let limit: Int
    private var bytes: [UInt8] = []

    /// Creates an assembly of messages of at most `limit` bytes.
    package init(limit: Int) { self.limit = limit }

    /// The bytes of the message that is not complete.
    package var byteCount: Int { bytes.count }

    /// Whether a fragment of a length can belong to the message.
    package func hasRoom(for byteCount: UInt64) -> Bool { byteCount <= UInt64(limit - bytes.count) }

    /// Appends bytes of a fragment; false, without an effect, if the message would be too large.
    package mutating func append(_ fragment: some Collection<UInt8>) -> Bool {
        guard hasRoom(for: UInt64(fragment.count)) else { return false }
        // An array of its own would double: a message waits for as long as its client likes.
        let needed = bytes.count + fragment.count
        if needed > bytes.capacity { bytes.reserveCapacity(min(limit, needed + needed / 4)) }
        bytes.append(contentsOf: fragment)
        return true
    }

    /// Returns the message, and begins the next one.
    package mutating func finish() -> [UInt8] {
        var message: [UInt8] = []
        swap(&message, &bytes)
        return message
    }
}
