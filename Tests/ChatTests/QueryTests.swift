import ChatDomain
import ChatTesting
import Foundation
import Projections
import Testing

@testable import Chat

@Suite struct QueryTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let eve = UserID(bits: 3)
    private let first = MessageID(bits: 11)
    private let second = MessageID(bits: 12)
    private let reply = ReplyID(bits: 21)
    private let garden = ThreadID(bits: 31)

    private func store() throws -> ChatStore {
        let store = try StoreFixture().open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))  // 1
        try store.executeBlocking(.registerUser(id: bob, username: "Bob", subject: "auth0|bob"))  // 2
        try store.executeBlocking(.registerUser(id: eve, username: "Eve"))  // 3
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))  // 4, 5
        try store.executeBlocking(.joinThread(thread: garden, by: bob))  // 6
        try store.executeBlocking(.postMessage(id: first, thread: garden, body: "Tomatoes?", by: ann))  // 7
        try store.executeBlocking(.postMessage(id: second, thread: garden, body: "Beans?", by: ann))  // 8
        try store.executeBlocking(.reply(id: reply, to: first, body: "Yes", by: bob))  // 9
        try store.executeBlocking(.edit(.message(first), body: "Tomatoes, anyone?", by: ann))  // 10
        try store.executeBlocking(.retract(.message(second), by: ann))  // 11
        try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: bob))  // 12...14
        return store
    }

    @Test func timelineShowsLatestTextAndRetractions() throws {
        let timeline = try store().reader(as: .host).timeline(garden)
        #expect(timeline.map(\.body) == ["Tomatoes, anyone?", nil])
        #expect(timeline.map(\.isRetracted) == [false, true])
        #expect(timeline.map(\.replyCount) == [1, 0])
        #expect(timeline.map(\.position) == [7, 8])
        #expect(timeline[0].editedAt != nil && timeline[1].editedAt == nil)
        #expect(timeline[0].author == UserSummary(id: ann, username: "Ann"))
    }

    /// Covers every view, with text from the journal and from the cache.
    @Test func editKeepsCreationTime() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        let created = fixture.clock.now()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        try store.executeBlocking(.postMessage(id: first, thread: garden, body: "Tomatoes?", by: ann))
        try store.executeBlocking(.reply(id: reply, to: first, body: "Yes", by: ann))
        for _ in 0..<2 {
            fixture.clock.advance(byMilliseconds: 60_000)
            let edited = fixture.clock.now()
            try store.executeBlocking(.edit(.message(first), body: "Beans?", by: ann))
            try store.executeBlocking(.edit(.reply(reply), body: "No", by: ann))
            for _ in 0..<2 {
                let messages =
                    try store.reader(as: .host).timeline(garden) + [store.reader(as: .host).message(first)]
                    + [store.reader(as: .host).user(ann).threads[0].lastMessage].compactMap { $0 }
                #expect(messages.map(\.body) == ["Beans?", "Beans?", "Beans?"])
                #expect(messages.allSatisfy { $0.createdAt == created && $0.editedAt == edited })
                let replies = try store.reader(as: .host).replies(to: first)
                #expect(
                    replies.map(\.body) == ["No"] && replies.map(\.createdAt) == [created]
                        && replies.map(\.editedAt) == [edited])
            }
        }
        #expect(try store.reader(as: .host, asOf: .position(5)).message(first).createdAt == created)
    }

    @Test func userDetailsHoldThreadsUnreadCountAndLastMessage() throws {
        let store = try store()
        let view = try store.reader(as: .host).user(bob)
        #expect(view.postcode?.description == "SW1A 1AA")
        #expect(view.threads.map(\.name) == ["Garden", "SW1A"])
        #expect(view.threads.map(\.unreadCount) == [1, 0])
        #expect(view.threads[0].lastMessage?.message == second)
        #expect(view.threads[1].lastMessage == nil)
        try store.executeBlocking(.markRead(thread: garden, upTo: 7, by: bob))
        #expect(try store.reader(as: .host).user(bob).threads[0].unreadCount == 0)
        #expect(try store.reader(as: .host).user(bob).threads[0].readUpTo == 7)
        #expect(store.userID(withSubject: "auth0|bob") == bob)
        #expect(try store.userID(named: "BOB") == bob)
    }

    @Test func userDetailsHoldTheFirstUnreadMessage() throws {
        let store = try store()
        let unread = try store.reader(as: .host).message(first).position
        #expect(try store.reader(as: .user(bob)).user(bob).threads.map(\.firstUnread) == [unread, nil])
        try store.executeBlocking(.markRead(thread: garden, upTo: unread, by: bob))
        let read = store.head.position
        #expect(try store.reader(as: .user(bob)).user(bob).threads.map(\.firstUnread) == [nil, nil])
        try store.executeBlocking(.markUnread(thread: garden, from: unread, by: bob))
        let thread = try store.reader(as: .user(bob)).user(bob).threads[0]
        #expect(thread.firstUnread == unread && thread.unreadCount == 1 && thread.readUpTo == unread - 1)
        #expect(try store.reader(as: .user(bob), asOf: .position(read)).user(bob).threads[0].readUpTo == unread)
        try store.executeBlocking(.block(user: ann, by: bob))
        #expect(try store.reader(as: .user(bob)).user(bob).threads.map(\.firstUnread) == [nil, nil])
    }

    /// The level ends by itself: as of now by the clock, and as of an event by its recording time.
    @Test func levelOfNotificationsIsAllAfterItsEnd() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: garden, name: "Garden", by: ann))
        let end = Timestamp(millisecondsSince1970: fixture.clock.now().millisecondsSince1970 + 60_000)
        try store.executeBlocking(.setNotifications(thread: garden, level: .mentions, until: end, by: ann))
        let set = store.head.position
        func levels(asOf point: AsOf = .now) throws -> [ThreadNotifications] {
            let standing = try store.reader(as: .user(ann), asOf: point).standing(of: ann, in: garden)
            return try [Viewer.user(ann), .host].map {
                try store.reader(as: $0, asOf: point).user(ann).threads[0].notifications
            }
                + [standing.notifications]
        }
        let (held, ended) = (ThreadNotifications(level: .mentions, until: end), ThreadNotifications())
        #expect(try levels() == [held, held, held])
        #expect(try levels(asOf: .position(set - 1)) == [ended, ended, ended])
        fixture.clock.advance(byMilliseconds: 59_999)
        #expect(try levels() == [held, held, held])
        fixture.clock.advance(byMilliseconds: 1)
        #expect(try levels() == [ended, ended, ended])
        #expect(try levels(asOf: .position(set)) == [held, held, held])
        try store.executeBlocking(.postMessage(thread: garden, body: "x", by: ann))
        #expect(try levels(asOf: .position(store.head.position)) == [ended, ended, ended])
    }

    /// What people write whom the reader blocks now is not counted, and their invitations are
    /// marked.
    @Test func blockedUsersAreCountedNowhere() throws {
        let store = try store()
        let before = store.head.position
        try store.executeBlocking(.block(user: ann, by: bob))
        for viewer in [bob, nil] {
            #expect(try store.reader(as: Viewer(orHost: viewer)).user(bob).threads.map(\.unreadCount) == [0, 0])
        }
        // The blocks of now count, as of every point.
        #expect(
            try store.reader(as: .user(bob), asOf: .position(before)).user(bob).threads.map(\.unreadCount) == [0, 0])
        try store.executeBlocking(.unblock(user: ann, by: bob))
        #expect(try store.reader(as: .user(bob)).user(bob).threads.map(\.unreadCount) == [1, 0])
        let club = ThreadID(bits: 0xC1)
        // Ann knows Eve, who has been in her garden.
        try store.executeBlocking(.joinThread(thread: garden, by: eve))
        try store.executeBlocking(.leaveThread(thread: garden, by: eve))
        try store.executeBlocking(.openThread(id: club, name: "Club", policy: .inviteOnly, by: ann))
        try store.executeBlocking(.invite(user: eve, thread: club, by: ann))
        #expect(try store.reader(as: .user(eve)).invitations(of: eve).map(\.isFromBlockedUser) == [false])
        try store.executeBlocking(.block(user: ann, by: eve))
        let invitation = try #require(try store.reader(as: .user(eve)).invitations(of: eve).first)
        #expect(invitation.isFromBlockedUser && invitation.thread == club)
        let json = try JSONEncoder().encode(invitation)
        #expect(String(decoding: json, as: UTF8.self).contains(#""blocked":true"#))
        #expect(try JSONDecoder().decode(ThreadInvitation.self, from: json) == invitation)
        // Only the viewer sees the block.
        #expect(try store.reader(as: .host).invitations(of: eve).map(\.isFromBlockedUser) == [false])
        #expect(try store.reader(as: .user(ann)).invitations(to: club).map(\.isFromBlockedUser) == [false])
        // A moderator sees their own blocks there, as everywhere.
        try store.executeBlocking(.invite(user: bob, thread: club, by: ann))
        try store.executeBlocking(.joinThread(thread: club, by: bob))
        try store.executeBlocking(.setRole(user: bob, thread: club, role: .moderator, by: ann))
        let invited = store.head.position
        try store.executeBlocking(.block(user: ann, by: bob))
        for point in [AsOf.now, .position(invited)] {
            #expect(
                try store.reader(as: .user(bob), asOf: point).invitations(to: club).map(\.isFromBlockedUser) == [true])
        }
    }

    @Test func viewerReadsOwnThreadsOnly() throws {
        let store = try store()
        #expect(try store.reader(as: .user(bob)).timeline(garden).count == 2)
        #expect(try store.reader(as: .user(bob)).replies(to: first).map(\.body) == ["Yes"])
        #expect(try store.reader(as: .user(eve)).threads().isEmpty)
        #expect(try store.reader(as: .user(bob)).threads().map(\.name) == ["Garden", "SW1A"])
        expectRejection(.notAMember) { () throws(ChatError) in _ = try store.reader(as: .user(eve)).timeline(garden) }
        expectRejection(.notAMember) { () throws(ChatError) in _ = try store.reader(as: .user(eve)).replies(to: first) }
        expectRejection(.notAMember) { () throws(ChatError) in _ = try store.reader(as: .user(eve)).message(first) }
        expectRejection(.notAMember) { () throws(ChatError) in _ = try store.reader(as: .user(eve)).members(of: garden)
        }
        expectRejection(.notAllowed) { () throws(ChatError) in _ = try store.reader(as: .user(eve)).user(bob) }
        expectRejection(.unknownUser) { () throws(ChatError) in
            _ = try store.reader(as: .user(UserID(bits: 99))).timeline(garden)
        }
        try store.executeBlocking(.leaveThread(thread: garden, by: bob))
        expectRejection(.notAMember) { () throws(ChatError) in _ = try store.reader(as: .user(bob)).timeline(garden) }
    }

    /// Covers each query, because each has to check its viewer.
    @Test func everyQueryChecksItsViewer() throws {
        let store = try store()
        let code = try #require(OutwardCode("SW1A"))
        let ofMembers: [(name: String, ask: (Viewer) throws(ChatError) -> Void)] = [
            ("thread", { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).thread(garden) }),
            ("timeline", { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).timeline(garden) }),
            ("message", { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).message(first) }),
            ("replies", { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).replies(to: first) }),
            ("members", { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).members(of: garden) }),
            ("residents", { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).residents(of: code) }),
            (
                "details",
                { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).details(of: .message(first)) }
            ),
            (
                "details of a reply",
                { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).details(of: .reply(reply)) }
            ),
        ]
        let ofOneself: [(name: String, ask: (Viewer) throws(ChatError) -> Void)] = [
            ("user", { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).user(bob) }),
            ("access", { (viewer) throws(ChatError) in _ = try store.reader(as: viewer).access(of: bob) }),
        ]
        let ofEverybody: [(name: String, ask: (Viewer) throws(ChatError) -> Int)] = [
            ("threads", { (viewer) throws(ChatError) in try store.reader(as: viewer).threads().count })
        ]
        let nobody = UserID(bits: 99)
        for (name, ask) in ofMembers {
            #expect(refusal { () throws(ChatError) in try ask(.user(eve)) } == .notAMember, "\(name)")
            #expect(refusal { () throws(ChatError) in try ask(.user(nobody)) } == .unknownUser, "\(name)")
            for viewer in [Viewer.user(bob), .host] {
                #expect(refusal { () throws(ChatError) in try ask(viewer) } == nil, "\(name)")
            }
        }
        for (name, ask) in ofOneself {
            for viewer in [ann, nobody] {
                #expect(refusal { () throws(ChatError) in try ask(.user(viewer)) } == .notAllowed, "\(name)")
            }
            for viewer in [Viewer.user(bob), .host] {
                #expect(refusal { () throws(ChatError) in try ask(viewer) } == nil, "\(name)")
            }
        }
        for (name, ask) in ofEverybody {
            #expect(refusal { () throws(ChatError) in _ = try ask(.user(nobody)) } == .unknownUser, "\(name)")
            #expect(try [.user(eve), .user(ann), .user(bob), .host].map(ask) == [0, 1, 2, 2], "\(name)")
        }
    }

    private func refusal(_ body: () throws(ChatError) -> Void) -> Rejection.Code? {
        do throws(ChatError) {
            try body()
            return nil
        } catch {
            if case .rejected(let rejection) = error { return rejection.code }
            Issue.record("\(error)")
            return nil
        }
    }

    @Test func unknownEntitiesAreRejectedByKind() throws {
        let store = try store()
        expectRejection(.unknownThread) { () throws(ChatError) in
            _ = try store.reader(as: .host).timeline(ThreadID(bits: 99))
        }
        expectRejection(.unknownMessage) { () throws(ChatError) in
            _ = try store.reader(as: .host).replies(to: MessageID(bits: 99))
        }
        expectRejection(.unknownUser) { () throws(ChatError) in _ = try store.reader(as: .host).user(UserID(bits: 99)) }
    }

    @Test func residentsFollowPostcodes() throws {
        let store = try store()
        let code = try #require(OutwardCode("SW1A"))
        #expect(try store.reader(as: .host).residents(of: code).map(\.user.id) == [bob])
        #expect(try store.reader(as: .host).residents(of: code).map(\.since) == [12])
        try store.executeBlocking(.setPostcode(postcode: "SW1A 2AA", by: bob))
        #expect(try store.reader(as: .host).residents(of: code).map(\.since) == [12])
        try store.executeBlocking(.setPostcode(postcode: "E1 6AN", by: bob))
        #expect(try store.reader(as: .host).residents(of: code).isEmpty)
        #expect(try store.reader(as: .host).members(of: ThreadID(code)).map(\.user.id) == [bob])
    }
}
