#if Server
    import Testing

    @testable import ChatServer

    /// The texts of addresses to listen on, and of origins.
    @Suite struct AddressParsingTests {
        @Test(arguments: [
            ("127.0.0.1:8080", "127.0.0.1:8080", true), ("[::1]:0", "[::1]:0", true),
            ("localhost:65535", "127.0.0.1:65535", true),
            ("0.0.0.0:80", "0.0.0.0:80", false), ("[::]:80", "[::]:80", false), ("192.0.2.1:1", "192.0.2.1:1", false),
            ("127.9.9.9:080", "127.9.9.9:80", true),
        ]) func listenAddresses(text: String, description: String, isLoopback: Bool) throws {
            let address = try #require(ListenAddress(text))
            #expect((address.description, address.isLoopback) == (description, isLoopback))
        }

        @Test(arguments: [
            "", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
            "127.0.0.1:8o", "::1:80", "[::1]",
            "[::1]80", "[::1:80", "::1]:80", "example.org:80", "127.0.0.1 :80", "127.0.0.1: 80", "[fe80::1%eth0]:80",
            "127.1:80",
            "Localhost:80",
            "[]:80", "[localhost]:80x",
        ]) func otherTextsAreNoListenAddresses(text: String) { #expect(ListenAddress(text) == nil) }

        @Test(arguments: [
            ("https://chat.example", "https://chat.example", "chat.example", true),
            ("HTTPS://Chat.Example/", "https://chat.example", "chat.example", true),
            ("https://chat.example:443", "https://chat.example", "chat.example", true),
            ("http://chat.example:80", "http://chat.example", "chat.example", false),
            ("https://chat.example:80", "https://chat.example:80", "chat.example:80", true),
            ("http://[::1]:8080", "http://[::1]:8080", "[::1]:8080", false),
            ("http://127.0.0.1", "http://127.0.0.1", "127.0.0.1", false),
            ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example", true),
        ]) func origins(text: String, description: String, authority: String, isSecure: Bool) throws {
            let origin = try #require(WebOrigin(text))
            #expect((origin.description, origin.authority, origin.isSecure) == (description, authority, isSecure))
        }

        @Test(arguments: [
            "", "https://", "https:///", "chat.example", "ftp://chat.example", "https://chat.example/path",
            "https://chat.example?x",
            "https://chat.example#x",
            "https://user@chat.example", "https://chat example", "https://chat.example//", " https://chat.example",
            "https://bücher.example", "null",
            "https://*.example", "https://:443", "https:/chat.example", "https://" + String(repeating: "a", count: 301),
        ]) func otherTextsAreNoOrigins(text: String) { #expect(WebOrigin(text) == nil) }
    }
#endif
