#if Server
    import Chat
    import ChatClient
    import IsolationNationModel
    import ServerSupport
    import TestSupport
    import Testing

    /// The app without a network, after a rejection, and after the end of a session.
    @MainActor @Suite(.timeLimit(.minutes(2))) struct OfflineTests {
        let server: RealServer
        let device: Device
        let session: SessionModel
        let (thread, bob): (ThreadID, UserID)

        /// Ann and Bob, members of a thread of Bob's; Ann's device has read it.
        init() async throws {
            server = try await RealServer()
            let ann = try await server.member("Ann").user.id
            bob = try await server.member("Bob").user.id
            thread = try #require(try await server.store.execute(.openThread(name: "Dogs", by: bob)).thread)
            try await server.store.execute(.joinThread(thread: thread, by: ann))
            device = try Device(server)
            session = try await device.signIn("Ann")
            await until { [session] in session.threads.threads.count == 1 }
        }

        private func shown(_ session: SessionModel) -> PostsModel {
            let posts = session.posts(of: thread)
            device.show { await posts.follow() }
            return posts
        }

        private func write(_ text: String, _ posts: PostsModel) async {
            posts.draft = text
            await posts.post()
        }

        private func loseTheNetwork() async {
            await server.goAway()
            // The first failure can be that of a server that is closing.
            await until { [session] in
                session.banner?.nextAttempt != nil && session.banner?.feedback.code == "unreachable"
            }
        }

        @Test func whatIsWrittenOfflineWaitsAndIsSent() async throws {
            let posts = shown(session)
            await write("online", posts)
            await until { posts.rows.map(\.isWaiting) == [false] }
            await loseTheNetwork()
            #expect(session.banner?.feedback.sentence.isEmpty == false)
            await write("offlien", posts)
            await write("a mistake", posts)
            await until { posts.rows.map(\.post.body) == ["online", "offlien", "a mistake"] }
            #expect(posts.rows.map(\.isWaiting) == [false, true, true])
            // What waits is changed and taken back in the outbox.
            await posts.edit(posts.rows[1], "offline")
            await posts.retract(posts.rows[2])
            // A change of what the server has waits too.
            await posts.edit(posts.rows[0], "online, before")
            await until {
                posts.rows.map(\.post.body) == ["online, before", "offline"] && posts.rows.allSatisfy(\.isWaiting)
            }
            #expect(session.outbox.pending.map(\.kind) == ["postMessage", "edit"])
            try await server.comeBack()
            session.connectNow()
            await until { [session] in posts.rows.map(\.isWaiting) == [false, false] && session.banner == nil }
            let bodies = try server.store.reader(as: .user(bob)).timeline(thread).map(\.body)
            #expect(bodies == ["online, before", "offline"])
            #expect(session.outbox.items.isEmpty && session.outbox.feedback == nil)
            try await end()
        }

        @Test func aRejectionIsShownAndCanBeRepeatedOrDismissed() async throws {
            let posts = shown(session)
            try await server.store.execute(.lockThread(thread: thread, by: bob))
            await write("too late", posts)
            await write("much too late", posts)
            await until {
                posts.rows.compactMap(\.rejection?.text) == ["This thread is locked.", "This thread is locked."]
            }
            #expect(
                posts.rows.map(\.isWaiting) == [false, false]
                    && session.outbox.rejected.map(\.reason.code) == ["threadLocked", "threadLocked"])
            posts.dismiss(try #require(posts.rows.last))
            await until { posts.rows.map(\.post.body) == ["too late"] }
            try await server.store.execute(.unlockThread(thread: thread, by: bob))
            posts.retry(try #require(posts.rows.first))
            await until { posts.rows.map(\.post.isPending) == [false] && posts.rows.first?.rejection == nil }
            // An edit does not replace what another device wrote meanwhile.
            let row = try #require(posts.rows.first)
            try await server.store.execute(.edit(row.id, body: "from the laptop", by: row.post.author.id))
            await until { posts.rows.first?.post.body == "from the laptop" }
            await posts.edit(row, "from the telephone")
            await until { posts.rows.first?.rejection?.code == "edited" }
            await until { posts.rows.first?.post.body == "from the laptop" }
            posts.dismiss(try #require(posts.rows.first))
            await until { [session] in posts.rows.first?.rejection == nil && session.outbox.items.isEmpty }
            try await end()
        }

        /// The server can have what the screen still shows as waiting.
        @Test func aChangeOfWhatWasSentMeanwhileIsNotLost() async throws {
            await loseTheNetwork()
            let posts = shown(session)
            await write("one", posts)
            await write("two", posts)
            await until { posts.rows.map(\.items.count) == [1, 1] }
            let stale = posts.rows
            try await server.comeBack()
            session.connectNow()
            await until { [session] in session.outbox.items.isEmpty }
            await posts.edit(stale[0], "one, edited")
            await posts.retract(stale[1])
            await until {
                posts.rows.map(\.post.body) == ["one, edited", nil] && posts.rows.map(\.isWaiting) == [false, false]
            }
            #expect(session.outbox.feedback == nil && posts.feedback == nil)
            try await end()
        }

        @Test func whatIsReadOfflineIsMarkedOnce() async throws {
            let posts = session.posts(of: thread)
            posts.isOnScreen = false
            device.show { await posts.follow() }
            try await server.store.execute(.postMessage(thread: thread, body: "Who barks?", by: bob))
            await until { [session] in posts.rows.count == 1 && session.threads.unreadCount == 1 }
            await loseTheNetwork()
            posts.isOnScreen = true
            await until { [session] in session.outbox.pending.map(\.kind) == ["markRead"] }
            for count in 1...3 {
                await write("Mine.", posts)
                await until { posts.rows.count == 1 + count }
            }
            await until { [session] in session.outbox.pending.count >= 4 }
            #expect(session.outbox.pending.map(\.kind) == ["markRead", "postMessage", "postMessage", "postMessage"])
            try await server.comeBack()
            session.connectNow()
            await until { [session] in session.threads.unreadCount == 0 && session.outbox.items.isEmpty }
            try await end()
        }

        @Test func aFailureOfTheOutboxIsShownWhereTheUserIs() async throws {
            await loseTheNetwork()
            let posts = shown(session)
            await write("unsent", posts)
            await until { posts.rows.map(\.items.count) == [1] }
            let row = try #require(posts.rows.first)
            await session.stop()
            try #require(session.chat as? ChatClient).close()
            // The form of the text stays open.
            #expect(await posts.edit(row, "another text") == false && posts.feedback?.code == "storage")
            posts.feedback = nil
            await posts.retract(row)
            #expect(posts.feedback?.code == "storage")
            try await end()
        }

        @Test func theEndOfASessionKeepsTheOutboxForTheSameUser() async throws {
            await loseTheNetwork()
            let posts = shown(session)
            await write("written before the end", posts)
            await until { [session] in session.outbox.pending.count == 1 }
            let ann = session.chat.user
            try server.endSessions(of: ann)
            try await server.comeBack()
            session.connectNow()
            await until { [device] in if case .account = device.app.screen { true } else { false } }
            #expect(
                try device.account.feedback?.sentence == "The session has ended. Sign in again."
                    && device.tokens.load() == nil)

            // Another user of the device sees and sends nothing of it.
            let bobs = try await device.signIn("Bob")
            await until { !bobs.threads.threads.isEmpty }
            #expect(bobs.outbox.items.isEmpty)
            let bobsPosts = shown(bobs)
            await until { !bobsPosts.isLoading }
            #expect(try bobsPosts.rows.isEmpty && device.copies.count == 2)
            try await device.app.signOut()
            #expect(try device.copies.count == 1)
            #expect(try server.store.reader(as: .user(bob)).timeline(thread).isEmpty)

            // Ann's next session sends it.
            let again = try await device.signIn("Ann")
            let annsPosts = shown(again)
            await until {
                annsPosts.rows.map(\.post.body) == ["written before the end"]
                    && annsPosts.rows.map(\.isWaiting) == [false]
            }
            #expect(try server.store.reader(as: .user(bob)).timeline(thread).map(\.author.id) == [ann])
            try await end()
        }

        @Test func aSignOutSaysWhatWaits() async throws {
            await loseTheNetwork()
            let posts = shown(session)
            await write("unsent", posts)
            await until { [session] in session.outbox.pending.count == 1 }
            await #expect(throws: OutboxRefusal.itemsPending(1)) { try await device.app.signOut() }
            #expect(try device.session === session && session.outbox.pending.map(\.text) == ["unsent"])
            try await device.app.signOut(discardsOutbox: true)
            #expect(
                try device.account.feedback?.code == "signedOutHereOnly" && device.copies.isEmpty
                    && device.tokens.load() == nil)
            try await end()
        }

        private func end() async throws {
            await device.putAway()
            try await server.stop()
        }
    }
#endif
