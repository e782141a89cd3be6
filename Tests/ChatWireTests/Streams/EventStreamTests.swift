import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ChatWire

/// Live events as lines of Server-Sent Events.
@Suite struct EventStreamTests {
    private func post(_ village: Village, _ body: String) throws {
        try village.community.execute(.postMessage(thread: village.market, body: body, by: village.maya))
    }

    @Test func openingHasTheTokenOfTheHead() async throws {
        let village = try Village()
        let stream = try #require(await village.community.get("/v1/events", as: village.maya).stream)
        let token = try village.store.resumeToken(after: village.store.head.position)
        #expect(String(decoding: stream.opening, as: UTF8.self) == "retry: 2000\nid: \(token)\n\n")
    }

    /// A block has the token that continues after it, and the event as the tool prints it to the
    /// viewer.
    @Test func blocksAreTheEventsThatTheViewerSees() async throws {
        let village = try Village()
        let start = try village.store.resumeToken(after: 0)
        let last = village.store.head.position
        for viewer in [village.maya, village.om, village.zoe] {
            var expected: [String] = []
            for try await update in village.store.events(after: 0, upTo: last, matching: EventFilter(as: .user(viewer)))
                .updates
            {
                // Nothing is lost or erased in the village.
                guard case .event(let event) = update else {
                    Issue.record("\(update)")
                    continue
                }
                expected.append("id: \(event.resumeToken)\ndata: \(try json(event.recorded))\n\n")
            }
            let stream = try #require(await village.community.get("/v1/events?after=\(start)", as: viewer).stream)
            let texts = Mutex([String]())
            let count = expected.count
            do {
                _ = try await stream.run { block, _ in
                    let isLast = texts.withLock { texts in
                        texts.append(String(decoding: block, as: UTF8.self))
                        return texts.count > count
                    }
                    if isLast { throw StreamReader.Enough() }
                }
            } catch is StreamReader.Enough {}
            let found = texts.withLock { $0 }
            #expect(found.first == "retry: 2000\nid: \(start)\n\n")
            #expect(Array(found.dropFirst()) == expected)
            #expect(count > 1)
        }
    }

    // MARK: Notices

    /// A block of a notice has its name, and the token before the event until the last one.
    @Test func noticesHaveNames() async throws {
        let village = try Village()
        let start = try village.store.resumeToken(after: village.store.head.position)
        let order = try #require(try village.store.eraseUser(village.maya, reason: "user-request").orders).upperBound
        // The owner is erased, so Om is the owner, and the last one leaves a closed thread only.
        try village.community.execute(.closeThread(thread: village.market, by: village.om))
        try village.community.execute(.leaveThread(thread: village.market, by: village.om))
        let response = await village.community.get("/v1/events?after=\(start)", as: village.om)
        let blocks = try await StreamReader.read(response) { $0.json?["threadLeft"] != nil }
        #expect(blocks.map(\.event) == ["erased", nil, nil, "accessLost", nil])
        // Om gets the role and closes the thread before the access ends.
        #expect(blocks[3].data == "{\"thread\":\"\(village.market)\"}")
        let after = try [order, village.store.head.position].map { "\(try village.store.resumeToken(after: $0))" }
        // The token before an event names the commit of the event.
        #expect([blocks[0].id, blocks[4].id] == after)
        #expect(try #require(blocks[1].id.flatMap(ResumeToken.init)).position > order)
        // Om has left the market: of what was erased, the private thread's name and Maya are left.
        let erased = try #require(blocks[0].json)
        #expect(erased["namelessUsers"] as? [String] == ["\(village.maya)"])
        #expect(erased["messages"] as? [String] == [])
        #expect(
            Set(erased.keys) == [
                "positions", "messages", "replies", "threads", "users", "namelessThreads", "namelessUsers",
            ])
    }

    /// A client that was away when it lost the thread is told, and one that never could read it is
    /// not.
    @Test func threadIsFollowedToTheEndOfTheAccess() async throws {
        let village = try Village()
        let start = try village.store.resumeToken(after: village.store.head.position)
        try village.community.execute(
            .removeMember(user: village.om, thread: village.market, reason: "spam", by: village.maya))
        let target = "/v1/events?thread=\(village.market)"
        let resumed = await village.community.get("\(target)&after=\(start)", as: village.om)
        let blocks = try await StreamReader.read(resumed) { $0.json?["memberRemoved"] != nil }
        #expect(blocks.map(\.event) == ["accessLost", nil])
        #expect(await village.community.get(target, as: village.om).status == 404)
        #expect(
            await village.community.get("\(target)&after=\(try #require(blocks.last?.id))", as: village.om).status
                == 404)
        #expect(await village.community.get("\(target)&after=\(start)", as: village.zoe).status == 404)
    }

    /// Text that looks like a field of the stream stays inside of its line.
    @Test func lineFeedsInATextStayInItsLine() async throws {
        let village = try Village()
        let response = await village.community.get("/v1/events", as: village.maya)
        let body = "a\n\nevent: closing\ndata: {}\r\rid: x\u{85}\u{2028}"
        try post(village, body)
        let blocks = try await StreamReader.read(response) { _ in true }
        #expect(blocks.map(\.body) == [body])
        #expect(blocks[0].event == nil)
    }

    @Test func threadSelectsItsEvents() async throws {
        let village = try Village()
        let response = await village.community.get("/v1/events?thread=\(village.market)", as: village.maya)
        try village.community.execute(.postMessage(thread: village.secret, body: "elsewhere", by: village.maya))
        try post(village, "here")
        #expect(try await StreamReader.read(response) { _ in true }.map(\.body) == ["here"])
    }

    /// A viewer who loses the thread sees no more of it; one who gains it sees what follows.
    @Test func rightsAreThoseOfTheDelivery() async throws {
        let village = try Village()
        let zoe = await village.community.get("/v1/events", as: village.zoe)
        let om = await village.community.get("/v1/events", as: village.om)
        try post(village, "before")
        try village.community.execute(.acceptInvitation(thread: village.market, by: village.zoe))
        try village.community.execute(
            .removeMember(user: village.om, thread: village.market, reason: "spam", by: village.maya))
        try post(village, "after")
        try village.community.execute(
            .setPostcode(postcode: "M1 1AE", by: village.om), .changeUsername(username: "Zora", by: village.zoe))
        let seenByZoe = try await StreamReader.read(zoe) { $0.json?["usernameChanged"] != nil }
        #expect(seenByZoe.compactMap(\.body).last == "after")
        let seenByOm = try await StreamReader.read(om) { $0.json?["postcodeSet"] != nil }
        #expect(!seenByOm.compactMap(\.body).contains("after"))
    }

    @Test func tokenResumesAfterItsEvent() async throws {
        let village = try Village()
        let first = await village.community.get("/v1/events", as: village.maya)
        for index in 0..<5 { try post(village, "\(index)") }
        let blocks = try await StreamReader.read(first) { $0.body == "4" }
        #expect(blocks.map(\.body) == ["0", "1", "2", "3", "4"])
        for (index, block) in blocks.dropLast().enumerated() {
            let id = try #require(block.id)
            let query = await village.community.get("/v1/events?after=\(id)", as: village.maya)
            #expect(
                try await StreamReader.read(query) { $0.body == "4" }.map(\.body)
                    == blocks.dropFirst(index + 1).map(\.body))
        }
        // The header wins over the query: a browser that reconnects repeats the query.
        let (old, new) = (try #require(blocks[0].id), try #require(blocks[3].id))
        let header = await village.community.send("GET", "/v1/events?after=\(old)", as: village.maya, lastEventID: new)
        #expect(try await StreamReader.read(header) { $0.body == "4" }.map(\.body) == ["4"])
    }

    @Test func foreignTokensAreProblems() async throws {
        let village = try Village()
        let other = try Community(seed: 2)
        _ = try other.register("Maya")
        let (foreign, own) = (try other.store.resumeToken(after: 1), try village.store.resumeToken(after: 1))
        for token in ["\(foreign)", "", "ct1", "12", "\(own)x", String("\(own)".dropLast()), "\(own)".uppercased()] {
            for (target, header) in [
                ("/v1/events?after=\(token)", nil), ("/v1/events", token), ("/v1/events?after=\(own)", token),
            ] {
                let response = await village.community.send("GET", target, as: village.maya, lastEventID: header)
                #expect((response.status, response.code) == (400, "invalidToken"), "\(target) \(header ?? "")")
                #expect(response.stream == nil)
            }
        }
    }

    @Test func streamEndsWithItsStore() async throws {
        let village = try Village()
        let stream = try #require(await village.community.get("/v1/events", as: village.maya).stream)
        let isOpen = Mutex(false)
        async let end = stream.run { _, _ in isOpen.withLock { $0 = true } }
        while !isOpen.withLock({ $0 }) { await Task.yield() }
        try village.store.close()
        #expect(try await end == .closing)
        #expect(String(decoding: EventStream.block(.closing), as: UTF8.self) == "event: closing\ndata: {}\n\n")
        #expect(String(decoding: EventStream.block(.signedOut), as: UTF8.self) == "event: signed-out\ndata: {}\n\n")
    }

    @Test func streamEndsWithItsTask() async throws {
        let village = try Village()
        let stream = try #require(await village.community.get("/v1/events", as: village.maya).stream)
        let isOpen = Mutex(false)
        let task = Task { try await stream.run { _, _ in isOpen.withLock { $0 = true } } }
        while !isOpen.withLock({ $0 }) { await Task.yield() }
        task.cancel()
        #expect(try await task.value == .closing)
    }

    /// A sink that suspends gets no second block, whatever is posted meanwhile.
    @Test func sinkIsNeverCalledTwiceAtOnce() async throws {
        let village = try Village()
        let stream = try #require(await village.community.get("/v1/events", as: village.maya).stream)
        let state = Mutex((active: 0, written: 0))
        let count = 600
        let gate = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let task = Task {
            try await stream.run { _, _ in
                let written = state.withLock { state in
                    state.active += 1
                    state.written += 1
                    #expect(state.active == 1)
                    return state.written
                }
                if written == 1 { await withCheckedContinuation { waiting in gate.withLock { $0 = waiting } } }
                state.withLock { $0.active -= 1 }
                if written == count + 1 { throw StreamReader.Enough() }
            }
        }
        while gate.withLock({ $0 == nil }) { await Task.yield() }
        for index in 0..<count { try post(village, "\(index)") }
        for _ in 0..<1_000 { await Task.yield() }
        #expect(state.withLock { $0.written } == 1)
        gate.withLock { $0 }?.resume()
        await #expect(throws: StreamReader.Enough.self) { _ = try await task.value }
        #expect(state.withLock { $0.written } == count + 1)
    }

    /// The token of a page of the timeline continues exactly after the page.
    @Test func tokenOfAPageContinuesAfterIt() async throws {
        let village = try Village()
        let total = 300
        let posts = Task.detached {
            for index in 0..<total { try post(village, "\(index)") }
        }
        let target = "/v1/threads/\(village.market)/timeline?limit=200"
        for _ in 0..<Repetitions.few(20, of: 100) {
            let page = await village.community.get(target, as: village.maya)
            let token = try #require(page[header: "Resume-Token"])
            let shown = ((page.json as? [String: Any])?["items"] as? [[String: Any]] ?? []).compactMap {
                $0["body"] as? String
            }
            let numbers = shown.compactMap { Int($0) }
            let next = await village.community.get(
                "/v1/events?after=\(token)&thread=\(village.market)", as: village.maya)
            if (numbers.last ?? -1) < total - 1 {
                let following = try await StreamReader.read(next) { $0.body != nil }.compactMap(\.body)
                #expect(following == ["\((numbers.last ?? -1) + 1)"])
            }
            await Task.yield()
        }
        try await posts.value
    }
}
