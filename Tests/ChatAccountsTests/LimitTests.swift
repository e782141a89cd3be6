#if Server
    import Dispatch
    import Foundation
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    struct LimitTests {
        let address = ClientAddress(bytes: [192, 0, 2, 1])

        @Test func bucketRefillsOneByOne() {
            var buckets = AttemptBuckets(maximumCount: 10)
            let limit = AttemptLimit(burst: 3, intervalMilliseconds: 100)
            let key = AttemptBuckets.Key.account(.signIn, "a")
            for _ in 0..<3 { #expect(buckets.take(key, limit, now: 0) == nil) }
            #expect(buckets.take(key, limit, now: 0) == 100)
            #expect(buckets.take(key, limit, now: 99) == 1)
            #expect(buckets.take(.account(.reset, "a"), limit, now: 99) == nil)
            #expect(buckets.take(key, limit, now: 100) == nil)
            #expect(buckets.take(key, limit, now: 100) == 100)
        }

        @Test func bucketsAreBoundedAndKeepTheMostUsed() {
            var buckets = AttemptBuckets(maximumCount: 100)
            let limit = AttemptLimit(burst: 5, intervalMilliseconds: 1_000)
            let attacked = AttemptBuckets.Key.account(.signIn, "attacked")
            for _ in 0..<5 { _ = buckets.take(attacked, limit, now: 0) }
            for number in 0..<10_000 {
                _ = buckets.take(.account(.signIn, "\(number)"), limit, now: 0)
                #expect(buckets.count <= 100)
            }
            #expect(buckets.take(attacked, limit, now: 0) != nil)
        }

        @Test func addressIsIPv4OrAnIPv6Network() {
            #expect(ClientAddress(bytes: [1, 2, 3]) == nil)
            let first = [UInt8](repeating: 1, count: 8)
            #expect(
                ClientAddress(bytes: first + [UInt8](repeating: 2, count: 8))
                    == ClientAddress(bytes: first + [UInt8](repeating: 3, count: 8)))
            #expect(ClientAddress(bytes: [UInt8](repeating: 0, count: 10) + [255, 255, 192, 0, 2, 1]) == address)
        }

        @Test func everyOperationIsLimitedByAccountAndByAddress() throws {
            let fixture = try Fixture()
            var options = fixture.options
            let (one, many) = (
                AttemptLimit(burst: 1, intervalMilliseconds: 60_000),
                AttemptLimit(burst: 1_000, intervalMilliseconds: 1)
            )
            for isAccount in [true, false] {
                let limits = OperationLimits(account: isAccount ? one : many, address: isAccount ? many : one)
                options.signUpLimits = limits
                options.confirmLimits = limits
                options.signInLimits = limits
                options.resetLimits = limits
                let store = try fixture.open(options)
                let calls: [(String) throws -> Void] = [
                    { try store.signUp(username: "Ann", email: $0, password: Fixture.password, address: address) },
                    { _ = try store.confirm(email: $0, code: "1", address: address) },
                    { _ = try store.signIn(email: $0, password: Fixture.password, address: address) },
                    { try store.requestReset(email: $0, address: address) },
                ]
                for call in calls {
                    #expect(failure { try call("a@x.org") } != .tooManyAttempts)
                    #expect(failure { try call(isAccount ? "A@X.org" : "b@x.org") } == .tooManyAttempts)
                }
                #expect(
                    failure { try store.resendCode(email: "a@x.org", address: nil) }
                        == (isAccount ? .tooManyAttempts : nil))
                fixture.advance(60_000)
                for call in calls { #expect(failure { try call("a@x.org") } != .tooManyAttempts) }
                fixture.advance(60_000)
            }
        }

        @Test func passwordPoolIsBounded() throws {
            let pool = try PasswordPool(PasswordCost(passes: 1, memoryBytes: 8 << 10), concurrent: 1, waiting: 0)
            let isBusy = try pool.withTurn { failure { try pool.withTurn {} } }
            #expect(isBusy == .busy)
            try pool.withTurn {}
        }

        @Test func fullMailQueueChangesNothing() throws {
            let fixture = try Fixture()
            var options = fixture.options
            options.waitingMails = 0
            let store = try fixture.open(options)
            #expect(
                failure {
                    try store.signUp(username: "Ann", email: "a@x.org", password: Fixture.password, address: nil)
                } == .busy)
            #expect(failure { try store.requestReset(email: "a@x.org", address: nil) } == .busy)
            let count = try store.database.withLock { database throws(AccountError) in
                try database.run("SELECT count(*) FROM accounts")
            }
            #expect(count == [[.integer(0)]])
        }

        @Test func manyThreadsShareAStore() throws {
            let fixture = try Fixture()
            let store = try fixture.open()
            let failures = Lock([String]())
            DispatchQueue.concurrentPerform(iterations: 16) { number in
                do {
                    let email = "user\(number)@x.org"
                    let user = try fixture.register(store, "User \(number)", email).user
                    let token = try fixture.signIn(store, email).token
                    guard try store.session(token: token)?.user == user else { throw AccountError.unknownAccount }
                } catch { failures.withLock { $0.append("\(error)") } }
            }
            #expect(failures.withLock { $0 } == [])
        }
    }
#endif
