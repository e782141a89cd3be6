#if Server
    import Chat
    import ChatClient
    import IsolationNationModel
    import ServerSupport
    import TestSupport
    import Testing

    /// The app from the sign-up to a conversation, with a real server.
    @MainActor @Suite(.timeLimit(.minutes(2))) struct AppModelTests {
        @Test func fromTheSignUpToAConversation() async throws {
            let server = try await RealServer()
            let (anns, bobs) = (try Device(server), try Device(server))
            await anns.app.start()
            let account = try anns.account
            account.step = .signUp
            #expect(!account.canSubmit)
            (account.username, account.email, account.password) = ("Ann", "Ann@example.org", "short")
            await account.submit()
            #expect(account.step == .signUp && account.feedback?.code == "invalidPassword")
            account.password = RealServer.password
            await account.submit()
            #expect(account.step == .confirm && account.feedback?.code == "codeSent")
            account.code = "000000"
            await account.submit()
            #expect(account.step == .confirm && account.feedback?.code == "invalidCode")
            account.code = try server.code("Ann")
            await account.submit()
            // The confirmation signs in with the password of the sign-up.
            let ann = try anns.session
            #expect(anns.tokens.load()?.user.username == "Ann")
            await until { ann.threads.needsPostcode }
            #expect(await ann.threads.setPostcode("Buckingham Palace") == false)
            #expect(ann.threads.feedback?.text == "This is not a postcode, such as SW1A 1AA.")
            await ann.threads.setPostcode("sw1a 1aa")
            await until { ann.threads.threads.map(\.name) == ["SW1A"] && !ann.threads.needsPostcode }

            _ = try await server.member("Bob")
            let bob = try await bobs.signIn("Bob")
            await until { bob.threads.needsPostcode }
            await bob.threads.setPostcode("SW1A 2AA")
            await until { bob.threads.threads.count == 1 }
            let thread = try #require(bob.threads.threads.first).id
            let (annsPosts, bobsPosts) = (ann.posts(of: thread), bob.posts(of: thread))
            anns.show { await annsPosts.follow() }
            bobsPosts.isOnScreen = false
            bobs.show { await bobsPosts.follow() }
            annsPosts.draft = "  "
            await annsPosts.post()
            annsPosts.draft = "Could someone pick up milk?"
            await annsPosts.post()
            #expect(annsPosts.draft.isEmpty)
            await until {
                bobsPosts.rows.map(\.post.body) == ["Could someone pick up milk?"] && bob.threads.unreadCount == 1
            }
            // What is shown is read, also what arrives meanwhile.
            bobsPosts.isOnScreen = true
            await until { bob.threads.unreadCount == 0 }
            let question = try #require(bobsPosts.rows.first)
            await bobsPosts.toggle("👍", on: question)
            let replies = bob.replies(to: question.post.message, in: thread)
            bobs.show { await replies.follow() }
            await until { replies.root?.shownText == .written("Could someone pick up milk?") }
            replies.draft = "I can, at noon."
            await replies.post()
            await until {
                annsPosts.rows.first?.post.replyCount == 1 && annsPosts.rows.first?.post.reactions.first?.count == 1
            }
            await until { ann.inbox.unreadCount == 2 && ann.inbox.entries.map(\.reason) == [.reply, .reaction] }
            await ann.inbox.markRead()
            await until { ann.inbox.unreadCount == 0 }
            await bobsPosts.toggle("👍", on: try #require(bobsPosts.rows.first))
            await until { annsPosts.rows.first?.post.reactions.isEmpty == true }
            await annsPosts.edit(try #require(annsPosts.rows.first), "Could someone pick up oat milk?")
            await until { bobsPosts.rows.first?.post.body == "Could someone pick up oat milk?" }
            await until { replies.root == bobsPosts.rows.first?.post }
            await annsPosts.retract(try #require(annsPosts.rows.first))
            await until { bobsPosts.rows.first?.post.isRetracted == true && replies.root?.shownText == .retracted }
            #expect(annsPosts.feedback == nil && bobsPosts.feedback == nil && ann.outbox.feedback == nil)
            await anns.putAway()
            await bobs.putAway()
            try await server.stop()
        }

        @Test func aSessionThatIsKeptIsContinued() async throws {
            let server = try await RealServer()
            let device = try Device(server)
            device.tokens.save(try await server.member("Ann"))
            await device.app.start()
            let session = try device.session
            await until { session.threads.username == "Ann" }
            let settings = try #require(session.settings)
            _ = try await server.accounts.signIn(
                email: "Ann@example.org", password: RealServer.password, device: "laptop")
            await settings.reload()
            #expect(settings.devices.map(\.device) == ["laptop", "telephone"])
            await settings.end(try #require(settings.devices.first))
            #expect(settings.devices.map(\.isCurrent) == [true] && settings.feedback == nil)
            await settings.changePassword(old: "wrong password", new: "another long password")
            #expect(settings.feedback?.code == "invalidCredentials")
            await device.putAway()
            try await server.stop()
        }

        @Test func twoWindowsHaveOneChat() async throws {
            let server = try await RealServer()
            let device = try Device(server)
            device.tokens.save(try await server.member("Ann"))
            async let first: Void = device.app.start()
            async let second: Void = device.app.start()
            _ = await (first, second)
            let session = try device.session
            session.start()
            await until { session.threads.username == "Ann" }
            try await device.app.signOut()
            #expect(try device.account.feedback == nil && device.copies.isEmpty)
            let again = try await device.signIn("Ann")
            await until { again.threads.username == "Ann" }
            await device.putAway()
            try await server.stop()
        }

        @Test func aNameThatIsTakenIsReplaced() async throws {
            let server = try await RealServer()
            let device = try Device(server)
            await device.app.start()
            let account = try device.account
            account.step = .signUp
            (account.username, account.email, account.password) = ("Ann", "Ann@example.org", RealServer.password)
            await account.submit()
            try await server.store.execute(.registerUser(username: "Ann"))
            account.code = try server.code("Ann")
            await account.submit()
            #expect(account.step == .confirm && account.needsAnotherName && account.feedback?.code == "usernameTaken")
            account.step = .signIn
            #expect(!account.needsAnotherName)
            account.step = .confirm
            await account.submit()
            #expect(account.needsAnotherName)
            account.username = "Anna"
            await account.submit()
            let session = try device.session
            await until { session.threads.username == "Anna" }
            await device.putAway()
            try await server.stop()
        }

        @Test func aForgottenPasswordIsReplaced() async throws {
            let server = try await RealServer()
            _ = try await server.member("Ann")
            let device = try Device(server)
            await device.app.start()
            let account = try device.account
            (account.email, account.password) = ("Ann@example.org", "not the password")
            await account.submit()
            #expect(account.feedback?.code == "invalidCredentials")
            account.step = .forgotPassword
            #expect(account.feedback == nil)
            await account.submit()
            #expect(account.step == .newPassword)
            (account.code, account.password) = (try server.code("Ann"), "an entirely new password")
            await account.submit()
            #expect(account.step == .signIn && account.feedback?.code == "passwordChanged")
            await account.submit()
            #expect(try device.session.settings != nil)
            await device.putAway()
            try await server.stop()
        }

        @Test func theDirectoryHasPagesAndThreadsToJoin() async throws {
            let server = try await RealServer()
            let bob = try await server.member("Bob").user.id
            for number in 1...60 {
                try await server.store.execute(.openThread(name: "Club \(number)", policy: .listed, by: bob))
            }
            _ = try await server.member("Ann")
            let device = try Device(server)
            let session = try await device.signIn("Ann")
            let directory = session.directory()
            await directory.reload()
            #expect(directory.entries.count == 50 && directory.entries.first?.name == "Club 60" && directory.hasMore)
            await directory.loadMore()
            #expect(directory.entries.map(\.name) == (1...60).reversed().map { "Club \($0)" } && !directory.hasMore)
            await directory.join(directory.entries[3])
            await directory.open(named: "Choir")
            await until { Set(session.threads.threads.map(\.name)) == ["Club 57", "Choir"] }
            await session.threads.setNotifications(.none, of: try #require(session.threads.threads.last).id)
            await until { session.threads.threads.last?.notifications.level == NotificationLevel.none }
            await session.threads.leave(try #require(session.threads.threads.last).id)
            await until { session.threads.threads.count == 1 }
            await device.putAway()
            try await server.stop()
        }

        @Test func aDeletedAccountLeavesNothing() async throws {
            let server = try await RealServer()
            _ = try await server.member("Ann")
            let device = try Device(server)
            let session = try await device.signIn("Ann")
            await until { session.threads.needsPostcode }
            await #expect(throws: ClientError.self) { try await device.app.deleteAccount(password: "wrong password") }
            try await device.app.deleteAccount(password: RealServer.password)
            let account = try device.account
            #expect(
                try account.feedback?.code == "accountDeleted" && device.tokens.load() == nil && device.copies.isEmpty)
            await device.putAway()
            try await server.stop()
        }
    }
#endif
