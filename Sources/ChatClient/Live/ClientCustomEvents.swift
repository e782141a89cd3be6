#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatLive
    internal import ChatValues

    /// The custom events of a thread, as the server has them: the copy keeps none.
    struct ClientCustomEvents: CustomEventsSource {
        let engine: SyncEngine
        let thread: ThreadID
        let kind: CustomKind?
        let limit: Int

        func load() async throws(LiveFailure) -> LiveLoad<[CustomEvent], LiveCustomEvents.Change> {
            // Before the page is read, so that no change is missed.
            let (changes, end) = (engine.changes.elements(), AccessEnd(engine.changes.elements(), thread))
            let page = try await page(.latest(limit))
            return LiveLoad(
                page.entries, hasEarlier: page.older != nil,
                effects: Effects(
                    changes: changes.makeAsyncIterator(), end: end, source: self, last: page.newer.after ?? 0))
        }

        func page(_ request: PageRequest) async throws(LiveFailure) -> Page<CustomEvent> {
            let query = CustomEventsQuery(thread: thread, kind: kind, page: request)
            return try await engine.whenPossible { engine throws(ClientError) in try await engine.readCurrent(query) }
        }

        private struct Effects: LiveEffects {
            var changes: AsyncStream<CopyChanges>.AsyncIterator
            let end: AccessEnd
            let source: ClientCustomEvents
            /// The position after which new events are read.
            var last: Position
            var waiting: ArraySlice<CustomEvent> = []
            /// Whether there can be events after ``last``.
            var hasMore = false
            /// Whether the latest events are to be read again.
            var isOutdated = false
            /// Why the source must be loaded again, once nothing is displayed.
            var reload: LiveReload?

            mutating func next() async throws(LiveFailure) -> LiveEffect<LiveCustomEvents.Change>? {
                while true {
                    if let reload { return .reload(reload) }
                    if let event = waiting.popFirst() { return .change(.event(event)) }
                    if isOutdated {
                        guard let page = try await page(.latest(source.limit)) else { return clear(.forbidden) }
                        (isOutdated, last) = (false, max(last, page.newer.after ?? last))
                        return .change(.all(page.entries, hasEarlier: page.older != nil))
                    }
                    if hasMore {
                        guard let page = try await page(.after(last, limit: CustomEvents.pageSize)) else {
                            return clear(.forbidden)
                        }
                        (waiting, last) = (page.entries[...], max(last, page.newer.after ?? last))
                        hasMore = page.count == CustomEvents.pageSize || page.isTruncated
                        continue
                    }
                    guard let change = await changes.next(isolation: #isolation) else {
                        // A sequence that was too slow has ended, or the client is closed.
                        return Task.isCancelled || source.engine.changes.isOver ? nil : clear(.outdated)
                    }
                    if change.endsAccess(to: source.thread) { return clear(.forbidden) }
                    isOutdated =
                        change.hasGaps || change.readsAllThreadsAgain
                        || change.threadsToReadAgain.contains(source.thread)
                    hasMore = change.customEvents.contains(source.thread)
                }
            }

            /// Has nothing displayed before the source is loaded again, because the server can be out of
            /// reach then.
            private mutating func clear(_ reason: LiveReload) -> LiveEffect<LiveCustomEvents.Change> {
                reload = reason
                return .change(.all([], hasEarlier: false))
            }

            /// Returns a page; nil if what is displayed may be no longer, perhaps before the server can be
            /// reached.
            private func page(_ request: PageRequest) async throws(LiveFailure) -> Page<CustomEvent>? {
                let (source, end) = (source, end)
                let result = await withTaskGroup(of: Result<Page<CustomEvent>?, LiveFailure>.self) { group in
                    group.addTask {
                        do throws(LiveFailure) { return .success(try await source.page(request)) } catch {
                            return .failure(error)
                        }
                    }
                    group.addTask {
                        _ = await end.signal.wait()
                        return .success(nil)
                    }
                    defer { group.cancelAll() }
                    return await group.next() ?? .success(nil)
                }
                return try result.get()
            }
        }
    }

    /// Waits until events of a thread may no longer be displayed, for as long as it exists.
    private final class AccessEnd: Sendable {
        let signal = Signal()
        private let task: Task<Void, Never>

        init(_ changes: AsyncStream<CopyChanges>, _ thread: ThreadID) {
            task = Task { [signal] in
                for await change in changes where change.endsAccess(to: thread) { return signal.set() }
            }
        }

        deinit { task.cancel() }
    }

    extension CopyChanges {
        /// Whether what is displayed of a thread can be erased, or may not be read any more.
        fileprivate func endsAccess(to thread: ThreadID) -> Bool {
            isErasure || isFirst || lostThreads.contains(thread)
        }
    }
#endif
