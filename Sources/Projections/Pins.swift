package import ChatDomain
import Columns

/// Queries of pinned messages; ``CommunityHistory`` keeps their history.
extension ReadModels {
    /// Returns the pinned messages of a thread, in the order in which they were pinned.
    ///
    /// - Complexity: O(*n* log *n*) in the number of messages that were ever pinned.
    package func pinnedMessages(of thread: ThreadID, asOf position: Position, after start: Position = 0) -> [PostRecord]
    {
        let index = identities.index(ofThread: thread)
        return compactMap(scan(pinsOf: thread)) { row -> (message: Int, pinnedAt: Position)? in
            let message = views.community.pins.rows.entry(row)
            // A forged event can pin a message of another thread, which the reader may not see.
            guard let version = views.community.pins.version(of: message, asOf: position), version.value != 0,
                identities.posts.messages.parent(message) == index, identities.posts.messages.position(message) > start
            else { return nil }
            return (message, version.position)
        }
        .sorted { $0.pinnedAt < $1.pinnedAt }
        .compactMap { post(identities.postID(PostKey($0.message, isReply: false)), asOf: position) }
    }

    /// Returns a scan of every message that was ever pinned in a thread.
    func scan(pinsOf thread: ThreadID) -> Scan {
        Scan(from: identities.index(ofThread: thread).flatMap { views.community.pinsOfThread.last(of: $0) }) {
            $0.views.community.pinsOfThread.row(before: $1)
        }
    }
}
