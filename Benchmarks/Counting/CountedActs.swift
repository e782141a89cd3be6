import CCounting
import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Projections

/// The acts whose instructions are counted, on a store that is the same in each run.
///
/// Ids, times, salts and the order of tasks have fixed seeds. Nothing runs in the background, and
/// all tasks run on the calling thread.
struct CountedActs {
    private let workload = Workload(count: 0)

    private static let users = 400
    private static let threads = 40
    private static let posts = 8_000
    private static let followers = 10
    /// The number of times that each act is done and counted.
    private static let rounds = 400
    private static let batch = 1_000
    /// The number of events in a batch of a replay.
    private static let replayed = 256

    /// Does every act, and prints a line with its name and its number of times for each file that
    /// callgrind writes.
    func run() throws {
        let executor = SeededExecutor(seed: 1)
        var options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1), checkpoints: nil)
        // A journal in memory watches no files.
        options.journal.storage = MemoryStorage()
        options.journal.durability = .written
        options.journal.entropy = SeededEntropy(seed: 1)
        options.journal.slotSyncDelay = nil
        options.journal.executor = executor
        let store = try ChatStore.open("journal", options: options)
        try write(to: store)
        let posts = requests(Self.posts) { post($0) }
        try count("a message") { index in _ = try store.executeBlocking([posts[index]])[0].get() }
        let reactions = requests(0) { .react(.message(message($0)), emoji: "👍", by: Self.user(Self.author(of: $0))) }
        try count("a reaction") { index in _ = try store.executeBlocking([reactions[index]])[0].get() }
        try countBatches(store)

        let users = (0..<Self.users).map(Self.user)
        try count("a page of a member's timeline") { index in
            let number = index % Self.users
            let page = try store.reader(as: .user(users[number])).timeline(Self.thread(Self.threads(of: number)[0]))
            precondition(page.count == 50, "a page has 50 messages")
        }
        try count("a user view") { index in
            let user = users[index % Self.users]
            let threads = try store.reader(as: .user(user)).user(user).threads
            precondition(threads.count == Self.threads(of: 0).count, "a user is in four threads")
        }
        try count("an inbox") { index in
            let user = users[index % Self.users]
            let inbox = try store.reader(as: .user(user)).inbox(of: user)
            precondition(inbox.count >= 10, "an inbox has at least ten entries")
        }
        try countDeliveries(store, executor)
        try store.close()
        try countReplay(options.journal)
    }

    /// Writes the history that the acts are done on.
    private func write(to store: ChatStore) throws {
        var batch = Batch(store)
        for user in 0..<Self.users { try batch.add(.registerUser(id: Self.user(user), username: "user\(user)")) }
        for thread in 0..<Self.threads {
            try batch.add(.openThread(id: Self.thread(thread), name: "thread \(thread)", by: Self.user(thread)))
        }
        for user in 0..<Self.users {
            for thread in Self.threads(of: user) where thread != user {
                try batch.add(.joinThread(thread: Self.thread(thread), by: Self.user(user)))
            }
        }
        for index in 0..<Self.posts { try batch.add(post(index)) }
        for index in 0..<Self.posts { try batch.add(answer(index)) }
        try batch.flush()
    }

    /// Returns the commands of an act, for ``count(_:_:)``.
    private func requests(_ first: Int, _ command: (_ index: Int) -> ChatCommand) -> [CommandRequest] {
        (first..<first + 2 * Self.rounds).map { CommandRequest(command($0)) }
    }

    /// Counts an act after as many uncounted ones, which fill the caches.
    private func count(_ name: String, _ act: (_ index: Int) throws -> Void) throws {
        for index in 0..<Self.rounds { try act(index) }
        instructions_begin()
        for index in Self.rounds..<2 * Self.rounds { try act(index) }
        instructions_end()
        printLine("\(name)\t\(Self.rounds)")
    }

    private func countBatches(_ store: ChatStore) throws {
        let first = Self.posts + 2 * Self.rounds
        let batches = (0..<5).map { number in
            (0..<Self.batch).map { CommandRequest(post(first + number * Self.batch + $0)) }
        }
        for answer in try store.executeBlocking(batches[0]) { _ = try answer.get() }
        instructions_begin()
        for batch in batches.dropFirst() { _ = try store.executeBlocking(batch) }
        instructions_end()
        printLine("a message in a batch\t\((batches.count - 1) * Self.batch)")
    }

    /// Counts messages that ten members follow, from the command until all have the event.
    private func countDeliveries(_ store: ChatStore, _ executor: SeededExecutor) throws {
        let thread = 0
        let members = (0..<Self.users).filter { Self.threads(of: $0).contains(thread) }.map(Self.user)
        let (start, count) = (store.head.position, Position(Self.rounds))
        let posts = (0..<2 * Self.rounds).map { index in
            ChatCommand.postMessage(
                id: MessageID(bits: 1 << 100 + UInt128(index)), thread: Self.thread(thread), body: "Milk?",
                by: members[0])
        }
        try executor.run {
            let tasks = members.prefix(Self.followers).map { member in
                Task(executorPreference: executor) {
                    var received: Position = 0
                    let filter = EventFilter(as: .user(member), kinds: [.messagePosted])
                    for try await _ in store.events(after: start, upTo: start + 2 * count, matching: filter) {
                        received += 1
                    }
                    return received
                }
            }
            for (index, post) in posts.enumerated() {
                // All followers wait when the only task that is left sleeps.
                try await executor.sleep(for: .milliseconds(1))
                if index == Self.rounds { instructions_begin() }
                try store.executeBlocking(post)
            }
            try await executor.sleep(for: .milliseconds(1))
            instructions_end()
            for task in tasks {
                let received = try await task.value
                precondition(received == 2 * count, "a follower receives every message")
            }
        }
        printLine("a delivery to ten followers\t\(Self.rounds)")
    }

    /// Counts a replay into the rules and the read models: the stages of an opening without a
    /// checkpoint, on one thread.
    private func countReplay(_ options: JournalOptions) throws {
        let journal = try Journal.openReadOnly("journal", options: options)
        var models = StoreModels()
        var batch = EventBatch(from: 1, capacity: Self.replayed)
        var failure: EventDecodingError?
        instructions_begin()
        try journal.forEachRecord(in: 1...journal.durablePosition) { position, state, kept, erasable in
            do throws(EventDecodingError) {
                try batch.append(kept: kept, erasable: state == .whole ? erasable : nil)
            } catch {
                failure = error
                return false
            }
            if batch.count == Self.replayed || position == journal.durablePosition {
                models.apply(&batch)
                batch = EventBatch(from: position + 1, capacity: Self.replayed)
            }
            return true
        }
        instructions_end()
        if let failure { throw failure }
        precondition(models.position == journal.durablePosition, "every event is replayed")
        printLine("a replayed event\t\(models.position)")
        try journal.close()
        try countDecisions(&models)
    }

    /// Counts messages in the rules alone: of so small a count, a look-up more is a large part.
    private func countDecisions(_ models: inout StoreModels) throws {
        let posts = requests(Int(models.position)) { post($0) }
        var batch = EventBatch(from: models.position + 1)
        try count("a decided message") { index in
            batch.removeAll(from: models.rules.head + 1)
            let decision = try models.rules.decide(
                posts[index], models.readModels.identities, at: .testStart, freshID: 0, into: &batch)
            guard case .append = decision else { throw UsageError("a message must be decided") }
            models.readModels.identities.resolve(&batch)
            models.rules.apply(batch, 0..<1)
        }
    }

    private func post(_ index: Int) -> ChatCommand {
        .postMessage(
            id: message(index), thread: Self.thread(index % Self.threads),
            body: workload.body(of: workload.post(index)), by: Self.user(Self.author(of: index)))
    }

    /// Returns a reply to a message, or a reaction or a message that mentions its author, by
    /// another member.
    private func answer(_ index: Int) -> ChatCommand {
        let thread = index % Self.threads
        let (author, other) = (Self.author(of: index), Self.member(index / Self.threads + 1, of: thread))
        switch index % 3 {
        case 0:
            return .reply(
                id: ReplyID(bits: UInt128(index) + 1 << 90), to: message(index), body: "Yes", by: Self.user(other))
        case 1: return .react(.message(message(index)), emoji: "👀", by: Self.user(other))
        default:
            return .postMessage(
                id: MessageID(bits: UInt128(index) + 1 << 91), thread: Self.thread(thread), body: "Yes",
                mentions: [Self.user(author)], by: Self.user(other))
        }
    }

    private static func user(_ number: Int) -> UserID { Workload.userID(number) }
    private static func thread(_ number: Int) -> ThreadID { Workload.threadID(number) }
    private func message(_ index: Int) -> MessageID { MessageID(bits: workload.post(index).id) }
    private static func author(of index: Int) -> Int { member(index / threads, of: index % threads) }

    /// The threads of a user: 4 of 40, so that each has 40 members.
    private static func threads(of user: Int) -> [Int] { (0..<4).map { (user + 7 * $0) % threads } }

    /// Returns a member of a thread, other ones for consecutive numbers.
    private static func member(_ number: Int, of thread: Int) -> Int {
        let place = number % 4
        let first = (thread - 7 * place) % threads
        return (first < 0 ? first + threads : first) + number / 4 % (users / threads) * threads
    }
}
