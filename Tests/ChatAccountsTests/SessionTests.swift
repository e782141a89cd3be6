#if Server
    import ChatDomain
    import Dispatch
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    struct SessionTests {
        let fixture: Fixture
        let store: AccountStore
        let user: UserID
        static let day: Int64 = 86_400_000

        init() throws {
            fixture = try Fixture()
            store = try fixture.open()
            user = try fixture.register(store, "Ann", "a@x.org").user
        }

        @Test func sessionLastsFourteenIdleDays() throws {
            let token = try fixture.signIn(store, "a@x.org").token
            fixture.advance(14 * Self.day - 1)
            #expect(try store.session(token: token)?.user == user)
            store.lastUseQueue.sync {}
            fixture.advance(14 * Self.day)
            #expect(try store.session(token: token) == nil)
            #expect(try store.sessions(of: user).isEmpty)
        }

        @Test func sessionLastsThirtyDays() throws {
            let token = try fixture.signIn(store, "a@x.org").token
            for _ in 0..<29 {
                fixture.advance(Self.day)
                #expect(try store.session(token: token) != nil)
                store.lastUseQueue.sync {}
            }
            fixture.advance(Self.day - 1)
            #expect(try store.session(token: token) != nil)
            fixture.advance(1)
            #expect(try store.session(token: token) == nil)
        }

        /// A clock that is not believed ends no session, and the time goes on.
        @Test func clockThatIsNotBelievedEndsNoSession() throws {
            let time = Lock(Int64(1_800_000_000_000))
            let elapsed = Lock(Int64(0))
            var options = fixture.options
            options.environment = AccountEnvironment(
                now: { Timestamp(millisecondsSince1970: time.withLock { $0 }) },
                monotonicMilliseconds: { elapsed.withLock { $0 } }, randomBytes: Sodium.randomBytes)
            let store = try fixture.open(options)
            let before = try fixture.signIn(store, "a@x.org").token
            let isBelieved = Lock(true)
            store.believeClock { isBelieved.withLock { $0 } }
            for years: Int64 in [10, -10] {
                #expect(try store.session(token: before) != nil)
                isBelieved.withLock { $0 = false }
                time.withLock { $0 += years * 365 * Self.day }
                #expect(try store.session(token: before) != nil)
                let during = try fixture.signIn(store, "a@x.org")
                elapsed.withLock { $0 += 1_000 }
                #expect(store.now == during.session.created + .seconds(1))
                time.withLock { $0 -= years * 365 * Self.day - 1_000 }
                isBelieved.withLock { $0 = true }
                #expect(store.now == during.session.created + .seconds(1))
                #expect(try store.session(token: during.token) != nil)
            }
        }

        /// What began under a clock that was years ahead would be valid for years.
        @Test func clockThatWasAheadMakesNothingValidForLong() throws {
            let years = 10 * 365 * Self.day
            var options = fixture.options
            let clock = options.environment
            options.environment = AccountEnvironment(
                now: clock.now, monotonicMilliseconds: { 0 }, randomBytes: clock.randomBytes)
            let store = try fixture.open(options)
            let before = try fixture.signIn(store, "a@x.org").token
            fixture.advance(years)
            #expect(try store.session(token: before) == nil)
            let ahead = try fixture.signIn(store, "a@x.org").token
            #expect(try store.session(token: ahead)?.user == user)
            try store.requestReset(email: "a@x.org", address: nil)
            let code = try fixture.code(store, "a@x.org")
            fixture.advance(-years)
            #expect(try store.session(token: ahead) == nil)
            #expect(
                failure { try store.reset(email: "a@x.org", code: code, new: "another battery", address: nil) }
                    == .invalidCode)
            // A step that is small for a session and for a code.
            fixture.advance(Self.day)
            let token = try fixture.signIn(store, "a@x.org").token
            try store.requestReset(email: "a@x.org", address: nil)
            let next = try fixture.code(store, "a@x.org")
            fixture.advance(-60_000)
            #expect(try store.session(token: token)?.user == user)
            try store.reset(email: "a@x.org", code: next, new: "another battery", address: nil)
        }

        @Test func lastUseIsWrittenOnceAMinute() throws {
            let signedIn = try fixture.signIn(store, "a@x.org")
            fixture.advance(59_999)
            _ = try store.session(token: signedIn.token)
            store.lastUseQueue.sync {}
            #expect(try store.sessions(of: user).map(\.lastUsed) == [signedIn.session.created])
            fixture.advance(1)
            _ = try store.session(token: signedIn.token)
            store.lastUseQueue.sync {}
            #expect(try store.sessions(of: user).map(\.lastUsed) == [signedIn.session.created + .seconds(60)])
        }

        @Test func onlyTheExactTokenWorks() throws {
            let token = try fixture.signIn(store, "a@x.org").token
            #expect(token.utf8.count == 43)
            let flipped = (token.first == "A" ? "B" : "A") + token.dropFirst()
            for wrong in [
                flipped, "", token + "=", token + "A", String(token.dropLast()), "\u{0}" + token,
                String(repeating: "A", count: 1 << 20),
            ] {
                #expect(try store.session(token: wrong) == nil)
                try store.signOut(token: wrong)
            }
            #expect(try fixture.open().session(token: token)?.user == user)
            let secret = try store.database.withLock { database throws(AccountError) in
                try database.run("SELECT token FROM sessions")
            }
            #expect(!"\(secret)".contains(token))
        }

        @Test func sessionsEndOneByOneAndTogether() throws {
            let all = try (0..<4).map { _ in
                fixture.advance(1)
                return try fixture.signIn(store, "a@x.org")
            }
            #expect(try store.sessions(of: user).map(\.id) == all.reversed().map(\.session.id))
            try store.signOut(token: all[0].token)
            #expect(try store.session(token: all[0].token) == nil)
            let other = try fixture.register(store, "Bea", "b@x.org").user
            #expect(try !store.endSession(id: all[1].session.id, of: other))
            #expect(try store.endSession(id: all[1].session.id, of: user))
            #expect(try !store.endSession(id: all[1].session.id, of: user))
            let others = try fixture.signIn(store, "b@x.org")
            try store.signOutEverywhere(user: user, except: all[2].session.id)
            #expect(try store.sessions(of: user).map(\.id) == [all[2].session.id])
            try store.signOutEverywhere(user: user)
            #expect(try store.sessions(of: user).isEmpty)
            #expect(try store.session(token: others.token) != nil)
        }

        @Test func anAccountHasAtMostFiftySessions() throws {
            let all = try (0..<52).map { _ in
                fixture.advance(1)
                return try fixture.signIn(store, "a@x.org")
            }
            #expect(try store.sessions(of: user).map(\.id) == all.suffix(50).reversed().map(\.session.id))
        }

        @Test func wrongUnknownAndUnconfirmedHaveTheSameError() throws {
            try store.signUp(username: "Bea", email: "b@x.org", password: Fixture.password, address: nil)
            var errors: Set<AccountError> = []
            for (email, password) in [
                ("a@x.org", "wrong password"), ("c@x.org", Fixture.password), ("b@x.org", Fixture.password),
                ("a@x.org", "short"),
            ] {
                do { _ = try fixture.signIn(store, email, password) } catch let error as AccountError {
                    errors.insert(error)
                }
            }
            #expect(errors == [.invalidCredentials])
        }

        @Test func signInRenewsAHashOfOtherCost() throws {
            func hash() throws -> String {
                try #require(try store.database.withLock { try store.account($0, user)?.password })
            }
            let old = try hash()
            _ = try fixture.signIn(store, "a@x.org")
            #expect(try hash() == old)
            var options = fixture.options
            options.passwordCost = PasswordCost(passes: 2, memoryBytes: 16 << 10)
            let reopened = try fixture.open(options)
            _ = try fixture.signIn(reopened, "a@x.org")
            #expect(try hash().contains("m=16,t=2"))
            _ = try fixture.signIn(reopened, "a@x.org")
        }

        @Test func changedPasswordEndsOtherSessions() throws {
            let (kept, other) = (try fixture.signIn(store, "a@x.org"), try fixture.signIn(store, "a@x.org"))
            #expect(
                failure { try store.changePassword(user: user, old: "wrong password", new: "new password") }
                    == .invalidCredentials)
            #expect(
                failure { try store.changePassword(user: user, old: Fixture.password, new: "short") }
                    == .invalidPassword)
            try store.changePassword(user: user, old: Fixture.password, new: "new password", keeping: kept.session.id)
            #expect(try store.session(token: kept.token) != nil)
            #expect(try store.session(token: other.token) == nil)
            #expect(failure { _ = try fixture.signIn(store, "a@x.org") } == .invalidCredentials)
            _ = try fixture.signIn(store, "a@x.org", "new password")
        }

        @Test func resetEndsAllSessions() throws {
            let signedIn = try fixture.signIn(store, "a@x.org")
            try store.requestReset(email: "unknown@x.org", address: nil)
            try store.requestReset(email: "A@x.org", address: nil)
            let code = try fixture.code(store, "a@x.org")
            #expect(fixture.outbox.last(to: "unknown@x.org") == nil)
            for email in ["a@x.org", "unknown@x.org"] {
                #expect(
                    failure { try store.reset(email: email, code: wrong(code), new: "new password", address: nil) }
                        == .invalidCode)
            }
            #expect(failure { _ = try store.confirm(email: "a@x.org", code: code, address: nil) } == .invalidCode)
            #expect(try store.session(token: signedIn.token) != nil)
            try store.reset(email: "a@x.org", code: code, new: "new password", address: nil)
            #expect(try store.sessions(of: user).isEmpty)
            #expect(
                failure { try store.reset(email: "a@x.org", code: code, new: "new password", address: nil) }
                    == .invalidCode)
            _ = try fixture.signIn(store, "a@x.org", "new password")
        }

        @Test func deletionIsResumedAfterReopening() throws {
            let signedIn = try fixture.signIn(store, "a@x.org")
            #expect(
                failure { _ = try store.beginDeletion(user: user, password: "wrong password") } == .invalidCredentials)
            let deletion = try store.beginDeletion(user: user, password: Fixture.password)
            #expect(try store.session(token: signedIn.token) == nil)
            #expect(failure { _ = try fixture.signIn(store, "a@x.org") } == .invalidCredentials)
            let reopened = try fixture.open()
            #expect(try reopened.pendingDeletions() == [deletion])
            try reopened.finishDeletion(account: deletion.account)
            try reopened.finishDeletion(account: deletion.account)
            #expect(try reopened.pendingDeletions().isEmpty)
            for (name, bytes) in try fixture.directory.contents() {
                #expect(!String(decoding: bytes, as: UTF8.self).contains("a@x.org"), "\(name)")
            }
            #expect(try fixture.register(reopened, "Ann", "a@x.org").user != user)
        }

        @Test func finishDeletionKeepsOtherAccounts() throws {
            let other = try fixture.register(store, "Bea", "b@x.org")
            try store.finishDeletion(account: other.account)
            #expect(try fixture.signIn(store, "b@x.org").session.user == other.user)
        }

        @Test func deviceLabelIsBounded() throws {
            for label in [String(repeating: "a", count: 257), "a\nb", "\u{0}"] {
                #expect(
                    failure {
                        _ = try store.signIn(email: "a@x.org", password: Fixture.password, device: label, address: nil)
                    }
                        == .invalidDevice)
            }
        }
    }
#endif
