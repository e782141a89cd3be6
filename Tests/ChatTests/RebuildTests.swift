import ChatDomain
import ChatTesting
import Dispatch
import EventJournal
import Locking
import Projections
import Testing

@testable import Chat

/// A rebuild replaces the read models of an open store.
@Suite struct RebuildTests {
    @Test(arguments: Seeds.seeds(3)) func rebuildOfCorrectModelsChangesNothing(seed: UInt64) throws {
        let store = try StoreFixture(seed: seed).open()
        #expect(try store.rebuild())
        var generator = CommandGenerator(seed: seed)
        for _ in 0..<100 { _ = try answer(generator.nextRequest(), of: store) }
        let kept = store.storeModels
        #expect(try store.rebuild())
        #expect(store.storeModels == kept)
        // Commands are decided on the replaced state.
        for _ in 0..<100 { _ = try answer(generator.nextRequest(), of: store) }
        #expect(store.storeModels.position > kept.position)
        #expect(try store.rebuild())
    }

    @Test func rebuildReplacesWrongModels() throws {
        let store = try StoreFixture().open()
        var generator = CommandGenerator(seed: 1)
        for _ in 0..<100 { _ = try answer(generator.nextRequest(), of: store) }
        let right = store.storeModels
        var wrong = StoreModels()
        try store.forEachEvent(matching: EventFilter(as: .host)) { one, _ in
            var event = one.event
            if one.position > 40, event.kind == .messagePosted { event.details = .init(.lost) }
            wrong.apply(event, at: one.position)
        }
        #expect(wrong != right)
        store.decider.withLock { decider in
            decider.rules = wrong.rules
            _ = store.readSide.replaceModels(wrong.readModels)
        }
        #expect(try !store.rebuild())
        #expect(store.storeModels == right)
        #expect(try store.rebuild())
    }

    @Test func commandsAndQueriesProceedDuringRebuild() throws {
        let store = try StoreFixture(durability: .written).open()
        let users = (1...3).map { UserID(bits: $0) }
        for user in users { try store.executeBlocking(.registerUser(id: user, username: "user \(user.bits)")) }
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            for round in 0..<40 {
                #expect(throws: Never.self) {
                    if number == 3 {
                        if round.isMultiple(of: 4) { #expect(try store.rebuild()) }
                    } else {
                        try store.executeBlocking(.startSession(device: "phone", by: users[number]))
                        #expect(try store.reader(as: .host).user(users[number]).id == users[number])
                    }
                }
            }
        }
        #expect(store.head.position == 123)
        #expect(try store.rebuild())
    }

    @Test func closedStoreRejectsRebuild() throws {
        let store = try StoreFixture().open()
        try store.close()
        expectError("closed") { _ = try store.rebuild() }
    }

    @Test func readOnlyStoreRebuildsShownState() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        var generator = CommandGenerator(seed: 2)
        for _ in 0..<60 { _ = try answer(generator.nextRequest(), of: store) }
        let reader = try ChatStore.openReadOnly(fixture.directory, options: fixture.options)
        for _ in 0..<60 { _ = try answer(generator.nextRequest(), of: store) }
        #expect(try reader.rebuild())
        #expect(reader.storeModels.position < store.storeModels.position)
        try reader.refresh()
        #expect(reader.storeModels == store.storeModels)
        #expect(try reader.rebuild())
    }
}
