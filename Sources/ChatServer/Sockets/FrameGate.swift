#if Server && os(Linux)
    /// Looks at the headers of a client's frames before libwslay does.
    ///
    /// - libwslay 1.1.1 omits the first two bytes of each *part* of a close frame when it validates
    ///   the reason as UTF-8, not the first two of the frame, which are the code. It accepts wrong
    ///   reasons and rejects right ones, unless it receives the frame in one part. So a close frame
    ///   is held back until all of it has come.
    /// - libwslay shows the header of a frame only with the first bytes of its payload. So a
    ///   message that is announced as too long is found here.
    ///
    /// Frames are those of RFC 6455, section 5.2; everything else in them is left to the library.
    struct FrameGate {
        /// The FIN bit and the opcode 8.
        private static let closeByte: UInt8 = 0x88
        /// The lengths that a control frame may announce, with the mask bit: 0 to 125.
        private static let controlLengths: ClosedRange<UInt8> = 0x80...0xFD

        private let messageLimit: UInt64
        /// The first bytes of a close frame, at most 130: the next bytes follow them.
        private(set) var held: [UInt8] = []
        /// Whether a frame has announced more bytes than a message may have; its header is the last
        /// that passes.
        private(set) var isMessageTooLong = false
        /// The bytes that the frames of the present message have announced.
        private var messageByteCount: UInt64 = 0
        /// The bytes of the frame's header that have passed; empty in the payload.
        private var header: [UInt8] = []
        private var payloadRest: UInt64 = 0

        init(messageLimit: Int) { self.messageLimit = UInt64(messageLimit) }

        /// Returns how many of the bytes, which begin with `held`, the library receives; the others
        /// are the new `held`, or follow the header of a message that is too long.
        ///
        /// - Complexity: O(*m* + *h*) for *m* frames, with *h* bytes in their headers.
        mutating func pass(_ bytes: Span<UInt8>) -> Int {
            held = []
            var index = 0
            while index < bytes.count {
                if payloadRest > 0 {
                    let count = Int(min(payloadRest, UInt64(bytes.count - index)))
                    (index, payloadRest) = (index + count, payloadRest - UInt64(count))
                    continue
                }
                let rest = bytes.extracting(index...)
                if header.isEmpty, isUnfinishedClose(rest) {
                    held = rest.indices.map { rest[$0] }
                    return index
                }
                header.append(bytes[index])
                index += 1
                guard let length = payloadLength() else { continue }
                count(length)
                if isMessageTooLong { return index }
                (header, payloadRest) = ([], length)
            }
            return bytes.count
        }

        /// Counts the payload of a frame whose header is complete.
        ///
        /// Frames that are wrong have another close code, which is the library's.
        private mutating func count(_ length: UInt64) {
            let (isContinuation, isMessage) = (header[0] & 0x7F == 0, header[0] & 0x7F == 1 || header[0] & 0x7F == 2)
            guard isContinuation || isMessage, header[1] & 0x80 != 0, length <= UInt64(Int64.max) else { return }
            messageByteCount = isMessage ? length : messageByteCount + length
            isMessageTooLong = messageByteCount > messageLimit
        }

        /// Whether the bytes are the beginning of a close frame; false if they contain all of it,
        /// or it is wrong.
        private func isUnfinishedClose(_ bytes: Span<UInt8>) -> Bool {
            guard bytes[0] == Self.closeByte else { return false }
            guard bytes.count > 1 else { return true }
            return Self.controlLengths.contains(bytes[1]) && bytes.count < 6 + Int(bytes[1] & 0x7F)
        }

        /// The length of the payload, if the header is complete.
        private func payloadLength() -> UInt64? {
            guard header.count > 1 else { return nil }
            let short = header[1] & 0x7F
            let lengthCount = short == 127 ? 8 : short == 126 ? 2 : 0
            guard header.count == 2 + lengthCount + (header[1] & 0x80 == 0 ? 0 : 4) else { return nil }
            return lengthCount == 0 ? UInt64(short) : header[2..<2 + lengthCount].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }
#endif
