#if Client || canImport(SQLite3)
    public import ChatClient
    public import Foundation
    public import Observation

    /// The chat of a session: its screens, the outbox, and how the connection goes.
    @MainActor @Observable public final class SessionModel: Identifiable {
        /// The chat, of a client, or in a preview of a store.
        public let chat: any UserChat
        /// What the user wrote and the server does not have yet.
        public let outbox: OutboxModel
        /// The threads of the user.
        public let threads: ThreadsModel
        /// What happened to the user.
        public let inbox: InboxModel
        /// Devices and the password; nil in a preview.
        public let settings: SettingsModel?
        /// What the banner says; nil while the server is followed.
        public private(set) var banner: OfflineBanner?
        /// Changes when ``run()`` is to be called again.
        public private(set) var generation = 0

        @ObservationIgnored let client: ChatClient?
        @ObservationIgnored let account: ClientSession?
        @ObservationIgnored private var running: Task<Void, Never>?

        /// Creates the chat of a session.
        init(_ client: ChatClient, account: ClientSession, _ accounts: ServerAccounts) {
            (self.client, self.account, chat) = (client, account, client)
            outbox = OutboxModel(client)
            (threads, inbox) = (ThreadsModel(client, outbox), InboxModel(client))
            settings = SettingsModel(accounts, account)
        }

        /// Creates the chat of a preview or a test, for example of `ChatStore.inMemory()`.
        public init(previewing chat: any UserChat) {
            (client, account, settings, self.chat) = (nil, nil, nil, chat)
            outbox = OutboxModel(nil)
            (threads, inbox) = (ThreadsModel(chat, outbox), InboxModel(chat))
        }

        /// Why the client has stopped; nil while it has not.
        public var stopReason: StopReason? { if case .stopped(let reason) = client?.connection { reason } else { nil } }

        /// Follows the server and keeps the screens current, until the task is cancelled or the client stops.
        public func run() async {
            let task = Task { await work() }
            running = task
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
        }

        /// Ends ``run()``, and returns when it has ended.
        func stop() async {
            running?.cancel()
            await running?.value
        }

        /// Has ``run()`` called again.
        func runAgain() { generation += 1 }

        /// Tries to connect now.
        public func connectNow() { client?.connectNow() }

        /// Forgets the copy after the server has got another journal, keeps the outbox, and begins again.
        public func startOver() async throws {
            await stop()
            try client?.startOver()
            banner = nil
            runAgain()
        }

        /// Returns the messages of a thread.
        public func posts(of thread: ThreadID) -> PostsModel { PostsModel(chat, outbox, .thread(thread)) }

        /// Returns the replies to a message.
        public func replies(to message: MessageID) -> PostsModel { PostsModel(chat, outbox, .replies(message)) }

        /// Returns the threads that everybody finds.
        public func directory() -> DirectoryModel { DirectoryModel(chat) }

        private func work() async {
            // Before the client runs, so that no state is missed.
            let states = client?.connections
            await withTaskGroup { group in
                group.addTask { await self.threads.follow() }
                group.addTask { await self.inbox.follow() }
                group.addTask { await self.outbox.follow() }
                guard let client, let states else { return await group.waitForAll() }
                group.addTask { for await state in states { await self.show(state) } }
                await client.run()
                group.cancelAll()
            }
            if let client { show(client.connection) }
        }

        private func show(_ state: ConnectionState) {
            banner =
                switch state {
                case .waiting(let error, let wait):
                    OfflineBanner(notice: Notice(failure: error), nextAttempt: Date().addingTimeInterval(wait / .seconds(1)))
                case .stopped(let reason): OfflineBanner(notice: Notice(failure: reason), canStartOver: reason == .anotherHistory)
                // An attempt is short, and the banner would flicker.
                case .connecting: banner
                case .connected, .idle: nil
                }
        }
    }

    /// What the app says while it does not follow the server.
    public struct OfflineBanner: Hashable, Sendable {
        /// Why.
        public var notice: Notice
        /// When the client tries again; nil if it does not.
        public var nextAttempt: Date?
        /// Whether the server has another journal, so that the copy can be forgotten.
        public var canStartOver = false
    }
#endif
