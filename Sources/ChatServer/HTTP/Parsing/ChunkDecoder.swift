#if Server
    /// Reads a body in chunks (RFC 9112, section 7.1); extensions and trailers are dropped.
    struct ChunkDecoder {
        /// The most bytes of a line of the coding.
        static let maximumLineByteCount = 1 << 10
        /// The most bytes of all extensions and trailers of a body.
        static let maximumOverheadByteCount = 8 << 10
        /// The most digits of the size of a chunk.
        static let maximumDigitCount = 8

        private enum State {
            case size
            case content(Int)
            case contentEnd
            case trailers
        }

        private var state = State.size
        private var lines = HTTPLines()
        private var overheadByteCount = 0

        /// Moves the content of chunks from the input; returns whether the body is complete.
        ///
        /// What follows the body stays in the input.
        mutating func decode(_ input: inout [UInt8], into content: inout [UInt8]) throws(HTTPError) -> Bool {
            defer { lines.removePassed(from: &input) }
            while true {
                switch state {
                case .size:
                    guard let line = try nextLine(in: input) else { return false }
                    let count = try size(input[line])
                    state = count == 0 ? .trailers : .content(count)
                case .content(let rest):
                    let count = min(rest, input.count - lines.start)
                    content += input[lines.start..<lines.start + count]
                    lines.skip(count)
                    state = count == rest ? .contentEnd : .content(rest - count)
                    if count < rest { return false }
                case .contentEnd:
                    guard let line = try nextLine(in: input, limit: 2) else { return false }
                    guard line.isEmpty else { throw Self.malformed }
                    state = .size
                case .trailers:
                    guard let line = try nextLine(in: input) else { return false }
                    if line.isEmpty { return true }
                    _ = try HTTPHeadParser.header(input[line])
                    try countOverhead(line.count)
                }
            }
        }

        private static let malformed = HTTPError.malformed("The body has a chunk that is not valid.")

        private mutating func nextLine(in input: [UInt8], limit: Int = maximumLineByteCount) throws(HTTPError) -> Range<
            Int
        >? {
            try lines.next(in: input, limit: limit, Self.malformed)
        }

        private mutating func size(_ line: ArraySlice<UInt8>) throws(HTTPError) -> Int {
            let digits = line.prefix { $0 != UInt8(ascii: ";") }
            // `Int` would take a sign too.
            guard (1...Self.maximumDigitCount).contains(digits.count),
                digits.allSatisfy({ "0123456789abcdefABCDEF".utf8.contains($0) }),
                let count = Int(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw Self.malformed }
            try countOverhead(line.count - digits.count)
            return count
        }

        private mutating func countOverhead(_ count: Int) throws(HTTPError) {
            overheadByteCount += count
            if overheadByteCount > Self.maximumOverheadByteCount { throw Self.malformed }
        }
    }
#endif
