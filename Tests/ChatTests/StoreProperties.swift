import ChatDomain
import ChatTesting
import EventJournal
import Locking
import Projections
import TestSupport
import Testing

@testable import Chat

@Suite struct StoreProperties {
    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 10)), Durability.allCases)
    func replayEqualsLiveState(seed: UInt64, durability: Durability) throws {
        let fixture = StoreFixture(seed: seed, durability: durability)
        var generator = CommandGenerator(seed: seed)
        var random = SeededRandom(seed: seed)
        var store = try fixture.open()
        var answers: [RecordedEvent] = []
        for _ in 0..<60 {
            let before = (store.head, store.storeModels.rules)
            let batch = (0..<Int.random(in: 1...8, using: &random)).map { _ in generator.nextRequest() }
            fixture.clock.advance(byMilliseconds: Int64.random(in: -5...50, using: &random))
            let results = try store.executeBlocking(batch)
            let events = results.compactMap { try? $0.get() }.filter { !$0.isDuplicate }.flatMap(\.events)
            if events.isEmpty {
                #expect(store.head == before.0)
                #expect(store.storeModels.rules == before.1)
            }
            answers += events
            if random.oneIn(10) {
                let live = (store.head, store.storeModels)
                try store.close()
                store = try fixture.open()
                #expect(store.head == live.0)
                #expect(store.storeModels == live.1)
            }
        }
        #expect(try store.allEvents() == answers)
        #expect(answers.map(\.position) == Array(1...UInt64(answers.count)))
        try store.close()
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true)
        #expect(report.findings == [])
        #expect(report.position == UInt64(answers.count))
    }

    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 6)), Durability.allCases)
    func refreshedReaderEqualsWriter(seed: UInt64, durability: Durability) throws {
        let fixture = StoreFixture(seed: seed, durability: durability, segmentSize: 4_096)
        var generator = CommandGenerator(seed: seed)
        var random = SeededRandom(seed: seed)
        var writer = try fixture.open()
        let reader = try ChatStore.openReadOnly(fixture.directory, options: fixture.options)
        for _ in 0..<80 {
            for _ in 0..<Int.random(in: 0...5, using: &random) { _ = try answer(generator.nextRequest(), of: writer) }
            if random.oneIn(10) {
                try writer.close()
                writer = try fixture.open()
            }
            #expect(try reader.refresh() == writer.head.position)
            #expect(reader.head == writer.head)
            #expect(reader.storeModels == writer.storeModels)
        }
        #expect(try reader.allEvents() == writer.allEvents())
        #expect(try writer.refresh() == writer.head.position)
    }

    @Test(arguments: Seeds.seeds(4)) func equalInjectedSourcesGiveEqualHeads(seed: UInt64) throws {
        var heads: Set<JournalHead> = []
        for _ in 0..<2 {
            let store = try StoreFixture(seed: seed).open()
            var generator = CommandGenerator(seed: seed)
            for _ in 0..<100 { _ = try answer(generator.nextRequest(), of: store) }
            heads.insert(store.head)
        }
        #expect(heads.count == 1)
    }

    @Test(arguments: Seeds.seeds(4)) func repeatedCommandIsDuplicateAtAnyAge(seed: UInt64) throws {
        let fixture = StoreFixture(seed: seed)
        var generator = CommandGenerator(seed: seed)
        var store = try fixture.open()
        var accepted: [(CommandRequest, Receipt)] = []
        for _ in 0..<300 {
            let request = generator.nextRequest()
            guard case .success(let receipt) = try answer(request, of: store), !receipt.events.isEmpty,
                !receipt.isDuplicate
            else {
                continue
            }
            switch request.command.kind {
            case .registerUser, .openThread, .postMessage, .reply, .startSession, .custom:
                accepted.append((request, receipt))
            default: break
            }
        }
        try store.close()
        store = try fixture.open()
        let head = store.head
        for (request, receipt) in accepted {
            var expected = receipt
            expected.isDuplicate = true
            // An import may open the thread of an outward code. Opening it again is unchanged, not
            // a duplicate.
            if request.command.kind == .openThread, let id = request.command.id, ThreadID(bits: id).outwardCode != nil {
                continue
            }
            #expect(try answer(request, of: store) == .success(expected))
        }
        #expect(store.head == head)
        #expect(accepted.count > 20)
    }
}
