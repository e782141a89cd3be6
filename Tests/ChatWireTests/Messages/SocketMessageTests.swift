import Chat
import ChatDomain
import EventJournal
import Foundation
import Testing

@testable import ChatWire

/// The examples of the page about the messages of a WebSocket.
@Suite struct SocketMessageTests {
    /// The examples of a section of the page, with ids and an event in the places of their names.
    private func examples(of section: String) throws -> [String] {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(
            contentsOf: package.appending(path: "Sources/ChatWire/ChatWire.docc/SocketMessages.md"), encoding: .utf8)
        let event = try #require(page.split(separator: "\n").drop { $0 != "```json" }.dropFirst().first)
        let text = try #require(page.split(separator: "\n## ").first { $0.hasPrefix(section + "\n") })
        return text.split(separator: "\n").compactMap { row -> String? in
            guard row.hasPrefix("| "), row.hasSuffix("` |"), let start = row.firstRange(of: "| `{")?.lowerBound else {
                return nil
            }
            return String(row[start...].dropFirst(3).dropLast(3)).replacing("EVENT", with: event)
        }
    }

    /// The keys of an object, and those of its members that are objects.
    private func keys(_ text: String) throws -> [String] {
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
        return object.flatMap { name, value in [name] + ((value as? [String: Any])?.keys.map { "\(name).\($0)" } ?? [])
        }.sorted()
    }

    @Test func clientExamplesAreMessages() throws {
        let examples = try examples(of: "From the client")
        #expect(examples.count == 4)
        for example in examples {
            var id: UInt64?
            #expect(throws: Never.self, "\(example)") {
                try ClientMessage(Array(example.utf8), actor: CommandSamples.actor, id: &id)
            }
        }
    }

    @Test func serverExamplesHaveTheFieldsOfTheMessages() async throws {
        let village = try Village()
        let token = ResumeToken(village.store.head)
        let post = "{\"postMessage\":{\"thread\":\"\(village.market)\",\"body\":\"Milk?\"}}"
        let routes = ChatRoutes(village.store)
        func answer(_ body: String) async throws -> SocketAnswer {
            await routes.answer(to: try ClientCommands(Array(body.utf8), actor: village.maya), as: village.maya)
        }
        let (one, batch) = (try await answer(post), try await answer("[\(post)]"))
        var posted: FollowedUpdate?
        for try await update in village.store.events(
            after: village.store.head.position - 1, upTo: village.store.head.position,
            matching: EventFilter(as: .user(village.maya))
        ).updates {
            posted = update
        }
        let messages = [
            WireConnection.hello(UserSummary(id: village.maya, username: nil), token: token),
            WireConnection.answer(one, to: 1), WireConnection.answer(batch, to: 2),
            WireConnection.following(3, from: token), try WireConnection.update(try #require(posted), of: 3),
            try WireConnection.update(.erased(ErasedContent(), token), of: 3),
            try WireConnection.update(.accessLost(village.market, token), of: 3),
        ]
        var connection = WireConnection(user: village.maya)
        _ = connection.receive(Array("{\"id\":3,\"follow\":{}}".utf8))
        let unfollowed = connection.receive(Array("{\"id\":4,\"unfollow\":3}".utf8)).compactMap { action in
            if case .send(let message) = action { message } else { nil }
        }
        let sent = messages + unfollowed + [WireConnection.problem(.notFound, to: 5), WireConnection.end(.closing)]
        let examples = try examples(of: "From the server")
        #expect(examples.count == sent.count)
        for (example, message) in zip(examples, sent) {
            #expect(try keys(example) == keys(String(decoding: message, as: UTF8.self)))
        }
    }
}
