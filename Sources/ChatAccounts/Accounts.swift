#if Server
    internal import LocalStorage
    public import ChatDomain
    internal import Primitives

    /// The id of an account; its text is the `subject` of the user's registration in the journal.
    public struct AccountID: Hashable, Sendable, CustomStringConvertible {
        let bits: UInt128

        /// The subject: a UUID in lower case.
        public var description: String { UUIDText.format(bits) }
    }

    /// The id of a session of an account.
    public struct AccountSessionID: Hashable, Sendable, LosslessStringConvertible {
        let bits: UInt128

        init(bits: UInt128) { self.bits = bits }

        /// Creates an id from the text of a UUID.
        public init?(_ description: String) {
            guard let bits = UUIDText.parse(description) else { return nil }
            self.bits = bits
        }

        /// The id as a UUID in lower case.
        public var description: String { UUIDText.format(bits) }
    }

    /// What the server registers in the journal.
    public struct AccountRegistration: Hashable, Sendable {
        /// The account, whose text is the subject.
        public let account: AccountID
        /// The user.
        public let user: UserID
        /// The username that was chosen.
        public let username: Username
    }

    /// An account whose deletion has begun.
    public struct AccountDeletion: Hashable, Sendable {
        /// The account.
        public let account: AccountID
        /// The user whom the server erases in the journal.
        public let user: UserID
    }

    /// The addresses of an account.
    public struct AccountAddresses: Hashable, Sendable {
        /// The address to which mails are sent.
        public let present: EmailAddress
        /// The address of a change that is not confirmed; nil if there is none.
        public let next: EmailAddress?
    }

    /// A session of a user, without its token.
    public struct AccountSession: Hashable, Sendable {
        /// The id, which is not a secret.
        public let id: AccountSessionID
        /// The user.
        public let user: UserID
        /// The time of the sign-in.
        public let created: Timestamp
        /// The time of the last use, up to one minute too early.
        public let lastUsed: Timestamp
        /// The label of the device, as the client gave it.
        public let device: String?
    }

    /// A new session with its token.
    public struct SignedIn: Sendable {
        /// The token: 32 random bytes in base64url.
        ///
        /// The store cannot return it again.
        public let token: String
        /// The session.
        public let session: AccountSession
    }

    /// The state of an account, as stored.
    enum AccountState: Int64 { case unconfirmed = 0, confirmed, registered, deleting }

    /// The purpose of a code, as stored.
    enum CodePurpose: Int64 { case confirmation = 0, reset, presentAddress, newAddress }

    /// One row of the table `accounts`.
    struct AccountRow {
        static let columns = "id, user, username, email, password, state"
        let id: AccountID
        let user: UserID
        let username: Username
        let email: EmailAddress
        let password: String
        let state: AccountState

        init(_ row: [SQLValue]) throws(AccountError) {
            guard row.count == 6, let id = row[0].id, let user = row[1].id, case .text(let name) = row[2],
                let username = Username(name), case .text(let address) = row[3], let email = EmailAddress(address),
                case .text(let password) = row[4], case .integer(let number) = row[5],
                let state = AccountState(rawValue: number)
            else { throw .damaged }
            self.id = AccountID(bits: id)
            self.user = UserID(bits: user)
            self.username = username
            self.email = email
            self.password = password
            self.state = state
        }

        var registration: AccountRegistration { AccountRegistration(account: id, user: user, username: username) }
    }

    extension SQLValue {
        static func id(_ bits: UInt128) -> SQLValue {
            .blob((0..<16).map { UInt8(truncatingIfNeeded: bits >> UInt128(120 - 8 * $0)) })
        }

        var id: UInt128? {
            guard case .blob(let bytes) = self, bytes.count == 16 else { return nil }
            return bytes.reduce(0) { $0 << 8 | UInt128($1) }
        }

        static func time(_ time: Timestamp) -> SQLValue { .integer(time.millisecondsSince1970) }
    }

    extension AccountSession {
        static let columns = "sessions.id, accounts.user, sessions.created, sessions.used, sessions.device"

        init(_ row: [SQLValue]) throws(AccountError) {
            guard row.count == 5, let id = row[0].id, let user = row[1].id, case .integer(let created) = row[2],
                case .integer(let used) = row[3]
            else { throw .damaged }
            self.id = AccountSessionID(bits: id)
            self.user = UserID(bits: user)
            self.created = Timestamp(millisecondsSince1970: created)
            lastUsed = Timestamp(millisecondsSince1970: used)
            if case .text(let device) = row[4] { self.device = device } else { device = nil }
        }
    }
#endif
