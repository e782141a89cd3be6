#if Client || canImport(SQLite3)
    public import ChatClient
    public import Foundation
    public import Observation

    /// The chat of a session: its screens, the outbox, and the state of the connection.
    ///
    /// All windows of the app share it.
    @MainActor @Observable public final class SessionModel: Identifiable {
        /// The chat, of a client, or in a preview of a store.
        public let chat: any UserChat
        /// The commands that the server does not have yet, or has rejected.
        public let outbox: OutboxModel
        /// The threads of the user.
        public let threads: ThreadsModel
        /// The inbox of the user.
        public let inbox: InboxModel
        /// Devices and the password; nil in a preview.
        public let settings: SettingsModel?
        /// The banner; nil while the server is followed.
        public private(set) var banner: OfflineBanner?

        @ObservationIgnored let client: ChatClient?
        @ObservationIgnored let account: ClientSession?
        @ObservationIgnored private let whenEnded: @MainActor (SessionModel) async -> Void
        /// The task of ``start()``; nil if none runs.
        @ObservationIgnored private var running: Task<Void, Never>?

        /// Creates the chat of a session.
        ///
        /// - Parameter whenEnded: Is called when the client has stopped following the server.
        init(
            _ client: ChatClient, account: ClientSession, _ accounts: ServerAccounts,
            whenEnded: @escaping @MainActor (SessionModel) async -> Void
        ) {
            (self.client, self.account, chat, self.whenEnded) = (client, account, client, whenEnded)
            outbox = OutboxModel(client)
            (threads, inbox) = (ThreadsModel(client, outbox), InboxModel(client))
            settings = SettingsModel(accounts, account)
        }

        /// Creates the chat of a preview or a test, for example of `ChatStore.inMemory()`.
        public init(previewing chat: any UserChat) {
            (client, account, settings, self.chat, whenEnded) = (nil, nil, nil, chat, { _ in })
            outbox = OutboxModel(chat)
            (threads, inbox) = (ThreadsModel(chat, outbox), InboxModel(chat))
        }

        /// Why the client has stopped; nil while it has not.
        public var stopReason: StopReason? { if case .stopped(let reason) = client?.connection { reason } else { nil } }

        /// Follows the server and keeps the screens current, until ``stop()`` is called or the
        /// client stops.
        ///
        /// Does nothing if it does so already. The task belongs to no window: the other windows
        /// stay current when one is closed.
        public func start() {
            guard running == nil else { return }
            running = Task {
                await work()
                running = nil
                await whenEnded(self)
            }
        }

        /// Ends what ``start()`` has begun, and returns when nothing uses the client any more.
        public func stop() async {
            // A window can start again while this waits.
            while let running {
                running.cancel()
                await running.value
            }
        }

        /// Tries to connect now.
        public func connectNow() { client?.connectNow() }

        /// Forgets the copy after the server has got another journal, keeps the outbox, and begins
        /// again.
        public func startOver() async throws {
            await stop()
            try client?.startOver()
            banner = nil
            start()
        }

        /// Returns the messages of a thread.
        public func posts(of thread: ThreadID) -> PostsModel { PostsModel(chat, outbox, threads, .thread(thread)) }

        /// Returns the replies to a message of a thread.
        public func replies(to message: MessageID, in thread: ThreadID) -> PostsModel {
            PostsModel(chat, outbox, threads, .replies(to: message, in: thread))
        }

        /// Returns the threads of the directory, which every user can find.
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
                    OfflineBanner(
                        feedback: Feedback(failure: error), nextAttempt: Date().addingTimeInterval(wait / .seconds(1)))
                case .stopped(let reason):
                    OfflineBanner(
                        feedback: Feedback(failure: reason), canStartOver: reason == .anotherHistory,
                        canTryAgain: reason.isStorage)
                // An attempt is short, and the banner would flicker.
                case .connecting: banner
                case .connected, .idle: nil
                }
        }
    }

    extension StopReason {
        /// Whether the copy could not be read or written.
        fileprivate var isStorage: Bool { if case .storage = self { true } else { false } }
    }

    /// The banner of the app while it does not follow the server.
    public struct OfflineBanner: Hashable, Sendable {
        /// The reason why the server is not followed.
        public var feedback: Feedback
        /// When the client tries again; nil if it does not.
        public var nextAttempt: Date?
        /// Whether the server has another journal, so that the copy can be forgotten.
        public var canStartOver = false
        /// Whether the copy could not be read or written, so that ``SessionModel/start()`` can
        /// succeed later.
        public var canTryAgain = false
    }
#endif
