#if Server && os(Linux)
    import Testing

    @testable import ChatServer

    @Suite struct CloseFrameGateTests {
        /// Gives the gate the parts one after the other, as the socket loop does; returns the parts that pass.
        private func passed(_ parts: [[UInt8]]) -> [[UInt8]] {
            var gate = CloseFrameGate()
            return parts.compactMap { part in
                let bytes = gate.held + part
                let count = gate.pass(bytes.span)
                #expect(gate.held == Array(bytes.dropFirst(count)))
                return count == 0 ? nil : Array(bytes.prefix(count))
            }
        }

        private func frame(_ first: UInt8, _ payload: [UInt8], isMasked: Bool = true) -> [UInt8] {
            let mask: UInt8 = isMasked ? 0x80 : 0
            let length: [UInt8] =
                switch payload.count {
                case ..<126: [mask | UInt8(payload.count)]
                case ..<65_536: [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
                default: [mask | 127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
                }
            return [first] + length + (isMasked ? [1, 2, 3, 4] : []) + payload
        }

        @Test("A close frame passes whole, wherever its bytes are separated")
        func wholeClose() {
            let close = frame(0x88, [0x03, 0xE8] + Array("gute Nacht \u{1F95B}".utf8))
            #expect(passed(close.map { [$0] }) == [close])
            for point in 1..<close.count { #expect(passed([Array(close[..<point]), Array(close[point...])]) == [close]) }
            #expect(passed([close]) == [close])
            let longest = frame(0x88, Array(repeating: 0x88, count: 125))
            #expect(passed(longest.map { [$0] }) == [longest])
            #expect(passed([frame(0x88, [])]) == [frame(0x88, [])])
        }

        @Test("Other frames pass at once, and a close after them is found", arguments: [0, 1, 125, 126, 127, 65_535, 65_536])
        func otherFrames(_ count: Int) {
            // Each byte of the payload could begin a close frame.
            let other = frame(0x82, Array(repeating: 0x88, count: count))
            let (ping, close) = (frame(0x89, [0x88, 0x88]), frame(0x88, [0x03, 0xE8, 0x78]))
            let unmasked = frame(0x82, Array(repeating: 0x88, count: count), isMasked: false)
            #expect(passed([other + ping + close]) == [other + ping + close])
            #expect(passed([unmasked + close.dropLast()]) == [unmasked])
            for point in 1..<close.count {
                let parts = [other + ping + close[..<point], Array(close[point...])]
                #expect(passed(parts) == [other + ping, close])
            }
            let single = (other + ping).map { [$0] }
            #expect(passed(single + close.map { [$0] }) == single + [close])
        }

        @Test(
            "A close frame that is wrong is left to the library",
            arguments: [[0x88, 0x05], [0x88, 0xFE], [0x88, 0xFF], [0x08, 0x82], [0x98, 0x82]] as [[UInt8]])
        func wrongClose(_ bytes: [UInt8]) { #expect(passed([bytes]) == [bytes]) }
    }
#endif
