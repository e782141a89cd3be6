import ChatLive
import ChatValues
import Testing

/// Posts of an outbox stand last, and move to their places once they are confirmed.
@Suite(.timeLimit(.minutes(3))) @MainActor struct PendingPostTests {
    private let ann = UserID(bits: 1)

    private func post(_ number: UInt128, at position: Position, _ body: String? = nil) -> Post {
        Post(
            id: .message(MessageID(bits: number)), position: position, thread: ThreadID(bits: 30),
            message: MessageID(bits: number),
            author: UserSummary(id: ann, username: "Ann"), body: body ?? "\(number)",
            createdAt: Timestamp(millisecondsSince1970: 1),
            isRetracted: false, replyCount: 0)
    }

    private func pending(_ number: UInt128, _ place: Position, _ body: String? = nil) -> Post {
        post(number, at: .firstPending + place, body)
    }

    /// Runs a timeline of a source while `body` runs.
    private func showing(_ source: ScriptedPosts, _ body: (LiveTimeline) async throws -> Void) async throws {
        let timeline = LiveTimeline(source: source)
        let task = Task { await timeline.follow() }
        try await until({ if case .loaded = timeline.state { true } else { false } }) { $0 }
        try await body(timeline)
        source.end()
        await task.value
    }

    private func until(
        _ timeline: LiveTimeline, _ bodies: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await until({ timeline.messages.map(\.body) }, sourceLocation: sourceLocation) { $0 == bodies }
    }

    private func until<Value>(
        _ value: () -> Value, sourceLocation: SourceLocation = #_sourceLocation, _ condition: (Value) -> Bool
    ) async throws { try await ChatLiveTests.until(value, sourceLocation: sourceLocation, condition) }

    @Test func pendingPostsAreBeyondEveryConfirmedOne() {
        #expect(pending(1, 0).isPending && pending(1, 7).isPending)
        #expect(!post(1, at: 1).isPending && !post(1, at: .firstPending - 1).isPending)
    }

    @Test func pendingPostsStandLastInTheirOrder() async throws {
        let source = ScriptedPosts([post(1, at: 10), pending(2, 4)])
        try await showing(source) { timeline in
            source.send(.post(pending(4, 9)))
            source.send(.post(pending(3, 5)))
            try await until(timeline, ["1", "2", "3", "4"])
            // A confirmed post of another user stands before them.
            source.send(.post(post(5, at: 11)))
            try await until(timeline, ["1", "5", "2", "3", "4"])
            source.send(.post(pending(3, 5, "edited")))
            try await until(timeline, ["1", "5", "2", "edited", "4"])
            #expect(timeline.messages.map(\.position) == timeline.messages.map(\.position).sorted())
        }
    }

    @Test func confirmedPostReplacesPendingOne() async throws {
        let source = ScriptedPosts([post(1, at: 10), pending(2, 0), pending(3, 1)])
        try await showing(source) { timeline in
            // Posts of other users arrive before the answer and after it.
            source.send(.post(post(8, at: 11)))
            source.send(.post(post(2, at: 12, "2 confirmed")))
            source.send(.post(post(9, at: 13)))
            try await until(timeline, ["1", "8", "2 confirmed", "9", "3"])
            // The answer and the event confirm it both, in either order.
            source.send(.post(post(2, at: 12, "2 confirmed")))
            // A late change of the outbox changes nothing.
            source.send(.post(pending(2, 0)))
            source.send(.post(post(3, at: 14)))
            try await until(timeline, ["1", "8", "2 confirmed", "9", "3"])
            try await until({ timeline.messages.filter(\.isPending).count }) { $0 == 0 }
            #expect(timeline.messages.map(\.position) == [10, 11, 12, 13, 14])
        }
    }

    /// The event of a later post can come first.
    @Test func confirmedPostMovesBeforeALaterOne() async throws {
        let source = ScriptedPosts([post(1, at: 10), pending(2, 0)])
        try await showing(source) { timeline in
            source.send(.post(post(9, at: 13)))
            try await until(timeline, ["1", "9", "2"])
            source.send(.post(post(2, at: 12)))
            try await until(timeline, ["1", "2", "9"])
        }
    }

    @Test func firstPostOfAThreadIsConfirmed() async throws {
        let source = ScriptedPosts([])
        try await showing(source) { timeline in
            source.send(.post(pending(2, 0)))
            source.send(.post(pending(3, 1)))
            try await until(timeline, ["2", "3"])
            source.send(.post(post(3, at: 12)))
            try await until(timeline, ["3", "2"])
            // The thread has no earlier posts, so this one is the first.
            source.send(.post(post(2, at: 11)))
            try await until({ timeline.messages.map(\.position) }) { $0 == [11, 12] }
        }
    }

    /// A post of an earlier page is not shown beside the latest ones.
    @Test func postOfAnEarlierPageIsIgnored() async throws {
        let source = ScriptedPosts([post(5, at: 50), pending(2, 0)], hasEarlier: true)
        try await showing(source) { timeline in
            source.send(.post(post(4, at: 40)))
            source.send(.post(post(2, at: 41)))
            source.send(.post(post(6, at: 60)))
            try await until(timeline, ["5", "6"])
        }
    }

    @Test func withdrawnPostIsRemoved() async throws {
        let source = ScriptedPosts([post(1, at: 10), pending(2, 0)])
        try await showing(source) { timeline in
            source.send(.removed(.message(MessageID(bits: 2))))
            try await until(timeline, ["1"])
        }
    }

    /// A page that already has the confirmed post does not list it twice, whatever is displayed
    /// then.
    @Test func earlierPageWithThePendingPostListsItOnce() async throws {
        let (confirmed, other) = (post(2, at: 12), post(1, at: 10))
        let source = ScriptedPosts([pending(2, 0), pending(3, 1)], hasEarlier: true) { position in
            #expect(position == .firstPending)
            return ([other, confirmed], false)
        }
        try await showing(source) { timeline in
            try await timeline.loadEarlier()
            #expect(timeline.messages.map(\.body) == ["1", "2", "3"] && !timeline.hasEarlier)
            source.send(.post(confirmed))
            source.send(.post(post(3, at: 13)))
            try await until({ timeline.messages.map(\.position) }) { $0 == [10, 12, 13] }
        }
    }

    /// The first displayed post is confirmed while earlier ones are loaded: they are loaded again.
    @Test func confirmationDuringLoadEarlier() async throws {
        let (asked, askedPositions) = AsyncStream<Position>.makeStream()
        let (held, holding) = AsyncStream<Void>.makeStream()
        let old = (1...9).map { post(UInt128($0), at: Position($0)) }
        let source = ScriptedPosts([pending(20, 0)], hasEarlier: true) { position in
            askedPositions.yield(position)
            if position == .firstPending { for await _ in held { break } }
            return (old.filter { $0.position < position }, false)
        }
        try await showing(source) { timeline in
            let loading = Task { try await timeline.loadEarlier() }
            var positions = asked.makeAsyncIterator()
            #expect(await positions.next() == .firstPending)
            source.send(.post(post(20, at: 10)))
            try await until({ timeline.messages.map(\.position) }) { $0 == [10] }
            holding.finish()
            try await loading.value
            #expect(await positions.next() == 10)
            #expect(timeline.messages.map(\.position) == Array(1...10))
            guard case .loaded = timeline.state else { return _ = Issue.record("\(timeline.state)") }
        }
    }
}
