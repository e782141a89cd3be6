public import ChatDomain
import EventJournal
import Projections

/// Threads that an import opened; for the host only.
extension ChatStore {
    /// Returns the named threads of imports that every user may join and read as a whole: imports
    /// of earlier versions, and those with the policy `open`, leave them so.
    ///
    /// A thread that was `inviteOnly` since the import is not among them, also if it was made
    /// `open` again: an owner or an operator has decided that.
    ///
    /// - Complexity: O(*n*) in the number of all threads.
    public func importedThreadsLeftOpen() -> [ThreadID] {
        let sections = currentSections
        let now = sections.viewpoint.position
        return sections.compactMap(sections.withSection { $0.threadScan() }) { models, row in
            models.isOpenImportedThread(row, asOf: now) ? models.threadID(ofThread: row) : nil
        }.sorted()
    }

    /// Makes the threads of ``importedThreadsLeftOpen()`` `inviteOnly`.
    ///
    /// Their members stay members, with what they can read. Each event `threadPolicySet` is marked
    /// as imported and names the opener of the thread, as if the import had set the policy.
    ///
    /// - Returns: The threads.
    /// - Throws: ``ChatError`` if the store fails; ``ChatError/rejected(_:)`` with `storageFull`.
    ///   Threads that were closed before remain so.
    @discardableResult
    public func makeImportedThreadsInviteOnly() throws(ChatError) -> [ThreadID] {
        let threads = importedThreadsLeftOpen()
        var requests: [CommandRequest] = []
        for thread in threads {
            let opening = withCurrentModels { models, _ in models.openingPosition(of: thread) }
            guard let opener = try event(at: opening).user else { continue }
            requests.append(
                CommandRequest(
                    .setThreadPolicy(thread: thread, policy: .inviteOnly, by: opener), origin: .imported(sentAt: nil)))
        }
        for start in stride(from: 0, to: requests.count, by: Self.closingBatchSize) {
            let batch = Array(requests[start..<min(requests.count, start + Self.closingBatchSize)])
            for answer in try executeBlocking(batch) {
                if case .failure(let rejection) = answer { throw .rejected(rejection) }
            }
        }
        return threads
    }

    /// The number of threads per commit.
    private static let closingBatchSize = 1_000
}
