@testable import Chat
import ChatDomain
import Testing

/// Queries while events are decided and not durable: their users, threads and memberships have
/// numbers already, and no rows.
@Suite(.timeLimit(.minutes(3))) struct DecidedEventsTests {
    private typealias Fixture = FollowingFixture

    /// What every query of a viewer answers.
    private func answers(_ store: ChatStore, _ viewer: UserID?) -> [String] {
        let (ann, bob, cat, garden) = (Fixture.ann, Fixture.bob, Fixture.cat, Fixture.garden)
        func text(_ body: () throws -> some Any) -> String { do { return "\(try body())" } catch { return "\(error)" } }
        var answers: [String] = []
        for user in [ann, bob, cat] {
            answers.append(text { try store.user(user, as: Viewer(orHost: viewer)) })
            answers.append(text { try store.access(of: user, as: Viewer(orHost: viewer)) })
            answers.append(text { try store.invitations(of: user, as: Viewer(orHost: viewer)) })
            answers.append(text { try store.standing(of: user, in: garden, as: Viewer(orHost: viewer)) })
        }
        answers.append(text { try store.threads(page: PageRequest(limit: 10), as: Viewer(orHost: viewer)) })
        answers.append(text { try store.thread(garden, as: Viewer(orHost: viewer)) })
        answers.append(text { try store.timeline(garden, page: PageRequest(limit: 10), as: Viewer(orHost: viewer)) })
        answers.append(text { try store.members(of: garden, as: Viewer(orHost: viewer)) })
        answers.append(text { try store.roles(in: garden, as: Viewer(orHost: viewer)) })
        answers.append(text { try store.sanctions(in: garden, as: Viewer(orHost: viewer)) })
        answers.append(text { try store.reports(in: garden, as: Viewer(orHost: viewer)) })
        answers.append(text { try store.invitations(to: garden, as: Viewer(orHost: viewer)) })
        return answers
    }

    @Test func decidedEventsChangeNoAnswer() async throws {
        let fixture = try Fixture()
        let (store, dan, shed) = (fixture.store, UserID(bits: 4), ThreadID(bits: 32))
        let hut = ThreadID(bits: 33)
        try await store.execute(.openThread(thread: hut, name: "Hut", by: Fixture.cat))
        try await store.execute(.joinThread(user: Fixture.ann, thread: hut))
        try await store.execute(.block(user: Fixture.cat, by: Fixture.ann))
        try fixture.post("Milk?", by: Fixture.bob)
        let viewers = [nil, Fixture.ann, Fixture.bob, Fixture.cat]
        let expected = viewers.map { answers(store, $0) }
        fixture.log.gate = store.head.position
        let decided = Task {
            try await store.execute(
                [
                    .joinThread(user: Fixture.cat, thread: Fixture.garden), .registerUser(user: dan, username: "Dan"),
                    .joinThread(user: dan, thread: Fixture.garden), .block(user: dan, by: Fixture.ann),
                    .openThread(thread: shed, name: "Shed", by: Fixture.cat, policy: .open),
                    .joinThread(user: Fixture.ann, thread: shed),
                    .postMessage(message: nil, thread: Fixture.garden, author: Fixture.cat, body: "Bread?"),
                    .setPostcode(user: Fixture.cat, postcode: "SW1A 1AA"),
                ].map { CommandRequest($0) })
        }
        try await Fixture.until { fixture.log.journal.durablePosition > fixture.log.gate }
        #expect(viewers.map { answers(store, $0) } == expected)
        fixture.log.gate = .max
        for result in try await decided.ended() { #expect(try result.get().positions != nil) }
        #expect(viewers.map { answers(store, $0) } != expected)
        try store.close()
    }
}
