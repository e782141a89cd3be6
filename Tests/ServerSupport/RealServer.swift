#if Server
    package import Chat
    import ChatAccounts
    package import ChatClient
    import ChatServer
    package import Foundation
    import Locking
    import TestSupport

    /// A server in this process, with a journal in memory.
    package final class RealServer: Sendable {
        package static let password = "correct horse battery"

        private final class Mails: MailSender {
            let sent = Lock([MailMessage]())
            func send(_ message: MailMessage) throws(AccountError) { sent.withLock { $0.append(message) } }
        }

        /// Why the server could not be started, or has no mail.
        package struct Failure: Error { package let text: String }

        package let store: ChatStore
        package let url: URL
        private let directory: TemporaryDirectory
        private let mails = Mails()
        private let accountStore: AccountStore
        private let address: ListenAddress
        private let server: Lock<ChatServer?>

        /// Starts a server.
        ///
        /// - Parameter signIns: The number of sign-ins of an account that are allowed at once.
        package init(signIns: Int = 1_000_000) async throws {
            directory = try TemporaryDirectory()
            store = try ChatStore.inMemory(options: StoreOptions(checkpoints: nil))
            var options = AccountOptions()
            options.passwordCost = PasswordCost(passes: 1, memoryBytes: 8 << 10)
            let unlimited = AttemptLimit(burst: 1_000_000, intervalMilliseconds: 1)
            for limits in [\AccountOptions.signUpLimits, \.confirmLimits, \.signInLimits, \.resetLimits] {
                options[keyPath: limits] = OperationLimits(account: unlimited, address: unlimited)
            }
            options.signInLimits.account = AttemptLimit(burst: signIns, intervalMilliseconds: 60_000)
            guard let from = EmailAddress("chat@example.org"), let anyPort = ListenAddress("127.0.0.1:0") else {
                throw Failure(text: "The addresses are not valid.")
            }
            accountStore = try AccountStore(
                path: directory.file("accounts"), mailer: mails, from: from, options: options)
            let server = try await ChatServer(
                store: store, accounts: accountStore, options: ServerOptions(listen: anyPort))
            guard let url = URL(string: server.url),
                let address = ListenAddress(String(server.url.dropFirst("http://".count)))
            else {
                throw Failure(text: "The server has no address.")
            }
            (self.url, self.address) = (url, address)
            self.server = Lock(server)
        }

        /// Ends all connections; the server cannot be reached until it comes back.
        package func goAway() async {
            let server = server.withLock { server in
                defer { server = nil }
                return server
            }
            await server?.close()
        }

        /// Listens at the same address again.
        package func comeBack() async throws {
            let again = try await ChatServer(
                store: store, accounts: accountStore, options: ServerOptions(listen: address))
            server.withLock { $0 = again }
        }

        /// Ends all sessions of a user, as an operator of the machine can.
        package func endSessions(of user: UserID) throws { try accountStore.signOutEverywhere(user: user) }

        package func stop() async throws {
            await goAway()
            try accountStore.close()
            try store.close()
        }

        package var accounts: ServerAccounts { get throws { try ServerAccounts(url) } }

        package func transport() throws -> ServerTransport {
            ServerTransport(try ServerAddress(url, allowsPlainText: false))
        }

        /// The code of the last mail to a user.
        package func code(_ name: String) throws -> String {
            accountStore.drainMails()
            let message = mails.sent.withLock { $0.last { $0.recipient.text == "\(name)@example.org" } }
            let text = String(decoding: message?.bytes ?? [], as: UTF8.self)
            guard let code = text.firstMatch(of: /Your code is (\d{6})\./)?.1 else {
                throw Failure(text: "There is no mail with a code.")
            }
            return String(code)
        }

        /// Signs up, confirms and signs in.
        package func member(_ name: String) async throws -> ClientSession {
            let (accounts, email) = (try accounts, "\(name)@example.org")
            try await accounts.signUp(username: name, email: email, password: Self.password)
            try await accounts.confirm(email: email, code: code(name))
            return try await accounts.signIn(email: email, password: Self.password, device: "telephone")
        }
    }
#endif
