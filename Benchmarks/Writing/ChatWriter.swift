import Chat
import ChatDomain
import EventJournal
import Foundation

/// Writes messages through a store: decision, encoding, commit, rules, read models, answer.
struct ChatWriter: EventWriter {
    let subject = "Chat"
    var treeLayout = TreeLayout()

    func rate(of phase: WritePhase, _ input: WriteInput, in directory: String) async throws -> Double {
        try FileManager.default.copyItem(atPath: input.prepared, toPath: directory)
        var options = WrittenHistory.options
        options.journal.durability = phase.isDurable ? .synced : .written
        options.journal.treeLayout = treeLayout
        let store = try ChatStore.open(directory, options: options)
        let rate = try await Self.rate(of: phase, input, store)
        try store.close()
        return rate
    }

    /// Writes the messages of a phase; returns the messages per second.
    static func rate(of phase: WritePhase, _ input: WriteInput, _ store: ChatStore) async throws -> Double {
        switch phase.callers {
        case .one where phase.batch == WriteInput.batch:
            return try phase.rate { range in
                for answer in try store.executeBlocking(input.batches[range.lowerBound / WriteInput.batch]) {
                    _ = try answer.get()
                }
            }
        case .one:
            return try phase.rate { range in _ = try store.executeBlocking([input.request(range.lowerBound)])[0].get() }
        case .task:
            return try await phase.rate { range in
                _ = try await store.execute([input.request(range.lowerBound)])[0].get()
            }
        case .threads(let count):
            return try phase.rate(threads: count) { index in
                _ = try store.executeBlocking([input.request(index)])[0].get()
            }
        case .tasks(let count):
            return try await phase.rate(tasks: count) { index in
                _ = try await store.execute([input.request(index)])[0].get()
            }
        }
    }
}
