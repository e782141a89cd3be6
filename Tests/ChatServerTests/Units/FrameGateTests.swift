#if Server && os(Linux)
    import Testing

    @testable import ChatServer

    @Suite struct FrameGateTests {
        /// Gives the gate the parts one after the other, as the socket loop does; returns the parts
        /// that pass.
        private func passed(_ parts: [[UInt8]]) -> [[UInt8]] {
            var gate = FrameGate(messageLimit: 1 << 20)
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
            for point in 1..<close.count {
                #expect(passed([Array(close[..<point]), Array(close[point...])]) == [close])
            }
            #expect(passed([close]) == [close])
            let longest = frame(0x88, Array(repeating: 0x88, count: 125))
            #expect(passed(longest.map { [$0] }) == [longest])
            #expect(passed([frame(0x88, [])]) == [frame(0x88, [])])
        }

        @Test(
            "Other frames pass at once, and a close after them is found",
            arguments: [0, 1, 125, 126, 127, 65_535, 65_536])
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

        /// Returns how many bytes pass.
        private func pass(_ bytes: [UInt8], _ gate: inout FrameGate) -> Int { gate.pass(bytes.span) }

        /// A header of a frame with a mask, without its payload.
        private func header(_ first: UInt8, _ length: UInt64) -> [UInt8] {
            [first, 0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: length >> (56 - 8 * $0)) } + [1, 2, 3, 4]
        }

        @Test(
            "A message that is too long is found by the last byte of a header",
            arguments: [1_001, 1 << 32, 1 << 62] as [UInt64])
        func announcedMessage(_ length: UInt64) {
            let frames = frame(0x01, Array(repeating: 0x88, count: 600)) + frame(0x89, Array(repeating: 0, count: 125))
            for (before, long) in [
                ([], header(0x82, length)), ([], header(0x01, length)), (frames, header(0x80, length - 600)),
            ] {
                for rest in [[], [0x88, 0x80]] as [[UInt8]] {
                    var gate = FrameGate(messageLimit: 1_000)
                    let bytes = before + long
                    #expect(pass(Array(bytes.dropLast()), &gate) == bytes.count - 1 && !gate.isMessageTooLong)
                    #expect(pass(bytes.suffix(1) + rest, &gate) == 1 && gate.isMessageTooLong)
                }
            }
        }

        @Test("Messages up to the limit pass, and wrong frames are left to the library")
        func allowedMessages() {
            var gate = FrameGate(messageLimit: 1_000)
            for first in [0x82, 0x01, 0x80, 0x81] as [UInt8] {
                let bytes = frame(
                    first,
                    Array(repeating: 0, count: first & 1 == 1 && first < 0x80 ? 400 : first == 0x80 ? 600 : 1_000))
                #expect(pass(bytes, &gate) == bytes.count && !gate.isMessageTooLong)
            }
            for wrong in [header(0xC2, 1 << 40), header(0x83, 1 << 40), header(0x89, 1 << 40), header(0x82, 1 << 63)] {
                var gate = FrameGate(messageLimit: 1_000)
                #expect(pass(wrong, &gate) == wrong.count && !gate.isMessageTooLong)
            }
            var unmasked = FrameGate(messageLimit: 1_000)
            let bytes = [0x82, 0x7F] + [UInt8](repeating: 1, count: 8)
            #expect(pass(bytes, &unmasked) == bytes.count && !unmasked.isMessageTooLong)
        }

        @Test(
            "A close frame that is wrong is left to the library",
            arguments: [[0x88, 0x05], [0x88, 0xFE], [0x88, 0xFF], [0x08, 0x82], [0x98, 0x82]] as [[UInt8]])
        func wrongClose(_ bytes: [UInt8]) { #expect(passed([bytes]) == [bytes]) }
    }
#endif
