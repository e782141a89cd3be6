#if Server
    import ChatAccounts
    import ChatWire
    import Testing

    @testable import ChatServer

    /// What is checked of a request before its body is read.
    @Suite struct RequestGateTests {
        private func gate(
            _ listen: String = "127.0.0.1:8080", origins: [String] = ["https://chat.example", "http://lan.example:81"],
            proxies: [String] = []
        ) throws -> RequestGate {
            RequestGate(
                try #require(ListenAddress(listen)), origins: try origins.map { try #require(WebOrigin($0)) },
                trustedProxies: try proxies.map { try #require(ClientAddress(text: $0)) })
        }

        private func head(_ headers: (String, String)...) -> HTTPHead { makeHead("GET", "/v1/me", "192.0.2.1", headers) }

        private func head(_ method: String, _ headers: (String, String)...) -> HTTPHead { makeHead(method, "/v1/me", "192.0.2.1", headers) }

        private func head(_ method: String, _ target: String, peer: String? = "192.0.2.1", _ headers: (String, String)...) -> HTTPHead {
            makeHead(method, target, peer, headers)
        }

        private func makeHead(_ method: String, _ target: String, _ peer: String?, _ headers: [(String, String)]) -> HTTPHead {
            HTTPHead(
                method: method, version: "HTTP/1.1", target: target, headers: headers.map { ($0.0, $0.1) },
                peer: peer.flatMap { ClientAddress(text: $0) })
        }

        private let host = ("host", "127.0.0.1:8080")

        // MARK: Host

        @Test(arguments: [
            "127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080", "chat.example", "Chat.Example", "chat.example:443",
            "lan.example:81",
        ]) func hostsOfTheServer(name: String) throws {
            #expect(try gate().problem(of: head(("host", name))) == nil)
        }

        @Test(arguments: [
            "", "evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.2:8080", "localhost", "chat.example:80", "chat.example:8080",
            "lan.example", "lan.example:80", "chat.example.evil.example", "evil.example:443", "127.0.0.1:8080 ", "chat.example/",
            "127.0.0.1:8080,evil.example", "user@chat.example", "[::1]",
        ]) func otherHostsAreMisdirected(name: String) throws {
            #expect(try gate().problem(of: head(("host", name))) == .misdirectedRequest)
            // A health check of a load balancer may have any host.
            #expect(try gate().problem(of: head("GET", "/healthz", ("host", name))) == nil)
            #expect(try gate().problem(of: head("GET", "/healthz/", ("host", name))) == .misdirectedRequest)
        }

        @Test func hostIsRequiredOnce() throws {
            #expect(try gate().problem(of: head()) == .invalidRequest)
            #expect(try gate().problem(of: head(host, host)) == .invalidRequest)
            #expect(try gate().problem(of: head("GET", "/healthz")) == .invalidRequest)
        }

        @Test func standardPortIsLeftOut() throws {
            let gate = try gate("127.0.0.1:80")
            for name in ["127.0.0.1", "127.0.0.1:80", "localhost", "[::1]"] { #expect(gate.problem(of: head(("host", name))) == nil) }
        }

        @Test func publicAddressHasNoLoopbackNames() throws {
            let gate = try gate("192.0.2.9:8080")
            #expect(gate.problem(of: head(("host", "192.0.2.9:8080"))) == nil)
            #expect(gate.problem(of: head(("host", "localhost:8080"))) == .misdirectedRequest)
        }

        // MARK: Origin

        @Test(arguments: [
            "http://127.0.0.1:8080", "http://localhost:8080", "https://chat.example", "HTTPS://CHAT.EXAMPLE", "http://lan.example:81",
        ])
        func ownOrigins(origin: String) throws {
            for method in ["GET", "POST", "DELETE"] { #expect(try gate().problem(of: head(method, host, ("origin", origin))) == nil) }
        }

        @Test(arguments: [
            "null", "", "http://chat.example", "https://127.0.0.1:8080", "https://evil.example", "https://chat.example.evil.example",
            "https://chat.example:444", "https://chat.example@evil.example", "chat.example", "http://127.0.0.1", "http://127.0.0.1:80",
            "file://", "https://chat.example, https://chat.example",
        ]) func foreignOrigins(origin: String) throws {
            for method in ["GET", "POST", "OPTIONS"] {
                #expect(try gate().problem(of: head(method, host, ("origin", origin))) == .foreignOrigin)
            }
        }

        @Test func originIsOnce() throws {
            let origin = ("origin", "https://chat.example")
            #expect(try gate().problem(of: head(host, origin, origin)) == .invalidRequest)
        }

        @Test func siteDecidesWithoutAnOrigin() throws {
            let gate = try gate()
            for (site, isForeign) in [
                ("same-origin", false), ("none", false), ("cross-site", true), ("same-site", true), ("", true), ("Same-Origin ", true),
            ] {
                #expect((gate.problem(of: head("POST", host, ("sec-fetch-site", site))) == .foreignOrigin) == isForeign, "\(site)")
                #expect((gate.problem(of: head("DELETE", host, ("sec-fetch-site", site))) == .foreignOrigin) == isForeign)
                #expect(gate.problem(of: head("GET", host, ("sec-fetch-site", site))) == nil)
                #expect(gate.problem(of: head("HEAD", host, ("sec-fetch-site", site))) == nil)
                // An origin is more exact than a site.
                #expect(gate.problem(of: head("POST", host, ("sec-fetch-site", site), ("origin", "https://chat.example"))) == nil)
            }
            #expect(gate.problem(of: head("POST", host)) == nil)
        }

        // MARK: Bodies

        @Test func bodiesHaveLimits() throws {
            let gate = try gate()
            let json = ("content-type", "application/json")
            for (target, limit) in [
                ("/v1/commands", 1 << 20), ("/v1/sign-in", 16 << 10), ("/v1/commands?x", 16 << 10), ("/v1/me", 16 << 10),
            ] {
                #expect(gate.bodyLimit(of: head("POST", target)) == limit)
                #expect(gate.problem(of: head("POST", target, host, json, ("content-length", "\(limit)"))) == nil)
                #expect(gate.problem(of: head("POST", target, host, json, ("content-length", "\(limit + 1)"))) == .tooLarge)
            }
            for length in ["99999999999999999999999999", "18446744073709551616"] {
                #expect(gate.problem(of: head("POST", host, json, ("content-length", length))) == .tooLarge)
            }
            for length in ["-1", "+1", "1.0", "0x1", "1 ", "1,1", "", "٣"] {
                #expect(gate.problem(of: head("POST", host, json, ("content-length", length))) == .invalidRequest, "\(length)")
            }
        }

        @Test func lengthAndEncodingExcludeEachOther() throws {
            let gate = try gate()
            let json = ("content-type", "application/json")
            let (length, chunked) = (("content-length", "2"), ("transfer-encoding", "chunked"))
            #expect(gate.problem(of: head("POST", host, json, length, chunked)) == .invalidRequest)
            #expect(gate.problem(of: head("POST", host, json, length, length)) == .invalidRequest)
            #expect(gate.problem(of: head("POST", host, json, chunked)) == nil)
            #expect(gate.problem(of: head("POST", host, json, ("transfer-encoding", "Chunked"))) == nil)
            for coding in ["gzip", "identity", "gzip, chunked", "chunked, chunked", "xchunked", ""] {
                #expect(gate.problem(of: head("POST", host, json, ("transfer-encoding", coding))) == .invalidRequest, "\(coding)")
            }
            #expect(gate.problem(of: head("POST", host, json, chunked, chunked)) == .invalidRequest)
        }

        @Test func authorizationIsOnce() throws {
            let token = ("authorization", "Bearer x")
            #expect(try gate().problem(of: head(host, token, token)) == .invalidRequest)
            #expect(try gate().problem(of: head(host, token)) == nil)
        }

        @Test(
            arguments: [
                ("application/json", true), ("Application/JSON; charset=utf-8", true), (" application/json ;x", true),
                ("application/json;", true),
                ("text/plain", false), ("application/jsonp", false), ("application/x-www-form-urlencoded", false), ("", false),
                (nil, false),
                ("multipart/form-data; application/json", false), ("text/json", false),
            ] as [(String?, Bool)]) func bodyIsJSON(type: String?, isAccepted: Bool) throws
        {
            for framing in [("content-length", "2"), ("transfer-encoding", "chunked")] {
                var headers = [host, framing]
                if let type { headers.append(("content-type", type)) }
                let head = HTTPHead(
                    method: "POST", version: "HTTP/1.1", target: "/v1/sign-in", headers: headers.map { ($0.0, $0.1) }, peer: nil)
                #expect(try gate().problem(of: head) == (isAccepted ? nil : .unsupportedMediaType))
            }
            // Without a body there is nothing to have a type.
            #expect(try gate().problem(of: head("POST", "/v1/sign-out", host, ("content-length", "0"))) == nil)
        }

        // MARK: Addresses

        @Test func forwardedAddressNeedsATrustedProxy() throws {
            let forwarded = ("x-forwarded-for", "198.51.100.7")
            #expect(try gate().client(of: head(forwarded)) == ClientAddress(text: "192.0.2.1"))
            #expect(try gate(proxies: ["192.0.2.2"]).client(of: head(forwarded)) == ClientAddress(text: "192.0.2.1"))
            let gate = try gate(proxies: ["192.0.2.1", "192.0.2.2", "::1"])
            #expect(gate.client(of: head(forwarded)) == ClientAddress(text: "198.51.100.7"))
            #expect(gate.client(of: head()) == ClientAddress(text: "192.0.2.1"))
            #expect(gate.client(of: head("GET", "/", peer: nil, forwarded)) == nil)
            #expect(gate.client(of: head("GET", "/", peer: "::1", forwarded)) == ClientAddress(text: "198.51.100.7"))
        }

        /// What the client wrote is left of what the proxies wrote.
        @Test func lastUntrustedAddressCounts() throws {
            let gate = try gate(proxies: ["192.0.2.1", "192.0.2.2"])
            func client(_ values: String...) -> ClientAddress? {
                let headers = values.map { (name: "x-forwarded-for", value: $0) }
                return gate.client(
                    of: HTTPHead(method: "GET", version: "HTTP/1.1", target: "/", headers: headers, peer: ClientAddress(text: "192.0.2.1")))
            }
            let real = ClientAddress(text: "198.51.100.7")
            #expect(client("203.0.113.1, 198.51.100.7") == real)
            #expect(client("203.0.113.1,198.51.100.7 , 192.0.2.2") == real)
            #expect(client("203.0.113.1", "198.51.100.7", "192.0.2.2,192.0.2.1") == real)
            #expect(client("203.0.113.1\t,\t198.51.100.7\t") == real)
            // Only proxies: the request is their own.
            #expect(client("192.0.2.2") == ClientAddress(text: "192.0.2.1"))
            // Beyond text that is no address, the client is unknown.
            for hostile in ["unknown", "198.51.100.7:80", "[::2]", "198.51.100.007", "198.51.100.7\u{0}", "a\u{301}", "_hidden", "::1%lo"] {
                #expect(client("203.0.113.1, \(hostile)") == ClientAddress(text: "192.0.2.1"), "\(hostile)")
                #expect(client("\(hostile), 198.51.100.7") == real)
            }
            #expect(client(String(repeating: ",", count: 10_000)) == ClientAddress(text: "192.0.2.1"))
            #expect(client(String(repeating: "192.0.2.2,", count: 2_000) + "192.0.2.2") == ClientAddress(text: "192.0.2.1"))
        }

        @Test func sharedAddressesHaveNoLimitOfConnections() throws {
            let gate = try gate(proxies: ["192.0.2.1"])
            for (text, isShared) in [("127.0.0.1", true), ("::1", true), ("192.0.2.1", true), ("192.0.2.2", false), ("2001:db8::1", false)]
            {
                #expect(gate.isShared(try #require(ClientAddress(text: text))) == isShared)
            }
        }

        @Test func cookieIsSecureBehindAnHTTPSOrigin() throws {
            let gate = try gate()
            for (name, isSecure) in [
                ("chat.example", true), ("CHAT.example:443", true), ("127.0.0.1:8080", false), ("lan.example:81", false),
                ("evil.example", false),
            ] {
                #expect(gate.isSecure(head(("host", name))) == isSecure)
            }
        }
    }
#endif
