#if Server
    package import LocalStorage

    /// The error of an operation on accounts.
    ///
    /// Its texts never contain a password, a code, a token or an e-mail address.
    public struct AccountError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, as a code that is stable across versions.
        public let code: Code
        /// A description for people; it may change between versions.
        public let message: String
        /// The time until another attempt is possible; only with ``Code/tooManyAttempts``.
        public let retryAfter: Duration?

        init(_ code: Code, _ message: String, retryAfter: Duration? = nil) {
            self.code = code
            self.message = message
            self.retryAfter = retryAfter
        }

        /// The code and the message.
        public var description: String { "\(code): \(message)" }

        /// A stable name of a reason; later versions may add more.
        public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
            /// The stable text.
            public let rawValue: String

            /// Creates the code with a text.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The stable text.
            public var description: String { rawValue }

            /// The username is not valid by the rule of `Username`.
            public static let invalidUsername = Code(rawValue: "invalidUsername")
            /// The e-mail address is not valid (see ``EmailAddress``).
            public static let invalidEmail = Code(rawValue: "invalidEmail")
            /// The password is not between 8 and 256 characters and at most 1,024 bytes.
            public static let invalidPassword = Code(rawValue: "invalidPassword")
            /// The password is one of the commonest, or the name of the site or of the user, or the
            /// address.
            public static let commonPassword = Code(rawValue: "commonPassword")
            /// The device label is over 256 bytes or contains control characters.
            public static let invalidDevice = Code(rawValue: "invalidDevice")
            /// The e-mail address and the password do not belong to a confirmed account.
            public static let invalidCredentials = Code(rawValue: "invalidCredentials")
            /// The code is wrong, expired, used, or was tried too often.
            public static let invalidCode = Code(rawValue: "invalidCode")
            /// The address is confirmed, but the user is not registered in the journal.
            public static let notRegistered = Code(rawValue: "notRegistered")
            /// No account in the state that the operation needs.
            public static let unknownAccount = Code(rawValue: "unknownAccount")
            /// Too many attempts; ``AccountError/retryAfter`` has the time to wait.
            public static let tooManyAttempts = Code(rawValue: "tooManyAttempts")
            /// A bounded queue is full, or another program holds the account file; the same call
            /// can succeed later.
            public static let busy = Code(rawValue: "busy")
            /// The file is not an account file.
            public static let notAnAccountFile = Code(rawValue: "notAnAccountFile")
            /// A newer version of this package wrote the account file.
            public static let newerVersion = Code(rawValue: "newerVersion")
            /// A page or a row of the account file is damaged; restore a backup.
            public static let damaged = Code(rawValue: "damaged")
            /// The disk is full; the same call can succeed when space is free.
            public static let storageFull = Code(rawValue: "storageFull")
            /// A file cannot be read or written, or the store is closed.
            public static let storage = Code(rawValue: "storage")
            /// A mail cannot be delivered.
            public static let mail = Code(rawValue: "mail")
        }

        static let commonPassword = AccountError(
            .commonPassword, "Many people use this password, or it is a name of yours. Choose another one.")
        static let invalidCredentials = AccountError(
            .invalidCredentials, "The e-mail address or the password is wrong.")
        static let invalidCode = AccountError(.invalidCode, "The code is wrong or has expired. Ask for a new one.")
        static let unknownAccount = AccountError(.unknownAccount, "No account in the state that this needs.")
        static let busy = AccountError(.busy, "Too many requests at this moment. Try again later.")
        static let fileIsHeld = AccountError(.busy, "Another program holds the account file. Try again later.")
        static let notAnAccountFile = AccountError(.notAnAccountFile, "Not an account file.")
        static let damaged = AccountError(.damaged, "The account file is damaged. Restore a backup.")
        static let closed = AccountError(.storage, "The account store is closed.")
        static func tooManyAttempts(retryAfter: Duration) -> AccountError {
            AccountError(.tooManyAttempts, "Too many attempts. Try again later.", retryAfter: retryAfter)
        }
    }

    extension AccountError: DatabaseFailure {
        package init(_ error: DatabaseError) {
            self =
                switch error {
                case .notADatabase: .notAnAccountFile
                case .damaged: .damaged
                case .held: .fileIsHeld
                case .full: AccountError(.storageFull, "The disk of the account file is full.")
                case .closed: .closed
                case .symbolicLink: AccountError(.storage, "The account file is a symbolic link.")
                case .moved:
                    AccountError(.storage, "Another program has removed, renamed or replaced the account file.")
                case .noAccess: AccountError(.storage, "The account file cannot be opened. Check its permissions.")
                case .readOnly: AccountError(.storage, "The account file cannot be written. Check its permissions.")
                case .other(let status):
                    AccountError(.storage, "The account file cannot be read or written (SQLite result \(status)).")
                }
        }
    }

    typealias Database = LocalStorage.Database<AccountError>
#endif
