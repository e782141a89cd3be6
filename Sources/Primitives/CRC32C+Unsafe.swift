// Public, because inlinable code can call functions of publicly imported modules only.
public import CHashing

// Unsafe, because a C function computes the checksum from the address and the count of the bytes.

/// CRC32C (Castagnoli) as in RFC 3720 section 12.1, with initial value and final complement.
///
/// Usable from inlinable code, because the records are checked in loops in other modules.
@usableFromInline
package enum CRC32C {
    /// Returns the checksum of the bytes, continuing from the checksum of the preceding bytes.
    @inlinable @inline(__always)
    package static func checksum(of bytes: RawSpan, continuing crc: UInt32 = 0) -> UInt32 {
        unsafe bytes.withUnsafeBytes { source in
            // The C function reads exactly `count` bytes, which the span keeps valid during the
            // call.
            unsafe chatjournal_crc32c(crc, source.baseAddress, source.count)
        }
    }

    /// Returns the checksum of an integer's four little-endian bytes, continuing from `crc`.
    @inlinable @inline(__always)
    package static func checksum(of value: UInt32, continuing crc: UInt32) -> UInt32 {
        var word = value.littleEndian
        // The function reads the four bytes of a local variable.
        return unsafe chatjournal_crc32c(crc, &word, 4)
    }

    /// Returns the checksum of an array.
    package static func checksum(of bytes: [UInt8]) -> UInt32 { bytes.withBytes { span in checksum(of: span) } }

    /// Returns the checksum computed by table, independent of the processor.
    ///
    /// Tests compare the hardware implementation with it.
    package static func portableChecksum(of bytes: [UInt8]) -> UInt32 {
        unsafe bytes.withUnsafeBytes { source in unsafe chatjournal_crc32c_portable(0, source.baseAddress, source.count)
        }
    }
}
