#if Server
    import ChatDomain
    import Foundation
    import Locking
    import TestSupport

    @testable import ChatAccounts

    /// Keeps the mails that the store sends.
    final class Outbox: MailSender {
        private let sent = Lock([MailMessage]())

        func send(_ message: MailMessage) throws(AccountError) { sent.withLock { $0.append(message) } }

        var count: Int { sent.withLock { $0.count } }

        /// Returns the text of the last mail to an address.
        func last(to email: String) -> String? {
            let message = sent.withLock { sent in sent.last { $0.recipient.key == EmailAddress(email)?.key } }
            return message.map { String(decoding: $0.bytes, as: UTF8.self) }
        }

        /// Returns the code in the last mail to an address.
        func code(to email: String) -> String? {
            last(to: email)?.firstMatch(of: /Your code is (\d{6})\./).map { String($0.1) }
        }
    }

    /// A store in a temporary directory, with a clock that tests move.
    final class Fixture: Sendable {
        static let password = "correct horse battery"
        let directory: TemporaryDirectory
        let outbox = Outbox()
        private let time = Lock(Int64(1_700_000_000_000))

        init() throws { directory = try TemporaryDirectory() }

        var path: String { directory.file("accounts") }

        var options: AccountOptions {
            var options = AccountOptions()
            options.passwordCost = PasswordCost(passes: 1, memoryBytes: 8 << 10)
            options.environment = AccountEnvironment(
                now: { [self] in Timestamp(millisecondsSince1970: time.withLock { $0 }) },
                monotonicMilliseconds: { [self] in time.withLock { $0 } }, randomBytes: Sodium.randomBytes)
            let unlimited = AttemptLimit(burst: 1_000_000, intervalMilliseconds: 1)
            for limits in [\AccountOptions.signUpLimits, \.confirmLimits, \.signInLimits, \.resetLimits] {
                options[keyPath: limits] = OperationLimits(account: unlimited, address: unlimited)
            }
            return options
        }

        func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }

        func open(_ options: AccountOptions? = nil) throws -> AccountStore {
            guard let from = EmailAddress("chat@example.org") else { throw AccountError.unknownAccount }
            return try AccountStore(path: path, mailer: outbox, from: from, options: options ?? self.options)
        }

        func code(_ store: AccountStore, _ email: String) throws -> String {
            store.drainMails()
            guard let code = outbox.code(to: email) else { throw AccountError.invalidCode }
            return code
        }

        /// Signs up, confirms and registers.
        @discardableResult func register(_ store: AccountStore, _ name: String, _ email: String) throws
            -> AccountRegistration
        {
            try store.signUp(username: name, email: email, password: Self.password, address: nil)
            let registration = try store.confirm(email: email, code: try code(store, email), address: nil)
            try store.markRegistered(account: registration.account)
            return registration
        }

        func signIn(_ store: AccountStore, _ email: String, _ password: String = password) throws -> SignedIn {
            try store.signIn(email: email, password: password, address: nil)
        }
    }

    /// Returns the code of the error that the closure throws, or nil.
    func failure(_ body: () throws -> Void) -> AccountError.Code? {
        do { try body() } catch let error as AccountError { return error.code } catch {
            return AccountError.Code(rawValue: "\(error)")
        }
        return nil
    }

    /// Another code than the right one.
    func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }
#endif
