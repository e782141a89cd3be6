#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatValues
    internal import Locking

    // Reads what the first screens of an app show, before it is asked for, so that a later start
    // without a network shows them.
    extension SyncEngine {
        /// What was read ahead of a request in one connection.
        struct FirstScreens {
            /// The parts that were read, or that the server has refused.
            var asked: Set<Part> = []
            /// The bytes of posts that may still be read; the last page can have more.
            var bytes = 1 << 20
        }

        /// The most posts of a thread.
        private static let mostFirstPosts = 50

        /// Reads the next part of the first screens that the copy lacks; returns false if it has
        /// them all, or may read no more in this connection.
        func readNextOfFirstScreens() async throws(ClientError) -> Bool {
            guard let screens = state.withLock({ $0.firstScreens }) else { return false }
            let left = screens.asked.union(givenUp)
            let queries: [any KeptQuery] = [UserQuery(), ThreadsQuery(), InboxQuery()]
            for query in queries {
                let part = Part.answer(KeptAnswer(query))
                if left.contains(part) { continue }
                if try copy.has(query) { continue }
                try await attempt(part) { () async throws(ClientError) in try await read(query) }
                state.withLock { _ = $0.firstScreens?.asked.insert(part) }
                return true
            }
            guard screens.bytes > 0, screens.asked.count < queries.count + environment.firstThreads,
                let thread = try nextThread(except: left)
            else {
                state.withLock { $0.firstScreens = nil }
                return false
            }
            let list = PostList.messages(thread)
            try await attempt(.posts(list)) { () async throws(ClientError) in
                let page = try await read(list, in: thread, PageRequest.latest(Self.mostFirstPosts))
                let size = page.reduce(0) { $0 + ($1.body?.utf8.count ?? 0) }
                state.withLock { $0.firstScreens?.bytes -= size }
            }
            state.withLock { _ = $0.firstScreens?.asked.insert(.posts(list)) }
            return true
        }

        /// Returns the thread with the latest event, of those whose posts may be read, whose latest
        /// messages the copy does not know.
        private func nextThread(except left: Set<Part>) throws(ClientError) -> ThreadID? {
            guard let threads = try copy.answer(ThreadsQuery())?.value else { return nil }
            for thread in threads.entries.suffix(environment.firstThreads).reversed() {
                let list = PostList.messages(thread.id)
                if left.contains(.posts(list)) { continue }
                if try !copy.follows(list) { return thread.id }
            }
            return nil
        }
    }
#endif
