import Chat
import ChatDomain
import ChatTesting
import EventJournal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The invariants of a store on any history and any commands.
enum StoreHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    private static let directory = "journal"

    private static func options(_ clock: ManualClock = ManualClock()) -> StoreOptions {
        let journal = JournalOptions(segmentSize: 4_096, storage: MemoryStorage(), entropy: SeededEntropy(seed: 1))
        return StoreOptions(journal: journal, clock: clock, ids: SeededIDs(seed: 1))
    }

    /// Opens a journal of arbitrary records and runs every query.
    ///
    /// The records need not form a history that the rules allow.
    ///
    /// The input is a sequence of records: the lengths of the kept and erasable parts in one byte
    /// each, then the parts.
    static func checkEvents(_ input: [UInt8]) throws {
        let options = options()
        let journal = try Journal.open(directory, options: options.journal)
        var draft = CommitDraft()
        var rest = input[...]
        while rest.count >= 2 {
            let lengths = (Int(rest[rest.startIndex]), Int(rest[rest.startIndex + 1]))
            let kept = Array(rest.dropFirst(2).prefix(lengths.0))
            let erasable = Array(rest.dropFirst(2 + kept.count).prefix(lengths.1))
            rest = rest.dropFirst(2 + kept.count + erasable.count)
            do throws(EventDecodingError) {
                // `bytes` is unsafe for elements with padding; bytes have none.
                _ = try unsafe ChatEvent(kept: kept.span.bytes, erasable: erasable.span.bytes)
            } catch {
                continue
            }
            try unsafe draft.append(kept: kept.span.bytes, erasable: erasable.span.bytes)
        }
        if draft.recordCount > 0 {
            try journal.reserve(draft.encodedByteCount)
            try journal.waitUntilDurable(try journal.append(draft, expecting: 0).upperBound)
        }
        try journal.close()
        let store = try ChatStore.open(directory, options: options)
        try runAllQueries(store)
        try store.close()
        _ = try ChatStore.verify(directory, options: options.journal, deep: true)
    }

    /// Executes the commands in the lines of the input, the first half one second after another.
    ///
    /// The store stays valid, and a reopened store gives the same answers.
    static func checkCommands(_ input: [UInt8]) throws {
        let clock = ManualClock()
        let options = options(clock)
        let store = try ChatStore.open(directory, options: options)
        let requests = input.split(separator: UInt8(ascii: "\n")).compactMap { line in
            try? JSONDecoder().decode(CommandRequest.self, from: Data(line))
        }
        let half = requests.count / 2
        for request in requests.prefix(half) {
            clock.advance(byMilliseconds: 1_000)
            _ = try store.executeBlocking([request])
        }
        _ = try store.executeBlocking(Array(requests.dropFirst(half)))
        try checkConsistency(store, options)
    }

    /// Imports the messages in the lines of the input twice.
    ///
    /// The second import adds only messages that the first rejected.
    static func checkImports(_ input: [UInt8]) throws {
        let options = options()
        let store = try ChatStore.open(directory, options: options)
        let messages = input.split(separator: UInt8(ascii: "\n")).compactMap { line in
            try? JSONDecoder().decode(ImportedLine.self, from: Data(line))
        }
        let first = try add(messages, to: store)
        let head = store.head
        let second = try add(messages, to: store)
        // A reply that precedes its message is rejected at first and accepted by the second import.
        try require(store.head == head || first.rejected > 0, "the second import added events")
        try require(
            second.messages + second.replies <= first.rejected, "the second import counts \(second), the first \(first)"
        )
        try checkConsistency(store, options)
    }

    /// Imports the exported events in the lines of the input, up to the first one that is rejected.
    ///
    /// The journal contains exactly the events of the commits before that line, it passes the deep
    /// verification, and its own export gives the same journal.
    ///
    /// - Returns: The number of imported events.
    @discardableResult
    static func checkEventImports(_ input: [UInt8]) throws -> Int {
        let events = input.split(separator: UInt8(ascii: "\n")).compactMap { line in
            try? JSONDecoder().decode(ExportedEvent.self, from: Data(line))
        }
        let options = options()
        let summary = try importEvents(events, options).summary
        let exported = try export(options)
        try require(exported.count == summary.events, "\(summary) counts other events than \(exported)")
        try require(
            exported.map(\.recorded) == events.prefix(exported.count).map(\.recorded),
            "the journal has \(exported), not \(events)")
        let repeated = try importEvents(exported, options)
        try require(
            repeated.isComplete && repeated.summary.existing == exported.count, "a second import gives \(repeated)")
        let copyOptions = self.options()
        let copy = try importEvents(exported, copyOptions)
        try require(
            copy.isComplete && copy.summary.commits == summary.commits,
            "the import of an export gives \(copy), not \(summary)")
        try require(try export(copyOptions) == exported, "the import of an export differs from it")
        try checkConsistency(try ChatStore.open(directory, options: options), options)
        return exported.count
    }

    private static func importEvents(
        _ events: [ExportedEvent], _ options: StoreOptions
    ) throws -> (summary: EventImportSummary, isComplete: Bool) {
        var importer = try EventImporter(into: directory, options: options.journal)
        var isComplete = true
        do throws(EventImportError) {
            for (index, event) in events.enumerated() { try importer.add(event, line: index + 1) }
            try importer.finish()
        } catch {
            try require(!error.message.isEmpty, "an error has an empty message")
            isComplete = false
            try importer.close()
        }
        return (importer.summary, isComplete)
    }

    private static func export(_ options: StoreOptions) throws -> [ExportedEvent] {
        var events: [ExportedEvent] = []
        try ChatStore.forEachExportedEvent(ofJournalAt: directory, options: options.journal) { event, _, _ in
            events.append(event)
        }
        return events
    }

    private static func add(_ messages: [ImportedLine], to store: ChatStore) throws -> ImportSummary {
        var importer = MessageImporter(into: store, batchSize: 3)
        for (index, message) in messages.enumerated() { _ = try importer.add(message, line: index + 1) }
        _ = try importer.finish()
        return importer.summary
    }

    private static func checkConsistency(_ store: ChatStore, _ options: StoreOptions) throws {
        let head = store.head
        let answers = try runAllQueries(store)
        try store.close()
        let verification = try ChatStore.verify(directory, options: options.journal, deep: true)
        try require(verification.isValid, "the store has findings: \(verification.findings)")
        let again = try ChatStore.open(directory, options: options)
        try require(again.head == head, "the store reopens at \(again.head), not \(head)")
        let secondAnswers = try runAllQueries(again)
        try require(secondAnswers == answers, "a replay answers \(secondAnswers), not \(answers)")
        try again.close()
    }

    /// Runs the queries for every id in the history, for the host and for the users of its events.
    ///
    /// - Returns: The answers; a rejection is an answer.
    @discardableResult
    static func runAllQueries(_ store: ChatStore) throws -> [String] {
        var answers: [String] = []
        func ask(_ answer: () throws(ChatError) -> Any) {
            do throws(ChatError) {
                answers.append("\(try answer())")
            } catch {
                answers.append("\(error)")
            }
        }
        var events: [RecordedEvent] = []
        try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in events.append(event) }
        let subjects = events.map { QuerySubjects(of: $0.event) }
        for moment in [AsOf.now, .position(store.head.position / 2)] {
            ask { () throws(ChatError) in try store.activity(asOf: moment) }
            for viewer in distinct(subjects.flatMap(\.viewers)) {
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).threads().entries
                }
                ask { () throws(ChatError) in try store.reader(as: Viewer(orHost: viewer), asOf: moment).operators() }
                guard let viewer else { continue }
                ask { () throws(ChatError) in try store.reader(as: .user(viewer), asOf: moment).people() }
                ask { () throws(ChatError) in try store.reader(as: .host, asOf: moment).person(viewer) }
                ask { () throws(ChatError) in try store.reader(as: .host, asOf: moment).user(viewer) }
                ask { () throws(ChatError) in try store.reader(as: .user(viewer), asOf: moment).user(viewer) }
                ask { () throws(ChatError) in try store.reader(as: .host, asOf: moment).access(of: viewer) }
                ask { () throws(ChatError) in try store.reader(as: .host, asOf: moment).invitations(of: viewer) }
                ask { () throws(ChatError) in try store.reader(as: .user(viewer), asOf: moment).blocks(by: viewer) }
                ask { () throws(ChatError) in try store.reader(as: .host, asOf: moment).inbox(of: viewer) }
                ask { () throws(ChatError) in
                    try store.reader(as: .user(viewer), asOf: moment).unreadInboxCount(of: viewer)
                }
            }
            for subject in distinct(subjects.flatMap(\.ofThread)) {
                guard let thread = subject.thread, case let viewer = subject.viewer else { continue }
                ask { () throws(ChatError) in try store.reader(as: Viewer(orHost: viewer), asOf: moment).thread(thread)
                }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).timeline(thread).entries
                }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).members(of: thread)
                }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).activity(in: thread)
                }
                ask { () throws(ChatError) in try store.readers(of: thread, asOf: moment) }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).roles(in: thread)
                }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).sanctions(in: thread)
                }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).pins(in: thread)
                }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).reports(in: thread)
                }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).invitations(to: thread)
                }
            }
            for subject in distinct(subjects.flatMap(\.ofPost)) {
                guard let post = subject.post, case let viewer = subject.viewer else { continue }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).details(of: post)
                }
                guard case .message(let message) = post else { continue }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).message(message)
                }
                ask { () throws(ChatError) in
                    try store.reader(as: Viewer(orHost: viewer), asOf: moment).replies(to: message).entries
                }
            }
            for code in distinct(events.compactMap(\.event.postcode?.outwardCode)) {
                ask { () throws(ChatError) in try store.reader(as: .host, asOf: moment).residents(of: code) }
            }
        }
        return answers
    }

    private static func distinct<Value: Hashable>(_ values: [Value]) -> [Value] {
        var found: Set<Value> = []
        return values.filter { found.insert($0).inserted }
    }

    /// What the queries ask about for an event.
    private struct QuerySubjects: Hashable {
        struct Subject: Hashable {
            var thread: ThreadID?
            var post: PostID?
            var viewer: UserID?
        }

        var viewers: [UserID?]
        var ofThread: [Subject]
        var ofPost: [Subject]

        init(of event: ChatEvent) {
            let details = event
            viewers = [nil, details.user, details.otherActor]
            ofThread = viewers.map { Subject(thread: details.thread, viewer: $0) }
            ofPost = viewers.flatMap { viewer in details.posts.map { Subject(post: $0, viewer: viewer) } }
        }
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }
}

extension ChatEvent {
    /// The message and the reply that the event names.
    fileprivate var posts: [PostID] { [message.map(PostID.message), reply.map(PostID.reply)].compactMap(\.self) }
}

extension Viewer {
    /// The user, or the host for nil: the models of the tests have optional viewers.
    init(orHost user: UserID?) { self = user.map(Viewer.user) ?? .host }
}
