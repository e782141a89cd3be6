import Chat
import ChatDomain
import EventJournal
import Foundation

/// The input of W1 to W4: messages as bytes and as commands, created before a clock starts.
struct WriteInput: Sendable {
    /// The number of commands in a batch.
    static let batch = 1_000

    let events: PackedEvents
    /// The same messages as commands, in batches of a thousand.
    let batches: [[CommandRequest]]
    /// The path of a journal with the users, the threads and the memberships of the messages.
    let prepared: String

    /// Creates `count` messages, and a journal for them in a directory.
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
                let (thread, author, body) = (
                    Workload.threadID(post.thread), Workload.userID(post.user), workload.body(of: post)
                )
                events.append(
                    thread: thread.bits, message: post.id, author: author.bits,
                    time: 1_700_000_000_000 + 10 * UInt64(index), body: body)
                batch.append(
                    CommandRequest(
                        .postMessage(id: MessageID(bits: post.id), thread: thread, body: body, by: author)))
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

    /// Returns the command of a message.
    func request(_ index: Int) -> CommandRequest { batches[index / Self.batch][index % Self.batch] }
}
