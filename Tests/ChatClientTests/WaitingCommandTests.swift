#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import Locking
    import Observation
    import TestSupport
    import Testing

    @testable import ChatClient

    /// What waits in the outbox, in the answers and posts that the copy has.
    @MainActor @Suite(.timeLimit(.minutes(1))) struct WaitingCommandTests {
        let neighbours: Neighbours
        let (store, ann, bob, thread): (ChatStore, UserID, UserID, ThreadID)
        let posts: [MessageID]

        /// Bob has written five messages, which Ann has not read.
        init() throws {
            neighbours = try Neighbours()
            (store, ann, bob, thread) = (neighbours.store, neighbours.ann, neighbours.bob, neighbours.thread)
            posts = try (1...5).map { [store, bob, thread] number in
                try #require(
                    try store.executeBlocking(.postMessage(thread: thread, body: "\(number)", by: bob)).message)
            }
        }

        /// A client that has read everything, and is offline.
        private func offline(_ body: (ChatClient) async throws -> Void) async throws {
            let client = try neighbours.client(ann)
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            _ = try await client.me()
            _ = try await client.threads()
            _ = try await client.inbox()
            _ = try await client.members(of: thread)
            _ = try await client.timeline(thread)
            running.cancel()
            await running.value
            neighbours.server.goAway()
            try await body(client)
            client.close()
        }

        private func send(_ command: ChatCommand, by client: ChatClient) throws -> OutboxItem {
            try client.enqueue(CommandRequest(command))
        }

        private func mine(_ client: ChatClient) async throws -> UserThread {
            try #require(try await client.me().threads.first { $0.id == thread })
        }

        @Test func markersAndLevels() async throws {
            try await offline { client in
                let timeline = try await client.timeline(thread).entries
                #expect(try await mine(client).unreadCount == 5)
                _ = try send(.markRead(thread: thread, upTo: timeline[2].position, by: ann), by: client)
                var shown = try await mine(client)
                #expect(shown.unreadCount == 2 && shown.firstUnread == timeline[3].position)
                #expect(shown.readUpTo == timeline[2].position)
                _ = try send(.markUnread(thread: thread, from: timeline[1].position, by: ann), by: client)
                shown = try await mine(client)
                #expect(shown.unreadCount == 4 && shown.firstUnread == timeline[1].position)
                _ = try send(.markRead(thread: thread, upTo: timeline[4].position, by: ann), by: client)
                shown = try await mine(client)
                #expect(shown.unreadCount == 0 && shown.firstUnread == nil)
                _ = try send(.setNotifications(thread: thread, level: .mentions, by: ann), by: client)
                #expect(try await mine(client).notifications == ThreadNotifications(level: .mentions))
            }
        }

        @Test func reactions() async throws {
            try await offline { client in
                _ = try send(.react(.message(posts[0]), emoji: "👍", by: ann), by: client)
                _ = try send(.react(.message(posts[0]), emoji: "👍\u{FE0F}", by: ann), by: client)
                _ = try send(.react(.message(posts[0]), emoji: "not one", by: ann), by: client)
                let thumb = PostReaction(emoji: "👍", count: 1, isMine: true)
                #expect(try await client.post(.message(posts[0])).reactions == [thumb])
                #expect(try await client.timeline(thread).first?.reactions == [thumb])
                // The latest message is in the answer about the user too.
                let last = try #require(posts.last)
                let item = try send(.react(.message(last), emoji: "🎉", by: ann), by: client)
                #expect(try await mine(client).lastMessage?.reactions.map(\.emoji) == ["🎉"])
                try client.withdraw(item.id)
                #expect(try await mine(client).lastMessage?.reactions == [])
                _ = try send(.unreact(.message(posts[0]), emoji: "👍", by: ann), by: client)
                #expect(try await client.timeline(thread).first?.reactions == [])
            }
        }

        @Test func namesAndLeaves() async throws {
            try await offline { client in
                let own = try await client.post("hello", in: thread)
                _ = try send(.changeUsername(username: "Annie", by: ann), by: client)
                _ = try send(.changeUsername(username: "", by: ann), by: client)
                #expect(try await client.me().username == "Annie")
                #expect(try await client.members(of: thread).map(\.user.username) == ["Bob", "Annie"])
                #expect(try await client.post(own).author.username == "Annie")
                _ = try send(.setPostcode(postcode: "N1 9GU", by: ann), by: client)
                #expect(try await client.me().postcode == Postcode("N1 9GU"))
                _ = try send(.renameThread(thread: thread, name: "Cats", by: ann), by: client)
                #expect(try await client.threads().map(\.name) == ["Cats"])
                let leave = try send(.leaveThread(thread: thread, by: ann), by: client)
                #expect(try await client.threads().isEmpty)
                #expect(try await client.me().threads.isEmpty)
                #expect(try await client.members(of: thread).map(\.user.username) == ["Bob"])
                try client.withdraw(leave.id)
                #expect(try await client.threads().map(\.name) == ["Cats"])
            }
        }

        @Test func joins() async throws {
            let garden = try #require(
                try store.executeBlocking(.openThread(name: "Garden", policy: .inviteOnly, by: bob)).thread)
            try store.executeBlocking(.invite(user: ann, thread: garden, by: bob))
            try await offline { client in
                #expect(try await client.inbox().map(\.name) == ["Garden"])
                _ = try send(.acceptInvitation(thread: garden, by: ann), by: client)
                _ = try send(.joinThread(thread: ThreadID(try #require(OutwardCode("N1"))), by: ann), by: client)
                // A name that is not known is not shown as one that was erased.
                _ = try send(.joinThread(thread: ThreadID(bits: 77), by: ann), by: client)
                #expect(try await client.threads().map(\.name) == ["Dogs", "Garden", "N1"])
                #expect(try await client.me().threads.map(\.name) == ["Dogs", "Garden", "N1"])
                let entry = try #require(try await client.inbox().first)
                _ = try send(.markInboxRead(upTo: entry.position, by: ann), by: client)
                #expect(try await client.inbox().map(\.isUnread) == [false])
                let inbox = client.liveInbox()
                let following = Task { await inbox.follow() }
                try await until { inbox.state.value?.unread.count == 0 && inbox.state.value?.entries.count == 1 }
                following.cancel()
                await following.value
            }
        }

        /// A view is told of each command when it waits, when it is taken back, and when the server
        /// has it; what is shown does not go back meanwhile.
        @Test func viewsAreToldAtOnce() async throws {
            let client = try neighbours.client(ann)
            let (user, timeline) = (client.liveUser(), client.liveTimeline(of: thread))
            let views = [Task { await user.follow() }, Task { await timeline.follow() }]
            let running = Task { await client.run() }
            try await until { user.user?.threads.first?.unreadCount == 5 && timeline.messages.count == 5 }
            // The posts that a view has read before the client follows the server are not in the copy.
            try await until { try client.copy.follows(.messages(thread)) }
            running.cancel()
            await running.value
            let counts = Counts()
            let watching = Task {
                for await count in Observations({ user.user?.threads.first?.unreadCount }) { counts.add(count) }
            }
            try await until { counts.all == [5] }
            let position = try #require(timeline.messages.last?.position)
            _ = try send(.markRead(thread: thread, upTo: position, by: ann), by: client)
            try await until { user.user?.threads.first?.unreadCount == 0 }
            _ = try send(.react(.message(posts[0]), emoji: "👍", by: ann), by: client)
            try await until { timeline.messages.first?.reactions.count == 1 }
            let again = Task { await client.run() }
            try await until { try client.outbox().isEmpty && client.copy.staleAnswers.isEmpty }
            try await until { timeline.messages.first?.reactions == [PostReaction(emoji: "👍", count: 1, isMine: true)] }
            #expect(user.user?.threads.first?.unreadCount == 0)
            watching.cancel()
            await watching.value
            #expect(counts.all.filter { $0 != nil } == [5, 0])
            views.forEach { $0.cancel() }
            again.cancel()
            await again.value
            client.close()
        }

        /// What was written for a new direct thread is in the one that the two had already.
        @Test(arguments: [false, true]) func aDirectThreadThatExistedIsFollowed(_ hasLeft: Bool) async throws {
            let existing = try #require(try store.executeBlocking(.openDirect(with: [ann], by: bob)).thread)
            if hasLeft { try store.executeBlocking(.leaveThread(thread: existing, by: ann)) }
            let client = try neighbours.client(ann)
            let new = ThreadID(bits: 99)
            _ = try send(.openDirect(id: new, with: [bob], by: ann), by: client)
            let first = try await client.post("first", in: new)
            _ = try await client.post("second", in: new)
            _ = try send(.edit(first, body: "edited", by: ann), by: client)
            _ = try send(.setNotifications(thread: new, level: .mentions, by: ann), by: client)
            let other = try await client.post("elsewhere", in: thread)
            var rejected: [OutboxChange] = []
            let changes = client.engine.changes.elements()
            let running = Task { await client.run() }
            try await until { try client.outbox().isEmpty }
            running.cancel()
            await running.value
            client.close()
            for await change in changes {
                rejected += change.outbox.filter { if case .rejected = $0 { true } else { false } }
            }
            #expect(rejected.isEmpty)
            #expect(try store.reader(as: .user(ann)).timeline(existing).map(\.body) == ["edited", "second"])
            #expect(try store.reader(as: .user(ann)).timeline(thread).map(\.id).last == other)
            let threads = try store.reader(as: .user(ann)).user(ann).threads
            #expect(threads.first { $0.id == existing }?.notifications.level == .mentions)
        }

        /// The user's commands in short, of a client and of a store.
        @Test func commandsInShort() async throws {
            let client = try neighbours.client(ann)
            let running = Task { await client.run() }
            for chat in [client, store.chat(of: ann)] as [any UserChat] {
                let post = try await chat.post("Milk?", in: thread)
                guard case .message(let message) = post else {
                    Issue.record("no message")
                    return
                }
                let reply = try await chat.reply("Yes", to: message)
                #expect(reply.isReply)
                #expect(try await chat.react("👍\u{FE0F}", to: post)?.text == "👍")
                try await until { try client.outbox().isEmpty }
                let shown = try store.reader(as: .user(ann)).message(message)
                #expect(shown.body == "Milk?" && shown.author.id == ann && shown.replyCount == 1)
                #expect(shown.reactions == [PostReaction(emoji: "👍", count: 1, isMine: true)])
            }
            running.cancel()
            await running.value
            client.close()
        }
    }

    /// The counts that were shown, each once in a row.
    @MainActor private final class Counts {
        private(set) var all: [Int?] = []

        func add(_ count: Int?) { if all.last != .some(count) { all.append(count) } }
    }
#endif
