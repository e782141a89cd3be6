#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatValues
    import Foundation
    import TestSupport
    import Testing

    @Suite struct ClientErrorTests {
        private static func answer(_ status: Int, _ body: String = "", _ headers: [String: String] = [:])
            -> ClientAnswer
        {
            ClientAnswer(status: status, headers: headers, body: Data(body.utf8))
        }

        private static func problem(_ status: Int, _ code: String, _ more: String = "") -> String {
            "{\"type\":\"about:blank\",\"title\":\"T\",\"status\":\(status),\"code\":\"\(code)\",\"detail\":\"D.\"\(more)}"
        }

        static let table: [(ClientAnswer, ClientError?)] = [
            (answer(200), nil), (answer(202, "{}"), nil), (answer(204), nil),
            (answer(401, problem(401, "notSignedIn")), .signedOut),
            (
                answer(401, problem(401, "invalidCredentials")),
                .problem(Problem(401, .invalidCredentials, "D."))
            ),
            (answer(404, problem(404, "notFound")), .notFound),
            (
                answer(409, problem(409, "usernameTaken")),
                .problem(Problem(409, .usernameTaken, "D."))
            ),
            (
                answer(400, problem(400, "wrongType", ",\"field\":\"postMessage.body\",\"line\":3")),
                .problem(
                    Problem(400, .init(rawValue: "wrongType"), "D.", field: "postMessage.body", line: 3))
            ),
            (
                answer(429, problem(429, "tooManyAttempts", ",\"retryAfter\":7")),
                .tooManyAttempts(retryAfter: .seconds(7))
            ),
            (
                answer(429, problem(429, "tooManyRequests", ",\"retryAfter\":7"), ["retry-after": "9"]),
                .tooManyAttempts(retryAfter: .seconds(9))
            ),
            (
                answer(429, "busy", ["retry-after": "Thu, 01 Jan 1970 00:01:00 GMT"]),
                .tooManyAttempts(retryAfter: .seconds(60))
            ),
            (answer(429), .tooManyAttempts(retryAfter: nil)),
            (
                answer(503, problem(503, "busy"), ["retry-after": "1"]),
                .problem(Problem(503, .busy, "D.", retryAfter: 1))
            ),
            (answer(503, "<html>"), .unreachable("A proxy before the server answers with the status 503.")),
            (answer(502), .unreachable("A proxy before the server answers with the status 502.")),
            (
                answer(504, "", ["retry-after": "30"]),
                .unreachable("A proxy before the server answers with the status 504.", retryAfter: .seconds(30))
            ),
            (
                answer(302, "", ["location": "https://x"]),
                .answerInvalid("The server redirects (status 302), which is not followed.")
            ),
            (answer(100), .answerInvalid("The answer has the status 100.")),
            (answer(-1), .answerInvalid("The answer has the status -1.")),
            (answer(999, problem(999, "x")), .answerInvalid("The answer has the status 999.")),
            (answer(401, "<html>"), .answerInvalid("The answer has the status 401 and no problem of a chat server.")),
            (answer(404), .answerInvalid("The answer has the status 404 and no problem of a chat server.")),
            (
                answer(400, "{\"code\":1}"),
                .answerInvalid("The answer has the status 400 and no problem of a chat server.")
            ),
            (
                answer(400, String(repeating: "[", count: 100_000)),
                .answerInvalid("The answer has the status 400 and no problem of a chat server.")
            ),
        ]

        @Test(arguments: table) func answersMeanErrors(answer: ClientAnswer, expected: ClientError?) {
            #expect(answer.error(now: Date(timeIntervalSince1970: 0)) == expected)
        }

        private struct Named: Codable, Equatable {
            struct User: Codable, Equatable { let name: String }
            let users: [User]
        }

        @Test func bodiesAreDecoded() throws {
            #expect(
                try Self.answer(200, "{\"users\":[{\"name\":\"Ann\"}],\"later\":1}").decode()
                    == Named(users: [.init(name: "Ann")]))
            #expect(throws: ClientError.answerInvalid("The answer is not the JSON that was asked for: users.0.name.")) {
                try Self.answer(200, "{\"users\":[{\"name\":7}]}").decode(Named.self)
            }
            #expect(throws: ClientError.signedOut) {
                try Self.answer(401, Self.problem(401, "notSignedIn")).decode(Named.self)
            }
        }

        @Test func garbageIsAnInvalidAnswer() throws {
            var generator = SplitMix64(seed: Repetitions.seed)
            let good = Array("{\"users\":[{\"name\":\"Ann\"}]}".utf8)
            for round in 0..<Repetitions.few(500, of: 20_000) {
                var bytes = good
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                        in: 0...255, using: &generator)
                }
                for status in [200, 400, 503] {
                    do throws(ClientError) {
                        _ = try ClientAnswer(status: status, body: Data(bytes)).decode(Named.self)
                    } catch {
                        switch error {
                        case .answerInvalid, .unreachable: break
                        default: Issue.record("round \(round), seed \(Repetitions.seed): \(error)")
                        }
                    }
                }
            }
        }

        @Test func commandIsAcceptedOrRejected() throws {
            let receipt = try Self.answer(200, "{\"line\":1,\"positions\":null,\"events\":[],\"duplicate\":true}")
                .receipt()
            #expect(receipt.isDuplicate)
            do throws(ClientError) {
                _ = try Self.answer(200, "{\"line\":1,\"rejection\":{\"code\":\"notAMember\",\"message\":\"M.\"}}")
                    .receipt()
                Issue.record("no rejection")
            } catch {
                #expect((error.rejection?.code, error.description) == (.notAMember, "notAMember: M."))
            }
            for body in [
                "", "{}", "{\"line\":1}", "[]", "{\"line\":1,\"positions\":[3,2],\"events\":[],\"duplicate\":false}",
            ] {
                do throws(ClientError) {
                    _ = try Self.answer(200, body).receipt()
                    Issue.record("accepted: \(body)")
                } catch {
                    guard case .answerInvalid = error else {
                        Issue.record("\(error)")
                        continue
                    }
                }
            }
        }

        @Test func descriptionsBeginWithTheCode() {
            for (error, text) in [
                (ClientError.unreachable("No."), "unreachable: No."),
                (.signedOut, "signedOut: The session has ended. Sign in again."),
                (.tooManyAttempts(retryAfter: .seconds(9)), "tooManyAttempts: Too many attempts. Try again in 9 s."),
                (.problem(Problem(409, .usernameTaken, "D.")), "usernameTaken: D."),
                (.storage(.held), "storage: Another program holds the file. Close it and try again."),
                (
                    .storage(.damaged, file: "/a/b.chat"),
                    "storage: /a/b.chat is damaged. Start over, which keeps what can be read, or remove it."
                ),
                (
                    .storage(.failed(-25_300)),
                    "storage: The file cannot be read or written (-25300). Check it, or start over without it."
                ),
            ] {
                #expect(error.description == text)
            }
        }

        @Test(arguments: [
            ("https://chat.example.org", true), ("https://chat.example.org:8443/chat/", true),
            ("http://127.0.0.1:8080", true),
            ("http://localhost", true), ("http://[::1]:8080", true), ("HTTPS://chat.example.org", true),
            ("http://chat.example.org", false),
            ("http://127.0.0.1.example.org", false), ("http://localhost.example.org", false), ("http://127.1", false),
            ("https://user:secret@chat.example.org", false), ("https://chat.example.org?x", false),
            ("https://chat.example.org#x", false),
            ("ftp://chat.example.org", false), ("file:///etc/passwd", false), ("https://", false),
            ("chat.example.org", false),
        ]) func addressesAreChecked(text: String, isAllowed: Bool) throws {
            let url = try #require(URL(string: text))
            let made = try? ServerAddress(url, allowsPlainText: false)
            #expect((made != nil) == isAllowed)
            if isAllowed { #expect(made?.url(of: "/v1/me?a=b")?.absoluteString.hasSuffix("/v1/me?a=b") == true) }
        }

        @Test func plainTextIsAllowedIfAsked() throws {
            let url = try #require(URL(string: "http://chat.example.org/chat/"))
            #expect(
                try ServerAddress(url, allowsPlainText: true).url(of: "/v1/me")?.absoluteString
                    == "http://chat.example.org/chat/v1/me")
            #expect(try ServerAddress(url, allowsPlainText: true).url(of: "@evil.example") == nil)
        }
    }
#endif
