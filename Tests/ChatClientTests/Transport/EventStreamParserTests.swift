#if Client || canImport(SQLite3)
    import ChatClient
    import TestSupport
    import Testing

    @Suite struct EventStreamParserTests {
        private static func events(_ pieces: [ArraySlice<UInt8>], limit: Int = 16 << 20) throws(TransportFailure)
            -> [ServerSentEvent]
        {
            var parser = EventStreamParser(limit: limit)
            var events: [ServerSentEvent] = []
            for piece in pieces {
                parser.append(piece)
                while let event = try parser.nextEvent() { events.append(event) }
            }
            return events
        }

        private static func events(_ text: String) throws(TransportFailure) -> [ServerSentEvent] {
            try events([Array(text.utf8)[...]])
        }

        static let table: [(String, [ServerSentEvent])] = [
            ("", []),
            ("data: a\n\n", [.init(data: "a")]),
            ("data: a\r\n\r\n", [.init(data: "a")]),
            ("data: a\r\r", [.init(data: "a")]),
            ("data: a\r\n\n\r", [.init(data: "a")]),
            // The example of the specification: a space after the colon is removed once.
            ("data:test\n\ndata: test\n\ndata:  x\n\n", [.init(data: "test"), .init(data: "test"), .init(data: " x")]),
            ("data: YHOO\ndata: +2\ndata: 10\n\n", [.init(data: "YHOO\n+2\n10")]),
            ("data\n\ndata\ndata\n\ndata:", [.init(data: ""), .init(data: "\n")]),
            // A comment is a heartbeat, also in an event, whose id it does not have.
            (": heartbeat\n\n", [.init()]),
            (
                "id: 1\ndata: a\n\nid: 2\n:\ndata: b\n\n",
                [.init(id: "1", data: "a"), .init(id: "1"), .init(id: "2", data: "b")]
            ),
            ("retry: 2000\nid: t1\n\n", [.init(id: "t1")]),
            ("retry: 2000\n\n", []),
            ("event: erased\ndata: {}\n\ndata: x\n\n", [.init(name: "erased", data: "{}"), .init(data: "x")]),
            ("event: x\n\ndata: y\n\n", [.init(data: "y")]),
            // An id lasts until another one, and an empty one resets it.
            (
                "id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
                [.init(id: "1", data: "a"), .init(id: "1", data: "b"), .init(id: "", data: "c")]
            ),
            ("id: 1\u{0}2\ndata: a\n\n", [.init(data: "a")]),
            ("id: 1\nid: 2\u{0}\ndata: a\n\n", [.init(id: "1", data: "a")]),
            ("\u{FEFF}data: a\n\n", [.init(data: "a")]),
            ("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [.init(data: "b")]),
            ("data: a\n\n\u{FEFF}data: b\n\n", [.init(data: "a")]),
            ("Data: a\nfoo: b\ndata : c\n\n", []),
            ("data: unfinished\n", []),
            ("data: unfinished\nid: 7", []),
            ("data: a:b: c\n\n", [.init(data: "a:b: c")]),
            ("\n\n\r\r\n\ndata: a\n\n", [.init(data: "a")]),
        ]

        @Test(arguments: table) func followsTheSpecification(text: String, expected: [ServerSentEvent]) throws {
            #expect(try Self.events(text) == expected)
        }

        @Test func textThatIsNotUTF8IsRepaired() throws {
            #expect(try Self.events([Array("data: ".utf8) + [0xFF, 0x0A, 0x0A]]) == [.init(data: "\u{FFFD}")])
        }

        @Test func piecesDoNotMatter() throws {
            var generator = SplitMix64(seed: Repetitions.seed)
            let atoms =
                Self.table.map(\.0) + [
                    "\r", "\n", "\r\n", ":", "data: é😀\n", "id: 9\r", "\u{FEFF}", "event: z\r\n", "\u{0}",
                ]
            for round in 0..<Repetitions.few(500, of: 20_000) {
                let text = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                    atoms.randomElement(using: &generator) ?? ""
                }.joined()
                let bytes = Array(text.utf8)
                var pieces: [ArraySlice<UInt8>] = []
                var rest = bytes[...]
                while !rest.isEmpty {
                    let size = Int.random(in: 0...min(rest.count, 5), using: &generator)
                    pieces.append(rest.prefix(size))
                    rest = rest.dropFirst(size)
                }
                #expect(
                    try Self.events(pieces) == Self.events([bytes[...]]),
                    "round \(round), seed \(Repetitions.seed): \(text.debugDescription)")
            }
        }

        @Test func limitsHoldForLinesAndEvents() throws {
            let line = Array("data: \(String(repeating: "x", count: 58))\n\n".utf8)
            #expect(try Self.events([line[...]], limit: 64).count == 1)
            #expect(throws: TransportFailure.answerTooLarge) { try Self.events([line[...]], limit: 63) }
            // A line without an end, in small pieces.
            #expect(throws: TransportFailure.answerTooLarge) {
                try Self.events(Array(repeating: Array("xxxxxxxx".utf8)[...], count: 9), limit: 64)
            }
            // An event without an end, of short lines.
            let short = Array("data: xxxx\n".utf8)[...]
            #expect(throws: TransportFailure.answerTooLarge) {
                try Self.events(Array(repeating: short, count: 20), limit: 64)
            }
            #expect(throws: TransportFailure.answerTooLarge) {
                try Self.events(Array(repeating: Array("data\n".utf8)[...], count: 66), limit: 64)
            }
            // Comments and other fields are not kept.
            let comments = Array(repeating: Array(": heartbeat\nfoo: bar\n".utf8)[...], count: 1_000)
            #expect(try Self.events(comments, limit: 64).count == 1_000)
        }
    }
#endif
