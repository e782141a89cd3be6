#if canImport(HTTPParsing)
    @testable import HTTPParsing
#elseif Server
    @testable import ChatServer
#endif

#if canImport(HTTPParsing) || Server
    /// Checks the invariants of the parsing of HTTP/1.1: heads and bodies, one after the other, as
    /// a connection reads them.
    ///
    /// The first byte of the input is the number of bytes that arrive at a time.
    enum HTTPHarness {
        /// A violated invariant.
        struct Violation: Error {
            var message: String
        }

        /// What a connection has read.
        private struct Reading: Equatable {
            var requests: [[String]] = []
            var bodies: [[UInt8]] = []
            /// The status of the error that ended it; 0 if more bytes can come.
            var status = 0
        }

        /// Checks one input.
        ///
        /// - Returns: The number of complete requests.
        @discardableResult
        static func check(_ input: [UInt8]) throws -> Int {
            let bytes = Array(input.dropFirst())
            let whole = try read(bytes, by: max(1, bytes.count))
            for size in [Int(max(1, input.first ?? 1)), 1] {
                let parts = try read(bytes, by: size)
                try require(parts == whole, "the parts of \(size) bytes are read as \(parts), the whole as \(whole)")
            }
            return whole.bodies.count
        }

        private static func read(_ bytes: [UInt8], by size: Int) throws -> Reading {
            var (reading, input, parser) = (Reading(), [UInt8](), HTTPHeadParser())
            var body: (framing: HTTPHead.Framing, content: [UInt8], chunks: ChunkDecoder)?
            var rest = bytes[...]
            while !rest.isEmpty {
                input += rest.prefix(size)
                rest = rest.dropFirst(size)
                do throws(HTTPError) {
                    while true {
                        if var present = body {
                            let isComplete = try readBody(&present, &input)
                            body = isComplete ? nil : present
                            guard isComplete else { break }
                            reading.bodies.append(present.content)
                        }
                        guard let (head, byteCount) = try parser.parse(input) else { break }
                        let text = input.prefix(byteCount)
                        input.removeFirst(byteCount)
                        parser = HTTPHeadParser()
                        reading.requests.append(
                            [head.method, head.version, head.target, "\(head.framing)"]
                                + head.headers.flatMap { [$0.name, $0.value] })
                        if let violation = violation(head, Array(text)) {
                            reading.requests.append(["violation", violation])
                        }
                        body = (head.framing, [], ChunkDecoder())
                    }
                } catch {
                    reading.status = error.status
                    try require([400, 414, 431, 501, 505].contains(error.status), "the status \(error.status)")
                    break
                }
            }
            for request in reading.requests where request[0] == "violation" { throw Violation(message: request[1]) }
            return reading
        }

        /// Reads a part of a body; returns whether it is complete.
        private static func readBody(
            _ body: inout (framing: HTTPHead.Framing, content: [UInt8], chunks: ChunkDecoder), _ input: inout [UInt8]
        ) throws(HTTPError) -> Bool {
            switch body.framing {
            case .none: return true
            case .length(let length):
                let part = input.prefix(length - body.content.count)
                body.content += part
                input.removeFirst(part.count)
                return body.content.count == length
            case .chunked: return try body.chunks.decode(&input, into: &body.content)
            }
        }

        /// What is wrong with an accepted head, seen in its bytes alone.
        private static func violation(_ head: HTTPHead, _ text: [UInt8]) -> String? {
            for (index, byte) in text.enumerated() {
                let isLineEnd =
                    byte == 0x0D && index + 1 < text.count && text[index + 1] == 0x0A
                    || byte == 0x0A && index > 0 && text[index - 1] == 0x0D
                if byte < 0x20, byte != 0x09, !isLineEnd { return "a control character in \(text)" }
                let isFold = index > 0 && text[index - 1] == 0x0A && (byte == 0x20 || byte == 0x09)
                if isFold { return "a folded line in \(text)" }
            }
            func count(_ header: SingleHeader) -> Int { head.headers.count { $0.name == header.rawValue } }
            for header in SingleHeader.allCases where count(header) > 1 { return "\(header) twice in \(head.headers)" }
            if head.version == "HTTP/1.1", count(.host) != 1 { return "not one host in \(head.headers)" }
            let (lengths, codings) = (count(.contentLength), count(.transferEncoding))
            switch head.framing {
            case .none:
                if codings > 0 || lengths > 0 && Int(head[.contentLength] ?? "") != 0 {
                    return "no body in \(head.headers)"
                }
            case .length: if codings > 0 || lengths != 1 { return "a length in \(head.headers)" }
            case .chunked: if codings != 1 || lengths > 0 { return "chunks in \(head.headers)" }
            }
            return nil
        }

        private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
            if !condition { throw Violation(message: message()) }
        }
    }
#endif
