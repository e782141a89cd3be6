#if Server
    internal import ChatAccounts

    /// A numeric address and a port to listen on.
    public struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
        /// The address without brackets: `127.0.0.1`, `::1`.
        public let host: String
        /// The port; 0 lets the system choose one.
        public let port: UInt16
        /// Whether only programs of this machine can connect.
        public let isLoopback: Bool

        /// Parses `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`; nil for any other text.
        ///
        /// `localhost` is `127.0.0.1`. Other names are not resolved.
        public init?(_ text: String) {
            guard let colon = text.lastIndex(of: ":") else { return nil }
            let digits = text[text.index(after: colon)...]
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let port = UInt16(digits)
            else { return nil }
            var host = String(text[..<colon])
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = String(host.dropFirst().dropLast())
            } else if host.contains(":") {
                return nil
            }
            if host == "localhost" { host = "127.0.0.1" }
            guard let address = ClientAddress(text: host) else { return nil }
            (self.host, self.port, isLoopback) = (host, port, address.isLoopback)
        }

        init(host: String, port: UInt16, isLoopback: Bool) {
            (self.host, self.port, self.isLoopback) = (host, port, isLoopback)
        }

        /// The host and the port, an IPv6 address in brackets.
        public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// The origin of a page: a scheme, a host and a port, as browsers send it in `Origin` (RFC
    /// 6454).
    public struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
        /// Whether the scheme is `https`.
        public let isSecure: Bool
        /// The host and, unless it is the default one, the port; as browsers send them in `Host`.
        public let authority: String

        /// Parses `https://chat.example` or `http://127.0.0.1:8080`, also with one slash at the
        /// end; nil for any other text, for example with a path.
        public init?(_ text: String) {
            let lowercased = text.lowercased()
            let rest: Substring
            if lowercased.hasPrefix("https://") {
                (isSecure, rest) = (true, lowercased.dropFirst(8))
            } else if lowercased.hasPrefix("http://") {
                (isSecure, rest) = (false, lowercased.dropFirst(7))
            } else {
                return nil
            }
            var authority = rest.hasSuffix("/") ? rest.dropLast() : rest
            let isValid =
                !authority.isEmpty && authority.utf8.count <= 300 && authority.utf8.allSatisfy(Self.isAuthorityByte)
            guard isValid else { return nil }
            let standardPort = isSecure ? ":443" : ":80"
            if authority.hasSuffix(standardPort) { authority = authority.dropLast(standardPort.count) }
            guard !authority.isEmpty else { return nil }
            self.authority = String(authority)
        }

        /// Whether the host is `localhost` or an address of loopback, which only programs of this
        /// machine reach.
        public var isLoopback: Bool {
            var host = authority[...]
            if let colon = host.lastIndex(of: ":"), host.last != "]" { host = host[..<colon] }
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            return host == "localhost" || ClientAddress(text: String(host))?.isLoopback == true
        }

        private static func isAuthorityByte(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
                UInt8(ascii: "-"),
                UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }

        /// The text of the header `Origin`.
        public var description: String { (isSecure ? "https://" : "http://") + authority }
    }
#endif
