import Chat
import ChatDomain
import Foundation
import Testing

@testable import ChatWire

/// Commands that are sent to `/v1/commands`.
@Suite struct CommandRouteTests {
    private func code(_ response: WireResponse, _ index: Int? = nil) -> String? {
        let answer = index.map { (response.json as? [[String: Any]])?[$0] } ?? response.json as? [String: Any]
        return (answer?["rejection"] as? [String: Any])?["code"] as? String
    }

    @Test func answersAreThoseOfTheTool() async throws {
        let village = try Village()
        let single = await village.community.post(
            "{\"postMessage\":{\"thread\":\"\(village.market)\",\"body\":\"Plums\"}}", as: village.maya)
        #expect((single.status, single[header: "Content-Type"]) == (200, "application/json"))
        let answer = try #require(single.json as? [String: Any])
        #expect(Set(answer.keys) == ["line", "positions", "events", "duplicate"])
        #expect(answer["line"] as? Int == 1)
        let position = Int(village.store.head.position)
        #expect(answer["positions"] as? [Int] == [position, position])
        let batch = await village.community.post(
            "[{\"lockThread\":{\"thread\":\"\(village.market)\"}},{\"postMessage\":{\"thread\":\"\(village.market)\",\"body\":\"x\"}}]",
            as: village.maya)
        let answers = try #require(batch.json as? [[String: Any]])
        #expect(answers.map { $0["line"] as? Int } == [1, 2])
        #expect((code(batch, 0), code(batch, 1)) == (nil, "threadLocked"))
        let rejected = await village.community.post(
            "{\"postMessage\":{\"thread\":\"\(village.secret)\",\"body\":\"x\"}}", as: village.zoe)
        #expect((rejected.status, code(rejected)) == (200, "unknownThread"))
    }

    /// One element that is malformed, forbidden or another user's stops the batch.
    @Test func nothingOfAWrongBatchIsExecuted() async throws {
        let village = try Village()
        let head = village.store.head
        let good = "{\"postMessage\":{\"thread\":\"\(village.market)\",\"body\":\"x\"}}"
        for (bad, status, code) in [
            ("{}", 400, "invalidValue"), ("{\"grantOperator\":{\"user\":\"\(village.om)\"}}", 403, "commandNotAllowed"),
            ("{\"lockThread\":{\"thread\":\"SW1A\",\"by\":\"\(village.om)\"}}", 403, "anotherUser"),
            ("x", 400, "notJSON"),
        ] {
            let response = await village.community.post("[\(good),\(bad)]", as: village.maya)
            #expect((response.status, response.code) == (status, code))
            #expect((response.json as? [String: Any])?["line"] as? Int == 2)
        }
        let query = await village.community.send("POST", "/v1/commands?dry=1", as: village.maya, body: Array(good.utf8))
        #expect((query.status, query.code) == (400, "invalidQuery"))
        #expect(village.store.head == head)
    }

    /// The session of another user is answered as one that does not exist, and goes on.
    @Test func onlyOwnSessionsEnd() async throws {
        let village = try Village()
        func end(_ session: SessionID) -> String { "{\"endSession\":{\"session\":\"\(session)\"}}" }
        let foreign = await village.community.post(end(village.session), as: village.om)
        let unknown = await village.community.post(end(SessionID(bits: 81)), as: village.om)
        #expect(code(foreign) == "unknownSession")
        #expect(Appearance(foreign) == Appearance(unknown))
        let own = SessionID(bits: village.session.bits + 500)
        let start = "{\"startSession\":{\"session\":\"\(own)\",\"device\":\"d\"}}"
        let batch = await village.community.post(
            "[\(start),\(end(village.session)),\(end(own)),\(end(village.session))]", as: village.om)
        #expect([0, 1, 2, 3].map { code(batch, $0) } == [nil, "unknownSession", nil, "unknownSession"])
        #expect(((batch.json as? [[String: Any]]) ?? []).map { $0["line"] as? Int } == [1, 2, 3, 4])
        // Still open: its own user ends it with an event.
        let last = await village.community.post(end(village.session), as: village.maya)
        #expect(((last.json as? [String: Any])?["events"] as? [Any])?.count == 1)
    }

    @Test func aRepeatedCommandIsADuplicate() async throws {
        let village = try Village()
        let command =
            "{\"postMessage\":{\"message\":\"\(MessageID(bits: village.message.bits + 900))\",\"thread\":\"\(village.market)\",\"body\":\"x\"}}"
        let first = await village.community.post(command, as: village.maya)
        let second = await village.community.post(command, as: village.maya)
        #expect((first.json as? [String: Any])?["duplicate"] as? Bool == false)
        #expect((second.json as? [String: Any])?["duplicate"] as? Bool == true)
    }
}
