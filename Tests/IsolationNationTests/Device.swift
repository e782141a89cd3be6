#if Server
    import ChatClient
    import Foundation
    import IsolationNationModel
    import Observation
    import ServerSupport
    import TestSupport
    import Testing

    /// A telephone with the app: its files, its stored session, and what a screen does with the
    /// models.
    @MainActor final class Device {
        let app: AppModel
        let tokens = InMemoryTokenStore()
        private let directory: TemporaryDirectory
        private var tasks: [Task<Void, Never>] = []

        init(_ server: RealServer) throws {
            directory = try TemporaryDirectory()
            app = try AppModel(
                server: server.url, tokens: SuspendingTokenStore(tokens: tokens), directory: directory.file("chat"),
                device: "telephone")
        }

        /// The form that asks for an account.
        var account: AccountModel {
            get throws {
                guard case .account(let account) = app.screen else { throw Unexpected(text: "\(app.screen)") }
                return account
            }
        }

        /// The chat, once the app shows it.
        var session: SessionModel {
            get throws {
                guard case .chat(let session) = app.screen else { throw Unexpected(text: "\(app.screen)") }
                return session
            }
        }

        /// The files of the copies on the device, without those beside a database.
        var copies: [String] {
            get throws { try directory.contents().keys.filter { $0.hasSuffix(".chat") } }
        }

        struct Unexpected: Error { let text: String }

        /// Signs in, and returns the chat that the app then shows.
        @discardableResult func signIn(_ name: String) async throws -> SessionModel {
            await app.start()
            let account = try account
            (account.email, account.password) = ("\(name)@example.org", RealServer.password)
            await account.submit()
            #expect(account.feedback == nil)
            return try session
        }

        /// Runs a task until the device is put away, as a screen does while it is shown.
        func show(_ task: @escaping @Sendable @MainActor () async -> Void) { tasks.append(Task { await task() }) }

        /// Ends all tasks.
        func putAway() async {
            for task in tasks { task.cancel() }
            for task in tasks { await task.value }
            if case .chat(let session) = app.screen { await session.stop() }
        }
    }

    /// A store that lets all tasks of the main actor run before it answers, as a keychain can.
    private struct SuspendingTokenStore: TokenStore {
        let tokens: InMemoryTokenStore

        func load() async throws(ClientError) -> ClientSession? {
            for _ in 0..<100 { await MainActor.run {} }
            return tokens.load()
        }

        func save(_ session: ClientSession) async throws(ClientError) { tokens.save(session) }

        func remove() async throws(ClientError) { tokens.remove() }
    }

    /// Waits until a condition on observable models holds.
    @MainActor func until(_ condition: @escaping @Sendable @MainActor () -> Bool) async {
        for await holds in Observations({ condition() }) where holds { return }
    }
#endif
