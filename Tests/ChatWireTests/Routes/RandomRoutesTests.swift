import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import TestSupport
import Testing

@testable import ChatWire

/// Random commands of random users over the routes, compared with a store that executes them
/// directly.
@Suite struct RandomRoutesTests {
    /// Both stores have the same clock, ids and entropy, so their answers are the same to the byte.
    private struct Twins {
        let routed: Community
        let direct: Community
        var random: SplitMix64

        init(seed: UInt64) throws {
            (routed, direct) = (try Community(seed: seed), try Community(seed: seed))
            random = SplitMix64(seed: seed)
        }

        func answer(_ request: CommandRequest) throws -> String {
            try json(CommandAnswer(line: 1, try direct.store.executeBlocking([request])[0]))
        }
    }

    @Test func everyResponseIsTheAnswerOfTheStore() async throws {
        for run in 0..<Repetitions.few(1, of: 60) {
            let seed = Repetitions.seed &+ UInt64(run)
            var twins = try Twins(seed: seed)
            var generator = CommandGenerator(seed: seed)
            var seen = Entities()
            for step in 0..<400 {
                let command = generator.next()
                let context: Comment = "seed \(seed), command \(step): \(command)"
                try await execute(command, &twins, seen, context)
                seen.add(command)
                #expect(twins.routed.store.head == twins.direct.store.head, context)
                if step % 50 == 49 { try await compareQueries(&twins, seen, context) }
            }
        }
    }

    private func execute(_ command: ChatCommand, _ twins: inout Twins, _ seen: Entities, _ context: Comment)
        async throws
    {
        let request = CommandRequest(command)
        switch command.kind {
        case .registerUser, .grantOperator, .revokeOperator:
            let user = seen.users.randomElement(using: &twins.random) ?? CommandSamples.actor
            let response = await twins.routed.post(try json(request), as: user)
            #expect((response.status, response.code) == (403, "commandNotAllowed"), context)
            _ = try await twins.routed.store.execute([request])
            _ = try twins.answer(request)
        case .endSession:
            let user = seen.users.randomElement(using: &twins.random) ?? CommandSamples.actor
            let response = await twins.routed.post(try json(request), as: user)
            let owner = twins.direct.store.userID(ofSession: SessionID(bits: try #require(command.id)))
            let isForeign = owner != nil && owner != user
            let expected =
                isForeign ? try json(CommandAnswer(line: 1, .failure(.unknownSession))) : try twins.answer(request)
            #expect((response.status, response.text) == (200, expected), context)
        default:
            let actor = try #require(command.actor)
            if let other = seen.users.filter({ $0 != actor }).randomElement(using: &twins.random) {
                let response = await twins.routed.post(try json(request), as: other)
                #expect((response.status, response.code) == (403, "anotherUser"), context)
            }
            let response = await twins.routed.post(try json(request), as: actor)
            #expect((response.status, response.text) == (200, try twins.answer(request)), context)
        }
    }

    private func compareQueries(_ twins: inout Twins, _ seen: Entities, _ context: Comment) async throws {
        let store = twins.direct.store
        func page(_ page: Page<some Encodable>) throws -> String {
            let (older, newer) = (page.older?.before.map { "\($0)" } ?? "null", try #require(page.newer.after))
            return "{\"items\":\(try json(page.entries)),\"older\":\(older),\"newer\":\(newer)}"
        }
        let all = PageRequest.latest(200)
        func list(_ items: [some Encodable]) throws -> String { "{\"items\":\(try json(items))}" }
        for viewer in seen.users.shuffled(using: &twins.random).prefix(Repetitions.few(2, of: 4)) {
            var expected: [(String, () throws -> String)] = [
                ("/v1/me", { try json(try store.reader(as: .user(viewer)).user(viewer)) }),
                ("/v1/threads", { try page(try store.reader(as: .user(viewer)).threads()) }),
                (
                    "/v1/me/threads?limit=200",
                    { try page(try store.reader(as: .user(viewer)).threads(of: viewer, page: all)) }
                ),
                ("/v1/inbox", { try inbox(of: viewer, store) }),
                (
                    "/v1/people?limit=200&name=N",
                    { try page(try store.reader(as: .user(viewer)).people(named: "n", page: all)) }
                ),
                (
                    "/v1/me/blocks?limit=200",
                    { try page(try store.reader(as: .user(viewer)).blocks(by: viewer, page: all)) }
                ),
                (
                    "/v1/invitations?limit=200",
                    { try page(try store.reader(as: .user(viewer)).invitations(of: viewer, page: all)) }
                ),
            ]
            for user in seen.users.shuffled(using: &twins.random).prefix(3) {
                expected.append(("/v1/people/\(user)", { try json(try store.reader(as: .user(viewer)).person(user)) }))
            }
            for thread in seen.threads {
                let path = "/v1/threads/\(thread)"
                expected += [
                    (path, { try answer(about: thread, store, viewer) }),
                    (
                        path + "/standing",
                        { try json(try store.reader(as: .user(viewer)).standing(of: viewer, in: thread)) }
                    ),
                    (path + "/timeline", { try page(try store.reader(as: .user(viewer)).timeline(thread)) }),
                    (
                        path + "/events?limit=200",
                        { try items(Array(try numberedEvents(of: thread, store, viewer).prefix(200))) }
                    ),
                    (
                        path + "/custom-events?limit=200",
                        { try page(try store.reader(as: .user(viewer)).customEvents(in: thread, page: all)) }
                    ),
                    (
                        path + "/members?limit=200",
                        { try page(try store.reader(as: .user(viewer)).members(of: thread, page: all)) }
                    ),
                    (
                        path + "/roles?limit=200",
                        { try page(try store.reader(as: .user(viewer)).roles(in: thread, page: all)) }
                    ),
                    (path + "/activity", { try json(try store.reader(as: .user(viewer)).activity(in: thread)) }),
                    (path + "/pins", { try list(try store.reader(as: .user(viewer)).pins(in: thread)) }),
                    (
                        path + "/sanctions?limit=200",
                        { try page(try store.reader(as: .user(viewer)).sanctions(in: thread, page: all)) }
                    ),
                    (
                        path + "/reports?limit=200",
                        { try page(try store.reader(as: .user(viewer)).reports(in: thread, page: all)) }
                    ),
                    (
                        path + "/invitations?limit=200",
                        { try page(try store.reader(as: .user(viewer)).invitations(to: thread, page: all)) }
                    ),
                    (
                        path + "/residents?limit=200",
                        {
                            guard let code = thread.outwardCode else { throw ChatError.rejected(.unknownThread) }
                            return try page(try store.reader(as: .user(viewer)).residents(of: code, page: all))
                        }
                    ),
                ]
            }
            for message in seen.messages.shuffled(using: &twins.random).prefix(Repetitions.few(8, of: 20)) {
                expected += [
                    ("/v1/messages/\(message)", { try json(try store.reader(as: .user(viewer)).message(message)) }),
                    (
                        "/v1/messages/\(message)/replies",
                        { try page(try store.reader(as: .user(viewer)).replies(to: message)) }
                    ),
                ]
            }
            for (target, expectedText) in expected {
                let response = await twins.routed.get(target, as: viewer)
                do {
                    let text = try expectedText()
                    // The bounds of events are the subject of other tests.
                    let isPrefix = target.hasSuffix("/events?limit=200")
                    #expect(
                        response.status == 200 && (isPrefix ? response.text.hasPrefix(text) : response.text == text),
                        "\(target) \(context)")
                } catch ChatError.rejected {
                    #expect(Appearance(response) == Appearance(WireResponse(.notFound)), "\(target) \(context)")
                }
            }
        }
    }

    private func items(_ items: [some Encodable]) throws -> String { "{\"items\":\(try json(items))," }

    /// The ids that the commands have named.
    private struct Entities {
        var users: [UserID] = []
        var threads: [ThreadID] = []
        var messages: [MessageID] = []

        mutating func add(_ command: ChatCommand) {
            func add<ID: EntityID>(_ bits: UInt128?, to list: inout [ID]) {
                if let id = bits.map(ID.init(bits:)), !list.contains(id) { list.append(id) }
            }
            switch command.kind {
            case .registerUser: add(command.id, to: &users)
            case .openThread: add(command.id, to: &threads)
            case .joinThread: add(command.threadID.bits, to: &threads)
            case .postMessage: add(command.id, to: &messages)
            default: break
            }
        }
    }
}
