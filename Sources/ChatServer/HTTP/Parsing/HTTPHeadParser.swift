#if Server
    /// Reads the head of a request, strictly by RFC 9112 and RFC 9110.
    ///
    /// What the RFCs let a server repair is an error: two programs that repair it in different ways
    /// disagree where a request ends, and one of them takes a part of its body for another request.
    struct HTTPHeadParser {
        /// The most bytes of the request line.
        static let maximumLineByteCount = 8 << 10
        /// The most bytes of the headers.
        static let maximumHeadersByteCount = 16 << 10
        static let maximumHeaderCount = 100
        /// A longer method is one that the server does not have.
        private static let maximumMethodByteCount = 32

        private struct RequestLine {
            let method: String
            let version: String
            let target: String
            /// The host of a target in absolute form.
            let authority: String?
        }

        private var lines = HTTPLines()
        private var requestLine: RequestLine?
        private var hasEmptyLine = false
        private var headersByteCount = 0
        private var headers: [(name: String, value: String)] = []

        /// About the bytes that the parser holds, beside those that it is given.
        var heldByteCount: Int { headersByteCount + headers.count * 96 }

        /// About the bytes that a header holds: those of two strings.
        static func heldByteCount(_ header: (name: String, value: String)) -> Int {
            header.name.utf8.count + header.value.utf8.count + 96
        }

        /// Returns the head and the number of its bytes; nil if its end has not come.
        ///
        /// After an error or a head, another head needs another parser.
        ///
        /// - Parameter bytes: All bytes, which begin with those of the last call.
        /// - Complexity: O(*n*) for all calls together.
        mutating func parse(_ bytes: [UInt8]) throws(HTTPError) -> (head: HTTPHead, byteCount: Int)? {
            while true {
                guard let requestLine else {
                    guard let line = try lines.next(in: bytes, limit: Self.maximumLineByteCount, .targetTooLong) else {
                        return nil
                    }
                    // One empty line is left from the request before (RFC 9112, section 2.2).
                    if line.isEmpty, !hasEmptyLine {
                        hasEmptyLine = true
                    } else {
                        requestLine = try Self.requestLine(bytes[line])
                    }
                    continue
                }
                let limit = Self.maximumHeadersByteCount - headersByteCount
                guard let line = try lines.next(in: bytes, limit: limit, .headersTooLarge) else { return nil }
                if line.isEmpty { return (try head(requestLine), lines.start) }
                headersByteCount += line.count + 2
                headers.append(try Self.header(bytes[line]))
                if headers.count > Self.maximumHeaderCount { throw .headersTooLarge }
            }
        }

        // MARK: Lines

        private static func requestLine(_ line: ArraySlice<UInt8>) throws(HTTPError) -> RequestLine {
            let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            guard parts.count == 3, isToken(parts[0]) else {
                throw .malformed(
                    "The request line is not a method, a target and a version, with one space between them.")
            }
            let version = String(decoding: parts[2], as: UTF8.self)
            let digits = Array(parts[2].dropFirst(5))
            guard version.hasPrefix("HTTP/"), digits.count == 3, isDigit(digits[0]), digits[1] == UInt8(ascii: "."),
                isDigit(digits[2])
            else { throw .malformed("The request line does not end with a version of HTTP.") }
            guard version == "HTTP/1.1" || version == "HTTP/1.0" else { throw .unknownVersion }
            let method = String(decoding: parts[0], as: UTF8.self)
            guard parts[0].count <= maximumMethodByteCount, method != "CONNECT" else { throw .notImplemented }
            let (target, authority) = try target(parts[1], method)
            return RequestLine(method: method, version: version, target: target, authority: authority)
        }

        /// Returns the path and the query, and the host of a target in absolute form.
        private static func target(_ bytes: ArraySlice<UInt8>, _ method: String) throws(HTTPError) -> (String, String?)
        {
            // Browsers send some characters that RFC 3986 does not allow, such as `|`. Routes
            // decode the target strictly.
            guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
                throw .malformed("The target has a character that must be percent-encoded.")
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if text.hasPrefix("/") || text == "*" && method == "OPTIONS" { return (text, nil) }
            let lowercased = text.lowercased()
            guard let scheme = ["http://", "https://"].first(where: lowercased.hasPrefix) else {
                throw .malformed("The target is neither a path nor a URL.")
            }
            let rest = text.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" && $0 != "?" }
            guard !authority.isEmpty, isHost(authority.utf8) else {
                throw .malformed("The host of the target is not valid.")
            }
            let path = rest[authority.endIndex...]
            return (path.hasPrefix("/") ? String(path) : "/" + path, String(authority))
        }

        /// Reads the line of a header, or of a trailer.
        static func header(_ line: ArraySlice<UInt8>) throws(HTTPError) -> (name: String, value: String) {
            guard let first = line.first, first != UInt8(ascii: " "), first != 0x09 else {
                throw .malformed("A header is folded into a second line.")
            }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]) else {
                throw .malformed("A header does not begin with a name and a colon.")
            }
            let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == 0x09 }
            var value = line[(colon + 1)...].drop(while: isSpace)
            while let last = value.last, isSpace(last) { value.removeLast() }
            // No value that the server reads has a byte beyond ASCII. As Unicode, some would be
            // equal to others: U+212A is a k in lower case.
            let ascii = value.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }
            return (
                String(decoding: line[..<colon], as: UTF8.self).lowercased(), String(decoding: ascii, as: UTF8.self)
            )
        }

        // MARK: The whole head

        private func head(_ line: RequestLine) throws(HTTPError) -> HTTPHead {
            var (headers, found) = (headers, Set<SingleHeader>())
            for header in headers {
                guard let single = SingleHeader(rawValue: header.name) else { continue }
                guard found.insert(single).inserted else { throw .repeated(single) }
            }
            let hosts = headers.indices.filter { headers[$0].name == "host" }
            guard hosts.count == 1 || hosts.isEmpty && line.version == "HTTP/1.0" else {
                throw .malformed("A request has exactly one header Host.")
            }
            guard hosts.allSatisfy({ Self.isHost(headers[$0].value.utf8) }) else {
                throw .malformed("The header Host is not valid.")
            }
            if let authority = line.authority {
                // The header counts for nothing then (RFC 9112, section 3.2.2).
                headers = headers.filter { $0.name != "host" } + [("host", authority)]
            }
            return HTTPHead(
                method: line.method, version: line.version, target: line.target, headers: headers,
                framing: try framing(line.version))
        }

        private func framing(_ version: String) throws(HTTPError) -> HTTPHead.Framing {
            func value(_ header: SingleHeader) -> String? { headers.first { $0.name == header.rawValue }?.value }
            let (length, coding) = (value(.contentLength), value(.transferEncoding)?.lowercased())
            guard length == nil || coding == nil else {
                throw .malformed("A request has one Content-Length or one Transfer-Encoding, not both.")
            }
            if let length {
                guard !length.isEmpty, length.utf8.allSatisfy(Self.isDigit) else {
                    throw .malformed("Content-Length is not a number.")
                }
                // A number that is too large is a body that is too large.
                let count = Int(length) ?? .max
                return count == 0 ? .none : .length(count)
            }
            guard let coding else { return .none }
            guard version == "HTTP/1.1" else { throw .malformed("HTTP/1.0 has no Transfer-Encoding.") }
            if coding == "chunked" { return .chunked }
            let list = coding.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmingSpaces)
            let isKnownEnd = list.last == "chunked" && list.filter { $0 == "chunked" }.count == 1
            guard isKnownEnd, list.allSatisfy({ Self.isToken(Array($0.utf8)[...]) }) else {
                throw .malformed("Transfer-Encoding does not end with chunked.")
            }
            throw .notImplemented
        }

        // MARK: Characters

        /// Whether bytes are a token of RFC 9110, section 5.6.2.
        private static func isToken(_ bytes: ArraySlice<UInt8>) -> Bool {
            !bytes.isEmpty && bytes.allSatisfy { tokenBytes[Int($0)] }
        }

        private static let tokenBytes = (UInt8.min...UInt8.max).map { byte in
            isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }

        private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

        private static func isAlphanumeric(_ byte: UInt8) -> Bool {
            isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) && byte < 0x80
        }

        /// Whether text is a host with or without a port (RFC 3986, section 3.2); empty is a host.
        private static func isHost(_ text: some BidirectionalCollection<UInt8>) -> Bool {
            var bytes = Array(text)[...]
            if let colon = bytes.lastIndex(of: UInt8(ascii: ":")), bytes[(colon + 1)...].allSatisfy(isDigit) {
                bytes = bytes[..<colon]
            }
            if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]"), bytes.count > 2 {
                let isAddressByte = { (byte: UInt8) in
                    ":.".utf8.contains(byte) || "0123456789abcdefABCDEF".utf8.contains(byte)
                }
                return bytes.dropFirst().dropLast().allSatisfy(isAddressByte)
            }
            return bytes.allSatisfy { isAlphanumeric($0) || "-._~%!$&'()*+,;=".utf8.contains($0) }
        }
    }
#endif
