import Chat
import ChatDomain
import ChatTesting
import EventJournal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What has to hold of a store on any history and on any commands.
enum StoreHarness {
    /// An invariant that does not hold.
    struct Violation: Error {
        var message: String
    }

    private static let directory = "journal"

    private static func options() -> StoreOptions {
        let journal = JournalOptions(segmentSize: 4_096, storage: MemoryStorage(), entropy: SeededEntropy(seed: 1))
        return StoreOptions(journal: journal, clock: ManualClock(), ids: SeededIDs(seed: 1))
    }

    /// Opens a journal of any records, which need be no history that the rules allow, and asks it everything.
    ///
    /// The input is a run of records: the lengths of the kept and of the erasable part, one byte each, and the parts.
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
                // Unsafe by the standard library's annotation alone: a span of bytes has no padding that its raw view could show.
                _ = try unsafe ChatEvent(kept: kept.span.bytes, erasable: erasable.span.bytes)
            } catch {
                continue
            }
            // As above.
            try unsafe draft.append(kept: kept.span.bytes, erasable: erasable.span.bytes)
        }
        if draft.recordCount > 0 {
            try journal.reserve(draft.encodedByteCount)
            try journal.waitUntilDurable(try journal.append(draft, expecting: 0).upperBound)
        }
        try journal.close()
        let store = try ChatStore.open(directory, options: options)
        try askEverything(store)
        try store.close()
        _ = try ChatStore.verify(directory, options: options.journal, deep: true)
    }

    /// Executes the commands among the lines of the input: the store stays sound, and opens again as it was.
    static func checkCommands(_ input: [UInt8]) throws {
        let options = options()
        let store = try ChatStore.open(directory, options: options)
        let requests = input.split(separator: UInt8(ascii: "\n")).compactMap { line in
            try? JSONDecoder().decode(CommandRequest.self, from: Data(line))
        }
        let half = requests.count / 2
        for request in requests.prefix(half) { _ = try store.execute([request]) }
        _ = try store.execute(Array(requests.dropFirst(half)))
        try checkSound(store, options)
    }

    /// Imports the messages among the lines of the input, twice: the second time adds nothing but what was refused at first.
    static func checkImports(_ input: [UInt8]) throws {
        let options = options()
        let store = try ChatStore.open(directory, options: options)
        let messages = input.split(separator: UInt8(ascii: "\n")).compactMap { line in
            try? JSONDecoder().decode(ImportedLine.self, from: Data(line))
        }
        let first = try add(messages, to: store)
        let head = store.head
        let second = try add(messages, to: store)
        // A reply that stands before its message is refused at first, and taken once the message is there.
        try require(store.head == head || first.refused > 0, "a second import has added events")
        try require(
            second.messages + second.replies <= first.refused, "a second import counts \(second), the first \(first)")
        try checkSound(store, options)
    }

    private static func add(_ messages: [ImportedLine], to store: ChatStore) throws -> ImportSummary {
        var importer = MessageImporter(into: store, batchSize: 3)
        for (index, message) in messages.enumerated() { _ = try importer.add(message, line: index + 1) }
        _ = try importer.finish()
        return importer.summary
    }

    private static func checkSound(_ store: ChatStore, _ options: StoreOptions) throws {
        let head = store.head
        let answers = try askEverything(store)
        try store.close()
        let verification = try ChatStore.verify(directory, options: options.journal, deep: true)
        try require(verification.isValid, "the store has findings: \(verification.findings)")
        let again = try ChatStore.open(directory, options: options)
        try require(again.head == head, "the store opens at \(again.head), not \(head)")
        let secondAnswers = try askEverything(again)
        try require(secondAnswers == answers, "a replay answers otherwise: \(answers) and \(secondAnswers)")
        try again.close()
    }

    /// Asks every query about every id that there is; a refusal is an answer.
    @discardableResult
    static func askEverything(_ store: ChatStore) throws -> [String] {
        var answers: [String] = []
        func ask(_ answer: () throws(ChatError) -> Any) {
            do throws(ChatError) {
                answers.append("\(try answer())")
            } catch {
                answers.append("\(error)")
            }
        }
        var events: [RecordedEvent] = []
        try store.forEachEvent {
            events.append($0); return true
        }
        ask { () throws(ChatError) in try store.threads() }
        for event in events.map(\.event) {
            if let user = event.details.user { ask { () throws(ChatError) in try store.user(user) } }
            if let thread = event.details.thread {
                ask { () throws(ChatError) in try store.thread(thread, viewer: event.details.user) }
                ask { () throws(ChatError) in try store.timeline(thread, viewer: event.details.user) }
                ask { () throws(ChatError) in try store.timeline(thread) }
                ask { () throws(ChatError) in try store.members(of: thread) }
            }
            if case .replyPosted(let details) = event.details { ask { () throws(ChatError) in try store.replies(to: details.message) } }
            if case .messagePosted(let details) = event.details { ask { () throws(ChatError) in try store.message(details.message) } }
            if let postcode = event.postcode { ask { () throws(ChatError) in try store.residents(of: postcode.outwardCode) } }
        }
        return answers
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }
}
