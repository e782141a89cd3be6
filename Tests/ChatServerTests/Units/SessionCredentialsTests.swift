#if Server
    import Testing

    @testable import ChatServer

    /// The token of a session in the headers of a request.
    @Suite struct SessionCredentialsTests {
        private func token(_ headers: (String, String)..., isSecure: Bool = false) -> String? {
            SessionCredentials.token(
                in: HTTPHead(
                    method: "GET", version: "HTTP/1.1", target: "/", headers: headers.map { ($0.0, $0.1) },
                    framing: .none),
                isSecure: isSecure)
        }

        @Test(arguments: [
            ("Bearer abc", "abc"), ("bearer abc", "abc"), ("BEARER   abc ", "abc"), ("Bearer", nil), ("Bearer ", nil),
            ("", nil),
            ("Basic abc", nil), ("abc", nil), ("Bearerabc", nil), ("Bearer a b", "a b"),
        ]) func bearerToken(value: String, expected: String?) {
            #expect(token(("authorization", value)) == expected)
            // A request with another authorization is not that of the cookie.
            #expect(token(("authorization", value), ("cookie", "chat-session=cookie")) == expected)
        }

        @Test(arguments: [
            ("chat-session=abc", "abc"), ("a=b; chat-session=abc; c=d", "abc"), ("a=b;chat-session=abc", "abc"),
            ("chat-session=", ""),
            ("chat-session=a=b", "a=b"), ("chat-session", nil), ("xchat-session=abc", nil), ("Chat-Session=abc", nil),
            ("__Host-chat-session=abc", nil), ("chat-session=abc; chat-session=def", "abc"), ("", nil), (";;=;", nil),
        ]) func cookie(value: String, expected: String?) {
            #expect(token(("cookie", value)) == expected)
        }

        @Test func secureCookieHasItsOwnName() {
            let cookies = ("cookie", "chat-session=plain; __Host-chat-session=secure")
            #expect(token(cookies) == "plain")
            #expect(token(cookies, isSecure: true) == "secure")
            #expect(token(("cookie", "chat-session=plain"), isSecure: true) == nil)
        }

        @Test func cookieHasItsAttributes() {
            #expect(
                SessionCredentials.cookie("abc", isSecure: true)
                    == "__Host-chat-session=abc; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict; Secure")
            #expect(
                SessionCredentials.cookie("abc", isSecure: false)
                    == "chat-session=abc; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict")
            #expect(
                SessionCredentials.cookie(nil, isSecure: false)
                    == "chat-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict")
        }
    }
#endif
