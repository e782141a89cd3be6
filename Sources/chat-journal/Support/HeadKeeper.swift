import Chat
import Dispatch
import EventJournal
import Synchronization

/// The file of a head has a head that another process wrote.
struct HeadOfOther: Error, CustomStringConvertible {
    let path: String
    var description: String {
        "\(escapedForTerminal(path)): another process keeps its head there, and has taken over the log"
    }
}

/// Keeps the last synced head of a store in a file: each second while it changes, and at the end.
///
/// With the durability `.written`, a power failure can lose what was answered: the head is then
/// kept at the beginning and at the end only, when the log is synced.
final class HeadKeeper: Sendable {
    static let interval = DispatchTimeInterval.seconds(1)

    private struct State {
        var written: JournalHead
        var isFailing = false
        var hasEnded = false
    }

    private let store: ChatStore
    private let file: HeadFile
    private let isSynced: Bool
    /// Is called with the error of the first of several writes that fail.
    private let failed: @Sendable (any Error) -> Void
    private let state: Mutex<State>
    private let queue = DispatchQueue(label: "chat-journal head")

    /// Writes the head of an open store.
    ///
    /// - Throws: The error of the file.
    init(
        _ store: ChatStore, _ file: HeadFile, durability: Durability, failed: @escaping @Sendable (any Error) -> Void
    ) throws {
        (self.store, self.file, self.failed, isSynced) = (store, file, failed, durability == .synced)
        let head = store.head
        try file.write(head)
        state = Mutex(State(written: head))
        if isSynced { continueLater() }
    }

    private func continueLater() {
        queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
            guard let self else { return }
            if keepHead() { continueLater() }
        }
    }

    /// Writes the present head if it has changed.
    ///
    /// - Returns: False after the end.
    private func keepHead() -> Bool {
        state.withLock { state in
            if state.hasEnded { return false }
            do {
                try write(store.head, &state)
                state.isFailing = false
            } catch {
                // The next second tries again.
                if !state.isFailing { failed(error) }
                state.isFailing = true
            }
            return true
        }
    }

    /// Writes a head that has changed, unless another process has written the file since: it has
    /// taken over, and what it answered must not be forgotten.
    ///
    /// A process that is stopped between the two calls can still write over it.
    private func write(_ head: JournalHead, _ state: inout State) throws {
        if head == state.written { return }
        if let kept = try file.read(), kept != state.written { throw HeadOfOther(path: file.path) }
        try file.write(head)
        state.written = head
    }

    /// Closes the store and writes its last head.
    ///
    /// - Throws: The error of the store, or else that of the file.
    func close() throws {
        try state.withLock { state in
            state.hasEnded = true
            let head = store.head
            do throws(ChatError) {
                try store.close()
            } catch {
                // What was answered before the log stopped is synced; the error of the log is the
                // one to report.
                if isSynced { try? write(head, &state) }
                throw error
            }
            try write(head, &state)
        }
    }
}
