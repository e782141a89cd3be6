#if Server
    public import ChatDomain
    internal import Foundation

    /// What a store needs from outside: times and random bytes.
    public struct AccountEnvironment: Sendable {
        let now: @Sendable () -> Timestamp
        let monotonicMilliseconds: @Sendable () -> Int64
        let randomBytes: @Sendable (Int) -> [UInt8]

        /// Creates an environment for tests.
        ///
        /// - Parameters:
        ///   - now: The current time.
        ///   - monotonicMilliseconds: A time that never goes backwards, for limits.
        ///   - randomBytes: Returns the given number of fresh bytes, which no one can predict.
        public init(
            now: @escaping @Sendable () -> Timestamp, monotonicMilliseconds: @escaping @Sendable () -> Int64,
            randomBytes: @escaping @Sendable (Int) -> [UInt8]
        ) {
            self.now = now
            self.monotonicMilliseconds = monotonicMilliseconds
            self.randomBytes = randomBytes
        }

        /// The clocks of the system and the random generator of libsodium.
        public static let system: AccountEnvironment = {
            let start = ContinuousClock.now
            return AccountEnvironment(
                now: { Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down))) },
                monotonicMilliseconds: {
                    let passed = (ContinuousClock.now - start).components
                    return passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
                }, randomBytes: Sodium.randomBytes)
        }()
    }

    /// The limits of one operation.
    public struct OperationLimits: Hashable, Sendable {
        /// The limit for one account or e-mail address, known or not.
        public var account: AttemptLimit
        /// The limit for one network address; an address on loopback has 100 times as much.
        public var address: AttemptLimit

        /// Creates the limits.
        public init(account: AttemptLimit, address: AttemptLimit) {
            self.account = account
            self.address = address
        }
    }

    /// The options of an account store.
    public struct AccountOptions: Sendable {
        /// The cost of a password hash: 3 passes over 64 MiB.
        public var passwordCost = PasswordCost()
        /// The number of passwords that are hashed at once; each needs the memory and a processor.
        public var concurrentHashes = 1
        /// The number of callers that wait to hash a password; more get `busy`.
        public var waitingHashes = 32
        /// The number of mails that wait for delivery; more get `busy`.
        public var waitingMails = 256
        /// The limits of sign-ups and repeated confirmation codes.
        public var signUpLimits = OperationLimits(
            account: AttemptLimit(burst: 5, intervalMilliseconds: 720_000),
            address: AttemptLimit(burst: 10, intervalMilliseconds: 360_000))
        /// The limits of confirmations.
        public var confirmLimits = OperationLimits(
            account: AttemptLimit(burst: 10, intervalMilliseconds: 60_000),
            address: AttemptLimit(burst: 30, intervalMilliseconds: 20_000))
        /// The limits of sign-ins, and of other checks of a password.
        public var signInLimits = OperationLimits(
            account: AttemptLimit(burst: 10, intervalMilliseconds: 60_000),
            address: AttemptLimit(burst: 30, intervalMilliseconds: 10_000))
        /// The limits of password resets.
        public var resetLimits = OperationLimits(
            account: AttemptLimit(burst: 10, intervalMilliseconds: 360_000),
            address: AttemptLimit(burst: 20, intervalMilliseconds: 360_000)
        )
        /// What the mails say of the site; nil for mails without a name and links.
        public var site: AccountSite?
        /// The clocks and the random bytes.
        public var environment = AccountEnvironment.system
        /// Is called, on the mail thread, with the error of each mail that was not delivered.
        public var mailFailed: @Sendable (AccountError) -> Void = { _ in }
        /// Is called, on a thread of the store, with the error if last uses of sessions cannot be
        /// written.
        ///
        /// The next look-up of such a session tries again.
        public var lastUseFailed: @Sendable (AccountError) -> Void = { _ in }

        /// Creates the default options.
        public init() {}
    }
#endif
