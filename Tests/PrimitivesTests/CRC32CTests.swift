import Primitives
import TestSupport
import Testing

@Suite struct CRC32CTests {
    /// The examples of RFC 3720 appendix B.4, and the check value of the CRC catalogues.
    @Test func checksumsMatchStandardExamples() {
        #expect(CRC32C.checksum(of: Array("123456789".utf8)) == 0xE306_9283)
        #expect(CRC32C.checksum(of: [UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
        #expect(CRC32C.checksum(of: [UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
        #expect(CRC32C.checksum(of: (0..<32).map { UInt8($0) }) == 0x46DD_794E)
        #expect(CRC32C.checksum(of: []) == 0)
    }

    @Test func hardwareAndTableChecksumsAgree() {
        var random = SplitMix64(seed: Repetitions.seed)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...UInt8.max, using: &random) }
            let whole = CRC32C.checksum(of: bytes)
            #expect(whole == CRC32C.portableChecksum(of: bytes))
            let cut = Int.random(in: 0...count, using: &random)
            let first = bytes.withBytes(0..<cut) { CRC32C.checksum(of: $0) }
            #expect(bytes.withBytes(cut..<count) { CRC32C.checksum(of: $0, continuing: first) } == whole)
        }
        #expect(CRC32C.checksum(of: 0x0403_0201, continuing: 0) == CRC32C.checksum(of: [1, 2, 3, 4]))
    }
}
