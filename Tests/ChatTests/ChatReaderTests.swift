import Chat
import ChatDomain
import ChatTesting
import Projections
import Testing

/// Every query of a reader is that of the store with its viewer and its point.
struct ChatReaderTests {
    @Test(arguments: Seeds.seeds(3)) func queriesAreThoseOfTheStore(seed: UInt64) throws {
        let store = try StoreFixture(seed: seed).open()
        var generator = CommandGenerator(seed: seed)
        _ = try store.executeBlocking((0..<400).map { _ in generator.nextRequest() })
        let users = try store.allEvents().filter { $0.kind == .userRegistered }.compactMap(\.user).prefix(4)
        let viewers = [Viewer.host] + users.map(Viewer.user) + [.user(UserID(bits: 7))]
        let page = PageRequest(limit: 3)
        for viewer in viewers {
            for point in [AsOf.now, .position(store.head.position / 2), .position(store.head.position + 1)] {
                let reader = store.reader(as: viewer, asOf: point)
                same({ try reader.threads(page: page) }, { try store.threads(page: page, as: viewer, asOf: point) })
                same({ try reader.operators() }, { try store.operators(as: viewer, asOf: point) })
                same(
                    { try reader.people(named: "n", page: page) },
                    { try store.people(named: "n", page: page, as: viewer, asOf: point) })
                for user in users {
                    same(
                        { try reader.person(user, threads: page) },
                        { try store.person(user, threads: page, as: viewer, asOf: point) })
                    same({ try reader.user(user) }, { try store.user(user, as: viewer, asOf: point) })
                    same({ try reader.threads(of: user) }, { try store.threads(of: user, as: viewer, asOf: point) })
                    same({ try reader.access(of: user) }, { try store.access(of: user, as: viewer, asOf: point) })
                    same(
                        { try reader.invitations(of: user) },
                        { try store.invitations(of: user, as: viewer, asOf: point) })
                    same({ try reader.blocks(by: user) }, { try store.blocks(by: user, as: viewer, asOf: point) })
                    same(
                        { try reader.inbox(of: user, page: page) },
                        { try store.inbox(of: user, page: page, as: viewer, asOf: point) })
                    same(
                        { try reader.unreadInboxCount(of: user) },
                        { try store.unreadInboxCount(of: user, as: viewer, asOf: point) })
                }
                for thread in try store.threads(page: PageRequest(limit: 4), as: .host) {
                    expectSameThread(thread, reader, page, users[0])
                }
            }
        }
        try store.close()
    }

    private func expectSameThread(_ thread: ThreadSummary, _ reader: ChatReader, _ page: PageRequest, _ user: UserID) {
        let (store, viewer, point, id) = (reader.store, reader.viewer, reader.point, thread.id)
        same({ try reader.thread(id) }, { try store.thread(id, as: viewer, asOf: point) })
        same({ try reader.timeline(id, page: page) }, { try store.timeline(id, page: page, as: viewer, asOf: point) })
        same({ try reader.activity(in: id) }, { try store.activity(in: id, as: viewer, asOf: point) })
        same({ try reader.pins(in: id) }, { try store.pins(in: id, as: viewer, asOf: point) })
        same({ try reader.members(of: id) }, { try store.members(of: id, as: viewer, asOf: point) })
        same({ try reader.roles(in: id) }, { try store.roles(in: id, as: viewer, asOf: point) })
        same({ try reader.sanctions(in: id) }, { try store.sanctions(in: id, as: viewer, asOf: point) })
        same({ try reader.reports(in: id) }, { try store.reports(in: id, as: viewer, asOf: point) })
        same({ try reader.invitations(to: id) }, { try store.invitations(to: id, as: viewer, asOf: point) })
        same(
            { try reader.standing(of: user, in: id) }, { try store.standing(of: user, in: id, as: viewer, asOf: point) }
        )
        if let name = thread.name {
            same({ try reader.threadIDs(named: name) }, { try store.threadIDs(named: name, as: viewer, asOf: point) })
        }
        if let code = thread.outwardCode {
            same({ try reader.residents(of: code) }, { try store.residents(of: code, as: viewer, asOf: point) })
        }
        for post in (try? store.timeline(id, as: .host).entries.suffix(3)) ?? [] {
            same({ try reader.message(post.message) }, { try store.message(post.message, as: viewer, asOf: point) })
            same(
                { try reader.replies(to: post.message) },
                { try store.replies(to: post.message, as: viewer, asOf: point) })
            same({ try reader.details(of: post.id) }, { try store.details(of: post.id, as: viewer, asOf: point) })
        }
    }

    /// Expects two queries to have the same answer or the same rejection.
    private func same<Value: Equatable>(
        _ first: () throws -> Value, _ second: () throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        func answer(_ query: () throws -> Value) -> Result<Value, Rejection>? {
            do { return .success(try query()) } catch ChatError.rejected(let rejection) {
                return .failure(rejection)
            } catch { return nil }
        }
        let (first, second) = (answer(first), answer(second))
        #expect(first == second && first != nil, sourceLocation: sourceLocation)
    }
}
