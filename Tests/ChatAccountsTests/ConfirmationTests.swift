#if Server
    import ChatDomain
    import Dispatch
    import Foundation
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    /// The password at the confirmation.
    struct ConfirmationTests {
        let fixture: Fixture
        let store: AccountStore

        init() throws {
            fixture = try Fixture()
            store = try fixture.open()
        }

        private func confirm(_ code: String, _ password: String?, email: String = "a@x.org") -> AccountError.Code? {
            failure { _ = try store.confirm(email: email, code: code, password: password, address: nil) }
        }

        @Test func passwordMustBeThatOfTheSignUp() throws {
            try store.signUp(username: "Ann", email: "a@x.org", password: Fixture.password, address: nil)
            let code = try fixture.code(store, "a@x.org")
            for wrong in ["wrong password", "short", "", Fixture.password + " "] {
                #expect(confirm(code, wrong) == .invalidCode)
            }
            #expect(try store.unregistered().isEmpty)
            #expect(confirm(code, Fixture.password) == nil)
            // With another username after the first confirmation.
            let registration = try store.confirm(
                email: "a@x.org", code: code, username: "Anna", password: Fixture.password, address: nil)
            #expect(registration.username.text == "Anna")
            try store.markRegistered(account: registration.account)
            #expect(confirm(code, Fixture.password) == .invalidCode)
        }

        @Test func passwordOfAnotherPersonCannotBeConfirmed() throws {
            // Eve replaces the sign-up of Ann, who then enters the code of the second mail.
            try store.signUp(username: "Ann", email: "a@x.org", password: "password of Ann", address: nil)
            try store.signUp(username: "Ann", email: "a@x.org", password: "password of Eve", address: nil)
            let code = try fixture.code(store, "a@x.org")
            #expect(confirm(code, "password of Ann") == .invalidCode)
            #expect(failure { _ = try fixture.signIn(store, "a@x.org", "password of Eve") } == .invalidCredentials)
            #expect(try store.unregistered().isEmpty)
            try store.signUp(username: "Ann", email: "a@x.org", password: "password of Ann", address: nil)
            #expect(confirm(try fixture.code(store, "a@x.org"), "password of Ann") == nil)
        }

        @Test func wrongPasswordIsATryWithARightAndAWrongCode() throws {
            try store.signUp(username: "Ann", email: "a@x.org", password: Fixture.password, address: nil)
            let code = try fixture.code(store, "a@x.org")
            let other = wrong(code)
            for (code, password) in [
                (code, "wrong password"), (other, "wrong password"), (other, Fixture.password), (code, "short"),
                (other, "wrong password"),
            ] { #expect(confirm(code, password) == .invalidCode) }
            #expect(confirm(code, Fixture.password) == .invalidCode)
            #expect(confirm(code, nil) == .invalidCode)
            try store.resendCode(email: "a@x.org", address: nil)
            #expect(confirm(try fixture.code(store, "a@x.org"), Fixture.password) == nil)
        }

        @Test func everyFailureHasTheSameError() throws {
            try store.signUp(username: "Ann", email: "a@x.org", password: Fixture.password, address: nil)
            let code = try fixture.code(store, "a@x.org")
            try fixture.register(store, "Bea", "b@x.org")
            var errors: [AccountError] = []
            for (email, code, password) in [
                ("a@x.org", code, "wrong password"), ("a@x.org", wrong(code), Fixture.password),
                ("a@x.org", "", Fixture.password),
                ("a@x.org", wrong(code), "wrong password"), ("b@x.org", code, Fixture.password),
                ("c@x.org", code, Fixture.password),
            ] {
                do throws(AccountError) {
                    _ = try store.confirm(email: email, code: code, password: password, address: nil)
                } catch { errors.append(error) }
            }
            #expect(errors == [AccountError](repeating: .invalidCode, count: 6))
        }

        @Test func passwordIsComparedOnTheBoundedPool() throws {
            var options = fixture.options
            (options.concurrentHashes, options.waitingHashes) = (1, 0)
            let store = try fixture.open(options)
            try store.signUp(username: "Ann", email: "a@x.org", password: Fixture.password, address: nil)
            let code = try fixture.code(store, "a@x.org")
            let codes = try store.pool.withTurn {
                // Unknown addresses need a turn as well.
                ["a@x.org", "unknown@x.org"].map { email in
                    failure {
                        _ = try store.confirm(email: email, code: wrong(code), password: Fixture.password, address: nil)
                    }
                }
            }
            #expect(codes == [.busy, .busy])
            #expect(confirm(code, Fixture.password) == nil)
        }

        @Test func signUpThatIsReplacedDuringTheComparisonIsNotConfirmed() throws {
            var options = fixture.options
            options.concurrentHashes = 1
            let store = try fixture.open(options)
            try store.signUp(username: "Ann", email: "a@x.org", password: Fixture.password, address: nil)
            let code = try fixture.code(store, "a@x.org")
            let result = Lock(AccountError.Code?.none)
            let ended = DispatchSemaphore(value: 0)
            let eve = try #require(Sodium.passwordHash(Array("password of Eve".utf8), options.passwordCost))
            let replaced = try store.pool.withTurn {
                DispatchQueue.global().async {
                    let code = failure {
                        _ = try store.confirm(email: "a@x.org", code: code, password: Fixture.password, address: nil)
                    }
                    result.withLock { $0 = code }
                    ended.signal()
                }
                // Until the other thread has read the hash and waits for its turn.
                while store.pool.admittedCount < 2 { Thread.sleep(forTimeInterval: 0.001) }
                return failure {
                    try store.database.withLock { database throws(AccountError) in
                        _ = try database.run("UPDATE accounts SET password = ?", .text(eve))
                    }
                }
            }
            ended.wait()
            #expect(replaced == nil)
            #expect(result.withLock { $0 } == .invalidCode)
            #expect(try store.unregistered().isEmpty)
        }
    }
#endif
