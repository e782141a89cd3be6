import ChatDomain
import ChatLive
import ChatValues
import EventJournal
import Projections

/// The posts of a store that a `LiveTimeline` shows: the messages of a thread, or the replies to
/// one.
protocol PostsSource: StoreSource where Value == [Post], Change == LiveTimeline.Change {
    var viewer: Viewer { get }
    /// The number of posts that are loaded first, and that a load of earlier ones adds.
    var limit: Int { get }
    func page(_ request: PageRequest, of store: ChatStore, asOf point: AsOf) throws(ChatError) -> Page<Post>
    /// Returns the thread of the posts; nil if it is unknown.
    func thread(_ models: borrowing ReadModels, asOf position: Position) -> ThreadID?
    /// Throws if the viewer can no longer read the posts.
    func requireRights(in store: ChatStore) throws(ChatError)
}

extension PostsSource {
    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (value: [Post], hasEarlier: Bool) {
        let page = try page(PageRequest.latest(limit), of: store, asOf: .position(position))
        return (page.entries, page.older != nil)
    }

    /// Returns the posts before a position, outside the main actor.
    @concurrent func loadInBackground(
        from store: ChatStore, before position: Position
    ) async throws(ChatError) -> (posts: [Post], hasEarlier: Bool) {
        let page = try page(PageRequest.before(position, limit: limit), of: store, asOf: .now)
        return (page.entries, page.older != nil)
    }

    /// Returns the filter for the events that change these posts of the thread, or who may read them.
    ///
    /// The filter is the host's: a viewer who left and came back reads what changed meanwhile.
    func filter(in thread: ThreadID, of posts: ChangedAnswers) -> EventFilter {
        var filter = EventFilter(as: .host, threads: [thread], kinds: EventKind.changing(posts.union(.access)))
        filter.includesThreadlessEvents = true
        filter.liveViewer = viewer.user
        return filter
    }

    /// Returns the effect of an event that is about no post.
    func effectOnAll(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<Change>? {
        switch (event.kind, event.shape) {
        case (.usernameChanged, .user(let user)): return .change(.name(user, name(of: user, in: store)))
        case (.threadLeft, _), (.memberRemoved, _):
            if viewer.isUser(event.user) { try requireRights(in: store) }
            return nil
        case (.threadJoined, _):
            if viewer.isUser(event.user) { return try reload(from: store) }
            // Who comes back may have another name than when they left.
            return event.user.map { .change(.name($0, name(of: $0, in: store))) }
        case (.operatorGranted, _), (.operatorRevoked, _), (.threadPolicySet, _): return try reload(from: store)
        case (let kind?, .block(let user, let by)):
            return viewer.isUser(by) ? .change(.block(user, isBlocked: kind == .userBlocked)) : nil
        default: return nil
        }
    }

    /// Returns the name of a user that the viewer is shown in the thread.
    private func name(of user: UserID, in store: ChatStore) -> String? {
        store.withCurrentModels { models, now in
            var names = ShownNames(from: Viewpoint(viewer: viewer, position: now, currentPosition: now))
            return names.summary(of: user, in: thread(models, asOf: now), models).username
        }
    }

    /// Returns the effect of an event after which the viewer may read other posts than before.
    private func reload(from store: ChatStore) throws(ChatError) -> LiveEffect<Change> {
        try requireRights(in: store)
        return .reload(.outdated)
    }

    /// Returns the post that a query finds; nil if it is unknown or the viewer may not read it.
    ///
    /// After a repair that lost events, an event can refer to a post that is unknown.
    ///
    /// - Throws: A rejection if the viewer can no longer read the posts at all.
    func current(in store: ChatStore, _ post: () throws(ChatError) -> Post) throws(ChatError) -> Post? {
        do throws(ChatError) { return try post() } catch {
            guard case .rejected(let rejection) = error,
                [.unknownMessage, .unknownReply, .notAMember].contains(rejection.code)
            else { throw error }
            try requireRights(in: store)
            return nil
        }
    }
}

/// A source of the messages of a thread.
struct TimelineSource: PostsSource {
    let thread: ThreadID
    let viewer: Viewer
    let limit: Int

    func filter(in store: ChatStore) -> EventFilter {
        filter(in: thread, of: .messages)
    }

    func page(_ request: PageRequest, of store: ChatStore, asOf point: AsOf) throws(ChatError) -> Page<Post> {
        try store.reader(as: viewer, asOf: point).timeline(thread, page: request)
    }

    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<LiveTimeline.Change>? {
        switch (event.kind, event.shape) {
        case (.messagePosted, _), (.messageEdited, _), (.messageRetracted, _), (.messageRemoved, _), (.replyPosted, _),
            (.replyRetracted, _), (.replyRemoved, _), (.reactionAdded, .message), (.reactionRemoved, .message):
            guard let id = event.message else { return nil }
            let message = try current(in: store) { () throws(ChatError) in try store.reader(as: viewer).message(id) }
            // After a repair that lost events, the message can be in another thread.
            return message.flatMap { $0.thread == thread ? .change(.post($0)) : nil }
        default: return try effectOnAll(of: event, in: store)
        }
    }

    func thread(_ models: borrowing ReadModels, asOf position: Position) -> ThreadID? { thread }

    func requireRights(in store: ChatStore) throws(ChatError) { _ = try store.reader(as: viewer).thread(thread) }
}

/// A source of the replies to a message.
struct RepliesSource: PostsSource {
    let message: MessageID
    let viewer: Viewer
    let limit: Int

    /// Matches the events of the whole thread, whose message the filter cannot know.
    func filter(in store: ChatStore) throws(ChatError) -> EventFilter {
        guard let thread = try store.reader(as: .host).message(message).thread else { throw .rejected(.unknownMessage) }
        return filter(in: thread, of: .replies)
    }

    func page(_ request: PageRequest, of store: ChatStore, asOf point: AsOf) throws(ChatError) -> Page<Post> {
        try store.reader(as: viewer, asOf: point).replies(to: message, page: request)
    }

    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<LiveTimeline.Change>? {
        guard event.message != nil else { return try effectOnAll(of: event, in: store) }
        guard event.message == message, let id = event.reply else { return nil }
        return try current(in: store) { () throws(ChatError) in try store.reader(as: viewer).reply(id) }.map {
            .change(.post($0))
        }
    }

    func thread(_ models: borrowing ReadModels, asOf position: Position) -> ThreadID? {
        models.thread(of: .message(message), asOf: position)
    }

    func requireRights(in store: ChatStore) throws(ChatError) {
        _ = try page(PageRequest.latest(0), of: store, asOf: .now)
    }
}
