import Chat
import ChatDomain
import EventJournal
import Foundation
import Projections

/// A store in which one user has many unread messages, with the calls and loads of Q.
struct BusyStore {
    /// The call that is measured.
    enum Call: String, CaseIterable {
        case command = "command"
        case syncedCommand = "command on disk"
        case latestPage = "latest 50"
        case userView = "user view"
    }

    /// The work that another thread repeats meanwhile.
    ///
    /// `batches` is last, because it makes the store grow.
    enum Load: String, CaseIterable {
        /// No use of the store; the thread spins, so that the processors are shared in the same
        /// way.
        case spin = "alone"
        /// Queries of the user with the unread messages.
        case unread = "unread"
        /// Pages in the middle of the long thread, as of an early position.
        case pages = "pages"
        /// A file of a checkpoint's size, written and synced without the store.
        ///
        /// It shows the effect of the disk alone on a synced command.
        case files = "files"
        /// One message and one checkpoint.
        case checkpoints = "checkpoints"
        /// A thousand messages in one commit.
        case batches = "batches"
    }

    private let store: ChatStore
    private let messages: Int
    /// The path of the journal; nil for a store in memory.
    private let path: String?

    private static let reader = UserID(bits: 1)
    private static let author = UserID(bits: 2)
    private static let resident = UserID(bits: 3)
    private static let long = ThreadID(bits: 4)
    /// The thread of single commands.
    private static let single = ThreadID(bits: 5)
    /// The thread of batches.
    private static let batched = ThreadID(bits: 6)
    /// The threads of the resident; queries read the latest page of the first.
    private static let short = (0..<10).map { ThreadID(bits: 7 + UInt128($0)) }

    /// Creates a store in memory, or at a path with synced commands.
    init(messages: Int, at path: String? = nil) throws {
        var options = StoreOptions()
        options.checkpoints = .loadingOnly
        store = try path.map { try ChatStore.open($0, options: options) } ?? ChatStore.inMemory(options: options)
        self.messages = messages
        self.path = path
        var batch = Batch(store)
        for (user, name) in [(Self.reader, "reader"), (Self.author, "author"), (Self.resident, "resident")] {
            try batch.add(.registerUser(id: user, username: name))
        }
        for (index, thread) in ([Self.long, Self.single, Self.batched] + Self.short).enumerated() {
            try batch.add(.openThread(id: thread, name: "thread \(index)", by: Self.author))
        }
        try batch.add(.joinThread(thread: Self.long, by: Self.reader))
        for _ in 0..<messages { try batch.add(Self.post(in: Self.long)) }
        for _ in 0..<1_000 { try batch.add(Self.post(in: Self.short[0])) }
        for thread in Self.short {
            try batch.add(.joinThread(thread: thread, by: Self.resident))
            for _ in 0..<20 { try batch.add(Self.post(in: thread)) }
        }
        try batch.flush()
        let unread = try store.reader(as: .host).user(Self.reader).threads.map(\.unreadCount)
        guard unread == [messages] else { throw UsageError("\(unread) messages are unread, not \(messages)") }
    }

    /// Whether a call is measured beside a load.
    ///
    /// Only synced commands wait for the disk.
    func isMeasured(_ call: Call, beside load: Load) -> Bool {
        (call == .syncedCommand) == (path != nil) && (load != .files || path != nil)
    }

    func close() throws { try store.close() }

    /// Makes one call every 2 ms beside a load.
    func waits(of call: Call, beside load: Load, for duration: Duration) throws -> Waits {
        let busy = BusyThread(work(load))
        let waits = try Waits(every: .milliseconds(2), for: duration) {
            switch call {
            case .command, .syncedCommand: try store.executeBlocking(Self.post(in: Self.single))
            case .latestPage: _ = try store.reader(as: .host).timeline(Self.short[0])
            case .userView: _ = try store.reader(as: .host).user(Self.resident)
            }
        }
        try busy.stop()
        return waits
    }

    private func work(_ load: Load) -> @Sendable (_ round: Int) throws -> Void {
        let store = store
        switch load {
        case .spin: return { _ in }
        case .unread: return { _ in _ = try store.reader(as: .host).user(Self.reader) }
        case .pages:
            let early = Position(messages / 10)
            return { round in
                _ = try store.reader(as: .host, asOf: .position(early)).timeline(
                    Self.long, page: .before(early / 2 + Position(round) * 7_919 % (early / 2)))
            }
        case .files:
            let (file, bytes) = (URL(filePath: "\(path ?? "").file"), Data(repeating: 7, count: 40 * messages))
            return { _ in
                try bytes.write(to: file)
                let handle = try FileHandle(forUpdating: file)
                try handle.synchronize()
                try handle.close()
                try FileManager.default.removeItem(at: file)
            }
        case .checkpoints:
            return { _ in
                try store.executeBlocking(Self.post(in: Self.batched))
                try store.writeCheckpoint()
            }
        case .batches:
            let requests = [CommandRequest](repeating: CommandRequest(Self.post(in: Self.batched)), count: 1_000)
            return { _ in for answer in try store.executeBlocking(requests) { _ = try answer.get() } }
        }
    }

    private static func post(in thread: ThreadID) -> ChatCommand {
        .postMessage(id: nil, thread: thread, body: "Milk?", by: author)
    }
}
