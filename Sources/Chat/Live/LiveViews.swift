public import ChatDomain
public import ChatLive

extension LiveTimeline {
    /// Creates a timeline; nothing is read before `follow()`.
    ///
    /// - Parameters:
    ///   - store: The store of the thread.
    ///   - thread: The thread whose messages are listed.
    ///   - viewer: Who reads the thread. `state` fails when a user who reads it leaves the thread.
    ///   - limit: The number of messages that are loaded first, and the number that
    ///     `loadEarlier()` adds; at least 1.
    public convenience init(_ store: ChatStore, thread: ThreadID, as viewer: Viewer, limit: Int = 50) {
        self.init(source: LiveStoreSource(store, TimelineSource(thread: thread, viewer: viewer, limit: max(1, limit))))
    }

    /// Creates the view of the replies to a message; nothing is read before `follow()`.
    ///
    /// - Parameters:
    ///   - store: The store of the message.
    ///   - message: The message whose replies are listed.
    ///   - viewer: Who reads them. `state` fails when a user who reads them leaves the thread.
    ///   - limit: The number of replies that are loaded first, and the number that
    ///     `loadEarlier()` adds; at least 1.
    public convenience init(_ store: ChatStore, repliesTo message: MessageID, as viewer: Viewer, limit: Int = 50) {
        self.init(source: LiveStoreSource(store, RepliesSource(message: message, viewer: viewer, limit: max(1, limit))))
    }
}

extension LiveCustomEvents {
    /// Creates the view of the custom events of a thread; nothing is read before `follow()`.
    ///
    /// - Parameters:
    ///   - store: The store of the thread.
    ///   - thread: The thread whose events are listed.
    ///   - kind: The only kind that is listed; nil for all.
    ///   - viewer: Who reads them. `state` fails when a user who reads them leaves the thread.
    ///   - limit: The maximum number of events, from 1 to 200. The latest are kept.
    public convenience init(
        _ store: ChatStore, of thread: ThreadID, kind: CustomKind? = nil, as viewer: Viewer, limit: Int = 50
    ) {
        let limit = max(1, min(limit, PageRequest.answerLimits.upperBound))
        self.init(
            source: LiveStoreSource(
                store, StoreCustomEvents(thread: thread, kind: kind, viewer: viewer, limit: limit)),
            limit: limit)
    }
}

extension LiveThreads {
    /// Creates a list of threads; nothing is read before `follow()`.
    ///
    /// - Parameters:
    ///   - store: The store of the threads.
    ///   - viewer: The member whose threads are listed, or the host, which sees all threads.
    ///   - limit: The maximum number of threads, at least 1. The threads with the latest events are
    ///     kept.
    public convenience init(_ store: ChatStore, as viewer: Viewer, limit: Int = 50) {
        self.init(source: LiveStoreSource(store, ThreadsSource(viewer: viewer, limit: max(1, limit))), limit: limit)
    }
}

extension LiveUser {
    /// Creates the view of a user as the user sees it; nothing is read before `follow()`.
    public convenience init(_ store: ChatStore, user: UserID) {
        self.init(source: LiveStoreSource(store, UserSource(user: user)))
    }
}

extension LiveInbox {
    /// Creates the view of a user's inbox; nothing is read before `follow()`.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - user: The user whose inbox it is.
    ///   - limit: The maximum number of entries, at least 1.
    public convenience init(_ store: ChatStore, of user: UserID, limit: Int = 50) {
        self.init(source: LiveStoreSource(store, InboxSource(user: user, limit: max(1, limit))))
    }
}
