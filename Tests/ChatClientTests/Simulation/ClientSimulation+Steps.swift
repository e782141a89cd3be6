#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import Locking

    @testable import ChatClient

    // What can happen.
    extension ClientSimulation {
        func step() async throws {
            trace.add("step \(store.head.position) \(executor.now)")
            let index = Int.random(in: devices.indices, using: &random)
            switch Int.random(in: 0..<40, using: &random) {
            case 0, 1: changeNetwork()
            case 2: server.goAway()
            case 3, 4, 5: server.comeBack()
            case 6, 7: await crash(index)
            case 8, 9, 10: if devices[index].client == nil { try start(index) }
            case 11: try restart()
            case 12: setClock(devices[index].clock)
            case 13: setServerClock()
            case 14: try eraseEvent(position())
            case 15:
                if random.oneIn(3), let user = neighbours.randomElement(using: &random) {
                    _ = try? store.eraseUser(user, reason: "a-test")
                }
            case 16, 17, 18: act(on: devices[index].user)
            case 19, 20: host(neighbourly())
            case 21, 22, 23: read(index)
            case 24: try changeOutbox(index)
            default: try write(index)
            }
            if random.oneIn(2) {
                try await executor.sleep(for: .milliseconds(Int.random(in: 1...1_500, using: &random)))
            }
        }

        private func changeNetwork() {
            var faults = SimulatedServer.Faults()
            if random.oneIn(2) { faults.lossRate = Int.random(in: 2...6, using: &random) }
            if random.oneIn(2) { faults.repeatRate = Int.random(in: 1...4, using: &random) }
            if random.oneIn(4) { faults.silenceRate = Int.random(in: 3...9, using: &random) }
            if random.oneIn(2) { faults.mostDelay = .milliseconds(Int.random(in: 1...4_000, using: &random)) }
            server.state.withLock { [faults] in $0.faults = faults }
        }

        private func setClock(_ clock: ManualClock) {
            clock.step(byMilliseconds: Int64.random(in: -100_000_000...100_000_000, using: &random))
        }

        /// Sets the clock of the server to a wrong time, which is not so wrong that the store
        /// refuses it.
        private func setServerClock() {
            let error = Int64.random(in: -36_000_000...36_000_000, using: &random)
            let time = Timestamp.testStart.millisecondsSince1970 + error
            serverClock.step(byMilliseconds: time - serverClock.now().millisecondsSince1970)
        }

        private func eraseEvent(_ position: Position) throws {
            _ = try store.eraseContent(of: PositionSet([position...position]), reason: "a-test")
        }

        private func position() -> Position { UInt64.random(in: 1...store.head.position, using: &random) }

        private func thread() -> ThreadID { threads[Int.random(in: threads.indices, using: &random)] }

        private func text() -> String {
            textCount += 1
            return "text-\(1_000_000 + textCount)"
        }

        /// Changes the rights of a user, behind the back of the user's client.
        private func act(on user: UserID) {
            if random.oneIn(6) {
                host(
                    random.oneIn(2)
                        ? .block(user: owner, by: user) : .renameThread(thread: thread(), name: text(), by: owner))
            }
            let until: Timestamp? =
                random.oneIn(2)
                ? Timestamp(millisecondsSince1970: serverClock.now().millisecondsSince1970 + 5_000) : nil
            let command: ChatCommand =
                switch Int.random(in: 0..<16, using: &random) {
                case 0: .leaveThread(thread: thread(), by: user)
                case 1: .mute(user: user, thread: thread(), reason: text(), until: until, by: owner)
                case 2: .unmute(user: user, thread: thread(), by: owner)
                case 3: .ban(user: user, thread: thread(), reason: text(), until: until, by: owner)
                case 4, 5: .unban(user: user, thread: thread(), by: owner)
                case 6: .removeMember(user: user, thread: thread(), reason: text(), by: owner)
                case 7, 8, 9: .joinThread(thread: thread(), by: user)
                default: actWithOpposite(of: user)
                }
            host(command, correlation: Self.elsewhere)
        }

        /// The correlation id of what a user does without the device.
        static let elsewhere = "elsewhere"

        private func actWithOpposite(of user: UserID) -> ChatCommand {
            guard let post = devices.first(where: { $0.user == user })?.log.posts.randomElement(using: &random),
                random.oneIn(2)
            else {
                return random.oneIn(2)
                    ? .markRead(thread: thread(), upTo: position(), by: user)
                    : .markUnread(thread: thread(), from: position(), by: user)
            }
            return random.oneIn(2) ? .react(post, emoji: "🎉", by: user) : .unreact(post, emoji: "🎉", by: user)
        }

        /// A command of a user without a device.
        private func neighbourly() -> ChatCommand {
            let user = neighbours[Int.random(in: neighbours.indices, using: &random)]
            let post = devices.randomElement(using: &random)?.log.posts.randomElement(using: &random)
            switch (Int.random(in: 0..<7, using: &random), post) {
            case (0, .message(let message)?): return .reply(to: message, body: text(), by: user)
            case (1, let post?): return .react(post, emoji: "👍", by: user)
            case (2, let post?): return .remove(post, reason: text(), by: owner)
            case (3, _): return .changeUsername(username: text(), by: user)
            case (4, _):
                return random.oneIn(2)
                    ? .leaveThread(thread: thread(), by: user) : .joinThread(thread: thread(), by: user)
            default: return .postMessage(thread: thread(), body: text(), by: user)
            }
        }

        // MARK: What a user does

        private func read(_ index: Int) {
            guard let client = devices[index].client else { return }
            let request = PageRequest(
                limit: Int.random(in: 1...6, using: &random), before: random.oneIn(2) ? position() : nil)
            let thread = thread()
            let message = devices[index].log.posts.randomElement(using: &random)
            let kind = Int.random(in: 0..<5, using: &random)
            Task(executorPreference: executor) {
                // May fail without a network.
                switch (kind, message) {
                case (0, .message(let message)?): _ = try? await client.replies(to: message, page: request)
                case (1, _): _ = try? await client.threads()
                case (2, _): _ = try? await client.inbox()
                case (3, _): _ = try? await client.members(of: thread)
                default: _ = try? await client.timeline(thread, page: request)
                }
            }
        }

        private func write(_ index: Int) throws {
            guard let client = devices[index].client else { return }
            let item = try client.enqueue(CommandRequest(command(of: index)))
            devices[index].log.written(item, asOf: store.head.position)
        }

        private func command(of index: Int) -> ChatCommand {
            let (user, posts) = (devices[index].user, devices[index].log.posts)
            switch (Int.random(in: 0..<20, using: &random), posts.randomElement(using: &random)) {
            case (0, .message(let message)?), (1, .message(let message)?):
                return .reply(to: message, body: text(), by: user)
            case (2, let post?), (3, let post?): return .edit(post, body: text(), by: user)
            case (4, let post?): return .retract(post, by: user)
            case (5, let post?), (6, let post?):
                return random.oneIn(2) ? .react(post, emoji: "🎉", by: user) : .unreact(post, emoji: "🎉", by: user)
            case (7, _), (8, _):
                return .setNotifications(thread: thread(), level: random.oneIn(2) ? .all : .none, by: user)
            case (9, _):
                guard random.oneIn(2),
                    let post = try? devices[index].client?.outbox().last(where: { $0.createdPost != nil })
                else { return .markRead(thread: thread(), upTo: position(), by: user) }
                return .markRead(
                    thread: post.thread ?? thread(), upTo: .firstPending + Position(post.id), by: user)
            case (15, _): return .markUnread(thread: thread(), from: position(), by: user)
            case (10, _):
                return random.oneIn(2)
                    ? .leaveThread(thread: thread(), by: user) : .joinThread(thread: thread(), by: user)
            case (11, _):
                return .setPostcode(
                    postcode: ["SW1A 1AA", "SW1A 2AA", "no postcode"][Int.random(in: 0..<3, using: &random)], by: user)
            case (12, _): return .openThread(name: text(), by: user)
            case (13, _):
                return random.oneIn(2) ? .block(user: neighbours[0], by: user) : .unblock(user: neighbours[0], by: user)
            case (14, _):
                return .postMessage(
                    thread: thread(), body: String(repeating: "x", count: MessageBody.maximumByteCount + 1), by: user)
            default: return .postMessage(thread: thread(), body: text(), by: user)
            }
        }

        /// Withdraws or replaces an item of the outbox; both are refused for what was sent.
        private func changeOutbox(_ index: Int) throws {
            guard let client = devices[index].client, let item = try client.outbox().randomElement(using: &random)
            else { return }
            do {
                if random.oneIn(2) { return try client.withdraw(item.id) }
                let command = item.request.command
                switch command.kind {
                case .postMessage:
                    try client.replace(
                        item.id,
                        by: CommandRequest(.postMessage(thread: command.threadID, body: text(), by: client.user)))
                default: try client.replace(item.id, by: item.request)
                }
            } catch is OutboxRefusal { /* It was sent. */  }
        }
    }
#endif
