internal import CChecksum

// Unsafe, because the checksum is computed by a function in C, which is given the address of the bytes and their count.

/// CRC32C (Castagnoli), as RFC 3720 section 12.1 defines it: initial value and final complement included.
package enum CRC32C {
    /// The checksum of the bytes, continuing from that of what came before them.
    @inline(__always)
    static func checksum(of bytes: RawSpan, continuing crc: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBytes { source in
            // The C function reads exactly `count` bytes at the address, which the span keeps valid during the call.
            unsafe chatjournal_crc32c(crc, source.baseAddress, source.count)
        }
    }

    /// The checksum of a whole array.
    package static func checksum(of bytes: [UInt8]) -> UInt32 {
        bytes.withBytes(0..<bytes.count) { span in checksum(of: span) }
    }

    /// The checksum of an integer's four bytes, little-endian, continuing from that of what came before.
    @inline(__always)
    static func checksum(of value: UInt32, continuing crc: UInt32) -> UInt32 {
        var word = value.littleEndian
        // Four bytes at the address of a local variable.
        return unsafe chatjournal_crc32c(crc, &word, 4)
    }
}

extension CRC32C {
    /// The checksum computed by table whatever the processor can do: what the other is tested against.
    static func portableChecksum(of bytes: [UInt8]) -> UInt32 {
        unsafe bytes.withUnsafeBytes { source in unsafe chatjournal_crc32c_portable(0, source.baseAddress, source.count) }
    }
}
