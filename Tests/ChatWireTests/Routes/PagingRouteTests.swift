import Chat
import ChatDomain
import Foundation
import Testing

@testable import ChatWire

/// Pages, read through to both ends.
@Suite struct PagingRouteTests {
    /// A community with more than a page in each list that has pages.
    private func crowd() throws -> (Community, UserID, [String: Int]) {
        let community = try Community()
        let maya = try community.register("Maya")[0]
        let (thread, message) = (CommandSamples.thread, CommandSamples.message)
        try community.execute(
            .setPostcode(postcode: "SW1A 1AA", by: maya), .openThread(id: thread, name: "Market", by: maya),
            .postMessage(id: message, thread: thread, body: "first", by: maya))
        for index in 0..<23 {
            let offset = UInt128(1_000 + index)
            let (user, guest) = (UserID(bits: maya.bits + offset), UserID(bits: maya.bits + 1_000 + offset))
            let (post, hall) = (MessageID(bits: message.bits + offset), ThreadID(bits: thread.bits + 1_000 + offset))
            try community.execute(
                .registerUser(id: user, username: "User \(index)"), .joinThread(thread: thread, by: user),
                .setPostcode(postcode: "SW1A 2AA", by: user),
                .openThread(id: ThreadID(bits: thread.bits + offset), name: "Thread \(index)", by: maya),
                .postMessage(id: post, thread: thread, body: "message \(index)", by: user),
                .reply(to: message, body: "reply \(index)", by: user),
                .report(.message(post), reason: "spam", by: maya),
                .registerUser(id: guest, username: "Guest \(index)"), .joinThread(thread: thread, by: guest),
                .leaveThread(thread: thread, by: guest), .invite(user: guest, thread: thread, by: maya),
                .openThread(id: hall, name: "Hall \(index)", by: user), .invite(user: maya, thread: hall, by: user),
                .mute(user: user, thread: thread, reason: "spam", by: maya),
                .setRole(user: user, thread: thread, role: .moderator, by: maya), .block(user: user, by: maya))
        }
        // Leaving and joining again changes the order of the members.
        let early = UserID(bits: maya.bits + 1_003)
        try community.execute(
            .leaveThread(thread: thread, by: early), .joinThread(thread: thread, by: early),
            .setPostcode(postcode: "M1 1AE", by: early),
            .setPostcode(postcode: "SW1A 1AA", by: early))
        let targets = [
            "/v1/threads": 25, "/v1/threads/\(thread)/timeline": 24, "/v1/threads/\(thread)/members": 24,
            "/v1/threads/SW1A/residents": 24,
            "/v1/messages/\(message)/replies": 23, "/v1/me/threads": 25, "/v1/threads/\(thread)/roles": 23,
            "/v1/threads/\(thread)/sanctions": 23, "/v1/threads/\(thread)/reports": 23,
            "/v1/threads/\(thread)/invitations": 23,
            "/v1/invitations": 23, "/v1/me/blocks": 23,
        ]
        return (community, maya, targets)
    }

    private func page(_ response: WireResponse) throws -> (items: [String], older: UInt64?, newer: UInt64) {
        let object = try #require(response.json as? [String: Any])
        let items = try #require(object["items"] as? [[String: Any]]).map { item in
            String(
                decoding: (try? JSONSerialization.data(withJSONObject: item, options: .sortedKeys)) ?? Data(),
                as: UTF8.self)
        }
        return (
            items, (object["older"] as? NSNumber)?.uint64Value, try #require(object["newer"] as? NSNumber).uint64Value
        )
    }

    @Test func everyPageSaysWhatItIsAtLeastAsNewAs() async throws {
        let (community, user, targets) = try crowd()
        let message = CommandSamples.message
        let others = [
            "/v1/directory", "/v1/inbox", "/v1/people", "/v1/people/\(user)", "/v1/me",
            "/v1/messages/\(message)/reactions",
        ]
        for target in targets.keys + others {
            let token = await community.get(target, as: user)[header: "Resume-Token"]
            #expect(token == "\(ResumeToken(community.store.head))", "\(target)")
        }
    }

    @Test(arguments: [1, 2, 5, 24, 200]) func bothDirectionsReachBothEnds(limit: Int) async throws {
        let (community, user, targets) = try crowd()
        for (target, count) in targets {
            let all = try page(await community.get("\(target)?limit=200", as: user))
            #expect((all.items.count, all.older) == (count, nil), "\(target)")
            var latest = try page(await community.get("\(target)?limit=\(limit)", as: user))
            #expect(latest.items == all.items.suffix(limit))
            var backwards = latest.items
            while let older = latest.older, backwards.count <= count {
                latest = try page(await community.get("\(target)?limit=\(limit)&before=\(older)", as: user))
                backwards = latest.items + backwards
            }
            #expect(backwards == all.items, "\(target) backwards")
            var forwards: [String] = []
            var newer: UInt64 = 0
            while forwards.count <= count {
                let next = try page(await community.get("\(target)?limit=\(limit)&after=\(newer)", as: user))
                #expect((next.older == nil) == forwards.isEmpty, "\(target) after \(newer)")
                if next.items.isEmpty { break }
                forwards += next.items
                newer = next.newer
            }
            #expect(forwards == all.items, "\(target) forwards")
            // At the end, `newer` stays, and finds what comes later.
            #expect(try page(await community.get("\(target)?after=\(newer)", as: user)).newer == newer)
            let turned = try #require(
                try page(await community.get("\(target)?limit=\(limit)&after=\(newer)", as: user)).older)
            #expect(
                try page(await community.get("\(target)?limit=\(limit)&before=\(turned)", as: user)).items
                    == all.items.suffix(limit))
        }
    }

    @Test func defaultIsTheLatestFifty() async throws {
        let (community, user, _) = try crowd()
        for index in 0..<40 {
            try community.execute(.postMessage(thread: CommandSamples.thread, body: "\(index)", by: user))
        }
        let target = "/v1/threads/\(CommandSamples.thread)/timeline"
        let all = try page(await community.get("\(target)?limit=200", as: user)).items
        #expect(try page(await community.get(target, as: user)).items == all.suffix(50))
    }

    @Test func extremeBoundsAreEmptyPages() async throws {
        let (community, user, targets) = try crowd()
        for (target, count) in targets {
            let all = try page(await community.get("\(target)?limit=200", as: user)).items
            #expect(try page(await community.get("\(target)?limit=200&before=\(UInt64.max)", as: user)).items == all)
            #expect(try page(await community.get("\(target)?before=0", as: user)).items.isEmpty)
            #expect(try page(await community.get("\(target)?after=\(UInt64.max)", as: user)).items.isEmpty)
            #expect(try page(await community.get("\(target)?after=0&limit=200", as: user)).items.count == count)
        }
    }
}
