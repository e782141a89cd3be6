import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation

@testable import ChatWire

/// Checks the invariants of what comes over a WebSocket: messages in fragments, and what a
/// connection makes of them.
///
/// The first byte of the input is the length of a fragment less one; each line after it is one
/// message. The follows are begun over a store, so that tokens and threads are checked too;
/// commands are not executed (that is the target `store-commands`).
enum SocketHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    /// The largest message, in bytes; small, so that inputs reach it.
    static let limit = 4_096
    /// More messages only repeat what the first ones do.
    private static let messageCount = 64

    /// A store with a thread that the user can read, and one that the user cannot.
    struct Fixture {
        let store: ChatStore
        let routes: ChatRoutes
        let user = UserID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0001)
        let open = ThreadID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0003)
        let secret = ThreadID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0007)

        init() throws {
            let other = UserID(bits: user.bits + 1)
            store = try ChatStore.inMemory(
                options: StoreOptions(
                    journal: JournalOptions(entropy: SeededEntropy(seed: 1)), clock: ManualClock(),
                    ids: SeededIDs(seed: 1),
                    checkpoints: nil))
            routes = ChatRoutes(store)
            for command: ChatCommand in [
                .registerUser(id: user, username: "Maya"), .registerUser(id: other, username: "Om"),
                .setPostcode(postcode: "SW1A 1AA", by: user), .openThread(id: open, name: "Market", by: user),
                .postMessage(thread: open, body: "Apples", by: user),
                .openThread(id: secret, name: "Secret", policy: .inviteOnly, by: other),
            ] { try store.executeBlocking(command) }
        }

        /// The token of a position.
        func token(_ position: Position) throws -> ResumeToken { try store.resumeToken(after: position) }
    }

    static let fixture = Result { try Fixture() }

    /// Checks one input.
    ///
    /// - Returns: The number of messages that were accepted.
    @discardableResult
    static func check(_ input: [UInt8]) throws -> Int {
        var client = try Client(fixture: fixture.get())
        var assembly = MessageAssembly(limit: limit)
        let fragmentCount = Int(input.first ?? 0) + 1
        let lines = input.dropFirst().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.prefix(messageCount) {
            if try isReceived(line, in: fragmentCount, &assembly) { try client.receive(Array(line)) }
        }
        return client.acceptedCount
    }

    /// Passes a message on in fragments; returns whether it is complete.
    private static func isReceived(_ line: ArraySlice<UInt8>, in count: Int, _ assembly: inout MessageAssembly) throws
        -> Bool
    {
        var rest = line
        while !rest.isEmpty {
            let fragment = rest.prefix(count)
            let before = assembly.byteCount
            let hasRoom = assembly.hasRoom(for: UInt64(fragment.count))
            let isAppended = assembly.append(fragment)
            try require(
                isAppended == hasRoom && isAppended == (before + fragment.count <= limit),
                "room for \(fragment.count) after \(before)")
            try require(
                assembly.byteCount == (isAppended ? before + fragment.count : before), "\(assembly.byteCount) bytes")
            rest = rest.dropFirst(fragment.count)
            guard isAppended else {
                try require(
                    line.count > limit && assembly.finish() == Array(line.prefix(before)),
                    "a message of \(line.count) bytes")
                return false
            }
        }
        try require(!assembly.hasRoom(for: .max) && line.count <= limit, "a message of \(line.count) bytes")
        try require(assembly.finish() == Array(line) && assembly.byteCount == 0, "the fragments of \(line.count) bytes")
        return true
    }

    /// A connection, and the follows that it must have.
    private struct Client {
        let fixture: Fixture
        var connection: WireConnection
        var follows: Set<UInt64> = []
        var acceptedCount = 0

        init(fixture: Fixture) {
            self.fixture = fixture
            connection = WireConnection(user: fixture.user)
        }

        mutating func receive(_ text: [UInt8]) throws {
            let actions = connection.receive(text)
            switch (actions.first, actions.dropFirst().first, actions.count) {
            case (.send(let answer), nil, 1): try checkProblem(answer, to: text)
            case (.execute(let commands, let id), nil, 1):
                acceptedCount += 1
                try require(id == number("id", of: text), "the commands have the id \(id)")
                try RequestHarness.check(commands, actor: fixture.user)
            case (.follow(let id, let after, let thread), nil, 1):
                acceptedCount += 1
                try require(id == number("id", of: text), "the follow has the id \(id)")
                try require(follows.insert(id).inserted, "two follows have the id \(id)")
                try require(follows.count <= WireConnection.maximumFollowCount, "\(follows.count) follows")
                try follow(id, after: after, thread: thread)
            case (.unfollow(let follow), .send(let answer), 2):
                acceptedCount += 1
                try require(
                    follow == number("unfollow", of: text) && follows.remove(follow) != nil,
                    "there is no follow \(follow)")
                let members = try object(answer)
                try require(Set(members.keys) == ["id", "unfollowed"], "the answer has \(members.keys.sorted())")
                try require(
                    (members["unfollowed"] as? NSNumber)?.uint64Value == follow, "another follow than \(follow)")
                try require(
                    (members["id"] as? NSNumber)?.uint64Value == number("id", of: text), "an answer with another id")
            default:
                throw Violation(message: "\(actions.count) actions, the first \(String(describing: actions.first))")
            }
            for follow in follows { try require(connection.isFollowing(follow), "the follow \(follow) is lost") }
            for follow: UInt64 in 0..<20 where !follows.contains(follow) {
                try require(!connection.isFollowing(follow), "the follow \(follow) has not begun, or has ended")
            }
        }

        /// Begins a follow as a session does.
        private mutating func follow(_ id: UInt64, after: String?, thread: String?) throws {
            do {
                let (start, _) = try fixture.routes.updates(after: after, thread: thread, as: fixture.user)
                try require(
                    "\(start)" == after ?? "\(try fixture.token(fixture.store.head.position))",
                    "the follow begins at \(start)")
                if let thread {
                    let found = ThreadID(idOrOutwardCode: thread)
                    try require(
                        found == fixture.open || found == ThreadID(idOrOutwardCode: "SW1A"),
                        "the thread \(thread) can be followed")
                }
                let members = try object(WireConnection.following(id, from: start))
                try require(Set(members.keys) == ["id", "following"], "the answer has \(members.keys.sorted())")
            } catch let error where error is Problem || error is ChatError {
                try checkMembers(of: Problem(routeError: error), statuses: [400, 404])
                _ = try object(WireConnection.problem(Problem(routeError: error), to: id))
                connection.didEnd(follow: id)
                follows.remove(id)
            }
        }

        /// The answer to a message that is not valid has its id, and for commands the problem of
        /// the same body over HTTP.
        private func checkProblem(_ answer: [UInt8], to text: [UInt8]) throws {
            let members = try object(answer)
            try require(Set(members.keys) == ["id", "problem"], "the answer has \(members.keys.sorted())")
            guard let id = (members["id"] as? NSNumber)?.uint64Value else {
                return try require(members["id"] is NSNull, "the id is \(String(describing: members["id"]))")
            }
            try require(id == number("id", of: text), "the answer has the id \(id)")
            guard let fields = try JSONScanner.fields(of: text), fields.count == 2,
                let commands = fields.first(where: { $0.name == "commands" })
            else { return }
            do throws(Problem) {
                _ = try ClientCommands(Array(text[commands.value]), actor: fixture.user)
            } catch {
                try checkMembers(of: error, statuses: [400, 403, 413])
                return try require(
                    WireConnection.problem(error, to: id) == answer, "another problem than \(error.detail)")
            }
            throw Violation(message: "valid commands have a problem: \(String(decoding: answer, as: UTF8.self))")
        }

        private func checkMembers(of problem: Problem, statuses: Set<Int>) throws {
            try require(statuses.contains(problem.status), "the status \(problem.status)")
            try require(
                !problem.detail.isEmpty && problem.detail.unicodeScalars.count < 1_000,
                "the detail is \(problem.detail)")
        }

        /// A member of a message that is a whole number, by another reader of JSON.
        private func number(_ name: String, of text: [UInt8]) -> UInt64? {
            let value = try? JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
            return (value?[name] as? NSNumber)?.uint64Value
        }

        /// The members of a message of the server, which is one line.
        private func object(_ message: [UInt8]) throws -> [String: Any] {
            try require(!message.contains(UInt8(ascii: "\n")), "a message of several lines")
            guard let members = try JSONSerialization.jsonObject(with: Data(message)) as? [String: Any] else {
                throw Violation(message: "no object: \(String(decoding: message, as: UTF8.self))")
            }
            return members
        }
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }
}

extension SocketHarness {
    /// The inputs of the corpus, with the number of their messages that are accepted.
    static func inputs() throws -> [(name: String, input: [UInt8], acceptedCount: Int)] {
        let fixture = try fixture.get()
        let (first, head) = (try fixture.token(1), try fixture.token(fixture.store.head.position))
        let post = "{\"postMessage\":{\"thread\":\"SW1A\",\"body\":\"Milk?\"}}"
        let mine =
            "{\"postMessage\":{\"thread\":\"\(fixture.open)\",\"author\":\"\(fixture.user)\",\"body\":\"\\u00e9\\ud83e\\udd5b\"},\"correlation\":\"c\"}"
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        let inputs: [(String, UInt8, [String], Int)] = [
            (
                "command", 255,
                ["{\"id\":1,\"commands\":\(post)}", "{\"commands\":\(mine),\"id\":18446744073709551615}"], 2
            ),
            ("batch", 9, ["{\"id\":2,\"commands\":[\(post),\(mine),{\"leaveThread\":{\"thread\":\"M1\"}}]}"], 1),
            (
                "refused-commands", 30,
                [
                    "{\"id\":3,\"commands\":[]}", "{\"id\":3,\"commands\":[\(post),{}]}",
                    "{\"id\":3,\"commands\":{\"grantOperator\":{\"user\":\"\(fixture.user)\"}}}",
                    "{\"id\":3,\"commands\":{\"setPostcode\":{\"user\":\"\(fixture.secret)\",\"postcode\":\"SW1A 1AA\"}}}",
                ], 0
            ),
            (
                "follows", 0,
                [
                    "{\"id\":4,\"follow\":{}}", "{\"id\":4,\"follow\":{}}",
                    "{\"id\":5,\"follow\":{\"after\":\"\(first)\",\"thread\":\"sw1a\"}}",
                    "{\"id\":6,\"follow\":{\"after\":\"\(head)\",\"thread\":\"\(fixture.open)\"}}",
                    "{\"id\":7,\"unfollow\":4}",
                    "{\"id\":7,\"unfollow\":4}",
                    "{\"id\":4,\"follow\":{}}",
                ], 5
            ),
            (
                "refused-follows", 3,
                [
                    "{\"id\":8,\"follow\":{\"thread\":\"\(fixture.secret)\"}}",
                    "{\"id\":8,\"follow\":{\"thread\":\"W1\"}}",
                    "{\"id\":8,\"follow\":{\"after\":\"\(head)0\"}}", "{\"id\":8,\"follow\":{\"after\":\"x\"}}",
                    "{\"id\":8,\"follow\":{\"colour\":\"red\"}}",
                    "{\"id\":8,\"follow\":{\"after\":1}}", "{\"id\":8,\"follow\":[]}",
                ], 4
            ),
            ("too-many-follows", 100, (0..<18).map { "{\"id\":\($0),\"follow\":{}}" }, 16),
            (
                "malformed", 1,
                [
                    "", "{", "[]", "null", "{\"id\":1}", "{\"unfollow\":1}", "{\"id\":1,\"unfollow\":1,\"unfollow\":2}",
                    "{\"id\":-1,\"unfollow\":1}",
                    "{\"id\":1.5,\"unfollow\":1}", "{\"id\":18446744073709551616,\"unfollow\":1}",
                    "{\"id\":1,\"other\":{}}",
                    "{\"id\":1,\"commands\":\(deep)}",
                ], 0
            ),
            (
                "too-large", 255,
                [
                    "{\"id\":1,\"unfollow\":1" + String(repeating: " ", count: limit) + "}",
                    "{\"id\":1,\"commands\":\(post)}",
                ], 1
            ),
        ]
        let notUTF8 =
            Array("\u{10}{\"id\":1,\"follow\":{\"thread\":\"".utf8) + [0xC3, 0x28, 0xED, 0xA0, 0x80]
            + Array("\"}}".utf8)
        return inputs.map { name, first, lines, count in (name, [first] + lines.joined(separator: "\n").utf8, count) }
            + [
                ("not-utf8", notUTF8, 0)
            ]
    }
}
