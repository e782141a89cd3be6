import ChatDomain
import ChatTesting
import TestSupport
import Testing

/// Properties of the encoding that hold for every event.
struct EncodingPropertyTests {
    @Test(arguments: Seeds.seeds(25)) func eventsRoundTrip(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        for event in generator.oneOfEachKind() {
            let bytes = EventBytes(event)
            let decoded = try bytes.event()
            #expect(decoded == event)
            // Strings compare by canonical equivalence, so the bytes are compared too.
            #expect(EventBytes(decoded) == bytes)
        }
    }

    @Test(arguments: Seeds.seeds(25)) func detailsDoNotDependOnContentSelection(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        for event in generator.oneOfEachKind() {
            let indexed = try EventBytes(event).event(.indexed)
            #expect(indexed.details == event.details)
            #expect(indexed.recordedAt == event.recordedAt)
            #expect(indexed.origin == event.origin)
            switch event.content {
            case .registration, .username, .postcode, .threadName, .emoji, .opaque, .erasure:
                #expect(indexed.content == event.content)
            case .body, .device, .reason, .about: #expect(indexed.content == .omitted)
            case .custom(let kind, _): #expect(indexed.content == .custom(kind: kind, payload: .omitted))
            case .none: #expect(indexed.content == .none || event.correlation != nil && indexed.content == .omitted)
            case .erased, .omitted: Issue.record("no such event is generated")
            }
            #expect(!indexed.isErased)
        }
    }

    /// A replay decodes rows and indexed content; both equal the event.
    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 25))) func rowAndIndexedContentEqualEvent(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        for event in generator.oneOfEachKind() + [generator.unknown()] {
            let bytes = EventBytes(event)
            let row = try bytes.row()
            #expect(row.kind == event.kind && row.recordedAt == event.recordedAt && row.createdAt == event.createdAt)
            #expect(row.isImported == (event.origin != .native))
            #expect(row.user == event.user?.bits ?? 0)
            guard let kind = row.kind else { continue }
            #expect(row == event.row)
            let hasContent = kind.form.isIndexed && event.content != .none
            #expect(try bytes.indexedContent(row) == (hasContent ? event.content : .none))
            #expect(try bytes.indexedContent(row, isStub: true) == (hasContent ? .erased : .none))
            // A truncated record fails in both ways of decoding.
            for length in 0..<bytes.kept.count {
                let cut = EventBytes(kept: Array(bytes.kept[..<length]), erasable: bytes.erasable)
                let problem = #expect(throws: EventDecodingError.self) { try cut.row() }
                #expect(problem == cut.problem)
            }
        }
    }

    @Test(arguments: Seeds.seeds(25)) func stubKeepsDetailsWithoutContent(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        for event in generator.oneOfEachKind() {
            for contents in [ContentSelection.all, .indexed] {
                let stub = try EventBytes(event).stub(contents)
                #expect(stub.details == event.details)
                #expect(stub.recordedAt == event.recordedAt)
                #expect(stub.origin == event.origin)
                if case .erasure = event.content {
                    // The order of an erasure is kept.
                    #expect(stub.content == event.content && !stub.isErased && stub.correlation == nil)
                    continue
                }
                // An event without erasable content is complete without its erasable part.
                #expect(stub.isErased == (event.content != .none || event.correlation != nil))
                #expect(stub.correlation == nil)
                #expect(
                    stub.body == nil && stub.username == nil && stub.subject == nil && stub.postcode == nil
                        && stub.device == nil)
                #expect(stub.reason == nil && stub.payload == nil)
                #expect(stub.threadName == event.details.openedOutwardCode)
            }
        }
    }

    @Test(arguments: Seeds.seeds(25)) func unknownKindRoundTripsByteForByte(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        let event = generator.unknown()
        let bytes = EventBytes(event)
        for contents in [ContentSelection.all, .indexed] {
            let decoded = try bytes.event(contents)
            #expect(decoded.content == .opaque(kept: bytes.kept, erasable: bytes.erasable))
            #expect(decoded.kind == nil)
            #expect(EventBytes(decoded) == bytes)
        }
        let stub = try bytes.stub()
        #expect(stub.content == .opaque(kept: bytes.kept, erasable: nil))
        #expect(stub.isErased)
        #expect(stub.kind == nil && stub.thread == nil && stub.user == nil && stub.threadNumber == nil)
    }

    @Test(arguments: Seeds.seeds(25)) func fieldsOfLaterVersionAreSkipped(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        var random = SeededRandom(seed: seed)
        for event in EventKind.allCases.map({ generator.event($0) }) {
            var later = EventBytes(event)
            later.kept += (0..<Int.random(in: 1...30, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            #expect(try later.event() == event)
            let extra = (0..<Int.random(in: 0...300, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            later.kept[1] |= 8
            later.erasable += extra + [UInt8(extra.count & 0xFF), UInt8(extra.count >> 8), 0, 0]
            #expect(try later.event() == event)
            #expect(try later.event(.indexed) == EventBytes(event).event(.indexed))
        }
    }

    /// Content with its own length ignores following bytes.
    ///
    /// Other content, without the flag, extends to the end.
    @Test(arguments: Seeds.seeds(20)) func bytesAfterContentAreIgnored(seed: UInt64) throws {
        var generator = EventGenerator(seed: seed)
        for event in EventKind.allCases.map({ generator.event($0) }) {
            var longer = EventBytes(event)
            longer.erasable += [0xFF, 0, 0xFF]
            switch event.content {
            case .body, .device, .threadName, .reason, .emoji, .custom, .about:
                #expect(longer.problem?.problem == .invalidUTF8)
            default: #expect(try longer.event() == event)
            }
        }
    }
}

extension EventDetails {
    /// The name of the opened outward-code thread.
    ///
    /// The id contains it, so it is not erasable.
    fileprivate var openedOutwardCode: String? {
        guard kind == .threadOpened || kind == .threadRenamed, case .thread(let openedThread, _, _) = shape else {
            return nil
        }
        return openedThread.outwardCode?.description
    }
}
