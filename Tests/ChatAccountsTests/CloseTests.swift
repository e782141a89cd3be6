#if Server
    import ChatDomain
    import Dispatch
    import Foundation
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    struct CloseTests {
        let fixture: Fixture

        init() throws { fixture = try Fixture() }

        @Test func everyOperationOfAClosedStoreThrowsStorage() throws {
            let store = try fixture.open()
            let registration = try fixture.register(store, "Ann", "a@x.org")
            let (user, account, name) = (registration.user, registration.account, registration.username)
            let signedIn = try fixture.signIn(store, "a@x.org")
            try store.close()
            try store.close()
            let password = Fixture.password
            let calls: [() throws -> Void] = [
                { try store.signUp(username: "Bea", email: "b@x.org", password: password, address: nil) },
                { try store.resendCode(email: "b@x.org", address: nil) },
                { _ = try store.confirm(email: "b@x.org", code: "123456", address: nil) },
                { _ = try store.confirm(email: "b@x.org", code: "123456", password: password, address: nil) },
                { try store.markRegistered(account: account) }, { try store.rename(account: account, username: name) },
                { _ = try store.unregistered() }, { _ = try store.pendingDeletions() },
                { _ = try store.signIn(email: "a@x.org", password: password, address: nil) },
                { _ = try store.signIn(email: "a@x.org", password: "short", address: nil) },
                { _ = try store.session(token: signedIn.token) }, { _ = try store.sessions(of: user) },
                { try store.signOut(token: signedIn.token) }, { try store.signOutEverywhere(user: user) },
                { _ = try store.endSession(id: signedIn.session.id, of: user) },
                { try store.changePassword(user: user, old: password, new: password) },
                { try store.requestEmailChange(user: user, password: password, email: "c@x.org", address: nil) },
                { try store.confirmEmailChange(user: user, present: "123456", new: "123456", address: nil) },
                { _ = try store.addresses(of: user) }, { try store.checkPassword(user: user, password: password) },
                { try store.requestReset(email: "a@x.org", address: nil) },
                { try store.reset(email: "a@x.org", code: "123456", new: password, address: nil) },
                { _ = try store.beginDeletion(user: user, password: password) },
                { try store.finishDeletion(account: account) },
            ]
            for (number, call) in calls.enumerated() { #expect(failure(call) == .storage, "call \(number)") }
            store.drainMails()
            #expect(try fixture.open().session(token: signedIn.token)?.user == user)
        }

        @Test func closingWritesEverythingToTheFile() throws {
            let store = try fixture.open()
            try fixture.register(store, "Ann", "a@x.org")
            let signedIn = try fixture.signIn(store, "a@x.org")
            fixture.advance(60_000)
            // The last use is not written before the store closes.
            let gate = DispatchSemaphore(value: 0)
            store.lastUseQueue.async { gate.wait() }
            _ = try store.session(token: signedIn.token)
            #expect(try fixture.directory.contents().keys.contains("accounts-wal"))
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { gate.signal() }
            try store.close()
            #expect(Set(try fixture.directory.contents().keys) == ["accounts", "accounts.key"])
            #expect(
                try fixture.open().session(token: signedIn.token)?.lastUsed == signedIn.session.created + .seconds(60))
        }

        /// Delivers no mail until it is opened.
        private final class SlowOutbox: MailSender {
            let outbox = Outbox()
            let gate = DispatchSemaphore(value: 0)

            func send(_ message: MailMessage) throws(AccountError) {
                gate.wait()
                try outbox.send(message)
            }
        }

        @Test func closingWaitsForMails() throws {
            let slow = SlowOutbox()
            let from = try #require(EmailAddress("chat@example.org"))
            let store = try AccountStore(path: fixture.path, mailer: slow, from: from, options: fixture.options)
            for number in 0..<5 {
                try store.signUp(username: "Ann", email: "a\(number)@x.org", password: Fixture.password, address: nil)
            }
            let gate = slow.gate
            DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { for _ in 0..<5 { gate.signal() } }
            try store.close()
            #expect(slow.outbox.count == 5)
        }

        @Test func closingDuringCallsLosesNoAcknowledgedOne() throws {
            for _ in 0..<Repetitions.few(5, of: 100) {
                let fixture = try Fixture()
                let store = try fixture.open()
                try fixture.register(store, "Ann", "a@x.org")
                let tokens = Lock([String]())
                let codes = Lock(Set<AccountError.Code>())
                let begun = DispatchSemaphore(value: 0)
                DispatchQueue.concurrentPerform(iterations: 5) { thread in
                    if thread == 0 {
                        begun.wait()
                        if let code = failure({ try store.close() }) { codes.withLock { _ = $0.insert(code) } }
                        return
                    }
                    let code = failure {
                        while true {
                            fixture.advance(1)
                            let signedIn = try fixture.signIn(store, "a@x.org")
                            tokens.withLock { $0.append(signedIn.token) }
                            try store.signUp(
                                username: "Bea", email: "b\(thread)@x.org", password: Fixture.password, address: nil)
                            begun.signal()
                        }
                    }
                    begun.signal()
                    if let code { codes.withLock { _ = $0.insert(code) } }
                }
                #expect(codes.withLock { $0 } == [.storage])
                let reopened = try fixture.open()
                // An account keeps its 50 latest sessions.
                for token in tokens.withLock({ $0 }).suffix(40) { #expect(try reopened.session(token: token) != nil) }
            }
        }

        @Test func closingBesideAnotherReaderKeepsTheLog() throws {
            let store = try fixture.open()
            let token = try { () throws -> String in
                try fixture.register(store, "Ann", "a@x.org")
                return try fixture.signIn(store, "a@x.org").token
            }()
            let other = try Database(fixture.path)
            try store.database.withLock { database throws(AccountError) in _ = try database.run("PRAGMA busy_timeout=0")
            }
            try other.run("BEGIN")
            try other.run("SELECT count(*) FROM accounts")
            try store.close()
            #expect(try fixture.open().session(token: token) != nil)
        }
    }
#endif
