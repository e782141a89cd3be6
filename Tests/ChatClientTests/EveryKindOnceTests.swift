#if Server
    import Chat
    import ChatTesting
    import Foundation
    import Locking
    import ServerSupport
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Every kind of command that a client sends, over HTTP to a server, whose answer is lost; meanwhile
    /// the act is undone, by somebody else or by the user on another device.
    @MainActor @Suite(.timeLimit(.minutes(3))) struct EveryKindOnceTests {
        /// What happens between the loss and the next attempt.
        enum Loss: CaseIterable, Sendable {
            case once, twice, clientEnds, serverEnds
        }

        /// What a case is about, in a community of its own.
        struct Scene {
            let store: ChatStore
            /// Ann acts; she and Bob own the garden, of which Cem is a member and Dan is not.
            let (ann, bob, cem, dan): (UserID, UserID, UserID, UserID)
            let garden: ThreadID
            /// Bob's message, and Ann's.
            let (message, mine): (MessageID, MessageID)

            func done(_ commands: [ChatCommand]) throws {
                for command in commands {
                    try #require(try store.executeBlocking(command).positions != nil, "\(command)")
                }
            }

            init(_ store: ChatStore, ann: UserID) throws {
                func person(_ name: String) throws -> UserID {
                    try #require(
                        try store.executeBlocking(.registerUser(username: "\(name) \(ann)".prefix(40).description)).user
                    )
                }
                (self.store, self.ann) = (store, ann)
                (bob, cem, dan) = (try person("Bob"), try person("Cem"), try person("Dan"))
                garden = try #require(try store.executeBlocking(.openThread(name: "Garden", by: bob)).thread)
                for user in [ann, cem] { try store.executeBlocking(.joinThread(thread: garden, by: user)) }
                try store.executeBlocking(.setRole(user: ann, thread: garden, role: .owner, by: bob))
                // Who invites somebody knows them from another thread.
                let street = try #require(try store.executeBlocking(.openThread(name: "Street", by: bob)).thread)
                for user in [ann, dan] { try store.executeBlocking(.joinThread(thread: street, by: user)) }
                message = try #require(
                    try store.executeBlocking(.postMessage(thread: garden, body: "Milk?", by: bob)).message)
                mine = try #require(
                    try store.executeBlocking(.postMessage(thread: garden, body: "Yes.", by: ann)).message)
            }

            /// What comes before a command, the command, and what undoes it: nothing if it holds for good.
            func act(_ kind: CommandKind) throws -> (before: [ChatCommand], command: ChatCommand, undo: [ChatCommand])?
            {
                let (post, other) = (PostID.message(message), ThreadID(bits: garden.bits ^ 1))
                let session = SessionID(bits: garden.bits ^ 2)
                switch kind {
                // These are of the host alone, and the last one names no user, so that no client sends it.
                case .registerUser, .grantOperator, .revokeOperator, .endSession: return nil
                case .changeUsername:
                    return (
                        [], .changeUsername(username: "Annie", by: ann),
                        [.changeUsername(username: "A\(garden)".prefix(40).description, by: ann)]
                    )
                case .setPostcode:
                    return (
                        [], .setPostcode(postcode: "SW1A 1AA", by: ann), [.setPostcode(postcode: "N1 9GU", by: ann)]
                    )
                case .openThread:
                    return ([], .openThread(id: other, name: "Dogs", by: ann), [.closeThread(thread: other, by: ann)])
                case .openDirect:
                    return ([], .openDirect(id: other, with: [bob], by: ann), [.leaveThread(thread: other, by: ann)])
                case .joinThread:
                    return (
                        [.openThread(id: other, name: "Dogs", by: bob)], .joinThread(thread: other, by: ann),
                        [.removeMember(user: ann, thread: other, reason: "r", by: bob)]
                    )
                case .leaveThread:
                    return ([], .leaveThread(thread: garden, by: ann), [.joinThread(thread: garden, by: ann)])
                case .postMessage:
                    return (
                        [], .postMessage(id: MessageID(bits: other.bits), thread: garden, body: "x", by: ann),
                        [.remove(.message(MessageID(bits: other.bits)), reason: "r", by: bob)]
                    )
                case .reply:
                    return (
                        [], .reply(id: ReplyID(bits: other.bits), to: message, body: "x", by: ann),
                        [.remove(.reply(ReplyID(bits: other.bits)), reason: "r", by: bob)]
                    )
                case .edit:
                    return (
                        [], .edit(.message(mine), body: "x", by: ann), [.edit(.message(mine), body: "y", by: ann)]
                    )
                case .retract: return ([], .retract(.message(mine), by: ann), [])
                case .markRead:
                    return (
                        [], .markRead(thread: garden, upTo: 5, by: ann), [.markUnread(thread: garden, from: 1, by: ann)]
                    )
                case .markUnread:
                    return (
                        [.markRead(thread: garden, upTo: 5, by: ann)], .markUnread(thread: garden, from: 3, by: ann),
                        [.markRead(thread: garden, upTo: 5, by: ann)]
                    )
                case .startSession:
                    return ([], .startSession(id: session, device: "d", by: ann), [.endSession(session: session)])
                case .invite:
                    return (
                        [], .invite(user: dan, thread: garden, by: ann),
                        [.revokeInvitation(user: dan, thread: garden, by: bob)]
                    )
                case .acceptInvitation:
                    return (
                        [
                            .openThread(id: other, name: "Dogs", policy: .inviteOnly, by: bob),
                            .invite(user: ann, thread: other, by: bob),
                        ], .acceptInvitation(thread: other, by: ann),
                        [.removeMember(user: ann, thread: other, reason: "r", by: bob)]
                    )
                case .declineInvitation:
                    return (
                        [
                            .openThread(id: other, name: "Dogs", policy: .inviteOnly, by: bob),
                            .invite(user: ann, thread: other, by: bob),
                        ], .declineInvitation(thread: other, by: ann), [.invite(user: ann, thread: other, by: bob)]
                    )
                case .revokeInvitation:
                    return (
                        [.invite(user: dan, thread: garden, by: bob)],
                        .revokeInvitation(user: dan, thread: garden, by: ann),
                        [.invite(user: dan, thread: garden, by: bob)]
                    )
                case .setRole:
                    return (
                        [], .setRole(user: cem, thread: garden, role: .moderator, by: ann),
                        [.setRole(user: cem, thread: garden, role: .member, by: bob)]
                    )
                case .remove: return ([], .remove(post, reason: "r", by: ann), [])
                case .mute:
                    return (
                        [], .mute(user: cem, thread: garden, reason: "r", by: ann),
                        [.unmute(user: cem, thread: garden, by: bob)]
                    )
                case .unmute:
                    return (
                        [.mute(user: cem, thread: garden, reason: "r", by: bob)],
                        .unmute(user: cem, thread: garden, by: ann),
                        [.mute(user: cem, thread: garden, reason: "again", by: bob)]
                    )
                case .ban:
                    return (
                        [], .ban(user: cem, thread: garden, reason: "r", by: ann),
                        [.unban(user: cem, thread: garden, by: bob), .joinThread(thread: garden, by: cem)]
                    )
                case .unban:
                    return (
                        [.ban(user: cem, thread: garden, reason: "r", by: bob)],
                        .unban(user: cem, thread: garden, by: ann),
                        [.ban(user: cem, thread: garden, reason: "again", by: bob)]
                    )
                case .removeMember:
                    return (
                        [], .removeMember(user: cem, thread: garden, reason: "r", by: ann),
                        [.joinThread(thread: garden, by: cem)]
                    )
                case .pin: return ([], .pin(message: message, by: ann), [.unpin(message: message, by: bob)])
                case .unpin:
                    return (
                        [.pin(message: message, by: bob)], .unpin(message: message, by: ann),
                        [.pin(message: message, by: bob)]
                    )
                case .lockThread:
                    return ([], .lockThread(thread: garden, by: ann), [.unlockThread(thread: garden, by: bob)])
                case .unlockThread:
                    return (
                        [.lockThread(thread: garden, by: bob)], .unlockThread(thread: garden, by: ann),
                        [.lockThread(thread: garden, by: bob)]
                    )
                case .closeThread: return ([], .closeThread(thread: garden, by: ann), [])
                case .setThreadPolicy:
                    return (
                        [], .setThreadPolicy(thread: garden, policy: .inviteOnly, by: ann),
                        [.setThreadPolicy(thread: garden, policy: .open, by: bob)]
                    )
                case .renameThread:
                    return (
                        [], .renameThread(thread: garden, name: "Yard", by: ann),
                        [.renameThread(thread: garden, name: "Garden", by: bob)]
                    )
                case .report: return ([], .report(post, reason: "r", by: ann), [.resolveReport(post, by: bob)])
                case .resolveReport:
                    return (
                        [.report(post, reason: "r", by: cem)], .resolveReport(post, by: ann),
                        [.report(post, reason: "again", by: cem)]
                    )
                case .block: return ([], .block(user: cem, by: ann), [.unblock(user: cem, by: ann)])
                case .unblock:
                    return ([.block(user: cem, by: ann)], .unblock(user: cem, by: ann), [.block(user: cem, by: ann)])
                case .react: return ([], .react(post, emoji: "🎉", by: ann), [.unreact(post, emoji: "🎉", by: ann)])
                case .unreact:
                    return (
                        [.react(post, emoji: "🎉", by: ann)], .unreact(post, emoji: "🎉", by: ann),
                        [.react(post, emoji: "🎉", by: ann)]
                    )
                case .custom:
                    return (
                        [],
                        .custom(
                            kind: "com.example.poll", thread: garden, payload: CustomPayload(unchecked: "[1]"), by: ann),
                        []
                    )
                case .setNotifications:
                    return (
                        [], .setNotifications(thread: garden, level: .none, by: ann),
                        [.setNotifications(thread: garden, level: .all, by: ann)]
                    )
                case .markInboxRead: return ([], .markInboxRead(upTo: 5, by: ann), [])
                case .setProfile: return ([], .setProfile(about: "x", by: ann), [.setProfile(about: "y", by: ann)])
                }
            }
        }

        /// Loses the answers to the first commands, and has others act when the first one is lost.
        private final class LosingTransport: ClientTransport {
            private let base: any ClientTransport
            private let left: Lock<Int>
            private let undo: @Sendable () -> Void

            init(base: any ClientTransport, losing count: Int, undo: @escaping @Sendable () -> Void) {
                (self.base, self.undo) = (base, undo)
                left = Lock(count)
            }

            func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer {
                let answer = try await base.send(request)
                guard request.target == "/v1/commands" else { return answer }
                let isLost = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                guard isLost else { return answer }
                undo()
                throw .unreachable("the answer is lost")
            }

            func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure)
                -> any ClientStream
            {
                try await base.openStream(after: token, credentials: credentials)
            }
        }

        /// By default each kind has one of the losses, which the seed chooses.
        @Test(arguments: Loss.allCases) func nothingIsUndoneAndNothingReportedWrongly(_ loss: Loss) async throws {
            let server = try await RealServer()
            let directory = try TemporaryDirectory()
            let losses = Loss.allCases
            let first = Int(Repetitions.seed % UInt64(losses.count))
            for kind in CommandKind.allCases {
                let chosen = losses[(Int(kind.rawValue) + first) % losses.count]
                guard Repetitions.areAll || chosen == loss else { continue }
                let session = try await server.member("ann\(kind.rawValue)")
                let scene = try Scene(server.store, ann: session.user.id)
                guard let act = try scene.act(kind) else { continue }
                try scene.done(act.before)
                try await run(scene, act.command, act.undo, loss, server, session, directory.file("\(kind)"))
            }
            try await server.stop()
        }

        private func run(
            _ scene: Scene, _ command: ChatCommand, _ undo: [ChatCommand], _ loss: Loss, _ server: RealServer,
            _ session: ClientSession, _ path: String
        ) async throws {
            let end = Lock<Position?>(nil)
            let store = scene.store
            func client(losing count: Int) throws -> ChatClient {
                let transport = LosingTransport(base: try server.transport(), losing: count) {
                    if end.withLock({ $0 != nil }) { return }
                    do { try scene.done(undo) } catch { Issue.record(error) }
                    end.withLock { $0 = store.head.position }
                }
                let copy = try LocalCopy(path: path, server: "\(session.server)", user: session.user.id)
                return ChatClient(copy, transport, credentials: session.token.rawValue, .quick)
            }
            var chat = try client(losing: loss == .twice ? 2 : 1)
            var running = Task { [chat] in await chat.run() }
            try await until { chat.connection == .connected }
            try await until { try chat.copy.token?.position == store.head.position }
            let head = store.head.position
            let item = try chat.enqueue(CommandRequest(command))
            try await until { end.withLock { $0 != nil } }
            #expect(store.head.position > head, "\(command) had no effect")
            if loss == .serverEnds {
                await server.goAway()
                try await server.comeBack()
            } else if loss == .clientEnds {
                running.cancel()
                await running.value
                chat.close()
                chat = try client(losing: 0)
                running = Task { [chat] in await chat.run() }
            }
            try await until { try chat.pendingCount == 0 }
            #expect(try chat.outbox().isEmpty, "\(command) is reported as rejected")
            #expect(store.head.position == end.withLock { $0 }, "\(item.request) has undone what was done meanwhile")
            running.cancel()
            await running.value
            chat.close()
        }
    }
#endif
