import ChatDomain
import ChatTesting
import EventJournal
import MerkleLog
import StubRewriter

@testable import Chat

/// Histories with erasures, backups and readers, by their seed, for ``CrashSeries``.
enum ErasureLife {
    private static let users = "abcd".utf8.map { UserID(bits: UInt128($0)) }
    private static let garden = ThreadID(bits: 0x6A)
    private typealias Witness = CrashRecorder<ErasureModel>

    /// A journal that posts, erases and is copied, while readers and backups interleave with the
    /// erasures.
    static func erasing(_ seed: UInt64) -> CrashExplorer<ErasureModel> {
        explorer("erasing", seed) { disk, witness in
            var random = SeededRandom(seed: seed)
            let storage = InterleavedStorage(disk)
            var store = try fill(storage, witness, seed, &random)
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                if random.oneIn(3) { try backUp(disk, witness, seed) }
                if random.oneIn(4) {
                    try store.close()
                    store = try open(storage, witness, seed)
                }
                try erase(store, disk, storage, witness, seed, &random)
                try post(store, Int.random(in: 0...3, using: &random), witness, &random)
            }
            try store.close()
        } recovery: { disk, witness in
            try recover(disk, witness, seed)
        }
    }

    /// A copy of before the erasures, which is opened beside the ledger.
    static func restoring(_ seed: UInt64) throws -> CrashExplorer<ErasureModel> {
        let (disk, model) = try diskWithOlderCopy(seed)
        try disk.replace("ledger", in: "copy", with: disk.contents(of: "journal/ledger"))
        var restored = ErasureModel()
        (restored.textCount, restored.messages) = (1_000, model.messages)
        var explorer = explorer("restoring", seed, restored) { disk, witness in
            let store = try ChatStore.open("copy", options: options(disk, witness, seed))
            witness.update { witness in
                witness.position = store.head.position
                (witness.erasedUsers, witness.erasedTexts) = (model.erasedUsers, model.erasedTexts)
            }
            try store.close()
        } recovery: { disk, witness in
            // No reader shows what the ledger names.
            let reader = try ChatStore.openReadOnly("copy", options: options(disk, witness, seed))
            let shown = Set(try reader.allEvents().flatMap { ErasureText.all(in: "\($0)".utf8) })
            try check(shown, model.erasedUsers, model.erasedTexts, "shown by a reader")
            let store = try checked(disk, witness, seed, in: "copy")
            let found = try ErasureText.all(inFilesOf: "copy", on: disk)
            try check(found, model.erasedUsers, model.erasedTexts, "in the files of the restored copy")
            try finish(store, options(disk, witness, seed).journal, in: "copy")
        }
        explorer.disk = disk.crash(.everything)
        return explorer
    }

    /// A backup to a copy of before the erasures.
    ///
    /// After an interruption the next backup completes the copy, or an opening for writing.
    static func copying(_ seed: UInt64) throws -> CrashExplorer<ErasureModel> {
        let (disk, model) = try diskWithOlderCopy(seed)
        var explorer = explorer("copying", seed, model) { disk, witness in
            try backUp(disk, witness, seed)
        } recovery: { disk, witness in
            if seed % 3 == 0 { try restore(disk, witness, seed) } else { try recover(disk, witness, seed) }
        }
        explorer.disk = disk
        return explorer
    }

    /// Kills a backup to a copy of before the erasures at each of its renames, in turn.
    ///
    /// - Returns: The number of kills.
    static func killBackups(_ seed: UInt64) throws -> Int {
        let (start, model) = try diskWithOlderCopy(seed)
        var kills = 0
        while true {
            let (disk, witness) = (start.crash(.everything), Witness(model))
            let storage = InterleavedStorage(disk)
            storage.kill(afterRenames: kills)
            do {
                let options = BackupOptions(storage: disk, destinationStorage: storage)
                try ChatStore.backup(ofJournalAt: "journal", to: "copy", options: options)
                return kills
            } catch {
                guard storage.isKilled else { throw error }
            }
            do {
                if kills % 2 == 0 { try restore(disk, witness, seed) } else { try recover(disk, witness, seed) }
            } catch {
                throw Unexpected("killed at rename \(kills + 1): \(error)")
            }
            kills += 1
        }
    }

    private static func explorer(
        _ name: String, _ seed: UInt64, _ model: ErasureModel = ErasureModel(),
        workload: @escaping CrashExplorer<ErasureModel>.Work,
        recovery: @escaping CrashExplorer<ErasureModel>.Work
    ) -> CrashExplorer<ErasureModel> {
        var explorer = CrashExplorer("\(name)-\(seed)", model: model, workload: workload, recovery: recovery)
        explorer.seed = seed
        explorer.crashesInRecovery = 2
        explorer.crashesAfterKill = 2
        explorer.exhaustiveLimit = 8
        explorer.outcomesPerCrash = 8
        return explorer
    }

    // MARK: Work

    private static func options(_ storage: any JournalStorage, _ witness: Witness, _ seed: UInt64) -> StoreOptions {
        // Different salts and ids in each opening; the segments of 512 bytes have one or two
        // commits.
        let segmentSize: UInt64 = [512, 1_024, 2_048, 16_384][Int(seed % 4)]
        var options = StoreFixture(seed: seed &+ UInt64(witness.model.textCount) << 32, segmentSize: segmentSize)
            .options
        options.journal.storage = storage
        options.journal.slotSyncDelay = nil
        // No job of the executor runs; the work stores the pages of the tree.
        options.journal.executor = SeededExecutor(seed: 1)
        options.journal.treeLayout = TreeLayout(subtreeHeight: 1, pageHeight: 2)
        options.checkpoints = seed % 3 == 0 ? nil : CheckpointOptions(interval: nil, atClose: 1, afterReplay: nil)
        return options
    }

    private static func open(_ storage: any JournalStorage, _ witness: Witness, _ seed: UInt64) throws -> ChatStore {
        try ChatStore.open("journal", options: options(storage, witness, seed))
    }

    private static func text(_ user: UserID, _ witness: Witness) -> ErasureText {
        witness.update { $0.textCount += 1 }
        return ErasureText(user: user, number: witness.model.textCount)
    }

    private static func acknowledge(_ store: ChatStore, _ witness: Witness) {
        witness.update { $0.position = store.head.position }
    }

    /// Opens a new journal with users, a thread and posts.
    private static func fill(
        _ storage: any JournalStorage, _ witness: Witness, _ seed: UInt64, _ random: inout SeededRandom
    ) throws
        -> ChatStore
    {
        let store = try open(storage, witness, seed)
        for user in users { try store.executeBlocking(.registerUser(id: user, username: text(user, witness).text)) }
        try store.executeBlocking(.openThread(id: garden, name: text(users[0], witness).text, by: users[0]))
        for user in users.dropFirst() { try store.executeBlocking(.joinThread(thread: garden, by: user)) }
        acknowledge(store, witness)
        try post(store, Int.random(in: 3...8, using: &random), witness, &random)
        if seed % 3 == 1 { try store.writeCheckpoint() }
        return store
    }

    private static func post(_ store: ChatStore, _ count: Int, _ witness: Witness, _ random: inout SeededRandom) throws
    {
        for _ in 0..<count {
            let user = users[Int.random(in: users.indices, using: &random)]
            guard try !ErasureHistory(store).orders(user) else { continue }
            let text = text(user, witness)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: try store.executeBlocking(.startSession(device: text.text, by: user))
            case 1 where !witness.model.messages.isEmpty:
                let message = witness.model.messages[Int.random(in: witness.model.messages.indices, using: &random)].id
                let reply = ReplyID(bits: UInt128(0x7000 + text.number))
                try store.executeBlocking(.reply(id: reply, to: message, body: text.text, by: user))
            default:
                let message = MessageID(bits: UInt128(0x5000 + text.number))
                try store.executeBlocking(.postMessage(id: message, thread: garden, body: text.text, by: user))
                witness.update { $0.messages.append((message, text)) }
            }
            acknowledge(store, witness)
        }
        try storePages(store, witness)
    }

    /// Stores the pages of the tree that are due, and gives an auditor the head.
    private static func storePages(_ store: ChatStore, _ witness: Witness) throws {
        guard let journal = store.log as? Journal else { return }
        var (due, next): (Position?, Position) = (nil, try journal.storeTreePage())
        while next != due { (due, next) = (next, try journal.storeTreePage()) }
        let head = try journal.treeHead(at: journal.durablePosition)
        witness.update { $0.head = head }
    }

    /// Erases a user or messages; a reader or a backup of another process interleaves.
    private static func erase(
        _ store: ChatStore, _ disk: SimulatedDisk, _ storage: InterleavedStorage, _ witness: Witness, _ seed: UInt64,
        _ random: inout SeededRandom
    ) throws {
        let reader = try ChatStore.openReadOnly("journal", options: options(disk, witness, seed))
        let action = Int.random(in: 0..<4, using: &random)
        storage.plan(after: Int.random(in: 0..<60, using: &random)) {
            switch action {
            case 0:
                try reader.refresh()
                try ErasureHistory(reader).check()
            case 1: try ErasureHistory(ChatStore.openReadOnly("journal", options: options(disk, witness, seed))).check()
            case 2: try backUp(disk, witness, seed)
            default: break
            }
        }
        // A history may have no message.
        if random.oneIn(2) || witness.model.messages.isEmpty {
            let user = users[Int.random(in: users.indices, using: &random)]
            try store.eraseUser(user, reason: "spam")
            witness.update { $0.erasedUsers.insert(user) }
        } else {
            let chosen = (0...Int.random(in: 0...2, using: &random)).compactMap { _ in
                witness.model.messages.randomElement(using: &random)
            }
            let positions = try chosen.map { try store.reader(as: .host).message($0.id).position }
            try store.eraseContent(of: PositionSet(positions.map { $0...$0 }), reason: "spam")
            witness.update { $0.erasedTexts.formUnion(chosen.map(\.text)) }
        }
        acknowledge(store, witness)
        try storage.finish()
        try reader.refresh()
        try ErasureHistory(reader).check()
        try ErasureHistory(store).check()
    }

    private static func backUp(_ disk: SimulatedDisk, _ witness: Witness, _ seed: UInt64) throws {
        let begun = witness.model
        witness.update { $0.hasCopy = true }
        let options = BackupOptions(storage: disk, destinationStorage: disk)
        try ChatStore.backup(ofJournalAt: "journal", to: "copy", options: options)
        witness.update { ($0.usersErasedInCopy, $0.textsErasedInCopy) = (begun.erasedUsers, begun.erasedTexts) }
    }

    /// A disk with a journal, and a copy of before its erasures.
    private static func diskWithOlderCopy(_ seed: UInt64) throws -> (SimulatedDisk, ErasureModel) {
        let (disk, witness) = (SimulatedDisk(), Witness(ErasureModel()))
        var random = SeededRandom(seed: seed)
        let storage = InterleavedStorage(disk)
        let store = try fill(storage, witness, seed, &random)
        try store.backup(to: "copy")
        witness.update { $0.hasCopy = true }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            try erase(store, disk, InterleavedStorage(disk), witness, seed, &random)
            try post(store, Int.random(in: 0...3, using: &random), witness, &random)
        }
        try store.close()
        witness.update { ($0.usersErasedInCopy, $0.textsErasedInCopy) = ([], []) }
        return (disk.crash(.everything), witness.model)
    }

    // MARK: Checks

    private static func check(
        _ found: Set<ErasureText>, _ users: Set<UserID>, _ texts: Set<ErasureText>, _ place: String
    ) throws {
        if let text = found.first(where: { users.contains(UserID(bits: UInt128($0.user))) || texts.contains($0) }) {
            throw Unexpected("\(text.text) is \(place)")
        }
    }

    /// Checks the journal and the copy, continues to work, and completes the copy.
    private static func recover(_ disk: SimulatedDisk, _ witness: Witness, _ seed: UInt64) throws {
        let model = witness.model
        let found = try ErasureText.all(inFilesOf: "journal", on: disk)
        try check(found, model.erasedUsers, model.erasedTexts, "in a file after its erasure")
        let copied = try ErasureText.all(inFilesOf: "copy", on: disk)
        try check(copied, model.usersErasedInCopy, model.textsErasedInCopy, "in a file of the copy")
        let store = try checked(disk, witness, seed, in: "journal")
        if store.head.position > 20 {
            var random = SeededRandom(seed: seed &+ UInt64(model.textCount))
            try post(store, 1, witness, &random)
            if random.oneIn(3) { try erase(store, disk, InterleavedStorage(disk), witness, seed, &random) }
        }
        try finish(store, options(disk, witness, seed).journal, in: "journal")
        guard witness.model.hasCopy else { return }
        try checkCopy(disk, witness, seed)
        try backUp(disk, witness, seed)
        let again = try ErasureText.all(inFilesOf: "copy", on: disk)
        try check(again, witness.model.usersErasedInCopy, witness.model.textsErasedInCopy, "in the completed copy")
        let copy = try ChatStore.openReadOnly("copy", options: options(disk, witness, seed))
        try ErasureHistory(copy).check()
        guard copy.head == store.head else { throw Unexpected("the copy ends at \(copy.head.position)") }
    }

    /// Checks a copy whose backup was perhaps interrupted: each erasure shows in full or not at
    /// all.
    private static func checkCopy(_ disk: SimulatedDisk, _ witness: Witness, _ seed: UInt64) throws {
        let options = options(disk, witness, seed)
        let copy: ChatStore
        do throws(ChatError) { copy = try ChatStore.openReadOnly("copy", options: options) } catch {
            // The first backup has not yet created it.
            guard case .journal(let error) = error, error.code == .notFound else { throw error }
            return
        }
        try ErasureHistory(ChatStore.openReadOnly("journal", options: options)).checkOrdersAreWhole(
            in: ErasureHistory(copy))
        let findings = try ChatStore.verify("copy", options: options.journal, deep: true).findings
        guard findings.allSatisfy({ $0.problem == "erasureUnfinished" }) else {
            throw Unexpected("the copy: \(findings)")
        }
    }

    /// Opens a copy for writing whose backup was perhaps interrupted: that completes what the copy
    /// has of the erasures.
    private static func restore(_ disk: SimulatedDisk, _ witness: Witness, _ seed: UInt64) throws {
        try checkCopy(disk, witness, seed)
        let options = options(disk, witness, seed)
        let store = try ChatStore.open("copy", options: options)
        let history = try ErasureHistory(store)
        try history.check()
        try history.checkAbsence(in: ErasureText.all(inFilesOf: "copy", on: disk), of: witness.model.messages)
        try finish(store, options.journal, in: "copy")
    }

    /// Opens a journal, and checks its history, its files, its ledger and its tree.
    private static func checked(_ disk: SimulatedDisk, _ witness: Witness, _ seed: UInt64, in directory: String) throws
        -> ChatStore
    {
        let model = witness.model
        let store = try ChatStore.open(directory, options: options(disk, witness, seed))
        guard store.head.position >= model.position else { throw Unexpected("acknowledged events are lost") }
        let history = try ErasureHistory(store)
        try history.check()
        if let user = model.erasedUsers.first(where: { !history.orders($0) }) {
            throw Unexpected("the order for \(user) is lost")
        }
        try history.checkAbsence(in: ErasureText.all(inFilesOf: directory, on: disk), of: model.messages)
        let entries = try ChatStore.ledger(try Journal.readLedger(ofJournalAt: directory, on: disk)).entries
        guard entries.count == history.orderCount || directory != "journal" else {
            throw Unexpected("the ledger differs from the history: \(entries)")
        }
        if let head = model.head, head.size <= store.head.position, directory == "journal" {
            guard try store.treeHead(at: head.size) == head else {
                throw Unexpected("an auditor's head is not that of the journal")
            }
        }
        witness.update { $0.position = store.head.position }
        return store
    }

    private static func finish(_ store: ChatStore, _ options: JournalOptions, in directory: String) throws {
        guard try store.rebuild() else { throw Unexpected("the state is not that of the journal") }
        try ErasureHistory(store).check()
        try store.close()
        let report = try ChatStore.verify(directory, options: options, deep: true)
        guard report.isValid else { throw Unexpected("\(report.findings)") }
    }
}
