#if Server
    /// Bytes that wait to be sent.
    struct OutputBuffer {
        /// The longest bytes that are copied to those before them.
        static let maximumCopyByteCount = 16 << 10

        private var parts: [[UInt8]] = []
        /// The bytes of the first part that are sent.
        private(set) var sentCount = 0

        var isEmpty: Bool { parts.isEmpty }
        var first: [UInt8] { parts.first ?? [] }
        var hasMore: Bool { parts.count > 1 }
        var byteCount: Int { parts.reduce(0) { $0 + $1.count } }

        mutating func append(_ bytes: [UInt8]) {
            guard !bytes.isEmpty else { return }
            // One call of the system for a small answer; no second copy of a large one.
            if let last = parts.indices.last, parts[last].count + bytes.count <= Self.maximumCopyByteCount {
                parts[last] += bytes
            } else {
                parts.append(bytes)
            }
        }

        mutating func removeFirst(_ count: Int) {
            sentCount += count
            guard sentCount == first.count else { return }
            parts.removeFirst()
            sentCount = 0
        }
    }
#endif
