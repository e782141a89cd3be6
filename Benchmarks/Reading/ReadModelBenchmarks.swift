import Chat
import ChatDomain
import Columns
import EventJournal
import Foundation
import Projections

/// A journal that contains the workload.
struct WrittenHistory {
    let path: String
    let messages: Int
    let segments: [String]

    static func write(to path: String, messages: Int) throws {
        let store = try ChatStore.open(path, options: Self.options)
        var history = History(Workload(count: messages))
        try history.setUp(store)
        try history.post(to: store)
        try store.close()
    }

    init(at path: String, messages: Int) throws {
        self.path = path
        self.messages = messages
        segments = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".segment") }
            .sorted().map {
                "\(path)/\($0)"
            }
    }

    static var options: StoreOptions {
        var options = StoreOptions()
        options.journal.durability = .written
        options.checkpoints = nil
        return options
    }

    /// Opens the journal without its checkpoint, so that all events are replayed.
    func open() throws -> ChatStore { try ChatStore.openReadOnly(path, options: Self.options) }

    /// Opens the journal without a text cache, so that each page is read from the files.
    func openKeepingNoTexts() throws -> ChatStore {
        var options = Self.options
        options.textCacheByteCount = 0
        return try ChatStore.openReadOnly(path, options: options)
    }

    /// Opens the journal with its checkpoint.
    func openWithCheckpoint() throws -> ChatStore {
        var options = Self.options
        options.checkpoints = CheckpointOptions()
        return try ChatStore.openReadOnly(path, options: options)
    }

    /// Writes a checkpoint and returns its file.
    func writeCheckpoint() throws -> RawFile {
        var options = Self.options
        options.checkpoints = CheckpointOptions()
        let store = try ChatStore.open(path, options: options)
        try store.writeCheckpoint()
        try store.close()
        return try RawFile("\(path)/built-in.checkpoint")
    }
}

/// Measures reading: R1b, R2, R4, M, O, S.
struct ReadModelBenchmarks {
    static let workloads = ["M", "S", "O", "R1b", "R2", "R4"]
    let history: WrittenHistory
    let repetitions: Int

    func run(_ report: inout Report) throws {
        if report.wants("M") { try memory(&report) }
        var opening = Median()
        var store: ChatStore?
        opening.add(try seconds { store = try history.open() })
        guard let store else { return }
        let events = Double(store.head.position)
        let bytes = try history.segments.reduce(0) { $0 + (try RawFile($1).size) }
        let files = try RecordFiles(history.segments, recordBytes: Int(Double(bytes) / events))
        if report.wants("S") {
            try report.add(
                Figure(
                    workload: "S on disk", subject: "Chat", value: Double(bytes) / events, unit: "B/event",
                    ratio: 172 * events / Double(bytes), target: 1))
        }
        if report.wants("O") { try openings(&report) }
        if report.wants("R1b") { try rebuild(events, opening, files, &report) }
        if report.wants("R2") { try pages(of: store, files, &report) }
        if report.wants("R4") { try anywhere(in: store, &report) }
        try store.close()
    }

    /// Measures the memory of the read models: what messages add, and the total.
    ///
    /// Must run before any other measurement has allocated memory.
    private func memory(_ report: inout Report) throws {
        let before = residentBytes()
        var beforeMessages = 0
        let journal = try Journal.openReadOnly(history.path, options: WrittenHistory.options.journal)
        var models = ReadModels()
        var failure: EventDecodingError?
        try journal.forEachRecord(in: 1...journal.durablePosition) { position, state, kept, erasable in
            do throws(EventDecodingError) {
                let event = try ChatEvent(
                    kept: kept, erasable: state == .whole ? erasable : nil, contents: ReadModels.contents)
                if beforeMessages == 0, event.kind == .messagePosted { beforeMessages = residentBytes() }
                models.apply(event, at: position)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        let end = residentBytes()
        let messages = Double(history.messages)
        try report.add(
            Figure(
                workload: "M memory, by message", subject: "Chat", value: Double(end - beforeMessages) / messages,
                unit: "B/msg",
                ratio: 40 * messages / Double(end - beforeMessages), target: 1)
        )
        try report.add(
            Figure(
                workload: "M memory, users and joins too", subject: "Chat", value: Double(end - before) / messages,
                unit: "B/msg",
                ratio: 40 * messages / Double(end - before), target: 1
            )
        )
        guard models.position == journal.durablePosition else { throw UsageError("the replay ended early") }
        let reactions = Double(addReactions(to: &models))
        let withReactions = residentBytes()
        // A reaction, and its entry in the inbox of the author.
        try report.add(
            Figure(
                workload: "M memory, by reaction", subject: "Chat", value: Double(withReactions - end) / reactions,
                unit: "B/reaction",
                ratio: 48 * reactions / Double(withReactions - end), target: 1))
        let entries = Double(addMentions(to: &models))
        let withMentions = residentBytes()
        // The entries of a small history fit into memory that is free already.
        guard withMentions > withReactions else { return }
        try report.add(
            Figure(
                workload: "M memory, by inbox entry", subject: "Chat",
                value: Double(withMentions - withReactions) / entries,
                unit: "B/entry",
                ratio: 16 * entries / Double(withMentions - withReactions), target: 1))
    }

    /// Edits every twentieth message to mention ten people, so that a tenth of an edit belongs to
    /// each entry of an inbox, and returns the number of entries.
    private func addMentions(to models: inout ReadModels) -> Int {
        let time = Timestamp(millisecondsSince1970: 1 << 40)
        let messages = models.identities.posts.messages.count
        var count = 0
        for message in stride(from: 0, to: messages, by: 20) {
            let thread = models.identities.threadID(models.identities.posts.messages.parent(message))
            let author = models.identities.userID(models.identities.posts.messages.author(message))
            let shape = EventShape.message(
                thread: thread, number: 1, message: MessageID(bits: models.identities.posts.messages.id(message)),
                by: author)
            let mentioned = (0..<10).map { Workload.userID((message &* 7_919 &+ $0 &* 101) % Workload.userCount) }
                .filter { $0 != author }
            models.apply(
                ChatEvent(
                    recordedAt: time, details: EventDetails(.messageEdited, shape), content: .body("text"),
                    mentions: mentioned),
                at: models.position + 1)
            count += mentioned.count
        }
        return count
    }

    /// Adds one to three reactions to every sixth message, as in public samples of Discord, and
    /// returns their number.
    private func addReactions(to models: inout ReadModels) -> Int {
        let emoji = ["👍", "❤️", "😂", "🎉", "👀", ":wave:"].map { EventContent.emoji(Emoji(recorded: $0)) }
        let time = Timestamp(millisecondsSince1970: 1 << 40)
        var count = 0
        func add(_ reaction: Int, _ post: Int, _ message: Int) {
            let thread = models.identities.threadID(models.identities.posts.messages.parent(message))
            let shape = EventShape.message(
                thread: thread, number: 1, message: MessageID(bits: models.identities.posts.messages.id(message)),
                by: Workload.userID((post &* 7_919 &+ reaction) % Workload.userCount))
            // The second reaction has the emoji of the first one.
            models.apply(
                ChatEvent(
                    recordedAt: time, details: EventDetails(.reactionAdded, shape),
                    content: emoji[(post + reaction / 2) % emoji.count]),
                at: models.position + 1)
            count += 1
        }
        let posts = Array(stride(from: 0, to: models.identities.posts.messages.count, by: 6))
        // People react to the latest posts of many threads at the same time.
        for start in stride(from: 0, to: posts.count, by: 100) {
            let recent = start..<min(start + 100, posts.count)
            for reaction in 0..<3 { for post in recent where reaction <= post % 3 { add(reaction, post, posts[post]) } }
        }
        return count
    }

    /// Measures an opening without a checkpoint, beside a scan of the same files with checksums.
    private func rebuild(_ events: Double, _ first: Median, _ files: RecordFiles, _ report: inout Report) throws {
        var chat = first
        var floor = Median()
        for run in 0..<repetitions {
            floor.add(seconds { files.scan() })
            if run > 0 { chat.add(try seconds { try history.open().close() }) }
        }
        try report.add(
            Figure(
                workload: "R1b full rebuild", subject: "Chat", value: events / chat.value, unit: "events/s",
                floor: events / floor.value,
                ratio: floor.value / chat.value, target: 0.20, spread: chat.spread))
    }

    /// Measures an opening with a checkpoint of the last position, beside a read of its bytes.
    private func openings(_ report: inout Report) throws {
        let file = try history.writeCheckpoint()
        var chat = Median()
        var reused = Median()
        var fresh = Median()
        for _ in 0..<repetitions {
            reused.add(seconds { _ = file.scan(summing: false) })
            fresh.add(seconds { file.readIntoFreshMemory() })
            var store: ChatStore?
            chat.add(try seconds { store = try history.openWithCheckpoint() })
            guard let store, store.statistics.checkpoints?.loadedPosition == store.head.position else {
                throw UsageError("the checkpoint was not used")
            }
            try store.close()
        }
        try report.add(
            Figure(
                workload: "O opening, read into a buffer", subject: "Chat", value: chat.value, unit: "s",
                floor: reused.value,
                ratio: reused.value / chat.value, target: 0.33, spread: chat.spread))
        try report.add(
            Figure(
                workload: "O opening, read into new memory", subject: "Chat", value: chat.value, unit: "s",
                floor: fresh.value,
                ratio: fresh.value / chat.value, target: 0.33, spread: chat.spread))
        try report.add(
            Figure(
                workload: "O size of the checkpoint", subject: "Chat",
                value: Double(file.size) / Double(history.messages), unit: "B/msg"))
    }

    /// Measures the latest 50 messages of a random thread, and of one thread repeatedly.
    ///
    /// A random thread is read with and without the text cache, beside as many reads of a record's
    /// size at random places. The floor of the one thread is the checksum of as many records in
    /// mapped memory.
    private func pages(of store: ChatStore, _ files: RecordFiles, _ report: inout Report) throws {
        var (any, cold, hot, floor, mapped) = (Median(), Median(), Median(), Median(), Median())
        var random = SplitMix(state: 7)
        let count = 2_000
        let forgetful = try history.openKeepingNoTexts()
        func showAny(_ store: ChatStore) throws {
            for _ in 0..<count {
                _ = try store.reader(as: .host).timeline(
                    Workload.threadID(Int(random.next() % UInt64(Workload.threadCount))))
            }
        }
        for _ in 0..<repetitions {
            floor.add(seconds { files.readRecords(count * 50, &random) })
            mapped.add(seconds { files.sumMappedRecords(count * 50, &random) })
            any.add(try seconds { try showAny(store) })
            cold.add(try seconds { try showAny(forgetful) })
            hot.add(
                try seconds { for _ in 0..<count { _ = try store.reader(as: .host).timeline(Workload.threadID(3)) } })
        }
        let pages = Double(count)
        let rows = [
            ("any thread", any, floor, 0.70), ("any thread, nothing kept", cold, floor, 0.70),
            ("hot thread", hot, mapped, 1),
        ]
        for (name, median, floor, target) in rows {
            try report.add(
                Figure(
                    workload: "R2 latest 50, \(name)", subject: "Chat", value: pages / median.value, unit: "pages/s",
                    floor: pages / floor.value, ratio: floor.value / median.value, target: target, spread: median.spread
                ))
        }
        try forgetful.close()
    }

    /// Measures pages at many places of the largest thread, beside latest pages.
    private func anywhere(in store: ChatStore, _ report: inout Report) throws {
        let thread = Workload.threadID(0)
        let end = store.head.position
        var latest = Median()
        var places: [(name: String, median: Median, page: (inout SplitMix) throws -> Void)] = [
            (
                "before", Median(),
                { _ = try store.reader(as: .host).timeline(thread, page: .before(1 + $0.next() % end)) }
            ),
            (
                "after", Median(),
                { _ = try store.reader(as: .host).timeline(thread, page: .after($0.next() % end)) }
            ),
            (
                "as of", Median(),
                { _ = try store.reader(as: .host, asOf: .position(end / 2 + $0.next() % (end / 2))).timeline(thread) }
            ),
            (
                "as of, before", Median(),
                {
                    _ = try store.reader(as: .host, asOf: .position(end / 2 + $0.next() % (end / 2))).timeline(
                        thread, page: .before(1 + $0.next() % end))
                }
            ),
        ]
        var random = SplitMix(state: 11)
        let count = 500
        for _ in 0..<repetitions {
            // The latest pages of many large threads; one page repeatedly would be R2's hot thread.
            latest.add(
                try seconds {
                    for turn in 0..<count { _ = try store.reader(as: .host).timeline(Workload.threadID(turn % 200)) }
                })
            for index in places.indices {
                let page = places[index].page
                places[index].median.add(try seconds { for _ in 0..<count { try page(&random) } })
            }
        }
        for place in places {
            try report.add(
                Figure(
                    workload: "R4 largest thread, \(place.name)", subject: "Chat",
                    value: place.median.value / Double(count) * 1e6,
                    unit: "us/page",
                    floor: latest.value / Double(count) * 1e6, ratio: latest.value / place.median.value, target: 0.5,
                    spread: place.median.spread))
        }
    }
}
