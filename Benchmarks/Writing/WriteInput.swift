import Chat
import ChatDomain
import EventJournal
import Foundation

/// What W1 to W4 write: messages, made before any clock starts, as bytes and as commands.
struct WriteInput: Sendable {
    /// Commands of a call.
    static let batch = 1_000

    let events: PackedEvents
    /// The same messages as commands, a thousand together.
    let batches: [[CommandRequest]]
    /// A journal in which the users are registered, the threads open, and everybody joined where they are going to post.
    let prepared: String

    /// Makes so many messages, and a journal that is ready for them in a directory.
    init(count: Int, in directory: String) throws {
        let workload = Workload(count: count)
        var events = PackedEvents()
        events.reserve(count)
        var batches: [[CommandRequest]] = []
        for start in stride(from: 0, to: count, by: Self.batch) {
            var batch: [CommandRequest] = []
            batch.reserveCapacity(Self.batch)
            for index in start..<min(count, start + Self.batch) {
                let post = workload.post(index)
                let (thread, author, body) = (Workload.threadID(post.thread), Workload.userID(post.user), workload.body(of: post))
                events.append(
                    thread: thread.bits, message: post.id, author: author.bits, time: 1_700_000_000_000 + 10 * UInt64(index), body: body)
                batch.append(
                    CommandRequest(.postMessage(message: MessageID(bits: post.id), thread: thread, author: author, body: body)))
            }
            batches.append(batch)
        }
        self.events = events
        self.batches = batches
        prepared = "\(directory)/prepared-\(count)"
        try makeDirectory(directory)
        discard(prepared)
        let store = try ChatStore.open(prepared, options: WrittenHistory.options)
        var history = History(workload)
        try history.setUp(store)
        try store.close()
    }

    /// The request of a message.
    func request(_ index: Int) -> CommandRequest { batches[index / Self.batch][index % Self.batch] }
}
