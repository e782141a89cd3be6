import ChatDomain
import Foundation
import Testing

@testable import Chat

/// Reports that no moderator and no operator can read: the receipts, and the count for the host.
@Suite struct UnattendedReportTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let cem = UserID(bits: 3)
    private let dan = UserID(bits: 4)
    private let garden = ThreadID(bits: 31)
    private let district = ThreadID(bits: 0x5357_3141_0000_8000_806f_7574_7761_7264)
    private let post = MessageID(bits: 41)
    private let shout = MessageID(bits: 42)
    private let fence = MessageID(bits: 43)
    private let reply = ReplyID(bits: 51)

    /// Opens a store with posts of Cem in the thread of a district, without moderators, and in
    /// Ann's garden.
    private func store(_ fixture: StoreFixture = StoreFixture()) throws -> ChatStore {
        let store = try fixture.open()
        var commands: [ChatCommand] = []
        for (user, name) in [(ann, "Ann"), (bob, "Bob"), (cem, "Cem")] {
            commands += [.registerUser(id: user, username: name), .setPostcode(postcode: "SW1A 1AA", by: user)]
        }
        commands += [
            .openThread(id: garden, name: "Garden", by: ann), .joinThread(thread: garden, by: bob),
            .joinThread(thread: garden, by: cem),
            .postMessage(id: post, thread: district, body: "Watches", by: cem),
            .postMessage(id: shout, thread: district, body: "WATCHES", by: cem),
            .reply(id: reply, to: post, body: "Cheap", by: cem),
            .postMessage(id: fence, thread: garden, body: "Fences", by: cem),
        ]
        for answer in try store.executeBlocking(commands.map { CommandRequest($0) }) { _ = try answer.get() }
        return store
    }

    /// Reports a post; returns the number of moderators in the receipt.
    private func report(_ post: PostID, by user: UserID, _ store: ChatStore) throws -> Int? {
        try store.executeBlocking(.report(post, reason: "advertising", by: user)).moderatorCount
    }

    @Test func reportWithoutModeratorsAndOperatorsSaysSo() throws {
        let store = try store()
        let receipt = try store.executeBlocking(.report(.message(post), reason: "advertising", by: bob))
        #expect(receipt.moderatorCount == 0 && receipt.positions != nil)
        // Also a report whose effect holds already.
        let again = try store.executeBlocking(.report(.message(post), reason: "advertising", by: bob))
        #expect(again.moderatorCount == 0 && again.positions == nil)
        #expect(try report(.reply(reply), by: bob, store) == 0)
        let json = String(decoding: try JSONEncoder().encode(receipt), as: UTF8.self)
        #expect(json.contains(#""moderators":0"#))
        #expect(try JSONDecoder().decode(Receipt.self, from: Data(json.utf8)) == receipt)
        // No other command has the number.
        let other = try store.executeBlocking(.retract(.message(shout), by: cem))
        #expect(other.moderatorCount == nil)
        #expect(!String(decoding: try JSONEncoder().encode(other), as: UTF8.self).contains("moderators"))
    }

    @Test func reportToAModeratorHasNoNumber() throws {
        let store = try store()
        #expect(try report(.message(fence), by: bob, store) == nil)
        #expect(try report(.message(fence), by: bob, store) == nil)
        #expect(store.unattendedReportCount == 0)
    }

    @Test func reportToAnOperatorHasNoNumber() throws {
        let store = try store()
        try store.executeBlocking(.grantOperator(user: ann))
        #expect(try report(.message(post), by: bob, store) == nil)
        let answers = try store.executeBlocking([
            CommandRequest(.revokeOperator(user: ann)),
            CommandRequest(.report(.message(shout), reason: "spam", by: bob)),
            CommandRequest(.report(.message(MessageID(bits: 99)), reason: "spam", by: bob)),
        ])
        #expect(try answers[1].get().moderatorCount == 0)
        #expect(throws: Rejection.self) { try answers[2].get() }
        #expect(store.unattendedReportCount == 2)
    }

    @Test func erasedOwnerReadsNoReports() throws {
        let store = try store()
        try store.executeBlocking(.setRole(user: bob, thread: garden, role: .moderator, by: ann))
        try store.eraseUser(ann, reason: "asked")
        #expect(try report(.message(fence), by: bob, store) == nil)
        try store.executeBlocking(.resolveReport(.message(fence), by: bob))
        try store.executeBlocking(.leaveThread(thread: garden, by: cem))
        try store.eraseUser(bob, reason: "asked")
        try store.executeBlocking(.registerUser(id: dan, username: "Dan"))
        try store.executeBlocking(.joinThread(thread: garden, by: dan))
        // Nobody was left who could become the owner.
        #expect(try report(.message(fence), by: dan, store) == 0)
        #expect(store.unattendedReportCount == 1)
    }

    @Test func erasedOperatorReadsNoReports() throws {
        let store = try store()
        try store.executeBlocking(.grantOperator(user: ann))
        #expect(try report(.message(post), by: bob, store) == nil)
        try store.eraseUser(ann, reason: "asked")
        #expect(store.unattendedReportCount == 1)
        #expect(try report(.message(shout), by: bob, store) == 0)
    }

    /// The reports of a thread whose moderators are erased come into the inboxes of the operators.
    @Test func reportsBesideAnErasedOwnerReachOperators() throws {
        let store = try store()
        try store.executeBlocking(.grantOperator(user: bob))
        for user in [bob, cem] { try store.executeBlocking(.leaveThread(thread: garden, by: user)) }
        try store.eraseUser(ann, reason: "asked")
        try store.executeBlocking(.registerUser(id: dan, username: "Dan"))
        try store.executeBlocking(.joinThread(thread: garden, by: dan))
        #expect(try report(.message(fence), by: dan, store) == nil)
        #expect(try store.reader(as: .host).inbox(of: bob).map(\.reason) == [.report])
    }

    @Test func countFollowsReportsAndOperators() throws {
        let store = try store()
        #expect(store.unattendedReportCount == 0)
        for user in [ann, bob] { _ = try report(.message(post), by: user, store) }
        // Two reports of one post count once.
        #expect(store.unattendedReportCount == 1)
        _ = try report(.reply(reply), by: bob, store)
        _ = try report(.message(fence), by: bob, store)
        #expect(store.unattendedReportCount == 2)
        #expect(store.statistics.unattendedReportCount == 2)
        #expect(store.statistics.openMetrics().contains("\nchat_unattended_reports 2\n"))
        try store.executeBlocking(.grantOperator(user: bob))
        #expect(store.unattendedReportCount == 0)
        try store.executeBlocking(.resolveReport(.message(post), by: bob))
        try store.executeBlocking(.revokeOperator(user: bob))
        #expect(store.unattendedReportCount == 1)
        // A resolved post that is reported again counts again.
        #expect(try report(.message(post), by: bob, store) == 0)
        #expect(store.unattendedReportCount == 2)
    }

    @Test(arguments: [true, false]) func countSurvivesReopening(withCheckpoint hasCheckpoint: Bool) throws {
        let fixture = StoreFixture()
        let store = try store(fixture)
        for user in [ann, bob] { _ = try report(.message(post), by: user, store) }
        _ = try report(.message(shout), by: bob, store)
        try store.executeBlocking(.grantOperator(user: ann))
        try store.executeBlocking(.resolveReport(.message(shout), by: ann))
        try store.eraseUser(ann, reason: "asked")
        #expect(store.unattendedReportCount == 1)
        if hasCheckpoint { #expect(try store.writeCheckpoint() == store.head.position) }
        try store.close()
        let again = try fixture.open()
        #expect((again.statistics.checkpoints?.loadedPosition != nil) == hasCheckpoint)
        #expect(again.unattendedReportCount == 1)
        #expect(try report(.message(shout), by: bob, again) == 0)
        #expect(again.unattendedReportCount == 2)
        #expect(try again.rebuild())
        #expect(again.unattendedReportCount == 2)
        try again.executeBlocking(.grantOperator(user: bob))
        try again.executeBlocking(.resolveReport(.message(post), by: bob))
        try again.executeBlocking(.revokeOperator(user: bob))
        #expect(again.unattendedReportCount == 1)
    }
}
