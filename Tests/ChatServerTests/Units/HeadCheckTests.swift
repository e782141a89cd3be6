#if Server
    import ChatAccounts
    import ChatWire
    import Testing

    @testable import ChatServer

    /// What is checked of a request before its body is read.
    @Suite struct HeadCheckTests {
        private func check(
            _ listen: String = "127.0.0.1:8080", origins: [String] = ["https://chat.example", "http://lan.example:81"],
            proxies: [String] = []
        ) throws -> HeadCheck {
            HeadCheck(
                try #require(ListenAddress(listen)), origins: try origins.map { try #require(WebOrigin($0)) },
                trustedProxies: try proxies.map { try #require(ClientAddress(text: $0)) })
        }

        private func head(_ headers: (String, String)...) -> HTTPHead {
            makeHead("GET", "/v1/me", "192.0.2.1", headers)
        }

        private func head(_ method: String, _ headers: (String, String)...) -> HTTPHead {
            makeHead(method, "/v1/me", "192.0.2.1", headers)
        }

        private func head(
            _ method: String, _ target: String, peer: String? = "192.0.2.1", _ headers: (String, String)...
        ) -> HTTPHead {
            makeHead(method, target, peer, headers)
        }

        private func makeHead(_ method: String, _ target: String, _ peer: String?, _ headers: [(String, String)])
            -> HTTPHead
        {
            HTTPHead(
                method: method, version: "HTTP/1.1", target: target, headers: headers.map { ($0.0, $0.1) },
                framing: .none, peer: peer)
        }

        private let host = ("host", "127.0.0.1:8080")

        // MARK: Host

        @Test(arguments: [
            "127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080", "chat.example", "Chat.Example",
            "chat.example:443",
            "lan.example:81",
        ]) func hostsOfTheServer(name: String) throws {
            #expect(try check().problem(of: head(("host", name))) == nil)
        }

        @Test(arguments: [
            "", "evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.2:8080", "localhost", "chat.example:80",
            "chat.example:8080",
            "lan.example", "lan.example:80", "chat.example.evil.example", "evil.example:443", "127.0.0.1:8080 ",
            "chat.example/",
            "127.0.0.1:8080,evil.example", "user@chat.example", "[::1]",
        ]) func otherHostsAreMisdirected(name: String) throws {
            #expect(try check().problem(of: head(("host", name))) == .misdirectedRequest)
            // A health check of a load balancer may have any host.
            #expect(try check().problem(of: head("GET", "/healthz", ("host", name))) == nil)
            #expect(try check().problem(of: head("GET", "/healthz/", ("host", name))) == .misdirectedRequest)
        }

        /// HTTP/1.0 has requests without a host.
        @Test func hostIsRequired() throws {
            #expect(try check().problem(of: head()) == .misdirectedRequest)
            #expect(try check().problem(of: head("GET", "/healthz")) == nil)
        }

        @Test func standardPortIsLeftOut() throws {
            let check = try check("127.0.0.1:80")
            for name in ["127.0.0.1", "127.0.0.1:80", "localhost", "[::1]"] {
                #expect(check.problem(of: head(("host", name))) == nil)
            }
        }

        @Test func publicAddressHasNoLoopbackNames() throws {
            let check = try check("192.0.2.9:8080")
            #expect(check.problem(of: head(("host", "192.0.2.9:8080"))) == nil)
            #expect(check.problem(of: head(("host", "localhost:8080"))) == .misdirectedRequest)
        }

        // MARK: Origin

        @Test(arguments: [
            "http://127.0.0.1:8080", "http://localhost:8080", "https://chat.example", "HTTPS://CHAT.EXAMPLE",
            "http://lan.example:81",
        ])
        func ownOrigins(origin: String) throws {
            for method in ["GET", "POST", "DELETE"] {
                #expect(try check().problem(of: head(method, host, ("origin", origin))) == nil)
            }
        }

        @Test(arguments: [
            "null", "", "http://chat.example", "https://127.0.0.1:8080", "https://evil.example",
            "https://chat.example.evil.example",
            "https://chat.example:444", "https://chat.example@evil.example", "chat.example", "http://127.0.0.1",
            "http://127.0.0.1:80",
            "file://", "https://chat.example, https://chat.example",
        ]) func foreignOrigins(origin: String) throws {
            for method in ["GET", "POST", "OPTIONS"] {
                #expect(try check().problem(of: head(method, host, ("origin", origin))) == .foreignOrigin)
            }
        }

        @Test func siteDecidesWithoutAnOrigin() throws {
            let check = try check()
            for (site, isForeign) in [
                ("same-origin", false), ("none", false), ("cross-site", true), ("same-site", true), ("", true),
                ("Same-Origin ", true),
            ] {
                #expect(
                    (check.problem(of: head("POST", host, ("sec-fetch-site", site))) == .foreignOrigin) == isForeign,
                    "\(site)")
                #expect(
                    (check.problem(of: head("DELETE", host, ("sec-fetch-site", site))) == .foreignOrigin) == isForeign)
                #expect(check.problem(of: head("GET", host, ("sec-fetch-site", site))) == nil)
                #expect(check.problem(of: head("HEAD", host, ("sec-fetch-site", site))) == nil)
                // An origin is more exact than a site.
                #expect(
                    check.problem(of: head("POST", host, ("sec-fetch-site", site), ("origin", "https://chat.example")))
                        == nil)
            }
            #expect(check.problem(of: head("POST", host)) == nil)
        }

        // MARK: Bodies

        @Test func bodiesHaveLimits() throws {
            for (target, limit) in [
                ("/v1/commands", 1 << 20), ("/v1/sign-in", 16 << 10), ("/v1/commands?x", 16 << 10),
                ("/v1/me", 16 << 10),
            ] { #expect(try check().bodyLimit(of: head("POST", target)) == limit) }
        }

        @Test(
            arguments: [
                ("application/json", true), ("Application/JSON; charset=utf-8", true), (" application/json ;x", true),
                ("application/json;", true),
                ("text/plain", false), ("application/jsonp", false), ("application/x-www-form-urlencoded", false),
                ("", false),
                (nil, false),
                ("multipart/form-data; application/json", false), ("text/json", false),
            ] as [(String?, Bool)]) func bodyIsJSON(type: String?, isAccepted: Bool) throws
        {
            for framing in [HTTPHead.Framing.none, .length(2), .chunked] {
                let headers = [host] + (type.map { [("content-type", $0)] } ?? [])
                let head = HTTPHead(
                    method: "POST", version: "HTTP/1.1", target: "/v1/sign-in", headers: headers.map { ($0.0, $0.1) },
                    framing: framing)
                // Without a body there is nothing to have a type.
                #expect(try check().problem(of: head) == (isAccepted || framing == .none ? nil : .unsupportedMediaType))
            }
        }

        // MARK: Addresses

        @Test func forwardedAddressNeedsATrustedProxy() throws {
            let forwarded = ("x-forwarded-for", "198.51.100.7")
            #expect(try check().client(of: head(forwarded)) == ClientAddress(text: "192.0.2.1"))
            #expect(try check(proxies: ["192.0.2.2"]).client(of: head(forwarded)) == ClientAddress(text: "192.0.2.1"))
            let check = try check(proxies: ["192.0.2.1", "192.0.2.2", "::1"])
            #expect(check.client(of: head(forwarded)) == ClientAddress(text: "198.51.100.7"))
            #expect(check.client(of: head()) == ClientAddress(text: "192.0.2.1"))
            #expect(check.client(of: head("GET", "/", peer: nil, forwarded)) == nil)
            #expect(check.client(of: head("GET", "/", peer: "::1", forwarded)) == ClientAddress(text: "198.51.100.7"))
        }

        /// What the client wrote is left of what the proxies wrote.
        @Test func lastUntrustedAddressCounts() throws {
            let check = try check(proxies: ["192.0.2.1", "192.0.2.2"])
            func client(_ values: String...) -> ClientAddress? {
                let headers = values.map { (name: "x-forwarded-for", value: $0) }
                return check.client(
                    of: HTTPHead(
                        method: "GET", version: "HTTP/1.1", target: "/", headers: headers, framing: .none,
                        peer: "192.0.2.1"))
            }
            let real = ClientAddress(text: "198.51.100.7")
            #expect(client("203.0.113.1, 198.51.100.7") == real)
            #expect(client("203.0.113.1,198.51.100.7 , 192.0.2.2") == real)
            #expect(client("203.0.113.1", "198.51.100.7", "192.0.2.2,192.0.2.1") == real)
            #expect(client("203.0.113.1\t,\t198.51.100.7\t") == real)
            // Only proxies: the request is their own.
            #expect(client("192.0.2.2") == ClientAddress(text: "192.0.2.1"))
            // Beyond text that is no address, the client is unknown.
            for hostile in [
                "unknown", "198.51.100.7:80", "[::2]", "198.51.100.007", "198.51.100.7\u{0}", "a\u{301}", "_hidden",
                "::1%lo",
            ] {
                #expect(client("203.0.113.1, \(hostile)") == ClientAddress(text: "192.0.2.1"), "\(hostile)")
                #expect(client("\(hostile), 198.51.100.7") == real)
            }
            #expect(client(String(repeating: ",", count: 10_000)) == ClientAddress(text: "192.0.2.1"))
            #expect(
                client(String(repeating: "192.0.2.2,", count: 2_000) + "192.0.2.2") == ClientAddress(text: "192.0.2.1"))
        }

        @Test func sharedAddressesHaveNoLimitOfConnections() throws {
            let check = try check(proxies: ["192.0.2.1"])
            for (text, isShared) in [
                ("127.0.0.1", true), ("::1", true), ("192.0.2.1", true), ("192.0.2.2", false), ("2001:db8::1", false),
            ] {
                #expect(check.isShared(try #require(ClientAddress(text: text))) == isShared)
            }
        }

        @Test func cookieIsSecureBehindAnHTTPSOrigin() throws {
            let check = try check()
            for (name, isSecure) in [
                ("chat.example", true), ("CHAT.example:443", true), ("127.0.0.1:8080", false),
                ("lan.example:81", false),
                ("evil.example", false),
            ] {
                #expect(check.isSecure(head(("host", name))) == isSecure)
            }
        }
    }
#endif
