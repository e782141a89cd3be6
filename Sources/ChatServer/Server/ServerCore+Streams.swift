#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    // Streams of events, and WebSockets.
    extension ServerCore {
        func open(
            _ stream: EventStream, _ response: WireResponse, _ user: UserID, _ token: String, _ mailbox: Mailbox,
            _ exchange: HTTPExchange
        ) async -> HTTPResponse {
            let delivery = Delivery()
            let id = streams.add(
                .init(
                    mailbox: mailbox, session: (user, token),
                    stop: { end in
                        end()
                        delivery.stop()
                    },
                    lastMessage: { EventStream.block($0) },
                    heartbeat: EventStream.heartbeat))
            exchange.setCompletion { [streams] _ in streams.remove(id) }
            await streams.checkSession(of: id, validity: sessions.validity)
            let clock = SystemClock()
            let openedAt = clock.now()
            let slots = UserSlots(reading, user)
            let count = { @Sendable [metrics] (recordedAt: Timestamp) in
                // Earlier events are delivered late on purpose.
                guard recordedAt >= openedAt else { return }
                let delay = clock.now().millisecondsSince1970 - recordedAt.millisecondsSince1970
                metrics.countDelivery(milliseconds: UInt64(max(delay, 0)))
            }
            let task = Task(executorPreference: executor(of: .user(user))) { [metrics] in
                var end = EventStream.End.closing
                do {
                    end = try await stream.run(slots: slots) { block, recordedAt in
                        guard mailbox.post(block) else { return false }
                        count(recordedAt)
                        return true
                    } write: { block, recordedAt in
                        try await mailbox.write(block)
                        if let recordedAt { count(recordedAt) }
                    }
                } catch {
                    // The client is gone, or the stream was ended by its registry.
                    return
                }
                // A stream that was ended by its registry, or whose client is gone, has a reason
                // already.
                if mailbox.end(EventStream.block(end)) { metrics.count(ended: end) }
            }
            delivery.begin(task)
            return HTTPResponse(status: response.status, headers: response.headers, body: .stream(mailbox))
        }

        // MARK: WebSockets

        #if os(Linux)
            func upgrade(_ head: HTTPHead, _ user: UserID, _ token: String) throws -> HTTPResponse {
                let headers = try SocketHandshake.headers(for: head, subprotocol: WireConnection.subprotocol)
                try limits.requireStream(beside: streams.count(of: user))
                let mailbox = Mailbox(try hold(ServerMemory.socket, of: user))
                return HTTPResponse(
                    status: 101, headers: headers,
                    body: .upgrade { [self] resume in open(resume, mailbox, head, user, token) })
            }

            func upgrade(_ head: HTTPHead, _ socket: HostSocket) throws -> HTTPResponse {
                guard socket.isPublic || headCheck.client(of: head)?.isLoopback == true else { throw Problem.notFound }
                let headers = try SocketHandshake.headers(for: head)
                guard let held = memory.hold(ServerMemory.socket, by: .shared) else { throw Problem.busy }
                let mailbox = Mailbox(held)
                return HTTPResponse(
                    status: 101, headers: headers, body: .upgrade { [self] resume in open(resume, mailbox, socket) })
            }

            private func open(
                _ resume: @escaping @Sendable () -> Void, _ mailbox: Mailbox, _ socket: HostSocket
            ) -> (mailbox: Mailbox, receiver: any SocketReceiver) {
                let messages = HeldMemory(memory, .shared, isOfMessages: true)
                let receiver = SocketSession(messages, on: executor(of: .shared))
                let delivery = Task(executorPreference: executor(of: .shared)) {
                    do { try await socket.deliver { try await mailbox.write($0) } } catch {
                        // The client is gone, or the host program has failed: the client connects
                        // again.
                    }
                    mailbox.end()
                }
                let entry = streams.add(
                    .init(
                        mailbox: mailbox, session: nil,
                        stop: { end in
                            end()
                            delivery.cancel()
                        },
                        lastMessage: { _ in [] }, heartbeat: nil))
                receiver.begin(resume: resume, handle: socket.receiver()) { [streams] in
                    delivery.cancel()
                    streams.remove(entry)
                }
                return (mailbox, receiver)
            }

            private func open(
                _ resume: @escaping @Sendable () -> Void, _ mailbox: Mailbox, _ head: HTTPHead, _ user: UserID,
                _ token: String
            ) -> (mailbox: Mailbox, receiver: any SocketReceiver) {
                let (passing, turns) = (executor(of: head, token), executor(of: .user(user)))
                // Of the message that is being carried out.
                let work = HeldMemory(memory, .user(user))
                let execute = { @Sendable [chatRoutes] (commands: ClientCommands) async -> SocketAnswer in
                    // Before the work, so that commands that are executed are answered.
                    guard work.take(ServerMemory.commands(ofBody: commands.body.count)) else {
                        return SocketAnswer(.busy)
                    }
                    let answer =
                        if let passing { await passing(commands) } else {
                            await chatRoutes.answer(to: commands, as: user)
                        }
                    // The message has another copy.
                    work.set(2 * answer.json.capacity)
                    return answer
                }
                let wire = WireSession(
                    store, chatRoutes, user: user, execute: execute, executor: turns, slots: UserSlots(reading, user),
                    holdFollow: { [self] () throws(Problem) in try holdFollow(of: user) }, push: { mailbox.post($0) }
                ) {
                    try await mailbox.write($0)
                }
                let receiver = SocketSession(HeldMemory(memory, .user(user), isOfMessages: true), on: turns)
                let entry = streams.add(
                    .init(
                        mailbox: mailbox, session: (user, token), stop: { wire.end(then: $0) },
                        lastMessage: { WireConnection.end($0) },
                        heartbeat: nil))
                receiver.begin(resume: resume) { message in
                    defer { work.set(0) }
                    try await wire.receive(message)
                } start: { [streams, sessions] in
                    await streams.checkSession(of: entry, validity: sessions.validity)
                    try await wire.begin()
                } whenClosed: { [streams] in
                    wire.end()
                    streams.remove(entry)
                }
                return (mailbox, receiver)
            }
        #endif
    }

    /// The task that writes a stream, which can be stopped before it begins.
    final class Delivery: Sendable {
        private struct State {
            var task: Task<Void, Never>?
            var isStopped = false
        }

        private let state = Lock(State())

        func begin(_ task: Task<Void, Never>) {
            let isStopped = state.withLock { state in
                state.task = task
                return state.isStopped
            }
            if isStopped { task.cancel() }
        }

        func stop() {
            let task = state.withLock { state in
                state.isStopped = true
                return state.task
            }
            task?.cancel()
        }
    }
#endif
