package import ChatDomain
public import ChatValues
public import Observation

/// The latest messages of a thread, kept current for a screen while ``follow()`` runs.
///
/// In SwiftUI: `List(timeline.messages, id: \.id) { ... }.task { await timeline.follow() }`.
/// Without SwiftUI, observe it:
///
/// ```swift
/// /// Keeps the messages of a thread on the screen, until the task is cancelled.
/// @MainActor func show(_ timeline: LiveTimeline, display: ([Post]) -> Void) async {
///     async let following: Void = timeline.follow()
///     for await messages in Observations({ timeline.messages }) { display(messages) }
///     await following
/// }
/// ```
///
/// Each message is listed once, in journal order. Edits, retractions, reply counts and names of
/// authors change in place. The journal is read outside the main actor. Of a client, the messages in
/// the outbox stand last (`Post.isPending`); each moves to its place once it is confirmed.
///
/// The same view shows the replies to a message.
@MainActor @Observable public final class LiveTimeline: LiveView {
    /// The loading state and the messages, oldest first.
    public internal(set) var state = LoadState<[Post]>.loading
    /// Whether messages that the viewer may read precede the first displayed one.
    public private(set) var hasEarlier = false
    /// The generation of the latest load of earlier messages.
    ///
    /// The result of a load is discarded if its generation is not the latest. A complete reload
    /// begins a new generation.
    @ObservationIgnored private var loadGeneration: UInt64 = 0
    /// The changes since the load of earlier messages began; nil if no load is running.
    ///
    /// They are applied to the loaded page, which may be older than they are. If they exceed
    /// ``LiveBacklog/limit``, the page is loaded again instead.
    @ObservationIgnored private var changesMeanwhile: [Change]?

    /// Called with the messages when they were loaded: changes before that can have been missed.
    @ObservationIgnored package var onLoad: @MainActor ([Post]) -> Void = { _ in }
    /// Called with each post that is new or has changed since then.
    @ObservationIgnored package var onChange: @MainActor (Post) -> Void = { _ in }
    /// The largest number of messages: new ones then displace the first ones.
    @ObservationIgnored package var longest = Int.max

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored private let source: any LivePostsSource

    package enum Change: Sendable {
        /// The current state of one post, which may be new, or confirmed under the id of a pending
        /// one.
        case post(Post)
        /// The post is no longer listed: it was withdrawn from an outbox, or the copy no longer has
        /// it.
        case removed(PostID)
        case name(UserID, String?)
        case block(UserID, isBlocked: Bool)
    }

    package init(source: any LivePostsSource) { self.source = source }

    /// The messages to display, oldest first.
    public var messages: [Post] { state.value ?? [] }

    /// Reads the messages and keeps them current until the task is cancelled or the store or
    /// client is closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }

    /// Adds the messages before the first displayed one, if any.
    ///
    /// Does nothing while the messages are being loaded, and after the end of ``follow()``.
    ///
    /// - Throws: A ``ChatFailure``; of a store, a `ChatError`. A rejection if the viewer may no
    ///   longer read the thread, which ``state`` then reports too, unless the view was loaded again
    ///   meanwhile. After any other error the displayed messages stay, and ``follow()`` keeps them
    ///   current; call again to try again.
    public func loadEarlier() async throws {
        guard case .loaded(let messages) = state, hasEarlier else { return }
        state = .updating(messages)
        var first = Self.start(of: messages)
        while true {
            (loadGeneration, changesMeanwhile) = (loadGeneration + 1, [])
            let generation = loadGeneration
            let earlier: (posts: [Post], hasEarlier: Bool)
            do throws(LiveFailure) { earlier = try await source.loadEarlier(before: first) } catch {
                // After a complete reload, the state is no longer that of this load.
                if generation == loadGeneration { endLoad(with: error.error) }
                throw error.error
            }
            // Meanwhile everything may have been reloaded, or changes may have arrived.
            guard generation == loadGeneration, let changes = changesMeanwhile, case .updating(let now) = state else {
                return
            }
            if changes.count > LiveBacklog.limit || Self.start(of: now) != first {
                first = Self.start(of: now)
                continue
            }
            changesMeanwhile = nil
            hasEarlier = earlier.hasEarlier
            // The page may already have a post that is displayed as pending.
            let loaded = Set(earlier.posts.map(\.id))
            var all = earlier.posts + now.filter { !loaded.contains($0.id) }
            for change in changes { apply(change, to: &all) }
            state = .loaded(all)
            return
        }
    }

    /// Returns the position before which earlier posts are loaded.
    private static func start(of posts: [Post]) -> Position { min(posts.first?.position ?? .max, .firstPending) }

    /// Ends a failed load of earlier messages.
    private func endLoad(with error: any ChatFailure) {
        changesMeanwhile = nil
        if error.isRefusal { fail(with: error) } else if case .updating(let now) = state { state = .loaded(now) }
    }

    func load() async throws(LiveFailure) -> LiveLoad<[Post], Change> { try await source.load() }

    func didApply(_ change: Change) {
        // One change beyond the limit marks that the page must be loaded again.
        if let count = changesMeanwhile?.count, count <= LiveBacklog.limit { changesMeanwhile?.append(change) }
        if case .post(let post) = change { onChange(post) }
    }

    func didLoad(hasEarlier: Bool) {
        (loadGeneration, changesMeanwhile) = (loadGeneration + 1, nil)
        self.hasEarlier = hasEarlier
        onLoad(messages)
    }

    func apply(_ change: Change, to posts: inout [Post]) {
        switch change {
        case .post(let post):
            apply(post, to: &posts)
            if posts.count > longest {
                posts.removeFirst(posts.count - longest)
                hasEarlier = true
            }
        case .removed(let id): posts.removeAll { $0.id == id }
        case .name(let user, let name):
            for index in posts.indices where posts[index].author.id == user { posts[index].author.username = name }
        case .block(let user, let isBlocked):
            for index in posts.indices where posts[index].author.id == user {
                posts[index].isFromBlockedUser = isBlocked
            }
        }
    }

    /// Replaces the post with the same id, or inserts the post where its position belongs.
    ///
    /// A post before the first displayed one belongs to an earlier page, and is ignored.
    private func apply(_ post: Post, to posts: inout [Post]) {
        let shown = posts.lastIndex { $0.id == post.id }
        if let shown {
            if posts[shown].position == post.position { return posts[shown] = post }
            // A late change of an outbox does not replace the confirmed post.
            if post.isPending, !posts[shown].isPending { return }
            posts.remove(at: shown)
        }
        if let index = posts.lastIndex(where: { $0.position < post.position }) {
            posts.insert(post, at: index + 1)
        } else if posts.first?.isPending ?? true || shown != nil && !hasEarlier {
            posts.insert(post, at: 0)
        }
    }
}
