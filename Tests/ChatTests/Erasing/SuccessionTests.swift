import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

@testable import Chat

/// What becomes of the threads of an owner whose content is erased.
@Suite struct SuccessionTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let cem = UserID(bits: 3)
    private let dan = UserID(bits: 4)
    private let garden = ThreadID(bits: 31)

    /// Ann's garden, which Bob, Cem and Dan joined in this order.
    private func store() throws -> ChatStore {
        let store = try StoreFixture().open()
        for (user, name) in [(ann, "Ann"), (bob, "Bob"), (cem, "Cem"), (dan, "Dan")] {
            try store.executeBlocking(.registerUser(user: user, username: name))
        }
        try store.executeBlocking(.openThread(thread: garden, name: "Garden", by: ann))
        for user in [bob, cem, dan] { try store.executeBlocking(.joinThread(user: user, thread: garden)) }
        return store
    }

    private func roles(_ store: ChatStore) throws -> [UserID: ThreadRole] {
        Dictionary(uniqueKeysWithValues: try store.roles(in: garden, as: .host).map { ($0.user.id, $0.role) })
    }

    @Test func memberWhoJoinedFirstSucceeds() throws {
        let store = try store()
        // The latest join counts.
        try store.executeBlocking(.leaveThread(user: bob, thread: garden))
        try store.executeBlocking(.joinThread(user: bob, thread: garden))
        let order = try #require(try store.eraseUser(ann, reason: "asked").orders)
        #expect(try roles(store) == [cem: .owner])
        // In the same commit, in the name of the erased user.
        #expect(order.count == 1)
        let events = try store.allEvents()[Int(order.upperBound)...]
        #expect(events.map(\.kind) == [.roleSet, .roleSet] && events.allSatisfy { $0.event.otherActor == ann })
        try store.executeBlocking(.renameThread(thread: garden, name: "Orchard", by: cem))
        #expect(try store.thread(garden, as: .user(dan)).name == "Orchard")
        #expect(try store.rebuild())
    }

    @Test func moderatorPrecedesMembers() throws {
        let store = try store()
        for user in [dan, cem] { try store.executeBlocking(.setRole(user: user, thread: garden, role: .moderator, by: ann)) }
        try store.eraseUser(ann, reason: "asked")
        // Cem joined before Dan, who became a moderator before him.
        #expect(try roles(store) == [cem: .owner, dan: .moderator])
    }

    @Test func otherOwnerStays() throws {
        let store = try store()
        try store.executeBlocking(.setRole(user: dan, thread: garden, role: .owner, by: ann))
        try store.eraseUser(ann, reason: "asked")
        #expect(try roles(store) == [dan: .owner])
        let rejection = #expect(throws: ChatError.self) { try store.executeBlocking(.leaveThread(user: dan, thread: garden)) }
        #expect("\(String(describing: rejection))".contains("Give another member the role of an owner first, or close the thread."))
    }

    /// An erased user succeeds nobody, and two owners who are erased leave the thread to a third person.
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
        for user in [bob, cem, dan] { try store.executeBlocking(.leaveThread(user: user, thread: garden)) }
        try store.executeBlocking(.grantOperator(user: bob))
        try store.eraseUser(ann, reason: "asked")
        #expect(try roles(store) == [:])
        try store.executeBlocking(.renameThread(thread: garden, name: "Common", by: bob))
        #expect(try store.thread(garden, as: .host).name == "Common")
    }

    @Test func erasedOperatorIsNoneAnyMore() throws {
        let store = try store()
        try store.executeBlocking(.grantOperator(user: dan))
        try store.eraseUser(dan, reason: "asked")
        #expect(try store.operators(as: .host).isEmpty)
    }

    /// The owner of more threads than one commit ends, with power cuts at every file operation after the order.
    @Test func ownerOfManyThreadsSurvivesPowerCuts() throws {
        let (ann, bob, count) = (ann, bob, RuleState.maximumSuccessionCount + 20)
        let threads = (0..<count).map { ThreadID(bits: 1_000 + UInt128($0)) }
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
            try store.executeBlocking(.registerUser(user: ann, username: "Ann"))
            try store.executeBlocking(.registerUser(user: bob, username: "Bob"))
            for part in stride(from: 0, to: count, by: 500) {
                let commands = threads[part..<min(count, part + 500)].flatMap {
                    [ChatCommand.openThread(thread: $0, name: "Thread", by: ann), .joinThread(user: bob, thread: $0)]
                }
                for answer in try store.executeBlocking(commands.map { CommandRequest($0) }) { _ = try answer.get() }
            }
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
            let owners = events.filter { $0.kind == .roleSet && $0.event.user == bob }.count
            if owners != (order == nil ? 0 : count) { throw Unexpected("\(owners) of \(count) threads have a new owner") }
            try store.close()
        }
        explorer.disk = disk
        explorer.outcomesPerCrash = 2
        explorer.sampling = CrashSampling(oneIn: Repetitions.areAll ? 4 : 500, seed: Repetitions.seed)
        let report = try explorer.run()
        print("\(report.states) states of successions")
        #expect(report.failures.isEmpty, "\(report)")
    }
}
