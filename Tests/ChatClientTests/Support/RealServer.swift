#if Server
    import Chat
    import ChatAccounts
    import ChatClient
    import ChatServer
    import Foundation
    import Locking
    import TestSupport
    import Testing

    /// A server in this process, with a journal in memory.
    final class RealServer: Sendable {
        static let password = "correct horse battery"

        private final class Mails: MailSender {
            let sent = Lock([MailMessage]())
            func send(_ message: MailMessage) throws(AccountError) { sent.withLock { $0.append(message) } }
        }

        let store: ChatStore
        let url: URL
        private let directory: TemporaryDirectory
        private let mails = Mails()
        private let accountStore: AccountStore
        private let server: ChatServer

        /// Starts a server.
        ///
        /// - Parameter signIns: The number of sign-ins of an account that are allowed at once.
        init(signIns: Int = 1_000_000) async throws {
            directory = try TemporaryDirectory()
            store = try ChatStore.inMemory(options: StoreOptions(checkpoints: nil))
            var options = AccountOptions()
            options.passwordCost = PasswordCost(passes: 1, memoryBytes: 8 << 10)
            let unlimited = AttemptLimit(burst: 1_000_000, intervalMilliseconds: 1)
            for limits in [\AccountOptions.signUpLimits, \.confirmLimits, \.signInLimits, \.resetLimits] {
                options[keyPath: limits] = OperationLimits(account: unlimited, address: unlimited)
            }
            options.signInLimits.account = AttemptLimit(burst: signIns, intervalMilliseconds: 60_000)
            let from = try #require(EmailAddress("chat@example.org"))
            accountStore = try AccountStore(path: directory.file("accounts"), mailer: mails, from: from, options: options)
            server = try await ChatServer(
                store: store, accounts: accountStore, options: ServerOptions(listen: try #require(ListenAddress("127.0.0.1:0"))))
            url = try #require(URL(string: server.url))
        }

        func stop() async throws {
            await server.close()
            try accountStore.close()
            try store.close()
        }

        var accounts: ServerAccounts { get throws { try ServerAccounts(url) } }

        func transport() throws -> ServerTransport { ServerTransport(try ServerAddress(url, allowsPlainText: false)) }

        /// The code of the last mail to a user.
        func code(_ name: String) throws -> String {
            accountStore.drainMails()
            let message = try #require(mails.sent.withLock { $0.last { $0.recipient.text == "\(name)@example.org" } })
            let text = String(decoding: message.bytes, as: UTF8.self)
            return String(try #require(text.firstMatch(of: /Your code is (\d{6})\./)).1)
        }

        /// Signs up, confirms and signs in.
        func member(_ name: String) async throws -> ClientSession {
            let (accounts, email) = (try accounts, "\(name)@example.org")
            try await accounts.signUp(username: name, email: email, password: Self.password)
            try await accounts.confirm(email: email, code: code(name))
            return try await accounts.signIn(email: email, password: Self.password, device: "telephone")
        }
    }
#endif
