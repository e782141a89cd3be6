@testable import Chat
import ChatDomain
import ChatTesting
import Projections
import TestSupport
import Testing

/// Random histories as a viewer sees them.
@Suite(.timeLimit(.minutes(3))) @MainActor struct LiveViewHistoryTests {
    private typealias Fixture = FollowingFixture

    /// Events arrive while the views load, and each view must end equal to its query.
    @Test(arguments: Seeds.seeds(Repetitions.few(4, of: 20))) func viewsOfViewerEndEqualToTheirQueries(seed: UInt64)
        async throws
    {
        let fixture = try Fixture(recentEventCount: seed.isMultiple(of: 2) ? 8 : 4_096)
        let (store, bob) = (fixture.store, Fixture.bob)
        var random = SeededRandom(seed: seed)
        let timeline = LiveTimeline(store, thread: Fixture.garden, as: .user(bob), limit: 4)
        let (threads, user) = (LiveThreads(store, as: .user(bob), limit: 3), LiveUser(store, user: bob))
        var tasks = [Task { await timeline.follow() }, Task { await threads.follow() }, Task { await user.follow() }]
        var (posted, replies, opened): ([MessageID], [ReplyID], [ThreadID]) = ([], [], [])
        for number in 0..<80 {
            let author = [Fixture.ann, bob, Fixture.cat].randomElement(using: &random) ?? bob
            let message = posted.randomElement(using: &random) ?? MessageID(bits: 0)
            let reply = replies.randomElement(using: &random) ?? ReplyID(bits: 0)
            let thread = opened.randomElement(using: &random) ?? ThreadID(bits: 0)
            var command: ChatCommand =
                switch Int.random(in: 0..<14, using: &random) {
                case 0: .edit(.message(message), body: "edit \(number)", by: author)
                case 1: .retract(.message(message), by: author)
                case 2, 3: .reply(id: nil, to: message, body: "reply \(number)", by: author)
                case 4, 5: .retract(.reply(reply), by: author)
                case 6: .changeUsername(username: "Name \(number)", by: author)
                case 7: .openThread(id: nil, name: "Thread \(number)", by: bob)
                case 8: .leaveThread(thread: thread, by: bob)
                case 9: .leaveThread(thread: Fixture.garden, by: Fixture.cat)
                case 10: .joinThread(thread: Fixture.garden, by: Fixture.cat)
                default: .postMessage(id: nil, thread: Fixture.garden, body: "post \(number)", by: author)
                }
            var commands = [command]
            if random.oneIn(5) {
                // The viewer leaves and rejoins in one commit, so that a retraction happens during
                // the absence.
                let way: [ChatCommand] = [
                    .leaveThread(thread: Fixture.garden, by: bob), .joinThread(thread: Fixture.garden, by: bob),
                ]
                command = .retract(.reply(reply), by: author)
                commands = [way[0], command, way[1]]
            }
            for case .success(let receipt) in try await store.execute(commands.map { CommandRequest($0) }) {
                posted += [receipt.message].compactMap { $0 }
                for event in receipt.events {
                    if case (.replyPosted, .reply(_, _, _, let itsReply, _)) = (event.event.kind, event.event.shape) {
                        replies.append(itsReply)
                    }
                    if case (.threadOpened, .thread(let itsThread, _, _)) = (event.event.kind, event.event.shape) {
                        opened.append(itsThread)
                    }
                }
            }
            if random.oneIn(6) {
                // The viewer leaves and comes back in one commit, so that no load is rejected.
                let load = Task {
                    do { try await timeline.loadEarlier() } catch { Issue.record(error) }
                }
                tasks.append(load)
            }
            if random.oneIn(3) { await Task.yield() }
        }
        let entries = try store.reader(as: .user(bob)).timeline(Fixture.garden, page: .latest(1_000))
        let (summaries, view) = (
            try store.reader(as: .user(bob)).threads(page: .latest(3)).entries,
            try store.reader(as: .user(bob)).user(bob)
        )
        try await until {
            timeline.messages
        } _: {
            $0.count >= min(4, entries.count) && $0 == Array(entries.suffix($0.count))
        }
        try await until {
            threads.threads
        } _: {
            $0 == summaries
        }
        try await until {
            user.user
        } _: {
            $0 == view
        }
        for task in tasks { task.cancel() }
        for task in tasks { try await task.ended("the end of a cancelled view") }
    }
}
