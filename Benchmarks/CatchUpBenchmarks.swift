import Chat
import ChatDomain
import EventJournal
import Foundation

/// Measures the cost of a resume token for each event of a client that catches up: T.
struct CatchUpBenchmarks {
    private static let events: Position = 16_700
    private static let members = 100
    let directory: String
    let repetitions: Int

    /// The use that a client makes of the tokens.
    private enum Tokens: String, CaseIterable {
        case none = "without tokens"
        case touched = "a token for each event"
        case asText = "a token for each event, as text"
        case byPosition = "a token for each event, by position"
    }

    func run(_ report: inout Report) async throws {
        guard report.wants("T") else { return }
        let path = "\(directory)/catch-up"
        defer { discard(path) }
        let store = try write(path)
        var medians = Tokens.allCases.map { _ in Median() }
        // Runs of a few milliseconds are noisy.
        for _ in 0..<repetitions * 5 {
            for (index, tokens) in Tokens.allCases.enumerated() { medians[index].add(try await catchUp(store, tokens)) }
        }
        try store.close()
        let floor = medians[0].value
        for (tokens, median) in zip(Tokens.allCases, medians).dropFirst() {
            try report.add(
                Figure(
                    workload: "T \(tokens.rawValue)", subject: "Chat", value: median.value * 1e9 / Double(Self.events),
                    unit: "ns/event",
                    floor: floor * 1e9 / Double(Self.events), ratio: floor / median.value,
                    target: tokens == .byPosition ? nil : 1 / 1.3,
                    spread: median.spread))
        }
    }

    /// Returns the seconds in which a new follower receives all events.
    private func catchUp(_ store: ChatStore, _ tokens: Tokens) async throws -> Double {
        let start = ContinuousClock.now
        var (count, sum): (Position, UInt64) = (0, 0)
        for try await event in store.events(in: 1...Self.events, matching: EventFilter(as: .host)) {
            switch tokens {
            case .none: sum &+= event.position
            case .touched: sum &+= event.resumeToken.position ^ event.resumeToken.head.chain
            case .asText: sum &+= UInt64(event.resumeToken.description.utf8.count)
            case .byPosition: sum &+= try store.resumeToken(after: event.position).head.chain
            }
            count += 1
        }
        precondition(count == Self.events && sum != 0, "every event must be delivered")
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// Writes a history with one commit for each command.
    private func write(_ path: String) throws -> ChatStore {
        try makeDirectory(directory)
        discard(path)
        let store = try ChatStore.open(path, options: WrittenHistory.options)
        let thread = ThreadID(bits: 1)
        let members = (0..<Self.members).map { UserID(bits: UInt128($0) + 2) }
        for (number, member) in members.enumerated() {
            try store.executeBlocking(.registerUser(id: member, username: "User \(number)"))
            try store.executeBlocking(
                number == 0
                    ? .openThread(id: thread, name: "Garden", by: member)
                    : .joinThread(thread: thread, by: member))
        }
        while store.head.position < Self.events {
            let number = Int(store.head.position)
            try store.executeBlocking(
                .postMessage(
                    id: nil, thread: thread,
                    body: "Message \(number): could someone pick up milk and bread this afternoon?",
                    by: members[number % members.count]))
        }
        return store
    }
}
