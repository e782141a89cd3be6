#if Client || canImport(SQLite3)
    public import ChatDomain
    public import ChatLive
    internal import ChatValues
    public import Foundation

    /// The chat of a server as one user sees it, with a copy on this device and an outbox.
    ///
    /// Reading and writing work without a network: what was seen is read from the copy, and what is
    /// written waits in the outbox until the server has it. While ``run()`` runs, the client
    /// follows the server and sends the outbox. Live views are those of a store, with the same
    /// states.
    ///
    /// ```swift
    /// /// Follows the server for as long as a screen is shown.
    /// func show(_ session: ClientSession, in directory: String) async throws {
    ///     let client = try ChatClient(session, directory: directory)
    ///     await client.run()
    /// }
    /// ```
    public final class ChatClient: Sendable {
        /// The user of the session.
        public let user: UserID
        let copy: LocalCopy
        let engine: SyncEngine

        /// Opens the copy of a session's user, or creates it.
        ///
        /// - Parameters:
        ///   - session: The session, of ``ServerAccounts``.
        ///   - directory: The directory of the copies, which only the user of the device may read.
        ///     Each server and user has a file of mode 0600 in it.
        ///   - allowsPlainText: Whether http is allowed to any host. Tokens can then be read on the
        ///     way.
        ///   - postLimit: The maximum number of posts of the copy; the oldest ones go first. At
        ///     least 1,000.
        /// - Throws: ``ClientError/storage(_:file:)``, with `held` if another client has the copy open;
        ///   ``ClientError/invalidAddress(_:)``.
        public convenience init(
            _ session: ClientSession, directory: String, allowsPlainText: Bool = false, postLimit: Int = 200_000
        ) throws(ClientError) {
            let (path, address) = try Self.path(of: session, directory, allowsPlainText: allowsPlainText)
            let copy = try LocalCopy(path: path, server: address.text, user: session.user.id, postLimit: postLimit)
            try self.init(copy, session, address)
        }

        private convenience init(_ copy: LocalCopy, _ session: ClientSession, _ address: ServerAddress)
            throws(ClientError)
        {
            // A new copy has read no name yet.
            try copy.learnOwnName(session.user.username)
            self.init(copy, ServerTransport(address), credentials: session.token.rawValue)
        }

        /// Opens a new copy of a session's user in place of the one that exists, which can be damaged
        /// or something else, and moves what waits in it, as far as it can be read.
        ///
        /// A file that cannot be read at all, or belongs to another user or server, gets another
        /// name. If the process ends before the call returns, nothing is lost: the next opening has
        /// the former copy or the new one.
        ///
        /// - Parameters: As those of ``init(_:directory:allowsPlainText:postLimit:)``.
        /// - Returns: The client, and what became of the outbox.
        /// - Throws: ``ClientError/storage(_:file:)``, with `held` if a client has the copy open.
        public static func startingOver(
            _ session: ClientSession, directory: String, allowsPlainText: Bool = false, postLimit: Int = 200_000
        ) throws(ClientError) -> (client: ChatClient, outbox: StartingOver) {
            let (path, address) = try Self.path(of: session, directory, allowsPlainText: allowsPlainText)
            let (copy, outbox) = try LocalCopy.startingOver(
                path: path, server: address.text, user: session.user.id, postLimit: postLimit)
            return (try ChatClient(copy, session, address), outbox)
        }

        package init(
            _ copy: LocalCopy, _ transport: any ClientTransport, credentials: String,
            _ environment: SyncEnvironment = SyncEnvironment()
        ) {
            (self.user, self.copy) = (copy.user, copy)
            engine = SyncEngine(copy, transport, credentials: credentials, environment)
        }

        private static func path(
            of session: ClientSession, _ directory: String, allowsPlainText: Bool
        ) throws(ClientError) -> (path: String, address: ServerAddress) {
            let address = try ServerAddress(session.server, allowsPlainText: allowsPlainText)
            return ("\(directory)/\(address.fileName)-\(session.user.id).chat", address)
        }

        /// Follows the server and sends the outbox, until the task is cancelled or trying again
        /// would not help.
        ///
        /// ``connection`` says how it goes. Returns at once while another call runs.
        public func run() async { await engine.run() }

        /// Whether the client follows its server.
        public var connection: ConnectionState { engine.connection }

        /// The states of the connection from now on; a slow task gets the latest one only.
        public var connections: AsyncStream<ConnectionState> { engine.states.elements() }

        /// Tries to connect now, for example because the network is back.
        public func connectNow() { engine.connectNow() }

        /// Closes the copy; every call after it fails.
        ///
        /// Call it after ``run()`` has returned.
        public func close() {
            engine.changes.finish()
            engine.states.finish()
            copy.close()
        }

        /// Forgets the copy after the server has got another journal; the outbox is kept.
        ///
        /// For a copy that cannot be used, see
        /// ``startingOver(_:directory:allowsPlainText:postLimit:)``.
        ///
        /// To be called after ``run()`` has returned; the next call of it sends the outbox to the
        /// journal that the server has now.
        public func startOver() throws(ClientError) {
            try copy.forgetEverything()
        }

        /// Closes the copy and removes it from the device, with the outbox.
        ///
        /// To be called at the sign-out, after ``run()`` has returned.
        ///
        /// - Parameter discardsOutbox: Whether commands that wait may be lost.
        /// - Throws: ``OutboxRefusal/itemsPending(_:)`` if commands wait and may not be lost, or a
        ///   ``ClientError``.
        public func removeCopy(discardsOutbox: Bool = false) throws {
            let count = try pendingCount
            guard discardsOutbox || count == 0 else { throw OutboxRefusal.itemsPending(count) }
            close()
            try CopyFile.remove(copy.path)
        }

        /// Removes the copy of a session's user from the device, with the outbox, also one that
        /// cannot be opened.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` with `held` while a client has the copy open.
        public static func removeCopy(of session: ClientSession, directory: String) throws(ClientError) {
            try CopyFile.remove(path(of: session, directory, allowsPlainText: true).path)
        }

        /// Returns the users of whom the device has a copy of a server, in no order: a copy outlives
        /// the session that it was made with.
        ///
        /// - Throws: ``ClientError/invalidAddress(_:)``.
        public static func usersWithCopy(of server: URL, directory: String) throws(ClientError) -> [UserID] {
            let prefix = try ServerAddress(server, allowsPlainText: true).fileName + "-"
            // A directory that cannot be read has no copy that can be opened.
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.compactMap { name in
                guard name.hasPrefix(prefix), name.hasSuffix(".chat") else { return nil }
                return UserID(String(name.dropFirst(prefix.count).dropLast(5)))
            }
        }
    }

    /// The outbox.
    extension ChatClient {
        /// Returns the commands that wait or were rejected, after one of them, in their order.
        ///
        /// - Parameters:
        ///   - item: The command after which they begin; 0 for the first.
        ///   - limit: The maximum number, at most 1,000.
        public func outbox(after item: OutboxItem.ID = 0, limit: Int = 100) throws(ClientError) -> [OutboxItem] {
            try copy.outbox(after: item, limit: limit)
        }

        /// The number of commands that wait, without those that were rejected.
        public var pendingCount: Int {
            get throws(ClientError) { try copy.pendingCount }
        }

        /// What happens to the commands of the outbox from now on.
        ///
        /// After its end, read ``outbox(after:limit:)``.
        public var outboxChanges: OutboxChanges { OutboxChanges(changes: engine.changes.elements()) }

        /// Adds a command to the outbox, with an id for what it creates; it survives a power cut
        /// when the call returns.
        ///
        /// - Throws: ``ClientError/rejected(_:)`` with `notAllowed` for a command of another user,
        ///   or one that no client sends.
        @discardableResult public func enqueue(_ request: CommandRequest) throws(ClientError) -> OutboxItem {
            try requireOwn(request)
            let now = engine.environment.now()
            let request = takingEffectOnce(request, now: now)
            var changes = CopyChanges()
            try engine.change { copy throws(ClientError) in
                changes = try copy.enqueue(request, now: now)
                return changes
            }
            guard case .queued(let item)? = changes.outbox.last else { throw .storage(.damaged, file: copy.path) }
            return item
        }

        /// Returns a command with an id of its own or beside it: sent again, it takes effect once.
        private func takingEffectOnce(_ request: CommandRequest, now: Timestamp) -> CommandRequest {
            let kind = request.command.kind
            guard kind.form.createsID ? request.command.id == nil : kind.takesOnce && request.once == nil else {
                return request
            }
            var request = request
            let id = CommandID(version7At: now, random: engine.environment.idBits())
            if kind.form.createsID { request.command.id = id.bits } else { request.once = id }
            return request
        }

        private func requireOwn(_ request: CommandRequest) throws(ClientError) {
            guard request.command.canBeSent(by: user) else {
                throw .rejected(Rejection(.notAllowed, "The user of this session cannot send this command."))
            }
        }

        /// Takes a command back that was never sent, or that was rejected.
        ///
        /// - Throws: ``OutboxRefusal`` or ``ClientError``.
        public func withdraw(_ item: OutboxItem.ID) throws {
            try engine.change { copy in try copy.withdraw(item).get() }
        }

        /// Replaces a command that was never sent, or that was rejected, by one about the same
        /// thing, and has it sent.
        ///
        /// What was stopped because of it is sent too. A new command without an id has that of the
        /// former one.
        ///
        /// - Throws: ``OutboxRefusal`` or ``ClientError``.
        public func replace(_ item: OutboxItem.ID, by request: CommandRequest) throws {
            try requireOwn(request)
            var request = request
            if !request.command.kind.form.createsID {
                request = takingEffectOnce(request, now: engine.environment.now())
            }
            try engine.change { [request] copy in
                try copy.replace(item, by: request).get()
            }
        }
    }

    extension ChatCommand {
        /// Whether the client of a user can send the command.
        func canBeSent(by user: UserID) -> Bool { kind.form.sender == .client && actor == user }
    }

    extension ClientError: ChatFailure {}
#endif
