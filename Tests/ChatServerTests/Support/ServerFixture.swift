#if Server
    import Chat
    import ChatDomain
    import EventJournal
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatAccounts
    @testable import ChatServer

    /// Keeps the mails that the store sends.
    final class Outbox: MailSender {
        private let sent = Lock([MailMessage]())

        func send(_ message: MailMessage) throws(AccountError) { sent.withLock { $0.append(message) } }

        func code(to email: String) -> String? {
            let text = sent.withLock { $0 }.last { $0.recipient.text == email }.map {
                String(decoding: $0.bytes, as: UTF8.self)
            }
            return text?.firstMatch(of: /Your code is (\d{6})\./).map { String($0.1) }
        }
    }

    /// The lines of the server's log.
    final class Log: Sendable {
        private let written = Lock([String]())

        var lines: [String] { written.withLock { $0 } }
        func write(_ line: String) { written.withLock { $0.append(line) } }
    }

    /// A server with a journal and accounts in a temporary directory.
    ///
    /// The gate, when it is closed, stops the thread that makes a token: a sign-in is then in
    /// progress.
    final class ServerFixture: Sendable {
        static let password = "correct horse battery"

        let directory: TemporaryDirectory
        let outbox = Outbox()
        let log = Log()
        let gate = Gate()
        let store: ChatStore
        let accounts: AccountStore
        private let started = Lock<ChatServer?>(nil)

        /// Opens the stores, the journal in memory unless a directory is given.
        ///
        /// - Parameters:
        ///   - attempts: The limit of attempts from one address.
        ///   - other: A fixture with whose account file the store is opened.
        init(
            _ directory: TemporaryDirectory? = nil, attempts: AttemptLimit? = nil,
            accountsOf other: ServerFixture? = nil
        ) throws {
            let isOnDisk = directory != nil
            self.directory = try directory ?? other?.directory ?? TemporaryDirectory()
            store =
                isOnDisk
                ? try ChatStore.open(self.directory.file("journal"), options: StoreOptions(checkpoints: nil))
                : try ChatStore.inMemory(options: StoreOptions(checkpoints: nil))
            var options = AccountOptions()
            options.passwordCost = PasswordCost(passes: 1, memoryBytes: 8 << 10)
            // Two sign-ins can be at the gate.
            options.concurrentHashes = 2
            options.environment = AccountEnvironment(
                now: { Timestamp(millisecondsSince1970: Int64(Date().timeIntervalSince1970 * 1_000)) },
                monotonicMilliseconds: { 0 },
                randomBytes: { [gate] count in
                    if count == 32 { gate.pass() }
                    return Sodium.randomBytes(count)
                })
            let unlimited = AttemptLimit(burst: 1_000_000, intervalMilliseconds: 1)
            for limits in [\AccountOptions.signUpLimits, \.confirmLimits, \.signInLimits, \.resetLimits] {
                options[keyPath: limits] = OperationLimits(account: unlimited, address: attempts ?? unlimited)
            }
            let from = try #require(EmailAddress("chat@example.org"))
            accounts = try AccountStore(
                path: self.directory.file("accounts"), mailer: outbox, from: from, options: options)
        }

        /// Starts the server; returns it.
        @discardableResult
        func start(
            adding extensions: ServerExtensions = ServerExtensions(), _ change: (inout ServerOptions) -> Void = { _ in }
        ) async throws -> ChatServer {
            var options = ServerOptions(listen: try #require(ListenAddress("127.0.0.1:0")))
            options.metrics = ListenAddress("127.0.0.1:0")
            options.log = log.write
            change(&options)
            let server = try await ChatServer(
                store: store, accounts: accounts, options: options, extensions: extensions)
            started.withLock { $0 = server }
            return server
        }

        /// Starts the server on a port below those of clients, so that no client has it after the
        /// end of the server; returns the server and its address.
        func startOnLastingPort() async throws -> (server: ChatServer, listen: ListenAddress) {
            while true {
                // Below the ports of clients: Linux gives these from 32,768 on, Darwin from 49,152
                // on.
                let listen = try #require(ListenAddress("127.0.0.1:\(UInt16.random(in: 10_000..<32_768))"))
                do { return (try await start { $0.listen = listen }, listen) } catch let error as ServerError {
                    // Another program has the port.
                    guard error.code == .cannotListen else { throw error }
                }
            }
        }

        var server: ChatServer { get throws { try #require(started.withLock { $0 }) } }
        var port: UInt16 {
            get throws {
                let url = try server.url
                return try port(url)
            }
        }

        private func port(_ url: String) throws -> UInt16 {
            try #require(URLComponents(string: url)?.port.flatMap { UInt16(exactly: $0) })
        }

        /// Stops everything, as the program does at its end.
        func stop() async throws {
            gate.open()
            try await server.close()
            try accounts.close()
            try store.close()
        }

        func client() throws -> HTTPClient { try HTTPClient(port: try port) }

        /// Signs up, confirms and signs in; returns a client with the session.
        func member(_ name: String, device: String? = nil) async throws -> HTTPClient {
            let client = try client()
            try await signUp(name, client)
            let confirmed = try await client.send(
                "POST", "/v1/confirm", "{\"email\":\"\(name)@example.org\",\"code\":\"\(try code(name))\"}")
            #expect(confirmed.status == 200, "\(confirmed.text)")
            try await signIn(name, client)
            return client
        }

        func signUp(_ name: String, _ client: HTTPClient) async throws {
            let body = "{\"username\":\"\(name)\",\"email\":\"\(name)@example.org\",\"password\":\"\(Self.password)\"}"
            let reply = try await client.send("POST", "/v1/sign-up", body)
            #expect((reply.status, reply.text) == (202, "{}"))
        }

        func code(_ name: String) throws -> String {
            accounts.drainMails()
            return try #require(outbox.code(to: "\(name)@example.org"))
        }

        func signInBody(_ name: String, _ password: String = password) -> String {
            "{\"email\":\"\(name)@example.org\",\"password\":\"\(password)\"}"
        }

        func signIn(_ name: String, _ client: HTTPClient, _ password: String = password) async throws {
            let reply = try await client.send("POST", "/v1/sign-in", signInBody(name, password))
            client.token = try #require(reply.json?["token"] as? String, "\(reply.status) \(reply.text)")
        }

        func metricsClient() throws -> HTTPClient {
            let url = try #require(try server.metricsURL)
            return try HTTPClient(port: try port(url))
        }

        /// Reads a gauge or a counter of the metrics.
        func metric(_ name: String) async throws -> Int? {
            let text = try await metricsClient().send("GET", "/metrics", headers: ["Connection: close"]).text
            return text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap {
                Int($0.dropFirst(name.count + 1))
            }
        }

        /// Waits until a metric has a value, calling the closure before each look; fails after
        /// minutes.
        func wait(until name: String, is value: Int, _ each: () async throws -> Void = {}) async throws {
            var found: Int?
            for _ in 0..<30_000 {
                try await each()
                found = try await metric(name)
                if found == value { return }
                try await Task.sleep(for: .milliseconds(10))
            }
            Issue.record("\(name) is \(found.map(String.init) ?? "missing"), not \(value)")
        }
    }

    /// Stops the threads that pass it while it is closed.
    final class Gate: Sendable {
        private struct State {
            var isClosed = false
            var waiting: [DispatchSemaphore] = []
        }

        private let state = Lock(State())

        var waitingCount: Int { state.withLock { $0.waiting.count } }

        func close() { state.withLock { $0.isClosed = true } }

        func open() {
            let waiting = state.withLock { state in
                defer { state = State() }
                return state.waiting
            }
            for semaphore in waiting { semaphore.signal() }
        }

        func pass() {
            let semaphore = state.withLock { state -> DispatchSemaphore? in
                guard state.isClosed else { return nil }
                let semaphore = DispatchSemaphore(value: 0)
                state.waiting.append(semaphore)
                return semaphore
            }
            semaphore?.wait()
        }

        /// Waits until threads wait at the gate.
        func reached(_ count: Int = 1) async throws {
            while waitingCount < count { try await Task.sleep(for: .milliseconds(1)) }
        }
    }
#endif
