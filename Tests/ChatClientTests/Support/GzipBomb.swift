#if Client || canImport(SQLite3)
    /// A gzip member (RFC 1952) of zeros, a thousandth as long as what it decompresses to.
    enum GzipBomb {
        static func bytes(megabytes: Int) -> [UInt8] {
            var bits = Bits()
            // One block with the fixed codes (RFC 1951, 3.2.6), not the last one.
            bits.append(0, 1)
            bits.append(1, 2)
            // The literal 0, then matches of 258 bytes at the distance 1.
            bits.appendCode(0b00110000, 8)
            for _ in 0..<(megabytes << 20) / 258 {
                bits.appendCode(0b11000101, 8)
                bits.appendCode(0, 5)
            }
            return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + bits.bytes
        }

        private struct Bits {
            var bytes: [UInt8] = []
            private var used = 8

            /// Appends a number, its lowest bit first.
            mutating func append(_ value: Int, _ count: Int) {
                for bit in 0..<count {
                    if used == 8 {
                        bytes.append(0)
                        used = 0
                    }
                    bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << used
                    used += 1
                }
            }

            /// Appends a Huffman code, its highest bit first.
            mutating func appendCode(_ value: Int, _ count: Int) {
                for bit in (0..<count).reversed() { append(value >> bit & 1, 1) }
            }
        }
    }
#endif
