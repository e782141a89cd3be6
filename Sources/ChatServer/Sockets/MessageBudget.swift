#if Server
    internal import Locking

    /// Counts the bytes of the messages of all sockets: those that are received, wait or are
    /// carried out.
    ///
    /// It rejects nothing: the loop ends sockets while the count is beyond the limit.
    final class MessageBudget: Sendable {
        private let limit: Int
        private let count = Lock(0)

        init(limit: Int) { self.limit = limit }

        var byteCount: Int { count.withLock { $0 } }

        var isExceeded: Bool { byteCount > limit }

        /// Whether an eighth of the limit is free: making room looks at every socket, and must not
        /// be needed again soon.
        var hasRoom: Bool { byteCount <= limit / 8 * 7 }

        func take(_ byteCount: Int) { count.withLock { $0 += byteCount } }

        func giveBack(_ byteCount: Int) { count.withLock { $0 -= byteCount } }
    }
#endif
