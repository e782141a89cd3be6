#if Server
    import TestSupport
    import Testing

    @testable import ChatAccounts

    struct AddressTests {
        @Test(arguments: [
            ("192.0.2.1", [192, 0, 2, 1]), ("0.0.0.0", [0, 0, 0, 0]), ("255.255.255.255", [255, 255, 255, 255]),
            ("::ffff:192.0.2.1", [192, 0, 2, 1]), ("::FFFF:c000:0201", [192, 0, 2, 1]),
            ("0:0:0:0:0:ffff:192.0.2.1", [192, 0, 2, 1]), ("::", [UInt8](repeating: 0, count: 16)),
            ("2001:db8::1", [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]),
            ("2001:0DB8:0:0:0:0:0:9", [0x20, 1, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]),
            ("1:2:3:4:5:6:7::", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 0]),
            ("::2:3:4:5:6:7:8", [0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]),
            ("1:2:3:4:5:6:77.77.88.88", [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 77, 77, 88, 88]),
            ("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", [UInt8](repeating: 255, count: 16)),
        ]) func textIsAnAddress(text: String, bytes: [UInt8]) throws {
            let address = try #require(ClientAddress(text: text))
            #expect(address == ClientAddress(bytes: bytes))
            #expect(ClientAddress(text: "\(address)") == address)
        }

        @Test(arguments: [
            "", " ", ".", ":", ":::", "::1 ", " ::1", "1", "1.2.3", "1.2.3.4.5", "1.2.3.", ".1.2.3", "1..2.3",
            "01.2.3.4", "1.2.3.00",
            "256.1.1.1", "1.2.3.4 ", "1.2.3.4\n", "1.2.3.4\u{0}", "+1.2.3.4", "-1.2.3.4", "0x1.2.3.4", "1e0.2.3.4",
            "१.2.3.4", "１.2.3.4",
            "1.2.3.4:80", "[::1]", "[::1]:80", "::1%lo", "::1/128", "127.0.0.1, 1.2.3.4", "localhost", "example.org",
            "unknown", "_hidden",
            "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "1:2:3:4::5:6:7:8", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:",
            "12345::", "g::",
            "::+1", "::-1", "::1.2.3", "::1.2.3.4.5", "::01.2.3.4", "1.2.3.4::", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4",
            "::fffff:1.2.3.4",
            "e\u{301}::", "::\u{301}1",
            String(repeating: "0", count: 40) + "::1",
        ]) func otherTextIsNoAddress(text: String) { #expect(ClientAddress(text: text) == nil) }

        @Test func longTextIsNoAddress() {
            for text in ["1", ":", "0", ".", "\u{0}", "a:"].map({ String(repeating: $0, count: 10 << 20) }) {
                #expect(ClientAddress(text: text) == nil)
            }
        }

        /// The C library as a second implementation.
        @Test func textsAreThoseThatTheSystemAccepts() throws {
            var random = SplitMix64(seed: Repetitions.seed)
            var accepted = 0
            // About one text in twenty is an address.
            for _ in 0..<Repetitions.few(24_000, of: 400_000) {
                let isVersion4 = Bool.random(using: &random)
                let separator = isVersion4 ? "." : ":"
                var text = (0..<Int.random(in: isVersion4 ? 3...5 : 1...9, using: &random)).map { _ in
                    switch Int.random(in: 0..<12, using: &random) {
                    case 0: return ""
                    case 1: return "1.2.3.4"
                    case 2: return "0" + String(UInt8.random(in: 0...9, using: &random))
                    default:
                        let number = UInt32.random(in: 0...(Bool.random(using: &random) ? 300 : 70_000), using: &random)
                        return String(number, radix: isVersion4 ? 10 : 16)
                    }
                }.joined(separator: separator)
                if Int.random(in: 0..<8, using: &random) == 0, let index = text.indices.randomElement(using: &random) {
                    text.replaceSubrange(
                        index...index, with: ["", "::", ".", "x", "%", "-"].randomElement(using: &random) ?? "")
                }
                let expected = systemAddress(text)
                if expected != nil { accepted += 1 }
                try #require(
                    ClientAddress(text: text) == expected.flatMap { ClientAddress(bytes: $0) },
                    "\(text), CHATJOURNAL_SEED=\(Repetitions.seed)")
            }
            #expect(accepted > 1_000)
        }

        @Test func loopbackIsOneNetworkAndOneAddress() throws {
            for (text, isLoopback) in [
                ("127.0.0.1", true), ("127.255.255.255", true), ("::1", true), ("::ffff:127.0.0.1", true),
                ("0:0:0:0:0:0:0:1", true),
                ("128.0.0.1", false), ("126.0.0.1", false), ("0.0.0.0", false), ("::", false), ("::2", false),
                ("::1:1", false),
                ("1::1", false), ("::127.0.0.1", false), ("10.0.0.1", false), ("192.168.0.1", false),
                ("::fffe:127.0.0.1", false),
            ] { #expect(try #require(ClientAddress(text: text)).isLoopback == isLoopback, "\(text)") }
            // One bucket for a network of 64 bits, but none for loopback and others.
            #expect(ClientAddress(text: "::1") != ClientAddress(text: "::2"))
        }

        @Test func loopbackHasAHundredTimesTheLimit() throws {
            let fixture = try Fixture()
            var options = fixture.options
            options.signInLimits.address = AttemptLimit(burst: 3, intervalMilliseconds: 10_000)
            let store = try fixture.open(options)
            func attempt(_ address: ClientAddress?) -> AccountError? {
                do throws(AccountError) { try store.takeAttempt(.signIn, account: "a@x.org", address: address) } catch {
                    return error
                }
                return nil
            }
            let ordinary = try #require(ClientAddress(text: "192.0.2.1"))
            for text in ["127.0.0.1", "::1"] {
                let shared = try #require(ClientAddress(text: text))
                for _ in 0..<300 { #expect(attempt(shared) == nil) }
                #expect(attempt(shared)?.retryAfter == .milliseconds(100))
                fixture.advance(100)
                #expect(attempt(shared) == nil)
                #expect(attempt(shared)?.code == .tooManyAttempts)
            }
            for _ in 0..<3 { #expect(attempt(ordinary) == nil) }
            #expect(attempt(ordinary)?.retryAfter == .milliseconds(10_000))
            #expect(attempt(nil) == nil)
        }

        @Test func accountsKeepTheirLimitOnLoopback() throws {
            let fixture = try Fixture()
            var options = fixture.options
            options.signInLimits.account = AttemptLimit(burst: 2, intervalMilliseconds: 60_000)
            let store = try fixture.open(options)
            let address = ClientAddress(text: "127.0.0.1")
            let codes = (0..<3).map { _ in
                failure { _ = try store.signIn(email: "a@x.org", password: Fixture.password, address: address) }
            }
            #expect(codes == [.invalidCredentials, .invalidCredentials, .tooManyAttempts])
        }
    }
#endif
