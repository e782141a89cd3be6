import Chat
import ChatDomain
import Foundation
import Projections
import TestSupport
import Testing

@testable import ChatWire

/// Lists that are longer than an answer may be.
@Suite struct ListLimitTests {
    private static let count = 210

    /// A community with more than an answer has in every list that can have that; the tests only
    /// read it.
    private static let crowd = Result { try makeCrowd() }

    private static func makeCrowd() throws -> (community: Community, ann: UserID, thread: ThreadID, message: MessageID)
    {
        let community = try Community()
        let ann = try community.register("Ann")[0]
        let (thread, message) = (CommandSamples.thread, CommandSamples.message)
        try community.execute(
            .setPostcode(postcode: "SW1A 1AA", by: ann), .openThread(id: thread, name: "Market", by: ann),
            .postMessage(id: message, thread: thread, body: "first", by: ann),
            .reply(id: CommandSamples.reply, to: message, body: "second", by: ann))
        for index in 0..<count {
            let offset = UInt128(1_000 + index)
            let (user, guest) = (UserID(bits: ann.bits + offset), UserID(bits: ann.bits + 10_000 + offset))
            let (room, post) = (ThreadID(bits: thread.bits + offset), MessageID(bits: message.bits + offset))
            try community.execute(
                .registerUser(id: user, username: "User \(index)"),
                .registerUser(id: guest, username: "Guest \(index)"),
                .joinThread(thread: thread, by: user), .setPostcode(postcode: "SW1A 2AA", by: user),
                .postMessage(id: post, thread: thread, body: "message \(index)", by: user),
                .reply(to: message, body: "reply \(index)", by: user),
                .custom(kind: "com.example.vote", thread: thread, payload: CustomPayload(unchecked: "1"), by: user),
                .react(.message(message), emoji: "👍", by: user),
                .react(.reply(CommandSamples.reply), emoji: "👍", by: user),
                .report(.message(post), reason: "spam", by: ann),
                .setRole(user: user, thread: thread, role: .moderator, by: ann),
                .joinThread(thread: thread, by: guest), .leaveThread(thread: thread, by: guest),
                .invite(user: guest, thread: thread, by: ann),
                .openThread(id: room, name: "Room \(index)", policy: .listed, by: user),
                .joinThread(thread: room, by: ann),
                .openThread(id: ThreadID(bits: room.bits + 10_000), name: "Hall \(index)", by: user),
                .invite(user: ann, thread: ThreadID(bits: room.bits + 10_000), by: user))
            if index < 50 { try community.execute(.pin(message: post, by: ann)) }
        }
        for index in 0..<count {
            let user = UserID(bits: ann.bits + UInt128(1_000 + index))
            try community.execute(
                .setRole(user: user, thread: thread, role: .member, by: ann),
                .mute(user: user, thread: thread, reason: "spam", by: ann),
                .setRole(user: user, thread: thread, role: .moderator, by: ann),
                .block(user: UserID(bits: user.bits + 10_000), by: ann))
        }
        return (community, ann, thread, message)
    }

    /// The number of items of every list in an answer, by its path.
    private func listCounts(_ value: Any, _ path: String = "") -> [String: Int] {
        switch value {
        case let object as [String: Any]:
            object.reduce(into: [:]) { counts, member in
                counts.merge(listCounts(member.value, "\(path).\(member.key)"), uniquingKeysWith: max)
            }
        case let list as [Any]:
            list.reduce(into: [path: list.count]) { counts, item in
                counts.merge(listCounts(item, path), uniquingKeysWith: max)
            }
        default: [:]
        }
    }

    @Test func everyListIsCutAndSaysSo() async throws {
        let (community, ann, thread, message) = try Self.crowd.get()
        let store = community.store
        var me = try store.reader(as: .user(ann)).user(ann)
        #expect(me.threads.count == Self.count + 2)
        me.threads.removeLast(me.threads.count - 200)
        let cut: [(String, String)] = [("/v1/me", try json(me).dropLast() + ",\"more\":true}")]
        for (target, expected) in cut {
            let response = await community.get(target, as: ann)
            #expect(response.status == 200 && response.text == expected, "\(target)")
        }
        // Pages have at most 200 items, and the others by their bounds; a thread has at most 50
        // pins.
        let pages =
            [
                "/v1/threads", "/v1/threads/\(thread)/timeline", "/v1/threads/\(thread)/events",
                "/v1/threads/\(thread)/custom-events",
                "/v1/threads/\(thread)/members",
                "/v1/threads/SW1A/residents",
                "/v1/messages/\(message)/replies", "/v1/me/threads", "/v1/me/blocks", "/v1/invitations",
                "/v1/messages/\(message)/reactions",
                "/v1/replies/\(CommandSamples.reply)/reactions", "/v1/inbox", "/v1/people", "/v1/people/\(ann)",
                "/v1/directory",
            ] + ["roles", "sanctions", "reports", "invitations"].map { "/v1/threads/\(thread)/\($0)" }
        let whole = [
            "/v1/threads/\(thread)/pins", "/v1/threads/\(thread)", "/v1/threads/\(thread)/standing",
            "/v1/messages/\(message)",
            "/v1/replies/\(CommandSamples.reply)", "/v1/threads/\(thread)/activity",
        ]
        for target in pages.map({ "\($0)?limit=200" }) + whole + cut.map(\.0) {
            let response = await community.get(target, as: ann)
            let longest = listCounts(try #require(response.json)).values.max() ?? 0
            #expect(response.status == 200 && longest <= 200, "\(target): \(longest)")
            #expect(pages.contains { target.hasPrefix($0 + "?") } ? longest == 200 : true, "\(target)")
            #expect(response.text.contains("\"more\"") == cut.contains { $0.0 == target }, "\(target)")
        }
        let tried = (pages + whole + cut.map(\.0)).map { target in
            target.replacing("\(CommandSamples.reply)", with: "{reply}").replacing("\(ann)", with: "{user}").replacing(
                "\(thread)", with: "{thread}"
            ).replacing(
                "SW1A", with: "{thread}"
            ).replacing("\(message)", with: "{message}")
        }
        let routes = ChatRoutes.routes.filter { $0.method == "GET" && $0.pattern != "/v1/events" }.map(\.pattern)
        #expect(Set(tried) == Set(routes), "a route has no test")
    }

    /// The answers of a batch are not a list that is cut.
    @Test func batchHasEveryAnswer() async throws {
        let community = try Community()
        let ann = try community.register("Ann")[0]
        try community.execute(.openThread(id: CommandSamples.thread, name: "Market", by: ann))
        let command = "{\"postMessage\":{\"thread\":\"\(CommandSamples.thread)\",\"body\":\"x\"}}"
        let response = await community.post(
            "[" + [String](repeating: command, count: 300).joined(separator: ",") + "]", as: ann)
        #expect((response.json as? [Any])?.count == 300)
        #expect(!response.text.contains("\"more\""))
    }

    /// Posts of 16 KiB that are longer as JSON, reported and in a page.
    @Test func longTextsAreCutByLength() async throws {
        let community = try Community()
        let users = try community.register("Ann", "Bob")
        let thread = CommandSamples.thread
        try community.execute(
            .openThread(id: thread, name: "Market", by: users[0]), .joinThread(thread: thread, by: users[1]))
        // Each byte has six bytes of JSON.
        let body = "x" + String(repeating: "\u{1}", count: MessageBody.maximumByteCount - 1)
        // An answer has at most 5 of them.
        let count = Repetitions.few(16, of: 46)
        for index in 0..<count {
            let message = MessageID(bits: CommandSamples.message.bits + UInt128(index))
            try community.execute(
                .postMessage(id: message, thread: thread, body: body, by: users[1]),
                .report(.message(message), reason: "spam", by: users[0]))
        }
        let response = await community.get("/v1/threads/\(thread)/reports?limit=\(count)", as: users[0])
        let object = try #require(response.json as? [String: Any])
        let found = try #require(object["items"] as? [[String: Any]]).count
        let size = 6 * MessageBody.maximumByteCount
        #expect(found < count && found > ListLimit.answer.byteCount / size - 3, "\(found) reports")
        #expect(object["more"] as? Bool == true)
        #expect(response.bytes.count <= ListLimit.answer.byteCount + 128)
        // A page that is cut has the bounds of what it has, in both directions.
        let target = "/v1/threads/\(thread)/timeline?limit=\(count)"
        var (older, backwards, wasCut): (UInt64?, [String], Bool) = (nil, [], false)
        repeat {
            let response = await community.get(older.map { "\(target)&before=\($0)" } ?? target, as: users[0])
            #expect(response.bytes.count <= ListLimit.answer.byteCount + 128)
            let page = try #require(response.json as? [String: Any])
            backwards = try #require(page["items"] as? [[String: Any]]).compactMap { $0["id"] as? String } + backwards
            older = (page["older"] as? NSNumber)?.uint64Value
            wasCut = wasCut || page["more"] as? Bool == true
        } while older != nil && backwards.count < count
        let all = (0..<count).map { "\(MessageID(bits: CommandSamples.message.bits + UInt128($0)))" }
        #expect(wasCut && backwards == all)
        var (newer, forwards): (UInt64, [String]) = (0, [])
        while forwards.count < count {
            let page = try #require(
                await community.get("\(target)&after=\(newer)", as: users[0]).json as? [String: Any])
            let items = try #require(page["items"] as? [[String: Any]])
            forwards += items.compactMap { $0["id"] as? String }
            newer = try #require(page["newer"] as? NSNumber).uint64Value
            if items.isEmpty { break }
        }
        #expect(forwards == all)
    }
}

/// The limit of an encoder, in lists of every form.
@Suite struct ListLimitEncodingTests {
    private struct Box<Item: Encodable>: Encodable {
        var items: [Item]
        var name = "n"
    }

    private func text(_ value: some Encodable, count: Int = 3, bytes: Int = 1_000) throws -> String {
        var line: [UInt8] = []
        try JSONLineEncoder(listLimit: ListLimit(count: count, byteCount: bytes)).encode(value, into: &line)
        return String(decoding: line, as: UTF8.self)
    }

    @Test func listsOfMembersAreCut() throws {
        #expect(try text(Box(items: [1, 2, 3])) == #"{"items":[1,2,3],"name":"n"}"#)
        #expect(try text(Box(items: [1, 2, 3, 4])) == #"{"items":[1,2,3],"name":"n","more":true}"#)
        #expect(try text(Box(items: [Int]())) == #"{"items":[],"name":"n"}"#)
        // In an object of a list, and as the whole answer.
        #expect(
            try text(Box(items: [Box(items: [1, 2, 3, 4])]))
                == #"{"items":[{"items":[1,2,3],"name":"n","more":true}],"name":"n"}"#)
        #expect(try text([1, 2, 3, 4]) == "[1,2,3,4]")
        #expect(try text([Box(items: [1, 2, 3, 4])]) == #"[{"items":[1,2,3],"name":"n","more":true}]"#)
    }

    @Test func lengthCountsTheListOnly() throws {
        #expect(try text(Box(items: ["abc", "def"]), bytes: 13) == #"{"items":["abc","def"],"name":"n"}"#)
        #expect(try text(Box(items: ["abc", "def"]), bytes: 12) == #"{"items":["abc"],"name":"n","more":true}"#)
        // The first item is always there.
        #expect(try text(Box(items: ["abcdefghi"]), bytes: 3) == #"{"items":["abcdefghi"],"name":"n"}"#)
        #expect(
            try text(Box(items: ["abcdefghi", ""]), bytes: 3) == #"{"items":["abcdefghi"],"name":"n","more":true}"#)
    }
}
