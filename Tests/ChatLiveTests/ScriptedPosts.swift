import ChatLive
import ChatValues
import Testing

/// A source whose pages and effects a test gives.
struct ScriptedPosts: LivePostsSource {
    typealias Change = LiveTimeline.Change

    let first: (posts: [Post], hasEarlier: Bool)
    let earlier: @Sendable (Position) async throws(LiveFailure) -> (posts: [Post], hasEarlier: Bool)
    private let effects: AsyncStream<Result<LiveEffect<Change>, LiveFailure>>
    private let script: AsyncStream<Result<LiveEffect<Change>, LiveFailure>>.Continuation

    init(
        _ posts: [Post], hasEarlier: Bool = false,
        earlier: @escaping @Sendable (Position) async throws(LiveFailure) -> (posts: [Post], hasEarlier: Bool) = { _ in
            ([], false)
        }
    ) {
        (first, self.earlier) = ((posts, hasEarlier), earlier)
        (effects, script) = AsyncStream.makeStream()
    }

    func send(_ change: Change) { script.yield(.success(.change(change))) }
    func reload(_ reload: LiveReload) { script.yield(.success(.reload(reload))) }
    func fail(_ failure: LiveFailure) { script.yield(.failure(failure)) }
    func end() { script.finish() }

    func load() async throws(LiveFailure) -> LiveLoad<[Post], Change> {
        LiveLoad(
            first.posts, hasEarlier: first.hasEarlier, effects: ScriptedEffects(iterator: effects.makeAsyncIterator()))
    }

    func loadEarlier(before position: Position) async throws(LiveFailure) -> (posts: [Post], hasEarlier: Bool) {
        try await earlier(position)
    }
}

private struct ScriptedEffects: LiveEffects {
    var iterator: AsyncStream<Result<LiveEffect<LiveTimeline.Change>, LiveFailure>>.Iterator

    mutating func next() async throws(LiveFailure) -> LiveEffect<LiveTimeline.Change>? {
        try await iterator.next(isolation: #isolation)?.get()
    }
}

/// Waits until a value satisfies a condition; the time limit of the suite ends it.
@MainActor func until<Value>(
    _ value: () -> Value, sourceLocation: SourceLocation = #_sourceLocation, _ condition: (Value) -> Bool
) async throws {
    for _ in 0..<10_000 {
        if condition(value()) { return }
        try await Task.sleep(for: .milliseconds(1))
    }
    Issue.record("the value stayed \(value())", sourceLocation: sourceLocation)
}

struct TestFailure: ChatFailure {
    var rejection: Rejection?
    var text = "failed: The source cannot be read."
    var description: String { rejection?.description ?? text }

    /// What a server answers about a thread that the user cannot read.
    static let notFound = TestFailure(text: "notFound: There is nothing here that you can see.")
}
