#if Server
    import ChatWire
    import Testing

    @testable import ChatServer

    /// The heads and bodies of ``RawRequests``, in one part and byte by byte.
    @Suite struct HTTPParserTests {
        /// Gives the parser the bytes in parts, as a connection does; returns the answer and the
        /// bytes of the head.
        private func parsed(_ bytes: [UInt8], parts: [Int]) -> (answer: String, byteCount: Int) {
            var parser = HTTPHeadParser()
            do throws(HTTPError) {
                for count in parts {
                    guard let (head, byteCount) = try parser.parse(Array(bytes.prefix(count))) else { continue }
                    let framing =
                        switch head.framing {
                        case .none: "none"
                        case .length(let count): "length \(count)"
                        case .chunked: "chunked"
                        }
                    return ("\(head.method) \(head.target) \(head[.host] ?? "-") \(framing)", byteCount)
                }
                return ("more", 0)
            } catch {
                return ("\(error.status)", 0)
            }
        }

        private func check(_ text: String, _ answer: String) {
            let bytes = RawRequests.bytes(text)
            #expect(parsed(bytes, parts: [bytes.count]).answer == answer, "\(text.prefix(200).debugDescription)")
            #expect(
                parsed(bytes, parts: Array(1...max(1, bytes.count))).answer == answer,
                "by byte: \(text.prefix(200).debugDescription)")
        }

        @Test func requestLines() { for (text, answer) in RawRequests.requestLines { check(text, answer) } }

        @Test func absoluteTargets() { for (text, answer) in RawRequests.absoluteTargets { check(text, answer) } }

        @Test func headers() { for (text, answer) in RawRequests.headers { check(text, answer) } }

        @Test func hosts() { for (text, answer) in RawRequests.hosts { check(text, answer) } }

        @Test func framings() {
            for (lines, answer) in RawRequests.framings {
                let isStatus = Int(answer) != nil
                for text in ["POST /x HTTP/1.1|Host: a|\(lines)||", "GET /x HTTP/1.1|\(lines)|Host: a||"] {
                    // What begins with a space is no header at all in the first place of a head.
                    check(text, isStatus ? answer : "\(text.prefix { $0 != " " }) /x a \(answer)")
                }
            }
        }

        /// Two programs that read a header twice take different ones of its values.
        @Test(arguments: SingleHeader.allCases) func headersThatDecideAreThereOnce(header: SingleHeader) {
            let value = header == .contentLength ? "0" : header == .transferEncoding ? "chunked" : "a"
            let host = header == .host ? "" : "Host: a|"
            for lines in [
                "\(header.rawValue): \(value)|\(header.rawValue): \(value)|",
                "\(header.rawValue): \(value)|X: y|\(header.rawValue.uppercased()): b|",
                "\(header.rawValue):|\(header.rawValue):|",
            ] {
                let bytes = RawRequests.bytes("POST http://a/ HTTP/1.1|\(host)\(lines)|")
                var parser = HTTPHeadParser()
                #expect(throws: HTTPError.repeated(header), "\(lines)") { try parser.parse(bytes) }
            }
            #expect(Problem(HTTPError.repeated(header)).code == .invalidHeader)
        }

        @Test func oldVersionHasNoCoding() {
            for (lines, answer) in RawRequests.framings where answer == "chunked" || answer == "501" {
                check("POST / HTTP/1.0|Host: a|\(lines)||", "400")
            }
        }

        @Test func headEndsWhereTheBodyBegins() {
            let head = "POST / HTTP/1.1|Host: a|Content-Length: 5||"
            let bytes = RawRequests.bytes(head + "helloGET / HTTP/1.1|")
            #expect(parsed(bytes, parts: [bytes.count]).byteCount == RawRequests.bytes(head).count)
        }

        @Test func connectionAndExpectation() throws {
            for (lines, keepsAlive) in [
                ("HTTP/1.1|Host: a", true), ("HTTP/1.1|Host: a|Connection: close", false),
                ("HTTP/1.1|Host: a|Connection: Close", false),
                ("HTTP/1.1|Host: a|Connection: x, close", false),
                ("HTTP/1.1|Host: a|Connection: x|Connection: close", false),
                ("HTTP/1.1|Host: a|Connection: keep-alive", true), ("HTTP/1.1|Host: a|Connection: closed", true),
                ("HTTP/1.0|Host: a", false), ("HTTP/1.0|Host: a|Connection: keep-alive", false),
            ] {
                var parser = HTTPHeadParser()
                #expect(
                    try parser.parse(RawRequests.bytes("GET / \(lines)||"))?.head.keepsAlive == keepsAlive, "\(lines)")
            }
            for (lines, expects) in [
                ("HTTP/1.1|Expect: 100-continue", true), ("HTTP/1.1|Expect: 100-Continue", true),
                ("HTTP/1.1|Expect: x", false),
                ("HTTP/1.1", false), ("HTTP/1.0|Expect: 100-continue", false),
            ] {
                var parser = HTTPHeadParser()
                #expect(
                    try parser.parse(RawRequests.bytes("GET / \(lines)|Host: a||"))?.head.expectsContinue == expects,
                    "\(lines)")
            }
        }

        // MARK: Chunks

        /// Gives the decoder the bytes in parts of a size.
        private func decoded(_ bytes: [UInt8], by size: Int) -> String {
            var (decoder, input, content) = (ChunkDecoder(), [UInt8](), [UInt8]())
            var rest = bytes[...]
            do throws(HTTPError) {
                repeat {
                    input += rest.prefix(size)
                    rest = rest.dropFirst(size)
                    if try decoder.decode(&input, into: &content) {
                        input += rest
                        let next = input.isEmpty ? "" : "+" + String(decoding: input, as: UTF8.self)
                        return String(decoding: content, as: UTF8.self) + next
                    }
                } while !rest.isEmpty
                return "more"
            } catch {
                return "\(error.status)"
            }
        }

        @Test func chunkedBodies() {
            for (text, answer) in RawRequests.chunkedBodies {
                let bytes = RawRequests.bytes(text)
                for size in [max(1, bytes.count), 1, 2, 3, 7] {
                    #expect(decoded(bytes, by: size) == answer, "by \(size): \(text.prefix(100).debugDescription)")
                }
            }
        }
    }
#endif
