import ChatDomain
import Foundation
import Testing

@testable import ChatWire

/// Which commands a client may send, and as whom.
@Suite struct ClientCommandsTests {
    private let actor = CommandSamples.actor

    private func decode(_ text: String) throws(Problem) -> ClientCommands {
        try ClientCommands(Array(text.utf8), actor: actor)
    }

    private func problem(of text: String) -> Problem? {
        do throws(Problem) { _ = try decode(text) } catch { return error }
        return nil
    }

    /// The JSON of a command with another value of its acting field; nil leaves the field out.
    private func text(_ command: ChatCommand, acting value: String?) throws -> String {
        let (key, acting) = CommandSamples.fields(of: command)
        guard let acting else { return try json(CommandRequest(command)) }
        var object = try #require(
            try JSONSerialization.jsonObject(with: Data(try json(CommandRequest(command)).utf8))
                as? [String: [String: Any]])
        object[key]?[acting] = value
        return String(decoding: try JSONSerialization.data(withJSONObject: object, options: .sortedKeys), as: UTF8.self)
    }

    @Test func thereIsASampleOfEveryKind() {
        #expect(Set(CommandSamples.all().map { CommandSamples.fields(of: $0).key }).count == CommandSamples.kindCount)
    }

    /// Registration and operators are the host's; everything else is the user's own.
    @Test(arguments: CommandSamples.all()) func actingUserIsTheUserOfTheSession(command: ChatCommand) throws {
        let (key, acting) = CommandSamples.fields(of: command)
        let isAllowed = !["registerUser", "grantOperator", "revokeOperator"].contains(key)
        let whole = try json(CommandRequest(command, correlation: "c"))
        if isAllowed {
            let commands = try decode(whole)
            #expect(commands.requests == [CommandRequest(command, correlation: "c")])
            #expect(!commands.isBatch)
        } else {
            #expect(problem(of: whole)?.code == .commandNotAllowed)
            #expect(problem(of: whole)?.status == 403)
            let batch = try #require(
                problem(of: "[{\"endSession\":{\"session\":\"\(CommandSamples.session)\"}},\(whole)]"))
            #expect((batch.status, batch.code, batch.line) == (403, .commandNotAllowed, 2))
        }
        guard acting != nil else { return }
        #expect(try decode(try text(command, acting: nil)).requests.map { $0.command.actor } == [actor])
        #expect(try decode("[\(try text(command, acting: nil))]").requests.map { $0.command.actor } == [actor])
        let foreign = try #require(problem(of: try text(command, acting: "\(CommandSamples.other)")))
        #expect((foreign.status, foreign.code, foreign.line) == (403, .anotherUser, nil))
        let batch = try #require(
            problem(
                of:
                    "[\(whole.replacing(",\"correlation\":\"c\"", with: "")),\(try text(command, acting: "\(CommandSamples.other)"))]"
            ))
        #expect((batch.status, batch.code, batch.line) == (403, .anotherUser, 2))
        // A malformed actor is not one that was left out.
        for value in ["", "me", "\(actor)x"] {
            #expect(problem(of: try text(command, acting: value))?.code.rawValue == "invalidValue")
        }
    }

    @Test func nullIsNoActor() {
        #expect(problem(of: #"{"joinThread":{"user":null,"thread":"SW1A"}}"#)?.code.rawValue == "wrongType")
    }

    @Test func batchKeepsItsOrder() throws {
        let bodies = (1...20).map { "body \($0)" }
        let elements = bodies.map { "{\"postMessage\":{\"thread\":\"SW1A\",\"body\":\"\($0)\"}}" }
        let commands = try decode(" [\n" + elements.joined(separator: " ,\t") + "\r\n] ")
        #expect(commands.isBatch)
        #expect(commands.requests.map(\.command.text) == bodies)
        #expect(try decode("[\(elements[0])]").isBatch)
    }

    @Test func batchHasAMaximum() throws {
        let element = "{\"lockThread\":{\"thread\":\"SW1A\"}}"
        func batch(_ count: Int) -> String {
            "[" + [String](repeating: element, count: count).joined(separator: ",") + "]"
        }
        #expect(try decode(batch(1_000)).requests.count == 1_000)
        let problem = try #require(self.problem(of: batch(1_001)))
        #expect((problem.status, problem.code) == (413, .tooLarge))
        // What is beyond the maximum is not read.
        #expect(self.problem(of: String(batch(1_000).dropLast()) + ",]")?.code == .tooLarge)
        #expect(self.problem(of: "[]")?.code.rawValue == "invalidValue")
        #expect(self.problem(of: " [ ] ")?.code.rawValue == "invalidValue")
    }

    @Test(arguments: [
        ("", "notJSON"), (" ", "notJSON"), ("{", "notJSON"), ("{}x", "notJSON"), ("\u{FEFF}{}", "notJSON"),
        ("nul", "notJSON"),
        ("{}", "invalidValue"), ("null", "wrongType"), ("1", "wrongType"), ("\"x\"", "wrongType"),
        ("true", "wrongType"),
        (#"{"postMessage":{"thread":"SW1A"}}"#, "missingField"),
        (#"{"postMessage":{"thread":"SW1A","body":1}}"#, "wrongType"),
        (#"{"postMessage":{"thread":"SW1A","body":"x","bold":true}}"#, "unknownField"),
        (#"{"post":{}}"#, "unknownField"),
        (#"{"postMessage":{"thread":"nowhere!","body":"x"}}"#, "invalidValue"),
        (#"{"lockThread":{"thread":"SW1A"},"unlockThread":{"thread":"SW1A"}}"#, "invalidValue"),
        (#"{"lockThread":{"thread":"SW1A"},"lockThread":{"thread":"SW1A"}}"#, "duplicateField"),
        (#"{"lockThread":{"thread":"SW1A","thread":"SW1A"}}"#, "duplicateField"),
        (#"{"lockThread":{"thread":"SW1A","\u0074hread":"SW1A"}}"#, "duplicateField"),
        (#"{"markRead":{"thread":"SW1A","upTo":1.5}}"#, "invalidValue"),
        (#"{"markRead":{"thread":"SW1A","upTo":-1}}"#, "invalidValue"),
        (#"{"origin":"imported","lockThread":{"thread":"SW1A"}}"#, "unknownField"),
    ]) func malformedCommandIsAProblem(text: String, code: String) throws {
        let problem = try #require(self.problem(of: text))
        #expect((problem.status, problem.code.rawValue, problem.line) == (400, code, nil))
        #expect(!problem.detail.isEmpty)
    }

    @Test(arguments: [
        (#"{"postMessage":{"thread":"SW1A"}}"#, "missingField"), ("1", "wrongType"), ("[]", "wrongType"),
        ("null", "wrongType"),
        ("{}", "invalidValue"),
        (#"{"postMessage":{"thread":"SW1A","body":"x","bold":true}}"#, "unknownField"),
        (#"{"markRead":{"thread":"SW1A","upTo":1.5}}"#, "invalidValue"),
        (#"{"lockThread":{"thread":"SW1A","thread":"SW1A"}}"#, "duplicateField"), ("tru", "notJSON"),
        ("{\"a\" 1}", "notJSON"),
        ("", "notJSON"),
        (String(repeating: "[", count: 65) + String(repeating: "]", count: 65), "tooDeep"),
    ]) func malformedElementHasItsLine(element: String, code: String) throws {
        let valid = #"{"lockThread":{"thread":"SW1A"}}"#
        let problem = try #require(self.problem(of: "[\(valid),\(valid),\(element),\(valid)]"))
        #expect((problem.status, problem.code.rawValue, problem.line) == (400, code, 3))
    }

    @Test func nestingIsBounded() {
        for opening in ["[", "{\"a\":"] {
            #expect(problem(of: String(repeating: opening, count: 100_000))?.code.rawValue == "tooDeep")
        }
        let payload = String(repeating: "[", count: 60) + String(repeating: "]", count: 60)
        let command = "{\"custom\":{\"kind\":\"com.example.poll\",\"thread\":\"SW1A\",\"payload\":\(payload)}}"
        #expect(problem(of: command) == nil)
        #expect(problem(of: "[\(command)]") == nil)
    }

    @Test func invalidUTF8IsAProblem() {
        for body: [UInt8] in [
            [0xFF], [0x5B, 0xFF, 0x5D], Array("[{\"lockThread\":{\"thread\":\"".utf8) + [0xC3] + Array("\"}}]".utf8),
        ] {
            let found = ChatWireTests.problem { _ = try ClientCommands(body, actor: actor) }
            #expect((found?.status, found?.code.rawValue) == (400, "invalidUTF8"))
        }
    }

    /// Numbers beyond `Double`, the order of fields and escapes are the client's.
    @Test(arguments: [false, true]) func payloadIsKeptByteByByte(inBatch: Bool) throws {
        let payload = #"{"z":1.50,"a":12345678901234567890123,"e":1e400,"s":"\u00e9\/é","n":[null,-0.0]}"#
        let command =
            "{\"custom\":{\"payload\":\(payload),\"kind\":\"com.example.poll\",\"thread\":\"SW1A\"},\"correlation\":\"\\u0063\"}"
        let commands = try decode(inBatch ? "[ {\"lockThread\":{\"thread\":\"SW1A\"}} , \(command)]" : command)
        let request = try #require(commands.requests.last)
        #expect((request.command.payload?.text, request.command.actor, request.correlation) == (payload, actor, "c"))
    }
}
