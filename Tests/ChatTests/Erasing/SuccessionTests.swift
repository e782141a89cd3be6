import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

@testable import Chat

/// The threads of an owner whose content is erased.
@Suite struct SuccessionTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let cem = UserID(bits: 3)
    private let dan = UserID(bits: 4)
    private let garden = ThreadID(bits: 31)

    /// Ann's garden, which Bob, Cem and Dan joined in this order.
    private func store() throws -> ChatStore {
        try StoreFixture().openGarden(garden, [(ann, "Ann"), (bob, "Bob"), (cem, "Cem"), (dan, "Dan")])
    }

    private func roles(_ store: ChatStore) throws -> [UserID: ThreadRole] {
        Dictionary(uniqueKeysWithValues: try store.reader(as: .host).roles(in: garden).map { ($0.user.id, $0.role) })
    }

    @Test func memberWhoJoinedFirstSucceeds() throws {
        let store = try store()
        // The latest join counts.
        try store.executeBlocking(.leaveThread(thread: garden, by: bob))
        try store.executeBlocking(.joinThread(thread: garden, by: bob))
        let order = try #require(try store.eraseUser(ann, reason: "asked").orders)
        #expect(try roles(store) == [cem: .owner])
        // In the same commit, in the name of the erased user.
        #expect(order.count == 1)
        let events = try store.allEvents()[Int(order.upperBound)...]
        #expect(events.map(\.kind) == [.roleSet, .roleSet] && events.allSatisfy { $0.event.otherActor == ann })
        try store.executeBlocking(.renameThread(thread: garden, name: "Orchard", by: cem))
        #expect(try store.reader(as: .user(dan)).thread(garden).name == "Orchard")
        #expect(try store.rebuild())
    }

    @Test func moderatorPrecedesMembers() throws {
        let store = try store()
        for user in [dan, cem] {
            try store.executeBlocking(.setRole(user: user, thread: garden, role: .moderator, by: ann))
        }
        try store.eraseUser(ann, reason: "asked")
        // Cem joined before Dan, who became a moderator before him.
        #expect(try roles(store) == [cem: .owner, dan: .moderator])
    }

    @Test func otherOwnerStays() throws {
        let store = try store()
        try store.executeBlocking(.setRole(user: dan, thread: garden, role: .owner, by: ann))
        try store.eraseUser(ann, reason: "asked")
        #expect(try roles(store) == [dan: .owner])
        let rejection = #expect(throws: ChatError.self) {
            try store.executeBlocking(.leaveThread(thread: garden, by: dan))
        }
        #expect(
            "\(String(describing: rejection))".contains(
                "Give another member the role of an owner first, or close the thread."))
    }

    /// An erased user succeeds nobody, and two owners who are erased leave the thread to a third
    /// person.
    @Test func erasedUsersSucceedNobody() throws {
        let store = try store()
        try store.eraseUser(bob, reason: "asked")
        try store.executeBlocking(.setRole(user: cem, thread: garden, role: .owner, by: ann))
        try store.eraseUser(ann, reason: "asked")
        try store.eraseUser(cem, reason: "asked")
        #expect(try roles(store) == [dan: .owner])
    }

    @Test func operatorsActWhereNobodyIsLeft() throws {
        let store = try store()
        for user in [bob, cem, dan] { try store.executeBlocking(.leaveThread(thread: garden, by: user)) }
        try store.executeBlocking(.grantOperator(user: bob))
        try store.eraseUser(ann, reason: "asked")
        #expect(try roles(store) == [:])
        try store.executeBlocking(.renameThread(thread: garden, name: "Common", by: bob))
        #expect(try store.reader(as: .host).thread(garden).name == "Common")
    }

    @Test func erasedOperatorIsNoneAnyMore() throws {
        let store = try store()
        try store.executeBlocking(.grantOperator(user: dan))
        try store.eraseUser(dan, reason: "asked")
        #expect(try store.reader(as: .host).operators().isEmpty)
    }

    /// More threads than those whose roles one commit ends.
    private static let manyThreadsCount = RuleState.maximumSuccessionCount + 20

    /// Opens that many threads of Ann, which Bob joins.
    private func openManyThreads(in store: ChatStore) throws {
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.registerUser(id: bob, username: "Bob"))
        let threads = (0..<Self.manyThreadsCount).map { ThreadID(bits: 1_000 + UInt128($0)) }
        for part in stride(from: 0, to: threads.count, by: 500) {
            let commands = threads[part..<min(threads.count, part + 500)].flatMap {
                [ChatCommand.openThread(id: $0, name: "Thread", by: ann), .joinThread(thread: $0, by: bob)]
            }
            for answer in try store.executeBlocking(commands.map { CommandRequest($0) }) { _ = try answer.get() }
        }
    }

    /// The number of threads that Bob became an owner of.
    private static func ownedCount(_ events: [RecordedEvent], by bob: UserID) -> Int {
        events.count { $0.kind == .roleSet && $0.event.user == bob }
    }

    /// The disk becomes full at each segment that the erasure creates: either nothing has changed,
    /// or the error says that the erasure is unfinished, and the next call finishes it.
    @Test func fullDiskIsToldFromUnfinishedErasure() throws {
        var outcomes: [String] = []
        let filled = MemoryStorage()
        var options = StoreFixture(segmentSize: 64 << 10).options
        options.journal.storage = filled
        options.checkpoints = nil
        do {
            let store = try ChatStore.open("journal", options: options)
            try openManyThreads(in: store)
            try store.close()
        }
        for room in 0..<30 {
            let disk = FullDisk(filled.copy())
            options.journal.storage = disk
            let store = try ChatStore.open("journal", options: options)
            disk.setRoom(room)
            let head = store.head
            do throws(ChatError) {
                try store.eraseUser(ann, reason: "asked")
                outcomes.append("finished")
            } catch {
                outcomes.append(error.stableCode)
                #expect(
                    (error.stableCode == "storageFull") == (store.head == head),
                    "\(error), with room for \(room) segments")
            }
            disk.setRoom(.max)
            try store.eraseUser(ann, reason: "asked")
            let owned = try Self.ownedCount(store.allEvents(), by: bob)
            #expect(owned == Self.manyThreadsCount, "with room for \(room) segments")
            try store.close()
            if outcomes.last == "finished" { break }
        }
        print("with room for ever more segments: \(outcomes.joined(separator: " "))")
        #expect(
            outcomes.first == "storageFull" && outcomes.contains("erasureUnfinished") && outcomes.last == "finished")
    }

    /// The owner of more threads than one commit ends, with power cuts at every file operation
    /// after the order.
    @Test func ownerOfManyThreadsSurvivesPowerCuts() throws {
        let (ann, bob, count) = (ann, bob, Self.manyThreadsCount)
        func options(_ disk: SimulatedDisk) -> StoreOptions {
            var options = StoreFixture(seed: 1).options
            options.journal.storage = disk
            options.journal.slotSyncDelay = nil
            options.checkpoints = nil
            return options
        }
        let disk = SimulatedDisk()
        do {
            let store = try ChatStore.open("journal", options: options(disk))
            try openManyThreads(in: store)
            try store.close()
        }
        var explorer = CrashExplorer("succession", model: false) { disk, witness in
            let store = try ChatStore.open("journal", options: options(disk))
            try store.eraseUser(ann, reason: "asked")
            witness.update { $0 = true }
            try store.close()
        } recovery: { disk, witness in
            let store = try ChatStore.open("journal", options: options(disk))
            let events = try store.allEvents()
            let order = events.firstIndex { $0.kind == .userErased }
            if witness.model, order == nil { throw Unexpected("an acknowledged erasure is lost") }
            // After an opening, either nothing or everything has happened.
            let owners = Self.ownedCount(events, by: bob)
            if owners != (order == nil ? 0 : count) {
                throw Unexpected("\(owners) of \(count) threads have a new owner")
            }
            try store.close()
        }
        explorer.disk = disk
        explorer.outcomesPerCrash = 2
        explorer.sampling = CrashSampling(oneIn: Repetitions.areAll ? 4 : 1_500, seed: Repetitions.seed)
        let report = try explorer.run()
        print("\(report.states) states of successions")
        #expect(report.failures.isEmpty, "\(report)")
    }
}
