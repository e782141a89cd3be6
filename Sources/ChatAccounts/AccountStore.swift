#if Server
    internal import LocalStorage
    internal import ChatDomain
    internal import Dispatch
    internal import Locking
    internal import Primitives
    internal import Synchronization

    /// The accounts of a server: passwords, codes and sessions, in one SQLite file.
    ///
    /// Every operation is durable when it returns. Operations block their thread, for tens of
    /// milliseconds if they hash a password: call them from threads that may wait. All of them can
    /// be called from several threads.
    ///
    /// *Errors of the file*, which every operation can throw: `busy` while another program holds
    /// the file, `damaged`, `storageFull` if the operation writes, and `storage`. An operation that
    /// writes throws `storage` once the file was removed, renamed or replaced, until it is back.
    public final class AccountStore: Sendable {
        /// The connection of session look-ups, which so do not wait for a commit.
        let reader: Lock<Database>
        let database: Lock<Database>
        let pool: PasswordPool
        let mails: MailQueue
        let options: AccountOptions
        /// The number of passwords that are hashed at once.
        package var concurrentHashes: Int { options.concurrentHashes }
        /// The last uses of sessions that are not written yet.
        let unwrittenUses = Lock([AccountSessionID: Timestamp]())
        let lastUseQueue = DispatchQueue(label: "chat accounts last use")
        private let isClosed = Atomic(false)
        private let codeKey: [UInt8]
        private let path: String
        private let held = Lock<FileLock?>(nil)
        private let buckets = Lock(AttemptBuckets())
        private let clock = Lock(AccountClock())

        /// Opens an account file, or creates it with mode 0600.
        ///
        /// A second file, named `path` with the suffix `.key`, has the secret key of the codes.
        ///
        /// - Parameters:
        ///   - path: The file; its directory exists, and may be reached by symbolic links. The file
        ///     itself is not one.
        ///   - mailer: Delivers the mails, on a thread of the store.
        ///   - from: The sender of the mails.
        ///   - options: The costs, limits and clocks.
        /// - Throws: `notAnAccountFile`, `newerVersion` or `damaged`, with which the file is
        ///   unchanged; `busy` if another program holds the file or the memory does not suffice for
        ///   a hash of a password, `storageFull` or `storage`, with which the file may have been
        ///   migrated.
        public init(
            path: String, mailer: any MailSender, from: EmailAddress, options: AccountOptions = AccountOptions()
        )
            throws(AccountError)
        {
            guard Sodium.isReady else { throw AccountError(.storage, "libsodium cannot be initialised.") }
            for name in [path, path + ".key"] where PrivateFile.isLink(name) {
                throw AccountError(.storage, "\(name) is a symbolic link. Name the directory of the file itself.")
            }
            if PrivateFile.create(path, []) == .failed {
                throw AccountError(.storage, "The account file cannot be created.")
            }
            let opened = try Database(path)
            try AccountSchema.prepare(opened)
            opened.watchFile(path)
            guard PrivateFile.restrict(path) else {
                throw AccountError(.storage, "The mode of the account file cannot be set.")
            }
            codeKey = try Self.readKey(path + ".key", options.environment)
            self.path = path
            pool = try PasswordPool(
                options.passwordCost, concurrent: options.concurrentHashes, waiting: options.waitingHashes)
            mails = MailQueue(mailer, from: from, options)
            self.options = options
            let now = options.environment.now()
            try Self.removeExpired(opened, at: now)
            try opened.run(
                "DELETE FROM sessions WHERE created <= ? OR used <= ?", .time(now - Self.absoluteLifetime),
                .time(now - Self.idleLifetime))
            try opened.run("DELETE FROM deleted_sessions WHERE deleted <= ?", .time(now - Self.deletedLifetime))
            // After a crash, the log can have the bytes of a deleted account.
            _ = try opened.checkpoint()
            let reading = try Database(path, isReadOnly: true)
            // Its first read opens the write-ahead log, by the name that the file has now.
            try reading.run("SELECT 1 FROM sessions LIMIT 1")
            reader = Lock(reading)
            database = Lock(opened)
        }

        deinit {
            // Only a connection that writes can remove the write-ahead log, if it is the last one.
            reader.withLock { $0.close() }
            database.withLock { $0.close() }
        }

        /// Holds the file for this store until it is closed; returns false if another one holds it.
        ///
        /// The lock is that of the key file: a second descriptor of the database would end the
        /// locks of SQLite.
        package func hold() -> Bool {
            held.withLock { held in
                if held == nil { held = PrivateFile.lock(path + ".key") }
                return held != nil
            }
        }

        /// Waits for the mails, copies the write-ahead log to the file, and closes the file.
        ///
        /// After it, every operation with valid arguments throws `storage`. Idempotent.
        ///
        /// - Throws: `storage` or `storageFull` if the log cannot be copied; the store is then
        ///   closed all the same, nothing is lost, and the next opening reads the log.
        public func close() throws(AccountError) {
            isClosed.store(true, ordering: .sequentiallyConsistent)
            mails.drain()
            lastUseQueue.sync {}
            reader.withLock { $0.close() }
            try database.withLock { database throws(AccountError) in
                defer {
                    database.close()
                    held.withLock { $0 = nil }
                }
                // The log remains if another program reads the file at this moment.
                if database.isOpen { _ = try database.checkpoint() }
            }
        }

        /// Throws the error with which operations that write fail now; waits for writers.
        ///
        /// - Parameter byWriting: Whether to write something, for which a full disk has no room.
        package func checkFile(byWriting: Bool) throws(AccountError) {
            try database.withLock { database throws(AccountError) in
                if byWriting { try writePadding(database) } else { try database.requireFile() }
            }
        }

        /// Returns why mails are not delivered now, as far as is known.
        ///
        /// A directory is looked at; of a command the last delivery is known.
        package func mailFailure() -> AccountError? { mails.findFailure() }

        /// Waits until every mail that was accepted is delivered or has failed.
        public func drainMails() { mails.drain() }

        private static func readKey(_ path: String, _ environment: AccountEnvironment) throws(AccountError) -> [UInt8] {
            if PrivateFile.create(path, environment.randomBytes(32)) == .failed {
                throw AccountError(.storage, "The key file beside the account file cannot be created.")
            }
            guard let key = PrivateFile.read(path, limit: 33), key.count == 32 else {
                throw AccountError(.storage, "The key file beside the account file does not have 32 bytes.")
            }
            guard PrivateFile.restrict(path) else {
                throw AccountError(.storage, "The mode of the key file cannot be set.")
            }
            return key
        }

        /// The time of the clock; while it is not believed, the time that has passed since it was.
        var now: Timestamp {
            let (time, elapsed) = (options.environment.now(), options.environment.monotonicMilliseconds())
            return clock.withLock { $0.time(time, elapsed) }
        }

        /// Sets who says whether the clock can be believed; by default it always is.
        ///
        /// Otherwise a clock that is years ahead for a moment would end every session.
        package func believeClock(if isBelieved: @escaping @Sendable () -> Bool) {
            clock.withLock { $0.isBelieved = isBelieved }
        }

        /// Takes an attempt of the address, unless it is nil, and then of the account, known or
        /// not.
        func takeAttempt(_ operation: LimitedOperation, account: String, address: ClientAddress?) throws(AccountError) {
            if isClosed.load(ordering: .sequentiallyConsistent) { throw .closed }
            let limits =
                switch operation {
                case .signUp: options.signUpLimits
                case .confirm: options.confirmLimits
                case .signIn: options.signInLimits
                case .reset: options.resetLimits
                }
            let time = options.environment.monotonicMilliseconds()
            let wait = buckets.withLock { buckets -> Int64? in
                if let address,
                    let wait = buckets.take(.address(operation, address), limits.limit(for: address), now: time)
                {
                    return wait
                }
                return buckets.take(.account(operation, account), limits.account, now: time)
            }
            if let wait { throw .tooManyAttempts(retryAfter: .milliseconds(wait)) }
        }

        func makeID() -> UInt128 {
            let random = options.environment.randomBytes(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
            return UserID(version7At: now, random: random).bits
        }

        func validated(_ email: String) throws(AccountError) -> EmailAddress {
            guard let address = EmailAddress(email) else {
                throw AccountError(.invalidEmail, "The e-mail address is not valid.")
            }
            return address
        }

        /// Throws `commonPassword` for a password that is a name of the site or the user, or the
        /// address.
        func requireUncommon(_ password: String, _ name: Username, _ email: EmailAddress) throws(AccountError) {
            let local = String(email.text.prefix { $0 != "@" })
            let words = [options.site?.name, name.text, email.text, local].compactMap(\.self)
            if CommonPasswords.isWord(password, of: words) { throw .commonPassword }
        }

        // MARK: Rows

        func account(_ database: Database, _ email: EmailAddress) throws(AccountError) -> AccountRow? {
            guard
                let row = try database.run(
                    "SELECT \(AccountRow.columns) FROM accounts WHERE email_key = ?", .text(email.key)
                ).first
            else { return nil }
            return try AccountRow(row)
        }

        func account(_ database: Database, _ user: UserID) throws(AccountError) -> AccountRow? {
            guard
                let row = try database.run("SELECT \(AccountRow.columns) FROM accounts WHERE user = ?", .id(user.bits))
                    .first
            else { return nil }
            return try AccountRow(row)
        }

        /// Writes as much as a row, so that an unknown account takes the time of a commit too.
        func writePadding(_ database: Database) throws(AccountError) {
            try database.run("UPDATE padding SET value = ?", .blob(options.environment.randomBytes(64)))
        }

        // MARK: Codes

        static let codeLifetime = Duration.seconds(10 * 60)
        static let maximumTries: Int64 = 5

        /// Returns a six-digit code; every value is equally likely.
        func makeCode() -> String {
            while true {
                let number = options.environment.randomBytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                // 4,294 million values: the rest would favour small codes.
                guard number < 4_294_000_000 else { continue }
                let digits = String(number % 1_000_000)
                return String(repeating: "0", count: 6 - digits.utf8.count) + digits
            }
        }

        private func hash(_ code: String, _ account: AccountID, _ purpose: CodePurpose) -> [UInt8] {
            Sodium.digest(Array("\(purpose.rawValue) \(account) \(code)".utf8), key: codeKey)
        }

        /// Stores a code in place of an earlier one with the same purpose.
        func storeCode(_ database: Database, _ code: String, _ account: AccountID, _ purpose: CodePurpose)
            throws(AccountError)
        {
            try database.run(
                "INSERT OR REPLACE INTO codes VALUES(?, ?, ?, ?, 0)", .id(account.bits), .integer(purpose.rawValue),
                .blob(hash(code, account, purpose)), .time(now + Self.codeLifetime))
        }

        /// Compares a code; counts a try for a wrong one, and for a wrong password with any code.
        ///
        /// The count is part of the caller's transaction. An account without a code takes the same
        /// time.
        func tryCode(
            _ database: Database, _ code: String, _ account: AccountID, _ purpose: CodePurpose,
            withRightPassword isPasswordRight: Bool = true
        ) throws(AccountError) -> Bool {
            let rows = try database.run(
                // A code that was made under a wrong clock, far ahead of this one, would be valid for years.
                "SELECT hash FROM codes WHERE account = ? AND purpose = ? AND expires > ? AND expires < ? AND tries < ?",
                .id(account.bits), .integer(purpose.rawValue), .time(now),
                .time(now + Self.codeLifetime + Self.codeLifetime), .integer(Self.maximumTries))
            guard code.utf8.count == 6, case .blob(let stored)? = rows.first?.first else {
                try writePadding(database)
                return false
            }
            if Sodium.areEqual(stored, hash(code, account, purpose)) && isPasswordRight { return true }
            try database.run(
                "UPDATE codes SET tries = tries + 1 WHERE account = ? AND purpose = ?", .id(account.bits),
                .integer(purpose.rawValue))
            return false
        }

        func removeCode(_ database: Database, _ account: AccountID, _ purpose: CodePurpose) throws(AccountError) {
            try database.run(
                "DELETE FROM codes WHERE account = ? AND purpose = ?", .id(account.bits), .integer(purpose.rawValue))
        }
    }

    /// The time of a clock that is not always believed.
    private struct AccountClock {
        var isBelieved: @Sendable () -> Bool = { true }
        /// The last time that was believed, and the milliseconds that had passed then.
        private var last: (time: Timestamp, elapsed: Int64)?

        /// Returns the time for what a clock shows when some milliseconds have passed.
        mutating func time(_ time: Timestamp, _ elapsed: Int64) -> Timestamp {
            if !isBelieved(), let last { return last.time + .milliseconds(elapsed - last.elapsed) }
            last = (time, elapsed)
            return time
        }
    }

    extension Timestamp {
        /// The time after a duration, in whole milliseconds.
        static func + (time: Timestamp, duration: Duration) -> Timestamp {
            let (seconds, attoseconds) = duration.components
            let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
            return Timestamp(millisecondsSince1970: time.millisecondsSince1970 + milliseconds)
        }

        /// The time before a duration, in whole milliseconds.
        static func - (time: Timestamp, duration: Duration) -> Timestamp { time + (.zero - duration) }
    }
#endif
