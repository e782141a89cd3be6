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
            answers.append(text { try store.reader(as: Viewer(orHost: viewer)).user(user) })
            answers.append(text { try store.reader(as: Viewer(orHost: viewer)).access(of: user) })
            answers.append(text { try store.reader(as: Viewer(orHost: viewer)).invitations(of: user) })
            answers.append(text { try store.reader(as: Viewer(orHost: viewer)).standing(of: user, in: garden) })
        }
        answers.append(text { try store.reader(as: Viewer(orHost: viewer)).threads(page: .latest(10)) })
        answers.append(text { try store.reader(as: Viewer(orHost: viewer)).thread(garden) })
        answers.append(
            text { try store.reader(as: Viewer(orHost: viewer)).timeline(garden, page: .latest(10)) })
        answers.append(text { try store.reader(as: Viewer(orHost: viewer)).members(of: garden) })
        answers.append(text { try store.reader(as: Viewer(orHost: viewer)).roles(in: garden) })
        answers.append(text { try store.reader(as: Viewer(orHost: viewer)).sanctions(in: garden) })
        answers.append(text { try store.reader(as: Viewer(orHost: viewer)).reports(in: garden) })
        answers.append(text { try store.reader(as: Viewer(orHost: viewer)).invitations(to: garden) })
        return answers
    }

    @Test func decidedEventsChangeNoAnswer() async throws {
        let fixture = try Fixture()
        let (store, dan, shed) = (fixture.store, UserID(bits: 4), ThreadID(bits: 32))
        let hut = ThreadID(bits: 33)
        try await store.execute(.openThread(id: hut, name: "Hut", by: Fixture.cat))
        try await store.execute(.joinThread(thread: hut, by: Fixture.ann))
        try await store.execute(.block(user: Fixture.cat, by: Fixture.ann))
        try fixture.post("Milk?", by: Fixture.bob)
        let viewers = [nil, Fixture.ann, Fixture.bob, Fixture.cat]
        let expected = viewers.map { answers(store, $0) }
        fixture.log.gate = store.head.position
        let decided = Task {
            try await store.execute(
                [
                    .joinThread(thread: Fixture.garden, by: Fixture.cat), .registerUser(id: dan, username: "Dan"),
                    .joinThread(thread: Fixture.garden, by: dan), .block(user: dan, by: Fixture.ann),
                    .openThread(id: shed, name: "Shed", policy: .open, by: Fixture.cat),
                    .joinThread(thread: shed, by: Fixture.ann),
                    .postMessage(id: nil, thread: Fixture.garden, body: "Bread?", by: Fixture.cat),
                    .setPostcode(postcode: "SW1A 1AA", by: Fixture.cat),
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
