internal import CHashing

// Unsafe, because a C function compresses whole blocks from their address and count.

/// The SHA-256 hash function of FIPS 180-4.
///
/// CryptoKit exists on Apple platforms only, and this package has no dependencies. The
/// implementation is not hardened against timing or memory inspection: use it for data that is not
/// secret.
package struct SHA256: Sendable {
    /// The length of a digest in bytes.
    package static let digestByteCount = 32

    private var state: [8 of UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// The bytes of the incomplete block.
    private var block = [64 of UInt8](repeating: 0)
    private var blockByteCount = 0
    /// The number of bytes of the message.
    ///
    /// FIPS 180-4 limits a message to 2^64 - 1 bits.
    private var messageByteCount: UInt64 = 0
    private let isPortable: Bool

    /// Creates the state of an empty message.
    ///
    /// - Parameter isPortable: Whether to compute without the processor's SHA-256 instructions.
    ///   Tests compare both.
    package init(isPortable: Bool = false) { self.isPortable = isPortable }

    /// Whether the processor has SHA-256 instructions that this implementation uses.
    package static var hasInstructions: Bool { chatjournal_sha256_has_hardware() != 0 }

    /// Returns the 32-byte digest of a whole message.
    ///
    /// - Complexity: O(*n*) in the length of the message.
    package static func hash(_ message: [UInt8]) -> [UInt8] {
        var hasher = SHA256()
        hasher.update(message)
        return hasher.finalize()
    }

    /// Appends bytes to the message.
    ///
    /// The digest is independent of how the message is divided.
    ///
    /// - Complexity: O(*n*) in the number of bytes; does not allocate.
    package mutating func update(_ bytes: RawSpan) {
        messageByteCount &+= UInt64(bytes.byteCount)
        var next = 0
        if blockByteCount > 0 || bytes.byteCount < 64 {
            next = min(64 - blockByteCount, bytes.byteCount)
            fill(bytes.extracting(0..<next))
            guard blockByteCount == 64 else { return }
            compressBlock()
        }
        let wholeByteCount = (bytes.byteCount - next) & ~63
        compress(bytes.extracting(next..<next + wholeByteCount))
        fill(bytes.extracting((next + wholeByteCount)...))
    }

    /// Appends the bytes of an array to the message.
    package mutating func update(_ bytes: [UInt8]) { bytes.withBytes { span in update(span) } }

    /// Appends one byte to the message.
    package mutating func update(_ byte: UInt8) {
        messageByteCount &+= 1
        block[blockByteCount] = byte
        blockByteCount += 1
        if blockByteCount == 64 { compressBlock() }
    }

    /// Appends the 32 bytes of four numbers, the most significant one first.
    package mutating func update(bigEndian numbers: [4 of UInt64]) {
        var bytes = numbers
        for index in bytes.indices { bytes[index] = numbers[index].bigEndian }
        // `bytes` is unsafe for elements with padding; numbers have none.
        let words = bytes
        update(unsafe words.span.bytes)
    }

    /// Returns the 32-byte digest of the message so far.
    ///
    /// More bytes may follow.
    package func finalize() -> [UInt8] {
        let words = digest()
        return words.indices.flatMap { index in
            (0..<4).map { UInt8(truncatingIfNeeded: words[index] >> UInt32(24 - 8 * $0)) }
        }
    }

    /// Returns the digest of the message so far as eight words; the first byte is the most
    /// significant one of the first word.
    ///
    /// More bytes may follow. Does not allocate.
    package func digest() -> [8 of UInt32] {
        var hasher = self
        let bitCount = messageByteCount &* 8
        // The padding: a one bit, zeros up to eight bytes before the end of a block, the length in
        // bits (FIPS 180-4, section 5.1.1).
        hasher.update(0x80)
        if hasher.blockByteCount > 56 { hasher.fillWithZeros(64) }
        hasher.fillWithZeros(56)
        hasher.storeInBlock(bitCount.bigEndian, at: 56)
        hasher.compressBlock()
        return hasher.state
    }

    /// Fills the block with zeros up to an offset, and compresses a full one.
    private mutating func fillWithZeros(_ end: Int) {
        var target = block.mutableSpan
        // As in `fill`.
        var raw = unsafe target.mutableBytes
        raw.zero(blockByteCount..<end)
        blockByteCount = end
        if end == 64 { compressBlock() }
    }

    private mutating func storeInBlock(_ number: UInt64, at offset: Int) {
        var target = block.mutableSpan
        // As in `fill`.
        var raw = unsafe target.mutableBytes
        raw.storeBytes(of: number, toByteOffset: offset, as: UInt64.self)
    }

    /// Appends bytes that fit to the incomplete block.
    private mutating func fill(_ bytes: RawSpan) {
        var target = block.mutableSpan
        // `mutableBytes` is unsafe for elements with invalid bit patterns; bytes have none.
        var raw = unsafe target.mutableBytes
        raw.storeBytes(bytes, at: blockByteCount)
        blockByteCount += bytes.byteCount
    }

    private mutating func compressBlock() {
        // `bytes` is unsafe for elements with padding; bytes have none.
        let full = block
        compress(unsafe full.span.bytes)
        blockByteCount = 0
    }

    /// Compresses whole blocks into the state.
    private mutating func compress(_ blocks: RawSpan) {
        var words = state.mutableSpan
        unsafe words.withUnsafeMutableBufferPointer { words in
            unsafe blocks.withUnsafeBytes { source in
                // The C functions read `count` blocks of 64 bytes, which the span keeps valid, and
                // change the eight words of the state.
                guard let state = words.baseAddress else { return }
                if isPortable {
                    unsafe chatjournal_sha256_portable(state, source.baseAddress, source.count / 64)
                } else {
                    unsafe chatjournal_sha256(state, source.baseAddress, source.count / 64)
                }
            }
        }
    }
}
