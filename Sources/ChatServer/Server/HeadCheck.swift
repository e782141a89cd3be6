#if Server
    internal import ChatAccounts
    internal import ChatWire

    /// What is checked of each request before its body is read: the host, the origin and the body's
    /// form.
    ///
    /// - **Host**: a page of another name that resolves to this server (DNS rebinding) must not
    ///   reach it.
    /// - **Origin**: a page of another origin must not act with the cookie of a visitor. Browsers
    ///   send `Origin` with every request that is not a plain navigation or `GET` of the same
    ///   origin, and `Sec-Fetch-Site` with every request. Other clients send neither.
    struct HeadCheck: Sendable {
        static let accountBodyLimit = 16 << 10
        static let commandBodyLimit = 1 << 20

        private let hosts: Set<String>
        private let publicHosts: Set<String>
        private let origins: Set<String>
        private let secureHosts: Set<String>
        private let trustedProxies: Set<ClientAddress>

        /// Creates the checks for a server at an address, with its port.
        init(_ address: ListenAddress, origins: [WebOrigin], trustedProxies: [ClientAddress]) {
            var names = ["\(address)"]
            if address.isLoopback {
                names += ["localhost:\(address.port)", "127.0.0.1:\(address.port)", "[::1]:\(address.port)"]
            }
            if address.port == 80 { names += names.map { String($0.dropLast(3)) } }
            hosts = Set(names + origins.map(\.authority))
            self.origins = Set(names.map { "http://\($0)" } + origins.map(\.description))
            publicHosts = Set(origins.map(\.authority))
            secureHosts = Set(origins.filter(\.isSecure).map(\.authority))
            self.trustedProxies = Set(trustedProxies)
        }

        /// Returns why a request is rejected before its body is read; nil if it is not.
        func problem(of head: HTTPHead) -> Problem? {
            if !head.isHealthCheck, !hosts.contains(host(of: head)) { return .misdirectedRequest }
            if let origin = head[.origin] {
                // `null` is the origin of a sandboxed page or a file.
                if !origins.contains(origin.lowercased()) { return .foreignOrigin }
            } else if !head.isSafe, let site = head[.fetchSite], site != "same-origin", site != "none" {
                return .foreignOrigin
            }
            return head.framing != .none && !Self.isJSON(head[.contentType]) ? .unsupportedMediaType : nil
        }

        /// The largest body of a request.
        func bodyLimit(of head: HTTPHead) -> Int {
            head.target == "/v1/commands" ? Self.commandBodyLimit : Self.accountBodyLimit
        }

        /// Whether the client reaches the server over TLS, so that its cookie must be a secure one.
        func isSecure(_ head: HTTPHead) -> Bool { secureHosts.contains(host(of: head)) }

        /// The host that the client names, if it is that of an origin of the pages.
        func publicHost(of head: HTTPHead) -> String? {
            let host = host(of: head)
            return publicHosts.contains(host) ? host : nil
        }

        /// The address of the client: that of the connection or, behind a trusted proxy, the last
        /// one in `X-Forwarded-For` that is not a trusted proxy.
        func client(of head: HTTPHead) -> ClientAddress? {
            guard let peer = head.peer.flatMap({ ClientAddress(text: $0) }) else { return nil }
            guard trustedProxies.contains(peer) else { return peer }
            let forwarded = head.headers.filter { $0.name == "x-forwarded-for" }.flatMap {
                $0.value.split(separator: ",")
            }
            for text in forwarded.reversed() {
                // An address that cannot be read was not written by the proxy: the client is
                // unknown beyond it.
                guard let address = ClientAddress(text: text.trimmingSpaces) else { return peer }
                if !trustedProxies.contains(address) { return address }
            }
            return peer
        }

        /// Whether an address has no limit of connections: many clients can share it.
        func isShared(_ address: ClientAddress) -> Bool { address.isLoopback || trustedProxies.contains(address) }

        private func host(of head: HTTPHead) -> String {
            // The default port may be written; `WebOrigin` has the forms without it.
            let host = head[.host]?.lowercased() ?? ""
            return hosts.contains(host) ? host : host.hasSuffix(":443") ? String(host.dropLast(4)) : host
        }

        private static func isJSON(_ type: String?) -> Bool {
            type?.split(separator: ";", maxSplits: 1).first?.trimmingSpaces.lowercased() == "application/json"
        }
    }

    extension Problem {
        /// The problem of a request that cannot be read.
        init(_ error: HTTPError) {
            switch error {
            case .malformed(let reason): self.init(error.status, .invalidRequest, reason)
            case .repeated(let header):
                self.init(error.status, .invalidHeader, "A request has at most one header \(header.rawValue).")
            case .targetTooLong: self.init(error.status, .invalidRequest, "The target of the request is too long.")
            case .headersTooLarge: self.init(error.status, .invalidRequest, "The headers of the request are too large.")
            case .notImplemented:
                self.init(error.status, .invalidRequest, "The server has no such method or transfer coding.")
            case .unknownVersion: self.init(error.status, .invalidRequest, "The server speaks HTTP/1.1 and HTTP/1.0.")
            case .bodyTooLarge: self = .tooLarge
            case .busy: self = .busy
            }
        }
    }
#endif
