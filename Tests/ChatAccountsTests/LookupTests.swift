#if Server
    import ChatDomain
    import Dispatch
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    /// Look-ups of sessions beside writers.
    struct LookupTests {
        let fixture: Fixture
        let store: AccountStore

        init() throws {
            fixture = try Fixture()
            store = try fixture.open()
        }

        @Test func lookupDoesNotWaitForAWriter() throws {
            let user = try fixture.register(store, "Ann", "a@x.org").user
            let signedIn = try fixture.signIn(store, "a@x.org")
            let found = Lock([UserID?]())
            fixture.advance(60_000)
            // The writer is in the middle of a transaction, and the last use is due.
            let hasEnded = try store.database.withLock { database throws(AccountError) in
                try database.run("BEGIN IMMEDIATE")
                try database.run("UPDATE sessions SET device = 'changed'")
                let hasEnded = endsMeanwhile { [store] in
                    for _ in 0..<100 {
                        let session = try? store.session(token: signedIn.token)
                        found.withLock { $0.append(session?.device == nil ? session?.user : nil) }
                    }
                }
                try database.run("COMMIT")
                return hasEnded
            }
            #expect(hasEnded)
            #expect(found.withLock { $0 } == [UserID?](repeating: user, count: 100))
            store.lastUseQueue.sync {}
            let session = try #require(try store.session(token: signedIn.token))
            #expect(session.device == "changed" && session.lastUsed == signedIn.session.created + .seconds(60))
        }

        @Test func failedWriteOfTheLastUseIsReportedAndTriedAgain() throws {
            var options = fixture.options
            let errors = Lock([AccountError.Code]())
            options.lastUseFailed = { error in errors.withLock { $0.append(error.code) } }
            let store = try fixture.open(options)
            let user = try fixture.register(store, "Ann", "a@x.org").user
            let signedIn = try fixture.signIn(store, "a@x.org")
            fixture.advance(60_000)
            let other = try Database(fixture.path)
            try store.database.withLock { database throws(AccountError) in _ = try database.run("PRAGMA busy_timeout=0")
            }
            try other.run("BEGIN IMMEDIATE")
            #expect(try store.session(token: signedIn.token)?.user == user)
            store.lastUseQueue.sync {}
            #expect(errors.withLock { $0 } == [.busy])
            try other.run("ROLLBACK")
            #expect(try store.session(token: signedIn.token)?.lastUsed == signedIn.session.created)
            store.lastUseQueue.sync {}
            #expect(errors.withLock { $0 } == [.busy])
            #expect(try store.session(token: signedIn.token)?.lastUsed == signedIn.session.created + .seconds(60))
        }

        @Test func lastUsesOfManySessionsAreWritten() throws {
            let user = try fixture.register(store, "Ann", "a@x.org").user
            let tokens = try (0..<50).map { _ in try fixture.signIn(store, "a@x.org").token }
            fixture.advance(60_000)
            DispatchQueue.concurrentPerform(iterations: 200) { _ = try? store.session(token: tokens[$0 % 50]) }
            store.lastUseQueue.sync {}
            let (now, sessions) = (store.now, try store.sessions(of: user))
            #expect(sessions.count == 50 && sessions.allSatisfy { $0.lastUsed == now })
            #expect(store.unwrittenUses.withLock { $0.isEmpty })
        }

        @Test func endOfASessionIsVisibleToTheNextLookup() throws {
            let failures = Lock([String]())
            let rounds = Repetitions.few(5, of: 100)
            // Each thread has an account of its own, and all threads write at the same time.
            DispatchQueue.concurrentPerform(iterations: 6) { thread in
                do {
                    for round in 0..<rounds {
                        let email = "user\(thread)-\(round)@x.org"
                        let user = try fixture.register(store, "User \(thread) \(round)", email).user
                        let ends: [(SignedIn) throws -> Void] = [
                            { try store.signOut(token: $0.token) },
                            { try store.signOutEverywhere(user: $0.session.user) },
                            { _ = try store.endSession(id: $0.session.id, of: $0.session.user) },
                            { _ in try store.changePassword(user: user, old: Fixture.password, new: Fixture.password) },
                            { _ in
                                try store.requestReset(email: email, address: nil)
                                let code = try fixture.code(store, email)
                                try store.reset(email: email, code: code, new: Fixture.password, address: nil)
                            },
                            { _ in _ = try store.beginDeletion(user: user, password: Fixture.password) },
                        ]
                        for (number, end) in ends.enumerated() {
                            let signedIn = try fixture.signIn(store, email)
                            if try store.session(token: signedIn.token)?.user != user {
                                failures.withLock { $0.append("sign-in \(number) is not visible") }
                            }
                            try end(signedIn)
                            if try store.session(token: signedIn.token) != nil {
                                failures.withLock { $0.append("end \(number) is not visible") }
                            }
                        }
                    }
                } catch { failures.withLock { $0.append("\(error)") } }
            }
            #expect(failures.withLock { $0 } == [])
        }

        @Test func followersOfASessionSeeItEndOnce() throws {
            try fixture.register(store, "Ann", "a@x.org")
            for _ in 0..<Repetitions.few(5, of: 200) {
                let token = try fixture.signIn(store, "a@x.org").token
                let hasEnded = Lock(false)
                let failures = Lock([String]())
                DispatchQueue.concurrentPerform(iterations: 4) { thread in
                    do {
                        if thread == 0 {
                            try store.signOut(token: token)
                            hasEnded.withLock { $0 = true }
                            return
                        }
                        var isGone = false
                        while !isGone {
                            let mustBeGone = hasEnded.withLock { $0 }
                            isGone = try store.session(token: token) == nil
                            if mustBeGone && !isGone { failures.withLock { $0.append("visible after the sign-out") } }
                        }
                        if try store.session(token: token) != nil { failures.withLock { $0.append("visible again") } }
                    } catch { failures.withLock { $0.append("\(error)") } }
                }
                #expect(failures.withLock { $0 } == [])
            }
        }

        @Test func damagedRowIsNotBusy() throws {
            try fixture.register(store, "Ann", "a@x.org")
            let token = try fixture.signIn(store, "a@x.org").token
            try store.database.withLock { database throws(AccountError) in
                try database.run("UPDATE accounts SET user = x'01'")
                try database.run("UPDATE accounts SET state = 7 WHERE state = 99")
            }
            #expect(failure { _ = try store.session(token: token) } == .damaged)
            #expect(failure { _ = try fixture.signIn(store, "a@x.org") } == .damaged)
            #expect(failure { try store.requestReset(email: "a@x.org", address: nil) } == .damaged)
            #expect(failure { try store.requestReset(email: "b@x.org", address: nil) } == nil)
        }

        @Test func heldFileIsBusyAndNotDamaged() throws {
            try fixture.register(store, "Ann", "a@x.org")
            let token = try fixture.signIn(store, "a@x.org").token
            let other = try Database(fixture.path)
            try store.database.withLock { database throws(AccountError) in _ = try database.run("PRAGMA busy_timeout=0")
            }
            try other.run("BEGIN IMMEDIATE")
            #expect(failure { try store.signOut(token: token) } == .busy)
            #expect(failure { try store.resendCode(email: "a@x.org", address: nil) } == .busy)
            #expect(try store.session(token: token) != nil)
            try other.run("ROLLBACK")
            try store.signOut(token: token)
            #expect(try store.session(token: token) == nil)
        }

        @Test func readerOfAnotherProgramKeepsTheBytesOfADeletion() throws {
            let user = try fixture.register(store, "Ann", "a@x.org").user
            let deletion = try store.beginDeletion(user: user, password: Fixture.password)
            let other = try Database(fixture.path)
            try store.database.withLock { database throws(AccountError) in _ = try database.run("PRAGMA busy_timeout=0")
            }
            try other.run("BEGIN")
            try other.run("SELECT count(*) FROM accounts")
            #expect(failure { try store.finishDeletion(account: deletion.account) } == .busy)
            try other.run("COMMIT")
            try store.finishDeletion(account: deletion.account)
            for (name, bytes) in try fixture.directory.contents() {
                #expect(!String(decoding: bytes, as: UTF8.self).contains("a@x.org"), "\(name)")
            }
        }

        @Test func fullDiskHasACodeOfItsOwn() throws {
            try store.database.withLock { database throws(AccountError) in
                guard case .integer(let count)? = try database.run("PRAGMA page_count").first?.first else {
                    throw .damaged
                }
                try database.run("PRAGMA max_page_count=\(count)")
            }
            var codes: Set<AccountError.Code?> = []
            for number in 0..<40 {
                codes.insert(
                    failure {
                        try store.signUp(
                            username: "Ann", email: "a\(number)@x.org", password: Fixture.password, address: nil)
                    })
            }
            #expect(codes == [nil, .storageFull])
        }
    }
#endif
