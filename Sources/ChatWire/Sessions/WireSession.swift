public import Chat
public import ChatDomain
internal import Locking

/// Drives a ``WireConnection`` over a store, independent of the transport.
///
/// The host passes each message to ``receive(_:)``, one after another, and sends what the session
/// writes. ``end()`` stops the tasks of the session.
public final class WireSession: Sendable {
    private struct State {
        var connection: WireConnection
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var hasEnded = false
        /// Whether a message is being carried out, and what follows its answer.
        var isAnswering = false
        var whenAnswered: [@Sendable () -> Void] = []
    }

    private let routes: ChatRoutes
    private let store: ChatStore
    private let user: UserID
    private let execute: @Sendable (ClientCommands) async -> SocketAnswer
    private let write: @Sendable ([UInt8]) async throws -> Void
    private let push: (@Sendable ([UInt8]) -> Bool)?
    private let slots: (any FollowerSlots)?
    private let holdFollow: (@Sendable () throws(Problem) -> any Sendable)?
    private let executor: (any TaskExecutor)?
    private let state: Lock<State>

    /// Creates the session of a signed-in user.
    ///
    /// - Parameters:
    ///   - store: The chat.
    ///   - user: The user of the connection.
    ///   - execute: Executes commands; by default the store does. A host whose store is read-only sends them to the one that writes.
    ///   - write: Sends a message; suspends while the client does not read, and throws after the
    ///     end.
    public convenience init(
        _ store: ChatStore, user: UserID, execute: (@Sendable (ClientCommands) async -> SocketAnswer)? = nil,
        write: @escaping @Sendable ([UInt8]) async throws -> Void
    ) {
        self.init(
            store, ChatRoutes(store), user: user, execute: execute, executor: nil, slots: nil, holdFollow: nil,
            push: nil, write: write)
    }

    /// Creates a session whose new events need no task.
    ///
    /// - Parameters:
    ///   - executor: Runs the tasks of follows; nil for the default one.
    ///   - slots: What a follow needs while it holds events that are not written.
    ///   - holdFollow: Returns what a follow holds while it exists, or throws the answer to a
    ///     client that has no more of them.
    ///   - push: Takes a message if there is room, and returns whether it did.
    package init(
        _ store: ChatStore, _ routes: ChatRoutes, user: UserID,
        execute: (@Sendable (ClientCommands) async -> SocketAnswer)?,
        executor: (any TaskExecutor)?, slots: (any FollowerSlots)?,
        holdFollow: (@Sendable () throws(Problem) -> any Sendable)?, push: (@Sendable ([UInt8]) -> Bool)?,
        write: @escaping @Sendable ([UInt8]) async throws -> Void
    ) {
        (self.store, self.user, self.write) = (store, user, write)
        (self.executor, self.slots, self.holdFollow, self.push) = (executor, slots, holdFollow, push)
        self.routes = routes
        self.execute = execute ?? { await routes.answer(to: $0, as: user) }
        state = Lock(State(connection: WireConnection(user: user)))
    }

    /// Sends the first message.
    ///
    /// - Throws: What the sink throws.
    public func begin() async throws {
        let token = ResumeToken(store.head)
        try await write(
            WireConnection.hello(store.summary(of: user) ?? UserSummary(id: user, username: nil), token: token))
    }

    /// Receives a text message and carries it out.
    ///
    /// Returns when the commands of the message are answered, so that messages have one order.
    /// After ``end()`` it has no effect: the session of the user may have ended.
    ///
    /// - Throws: What the sink throws.
    public func receive(_ text: [UInt8]) async throws {
        let actions = state.withLock { state -> [WireConnection.Action] in
            if state.hasEnded { return [] }
            state.isAnswering = true
            return state.connection.receive(text)
        }
        defer {
            let completions = state.withLock { state in
                defer { (state.isAnswering, state.whenAnswered) = (false, []) }
                return state.whenAnswered
            }
            for completion in completions { completion() }
        }
        for action in actions {
            switch action {
            case .send(let message): try await write(message)
            case .execute(let commands, let id):
                try await write(WireConnection.answer(await execute(commands), to: id))
            case .follow(let id, let after, let thread):
                do {
                    let (start, updates) = try routes.updates(after: after, thread: thread, as: user)
                    let held = try holdFollow?()
                    try await write(WireConnection.following(id, from: start))
                    begin(updates, of: id, holding: held)
                } catch let error where error is Problem || error is ChatError {
                    state.withLock { $0.connection.didEnd(follow: id) }
                    try await write(WireConnection.problem(Problem(routeError: error), to: id))
                }
            case .unfollow(let id):
                guard let task = state.withLock({ $0.tasks.removeValue(forKey: id) }) else { continue }
                task.cancel()
                // An event may be waiting for the client to read: none may come after the answer.
                await task.value
            }
        }
    }

    /// Stops the tasks of the session.
    public func end() { end {} }

    /// Stops the tasks of the session; a command that is being carried out is still answered.
    ///
    /// - Parameter completion: Is called once, after that answer.
    package func end(then completion: @escaping @Sendable () -> Void) {
        let (tasks, isAnswered) = state.withLock { state in
            defer { (state.tasks, state.hasEnded) = ([:], true) }
            if state.isAnswering { state.whenAnswered.append(completion) }
            return (state.tasks.values.map { $0 }, !state.isAnswering)
        }
        for task in tasks { task.cancel() }
        if isAnswered { completion() }
    }

    private func begin(_ updates: ChatUpdates, of id: UInt64, holding held: (any Sendable)?) {
        state.withLock { state in
            if state.hasEnded { return }
            // Under the lock: the task finds itself in the table when it ends.
            state.tasks[id] = Task(executorPreference: executor) { [weak self, push, slots, write] in
                defer { withExtendedLifetime(held) {} }
                let livePush = push.map { push -> LivePush in
                    { event, texts in
                        // What cannot be encoded fails in the task.
                        guard
                            let message = try? texts.text(
                                id, of: event, { try WireConnection.update(.event($0), of: id) })
                        else {
                            return false
                        }
                        return push(message)
                    }
                }
                do {
                    try await updates.deliver(livePush, slots) {
                        try await write(try WireConnection.update($0, of: id))
                    }
                } catch is ChatError {
                    guard let self, self.didFail(follow: id) else { return }
                    // The client follows again, or learns at its next command that the journal has
                    // failed.
                    try? await write(WireConnection.problem(.storage, to: id))
                } catch {
                    // The connection has ended.
                }
            }
        }
    }

    /// Removes a follow whose events have ended with an error, before the client learns of that.
    ///
    /// - Returns: False if the client has ended it meanwhile, and waits for its task.
    private func didFail(follow id: UInt64) -> Bool {
        state.withLock { state in
            guard state.connection.isFollowing(id) else { return false }
            state.connection.didEnd(follow: id)
            state.tasks[id] = nil
            return true
        }
    }
}
