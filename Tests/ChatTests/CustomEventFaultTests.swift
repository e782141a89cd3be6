import Chat
import ChatDomain
import ChatTesting
import Locking
import Testing

/// The host program's check of custom events.
struct CustomEventFaultTests {
    private let ann = UserID(bits: 1)
    private let garden = ThreadID(bits: 31)

    private func vote(_ id: UInt128, by user: UserID, _ payload: String, kind: CustomKind = "org.example.vote") throws
        -> ChatCommand
    {
        .custom(
            id: CustomEventID(bits: id), kind: kind, thread: garden, payload: try #require(CustomPayload(payload)),
            by: user)
    }

    @Test func faultRejectsTheEventAlone() throws {
        let asked = Lock<[String]>([])
        let fixture = StoreFixture()
        var options = fixture.options
        let (ann, garden) = (ann, garden)
        options.customEventFault = { event, _ in
            asked.withLock { $0.append("\(event.kind) \(event.payload.text)") }
            #expect(event.thread == garden && (event.by == ann || event.id == CustomEventID(bits: 4)))
            return event.kind == "org.example.vote" && event.payload.text != "1" ? "A vote is 1." : nil
        }
        let store = try ChatStore.open(fixture.directory, options: options)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        let head = store.head.position
        let batch = [
            try vote(1, by: ann, "1"), try vote(2, by: ann, "2"), try vote(3, by: ann, "2", kind: "org.example.note"),
            .postMessage(id: nil, thread: garden, body: "Voted.", by: ann),
            // What a rule rejects keeps its code, and an id that was used is a duplicate.
            try vote(4, by: UserID(bits: 9), "2"), try vote(1, by: ann, "2"),
        ].map { CommandRequest($0) }
        let answers = try store.executeBlocking(batch)
        let codes = answers.map { answer -> String in
            switch answer {
            case .success(let receipt): receipt.isDuplicate ? "duplicate" : "done"
            case .failure(let rejection): rejection.code.rawValue
            }
        }
        #expect(codes == ["done", "invalidPayload", "done", "done", "unknownUser", "duplicate"])
        #expect(try #require(answers[1].failure).message == "A vote is 1.")
        #expect(store.head.position == head + 3)
        #expect(asked.withLock { $0.count } == 5)
        try store.close()
    }

    /// The check may query the store, because no lock is held.
    @Test func checkMayQueryTheStore() throws {
        let fixture = StoreFixture()
        var options = fixture.options
        options.customEventFault = { event, store in
            (try? store.reader(as: .user(event.by)).timeline(event.thread))?.isEmpty == false
                ? nil : "There is no message to vote on."
        }
        let store = try ChatStore.open(fixture.directory, options: options)
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        #expect(throws: ChatError.self) { try store.executeBlocking(try vote(1, by: ann, "1")) }
        try store.executeBlocking(.postMessage(thread: garden, body: "Saturday?", by: ann))
        #expect(try store.executeBlocking(try vote(1, by: ann, "1")).customEvent == CustomEventID(bits: 1))
        try store.close()
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
