import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// A store in memory that can be reopened.
///
/// A seed determines all random values.
struct StoreFixture {
    let options: StoreOptions
    let clock = ManualClock()
    let directory = "journal"

    init(seed: UInt64 = 1, durability: Durability = .synced, segmentSize: UInt64 = 128 << 20) {
        var journal = JournalOptions()
        journal.storage = MemoryStorage()
        journal.entropy = SeededEntropy(seed: seed)
        journal.durability = durability
        journal.segmentSize = segmentSize
        options = StoreOptions(journal: journal, clock: clock, ids: SeededIDs(seed: seed))
    }

    func open() throws(ChatError) -> ChatStore { try ChatStore.open(directory, options: options) }

    /// Opens the store with a thread named Garden, which the first of the people opened and the
    /// others joined in their order.
    func openGarden(_ garden: ThreadID, _ people: [(user: UserID, name: String)]) throws -> ChatStore {
        let store = try open()
        for (user, name) in people { try store.executeBlocking(.registerUser(id: user, username: name)) }
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: people[0].user))
        for (user, _) in people.dropFirst() { try store.executeBlocking(.joinThread(thread: garden, by: user)) }
        return store
    }
}

/// Executes one request and returns its receipt or rejection.
func answer(_ request: CommandRequest, of store: ChatStore) throws(ChatError) -> Result<Receipt, Rejection> {
    try store.executeBlocking([request])[0]
}

extension ChatStore {
    /// Returns every event of the journal.
    func allEvents() throws(ChatError) -> [RecordedEvent] {
        var events: [RecordedEvent] = []
        try forEachEvent(matching: EventFilter(as: .host)) { event, _ in
            events.append(event)
        }
        return events
    }
}

extension ChatError {
    /// The stable code at the start of the description: of the rejection, the journal's error or
    /// this error.
    var stableCode: String { String(description.prefix { $0 != ":" }) }
}

/// Expects an error of the store or its journal with a stable code.
func expectError(_ code: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
    do {
        try body()
        Issue.record("no error was thrown; expected \(code)", sourceLocation: sourceLocation)
    } catch let error as ChatError {
        #expect(error.stableCode == code, sourceLocation: sourceLocation)
    } catch let error as JournalError {
        #expect(error.code.rawValue == code, sourceLocation: sourceLocation)
    } catch {
        Issue.record("\(error); expected \(code)", sourceLocation: sourceLocation)
    }
}

/// Expects a rejection with a code.
func expectRejection(
    _ code: Rejection.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws(ChatError) -> Void
) {
    do throws(ChatError) {
        try body()
        Issue.record("no rejection was thrown; expected \(code)", sourceLocation: sourceLocation)
    } catch {
        if case .rejected(let rejection) = error {
            #expect(rejection.code == code, sourceLocation: sourceLocation)
        } else {
            Issue.record("\(error)", sourceLocation: sourceLocation)
        }
    }
}
