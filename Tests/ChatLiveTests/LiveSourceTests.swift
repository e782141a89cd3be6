import ChatLive
import ChatValues
import Testing

/// What a view shows when its source ends or fails.
@Suite(.timeLimit(.minutes(3))) @MainActor struct LiveSourceTests {
    private let rejection = Rejection(.notAMember, "The user is not a member of this thread.")
    private let post = Post(
        id: .message(MessageID(bits: 1)), position: 1, message: MessageID(bits: 1),
        author: UserSummary(id: UserID(bits: 1)), body: "1",
        createdAt: Timestamp(millisecondsSince1970: 1), isRetracted: false, replyCount: 0)

    @Test func endKeepsTheValue() async throws {
        let source = ScriptedPosts([post])
        let timeline = LiveTimeline(source: source)
        source.end()
        await timeline.follow()
        guard case .ended(let last?) = timeline.state else { return _ = Issue.record("\(timeline.state)") }
        #expect(last == [post] && timeline.state.error == nil)
    }

    /// The end of a store is an end of the view, whatever error names it.
    @Test func failureThatIsAnEndIsNoError() async throws {
        let source = ScriptedPosts([post])
        let timeline = LiveTimeline(source: source)
        source.fail(LiveFailure(TestFailure(), isEnd: true))
        await timeline.follow()
        guard case .ended(_?) = timeline.state else { return _ = Issue.record("\(timeline.state)") }
    }

    @Test func failureKeepsTheValueAndARefusalDoesNot() async throws {
        let failures = [(TestFailure(), [post]), (TestFailure(rejection: rejection), nil), (.notFound, nil)]
        for (failure, expected) in failures {
            let source = ScriptedPosts([post])
            let timeline = LiveTimeline(source: source)
            source.fail(LiveFailure(failure))
            await timeline.follow()
            guard case .failed(let error, let last) = timeline.state else {
                return _ = Issue.record("\(timeline.state)")
            }
            #expect(error.description == failure.description && last == expected)
        }
    }

    @Test func aRefusalOfEarlierPostsTakesTheValueAway() async throws {
        let source = ScriptedPosts([post], hasEarlier: true) { _ throws(LiveFailure) in
            throw LiveFailure(TestFailure.notFound)
        }
        let timeline = LiveTimeline(source: source)
        let task = Task { await timeline.follow() }
        try await until({ timeline.messages.count }) { $0 == 1 }
        await #expect(throws: TestFailure.self) { try await timeline.loadEarlier() }
        #expect(timeline.messages.isEmpty && timeline.state.error != nil)
        source.end()
        await task.value
    }

    /// Who follows a thread for days holds a bounded part of it, and misses no change.
    @Test func aBoundedViewLetsTheFirstPostsGoAndTellsEachChange() async throws {
        let source = ScriptedPosts([post])
        let timeline = LiveTimeline(source: source)
        timeline.longest = 2
        var loaded: [[Post]] = []
        var changes: [Position] = []
        timeline.onLoad = { loaded.append($0) }
        timeline.onChange = { changes.append($0.position) }
        for position in 2...4 as ClosedRange<Position> {
            var next = post
            (next.position, next.id) = (position, .message(MessageID(bits: UInt128(position))))
            source.send(.post(next))
        }
        source.end()
        await timeline.follow()
        #expect(timeline.messages.map(\.position) == [3, 4] && timeline.hasEarlier)
        #expect(loaded == [[post]] && changes == [2, 3, 4])
    }

    @Test func failedLoadOfEarlierPostsThrowsTheErrorOfTheSource() async throws {
        let source = ScriptedPosts([post], hasEarlier: true) { _ throws(LiveFailure) in throw LiveFailure(TestFailure())
        }
        let timeline = LiveTimeline(source: source)
        let task = Task { await timeline.follow() }
        try await until({ timeline.messages.count }) { $0 == 1 }
        await #expect(throws: TestFailure.self) { try await timeline.loadEarlier() }
        guard case .loaded = timeline.state else { return _ = Issue.record("\(timeline.state)") }
        source.end()
        await task.value
    }
}
