@testable import ChatDomain
import ChatTesting
import TestSupport
import Testing

/// Damaged bytes decode to an event or to an error with an offset; they never trap.
struct DamagedBytesTests {
    /// Decodes in every way, and uses each result.
    private func survive(_ bytes: EventBytes, _ state: inout ChatState) {
        expectTextOfEvent(bytes)
        for contents in [ContentSelection.all, .indexed] {
            do throws(EventDecodingError) {
                let event = try bytes.event(contents)
                if contents == .all { #expect(EventBytes(event).kept.count <= bytes.kept.count + 8) }
                _ = state.faults(of: event)
                state.evolve(event, at: state.head + 1)
            } catch {
                #expect(error.offset >= 0 && error.offset <= (error.part == .kept ? bytes.kept : bytes.erasable).count)
            }
            do throws(EventDecodingError) {
                let event = try bytes.stub(contents)
                state.evolve(event, at: state.head + 1)
            } catch {
                #expect(error.part == .kept)
                #expect(error.offset >= 0 && error.offset <= bytes.kept.count)
            }
        }
    }

    /// Checks that the text alone equals the text of the event, or fails with the same error.
    private func expectTextOfEvent(_ bytes: EventBytes) {
        for isStub in [false, true] {
            let event = Result { () throws(EventDecodingError) in try isStub ? bytes.stub() : bytes.event() }
            let text = Result { () throws(EventDecodingError) in try bytes.text(isStub: isStub) }
            switch (event, text) {
            case (.success(let event), .success(let text)):
                #expect(text.body == event.body && text.createdAt == event.createdAt && text.mentions == event.mentions)
            case (.failure(let one), .failure(let other)): #expect(one == other)
            default: Issue.record("\(event) and \(text) of \(bytes)")
            }
        }
    }

    /// Also with a correlation id before the text, with fields of a later version after it, and in
    /// imports.
    @Test(arguments: Seeds.seeds(20)) func textAloneEqualsTextOfEvent(seed: UInt64) {
        var generator = EventGenerator(seed: seed)
        for event in generator.oneOfEachKind() { expectTextOfEvent(EventBytes(event)) }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 20))) func truncatedBytesNeverTrap(seed: UInt64) {
        var generator = EventGenerator(seed: seed)
        var state = ChatState()
        for bytes in generator.oneOfEachKind().map({ EventBytes($0) }) {
            for count in bytes.kept.indices {
                let cut = EventBytes(kept: Array(bytes.kept.prefix(count)), erasable: bytes.erasable)
                survive(cut, &state)
                // A known kind has no optional field at the end of its kept part.
                if EventKind(encoded: bytes.kept[0]) != nil { #expect(cut.problem?.part == .kept) }
            }
            for count in bytes.erasable.indices {
                survive(EventBytes(kept: bytes.kept, erasable: Array(bytes.erasable.prefix(count))), &state)
            }
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 10))) func singleBitFlipsNeverTrap(seed: UInt64) {
        var generator = EventGenerator(seed: seed)
        var state = ChatState()
        for bytes in generator.oneOfEachKind().map({ EventBytes($0) }) {
            for bit in Repetitions.oneIn(8, of: 0..<8 * bytes.kept.count) {
                var flipped = bytes
                flipped.kept[bit / 8] ^= 1 << UInt8(bit % 8)
                survive(flipped, &state)
            }
            for bit in Repetitions.oneIn(8, of: 0..<8 * min(bytes.erasable.count, 64)) {
                var flipped = bytes
                flipped.erasable[bit / 8] ^= 1 << UInt8(bit % 8)
                survive(flipped, &state)
            }
        }
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 25))) func randomBytesNeverTrap(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var state = ChatState()
        for _ in 0..<200 {
            let kept = (0..<Int.random(in: 0...90, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            let erasable = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let kind = UInt8.random(in: 0...45, using: &random)
            survive(EventBytes(kept: kept.isEmpty ? [] : [kind] + kept.dropFirst(), erasable: erasable), &state)
        }
    }

    /// Damaged records can still decode.
    ///
    /// The decider must survive a replay of them.
    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 25))) func deciderSurvivesDamagedHistory(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var requests = RequestGenerator(seed: seed)
        var sound = ChatState()
        var damaged = ChatState()
        for step in 0..<200 {
            let request = requests.next()
            let decision = try? sound.decide(
                request, at: Timestamp(millisecondsSince1970: Int64(step)), freshID: UInt128(step) + 1 << 64)
            _ = try? damaged.decide(
                request, at: Timestamp(millisecondsSince1970: Int64(step)), freshID: UInt128(step) + 1 << 64)
            guard case .append(let events) = decision else { continue }
            for event in events {
                sound.evolve(event, at: sound.head + 1)
                var bytes = EventBytes(event)
                if random.oneIn(4) {
                    let place = Int.random(in: 0..<bytes.kept.count, using: &random)
                    bytes.kept[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                } else if random.oneIn(4), let number = event.threadNumber {
                    // The largest thread number that the encoding holds: its successor does not
                    // fit.
                    bytes.kept.removeLast(EventBytes.leb128(number).count)
                    bytes.kept += EventBytes.leb128(.max)
                }
                survive(bytes, &damaged)
            }
        }
    }

    @Test(
        arguments: [
            ("", "", .tooShort, .kept, 0),
            ("01", "", .tooShort, .kept, 1),
            ("00 00 000000000000", "", .invalidKind, .kept, 0),
            ("01 00 0000000000", "", .tooShort, .kept, 2),
            ("01 00 000000000000 0102", "", .tooShort, .kept, 8),
            ("01 02 000000000000 0102", "", .tooShort, .kept, 8),
            // A thread number longer than ten bytes, one of 65 bits, one that is not the shortest
            // encoding, and one without an end.
            ("05 00 000000000000" + ids(2) + "80808080808080808080 01", "", .malformedNumber, .kept, 40),
            ("05 00 000000000000" + ids(2) + "FFFFFFFFFFFFFFFFFF 02", "", .malformedNumber, .kept, 40),
            ("05 00 000000000000" + ids(2) + "81 00", "", .malformedNumber, .kept, 40),
            ("05 00 000000000000" + ids(2) + "81", "", .tooShort, .kept, 41),
            // A username longer than the part, one with an absurd length, and one in invalid UTF-8.
            ("01 00 000000000000" + ids(1), "04 416E6E", .tooShort, .erasable, 1),
            ("01 00 000000000000" + ids(1), "FFFFFFFFFFFFFFFFFF 01 41", .tooShort, .erasable, 10),
            ("01 00 000000000000" + ids(1), "02 C328 00 00", .invalidUTF8, .erasable, 1),
            ("01 00 000000000000" + ids(1), "03 416E6E", .tooShort, .erasable, 4),
            // A postcode with bytes in the wrong order.
            ("03 00 000000000000" + ids(2), "5357314131414100", .invalidPostcode, .erasable, 0),
            ("03 00 000000000000" + ids(2), "00414131413157", .tooShort, .erasable, 0),
            ("03 00 000000000000" + ids(2), "0041413141315753", nil, .erasable, 0),
            ("03 00 000000000000" + ids(2), "0041414141315753", .invalidPostcode, .erasable, 0),
            ("07 00 000000000000" + ids(3) + "01", "FF", .invalidUTF8, .erasable, 0),
            ("07 00 000000000000" + ids(3) + "01", "EDA080", .invalidUTF8, .erasable, 0),
            ("07 00 000000000000" + ids(3) + "01", "C080", .invalidUTF8, .erasable, 0),
            ("07 04 000000000000" + ids(3) + "01", "", .tooShort, .erasable, 0),
            ("07 04 000000000000" + ids(3) + "01", "02 61", .tooShort, .erasable, 1),
            // Fields of a later version with a wrong length.
            ("07 08 000000000000" + ids(3) + "01", "000000", .tooShort, .erasable, 0),
            ("07 08 000000000000" + ids(3) + "01", "41 02000000", .tooShort, .erasable, 1),
            ("07 08 000000000000" + ids(3) + "01", "41 FFFFFFFF", .tooShort, .erasable, 1),
            ("07 0C 000000000000" + ids(3) + "01", "01 63 01000000", .tooShort, .erasable, 2),
            ("03 08 000000000000" + ids(2), "00414131413157 53 01000000", .tooShort, .erasable, 0),
            ("01 08 000000000000" + ids(1), "03 416E6E 03 616E6E 00 09000000", .tooShort, .erasable, 0),
            ("01 08 000000000000" + ids(1), "03 416E6E 03 616E6E 00 02000000", .tooShort, .erasable, 5),
            // A kind without content has no fields of a later version, even with a correlation id.
            ("05 08 000000000000" + ids(2) + "01", "", nil, .erasable, 0),
            ("05 0C 000000000000" + ids(2) + "01", "01 63", nil, .erasable, 0),
            ("05 0C 000000000000" + ids(2) + "01", "01 63 FFFFFFFF", nil, .erasable, 0),
            (
                "04 0C 000000000000 53573141 0000 8000 806F757477617264" + ids(1) + "01", "01 63 FFFFFFFF", nil,
                .erasable, 0
            ),
            ("04 0C 000000000000" + ids(2) + "01", "01 63 FFFFFFFF", .tooShort, .erasable, 2),
            // A policy, a history and a role that no version has, and one in too many bytes.
            ("11 00 000000000000" + ids(2) + "01 04 00", "", .invalidNumber, .kept, 41),
            ("11 00 000000000000" + ids(2) + "01 80 02 00", "", .invalidNumber, .kept, 41),
            ("11 00 000000000000" + ids(2) + "01 02 02", "", .invalidNumber, .kept, 42),
            ("11 00 000000000000" + ids(2) + "01 00", "", .tooShort, .kept, 42),
            ("11 00 000000000000" + ids(2) + "01 02 01", "", nil, .kept, 0),
            ("15 00 000000000000" + ids(3) + "01 00", "", .invalidNumber, .kept, 57),
            ("15 00 000000000000" + ids(3) + "01 04", "", .invalidNumber, .kept, 57),
            ("15 00 000000000000" + ids(3) + "01 81 00", "", .malformedNumber, .kept, 57),
            ("15 00 000000000000" + ids(3) + "01", "", .tooShort, .kept, 57),
            // The end of a sanction: the last recordable time, and a millisecond later.
            ("1A 00 000000000000" + ids(3) + "01 FFFFFFFFFFFF3F", "", nil, .kept, 0),
            ("1A 00 000000000000" + ids(3) + "01 808080808080 40", "", .invalidNumber, .kept, 57),
            ("1C 00 000000000000" + ids(3) + "01 FFFFFFFFFFFFFFFFFF 01", "", .invalidNumber, .kept, 57),
            ("1C 00 000000000000" + ids(3) + "01", "", .tooShort, .kept, 57),
            ("1C 00 000000000000" + ids(3) + "01 00", "C328", .invalidUTF8, .erasable, 0),
            // The kind of a custom event beyond the part, and not in UTF-8.
            ("2A 00 000000000000" + ids(3) + "01 03 6162", "30", .tooShort, .kept, 58),
            ("2A 00 000000000000" + ids(3) + "01 02 C328", "30", .invalidUTF8, .kept, 58),
            // Payloads that are not one JSON value: printed as they are, they would end the line.
            ("2A 00 000000000000" + ids(3) + "01 00", "", .invalidPayload, .erasable, 0),
            ("2A 00 000000000000" + ids(3) + "01 00", "307D7D0A7B", .invalidPayload, .erasable, 0),
            ("2A 04 000000000000" + ids(3) + "01 00", "01 63 7B", .invalidPayload, .erasable, 2),
            ("2A 08 000000000000" + ids(3) + "01 00", "30 7D 01000000", nil, .erasable, 0),
        ] as [(String, String, EventDecodingError.Problem?, EventDecodingError.Part, Int)])
    func errorNamesPartAndOffset(
        kept: String, erasable: String, problem: EventDecodingError.Problem?, part: EventDecodingError.Part, offset: Int
    ) {
        let error = EventBytes(kept: bytes(kept), erasable: bytes(erasable)).problem
        #expect(error?.problem == problem)
        guard let error else { return }
        #expect(error.part == part)
        #expect(error.offset == offset)
    }

    /// Another writer's payload with white space and invisible scalars is read in its canonical
    /// form.
    @Test func payloadIsReadInCanonicalForm() throws {
        let header = bytes("2A 00 000000000000" + Self.ids(3) + "01 00")
        let event = try EventBytes(kept: header, erasable: Array("[ 1 ,\n\"\u{202E}\" ]".utf8)).event()
        #expect(event.payload?.text == "[1,\"\\u202e\"]")
    }

    private static func ids(_ count: Int) -> String { String(repeating: "01", count: 16 * count) }
}

extension EventBytes {
    /// The shortest LEB128 of a number.
    static func leb128(_ number: UInt64) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 127) | 128] + leb128(number >> 7)
    }
}
