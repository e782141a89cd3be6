public import ChatDomain

/// A generator of random commands about a small set of entities.
///
/// Because the set is small, the commands interact: most are valid, many are rejected, and some are
/// repeated. The same seed gives the same commands. Every kind of command occurs, and every
/// rejection except `invalidDevice`, `invalidCorrelation`, `tooManyPins`, `tooManyBlocks`,
/// `tooManyReactions`, `invalidPayload`, `notAllowed` and `storageFull`. The generator decides each
/// command itself to know the existing entities, so execute all commands in order. Commands of your
/// own may come between them: take users and threads from the store.
public struct CommandGenerator: Sendable {
    private var random: SeededRandom
    /// Of what stands beside most commands, so that the commands stay those of a seed.
    private var known: SeededRandom
    private var entities = GeneratedEntities()
    private var generated: [ChatCommand] = []

    /// Creates a generator.
    public init(seed: UInt64) { (random, known) = (SeededRandom(seed: seed), SeededRandom(seed: ~seed)) }

    /// Returns the next command.
    public mutating func next() -> ChatCommand {
        let command = makeCommand()
        entities.execute(CommandRequest(command))
        return command
    }

    /// Returns the next command as a request, sometimes with a correlation id, an id with which it
    /// takes effect once, or as an import.
    public mutating func nextRequest() -> CommandRequest {
        var request = CommandRequest(makeCommand())
        request.once = once(request.command)
        if request.command.kind.form.fields.contains(.seen), known.oneIn(2) {
            // Often a position after which the user has done the opposite, and sometimes one after the last.
            let (last, most) = (entities.head + 2, ([3, 30, 300] as [Position])[Int(known.next() % 3)])
            request.command.seen = last - min(last, .random(in: 0...most, using: &known))
        }
        if random.oneIn(8) { request.correlation = "correlation \(generated.count)" }
        if random.oneIn(16) {
            let time = Int64.random(in: 0...1_700_000_000_000, using: &random)
            request.origin = .imported(sentAt: random.oneIn(2) ? Timestamp(millisecondsSince1970: time) : nil)
            // Imported threads have the whole history.
            if request.command.kind == .openThread {
                request.command.history = .all
                if let id = request.command.id, ThreadID(bits: id).outwardCode != nil { request.command.policy = .open }
            }
        }
        entities.execute(request)
        return request
    }

    private mutating func makeCommand() -> ChatCommand {
        if !generated.isEmpty, random.oneIn(12) { return pick(generated) }
        let command = makeNewCommand()
        generated.append(command)
        return command
    }

    private mutating func makeNewCommand() -> ChatCommand {
        // The first commands register users, so that later commands have actors.
        if entities.users.count < 3 || random.oneIn(20) {
            let subject = random.oneIn(3) ? "subject \(Int.random(in: 0..<100, using: &random))" : nil
            return .registerUser(id: newOrExisting(entities.users), username: randomUsername(), subject: subject)
        }
        if entities.threads.isEmpty || random.oneIn(12) {
            let user = randomUser()
            return .setPostcode(postcode: randomPostcode(), by: user)
        }
        // The ranges of the cases are weights; 38 and 39 are the default.
        switch Int.random(in: 0..<52, using: &random) {
        case 0, 1:
            let user = randomUser()
            return .changeUsername(username: randomUsername(), by: user)
        case 2, 3: return openThread()
        case 4...8:
            // Who is banned was in the thread, and tries to come back.
            if !entities.bans.isEmpty, random.oneIn(8) {
                let (user, thread) = randomPair(entities.bans)
                return .joinThread(thread: thread, by: user)
            }
            let user = randomUser()
            return .joinThread(thread: randomThread(), by: user)
        case 9, 10:
            let thread = randomThread()
            return .leaveThread(thread: thread, by: randomMember(of: thread))
        case 11...20:
            let thread = randomWritableThread()
            let id = newOrExisting(entities.messages.map(\.id))
            let writer = randomWriter(of: thread)
            let body = randomBody()
            return .postMessage(
                id: id, thread: thread, body: body, mentions: randomMentions(of: thread),
                findMentions: asksForNames(body), by: writer)
        case 21...27:
            let (message, thread) = randomWritableMessage()
            let id = newOrExisting(entities.replies.map(\.id))
            let writer = randomWriter(of: thread)
            let body = randomBody()
            return .reply(
                id: id, to: message, body: body, mentions: randomMentions(of: thread),
                findMentions: asksForNames(body), by: writer)
        case 28...30:
            let (post, author) = randomPost()
            let replaces =
                random.oneIn(5)
                ? UInt64.random(in: 0...entities.head + 3, using: &random) : entities.textPositions[post]
            let (id, body) = (newOrExisting(entities.edits), randomBody())
            return .edit(
                post, id: id, body: body, mentions: randomMentions(of: entities.threadsOfPosts[post]),
                findMentions: asksForNames(body), replaces: random.oneIn(3) ? replaces : nil, by: author)
        case 31, 32:
            let (post, author) = randomPost()
            return .retract(post, by: author)
        case 33...35: return makeUnreadCommand()
        case 36, 37:
            let user = randomUser()
            return .startSession(
                id: newOrExisting(entities.sessions), device: pick(["iPhone", "", "a browser", "Pixel 4a \u{1F4F1}"]),
                by: user)
        case 40...51: return makeCommunityCommand()
        default:
            return .endSession(
                session: entities.sessions.isEmpty || random.oneIn(10)
                    ? SessionID(bits: random.bits128()) : pick(entities.sessions))
        }
    }

    /// Returns the users whom a text mentions: usually none, otherwise some who are usually
    /// members, or too many.
    private mutating func randomMentions(of thread: ThreadID?) -> [UserID] {
        guard random.oneIn(4) else { return [] }
        if random.oneIn(24) { return (0...MessageBody.maximumMentionCount).map { _ in UserID(bits: random.bits128()) } }
        return (0..<Int.random(in: 1...3, using: &random)).map { _ in randomMember(of: thread) }
    }

    private static let threadNames = ["Shopping", "Dogs", "  Garden club ", "Lost & found", "Ünïcode 🐈", "SW1A", ""]

    /// Returns a command that opens a direct thread, usually of members of one thread, or an open
    /// one again.
    private mutating func openDirect() -> ChatCommand {
        let id = newOrExisting(entities.threads)
        if random.oneIn(3), !entities.directs.isEmpty {
            let people = pick(entities.directs)
            let opener = pick(people)
            return .openDirect(id: id, with: people.filter { $0 != opener || random.oneIn(3) }, by: opener)
        }
        let thread = randomThread()
        let count = random.oneIn(16) ? 9 : Int.random(in: 1...3, using: &random)
        let others = (0..<count).map { _ in count == 9 ? UserID(bits: random.bits128()) : randomMember(of: thread) }
        return .openDirect(id: id, with: others, by: randomMember(of: thread))
    }

    private mutating func openThread() -> ChatCommand {
        let id = random.oneIn(15) ? ThreadID(randomOutwardCode()) : newOrExisting(entities.threads)
        let name = pick(Self.threadNames)
        let policy: ThreadPolicy =
            random.oneIn(3) ? pick([.inviteOnly, .inviteOnly, .inviteOnly, .listed, .residents]) : .open
        let shownName = id.outwardCode.map { random.oneIn(5) ? name : $0.description } ?? name
        let user = randomUser()
        return .openThread(
            id: id, name: shownName, policy: policy, history: random.oneIn(3) ? .sinceJoining : .all, by: user)
    }

    /// Returns a command about invitations, roles, moderation, blocks, reactions or custom events.
    private mutating func makeCommunityCommand() -> ChatCommand {
        let thread = entities.ownedThreads.isEmpty || random.oneIn(3) ? randomThread() : pick(entities.ownedThreads)
        let moderator = randomModerator(of: thread)
        // The ranges of the cases are weights.
        switch Int.random(in: 0..<44, using: &random) {
        case 34...39: return makeReactionCommand()
        case 40: return .renameThread(thread: thread, name: pick(Self.threadNames), by: moderator)
        case 41...43: return openDirect()
        case 31, 32:
            return .setThreadPolicy(
                thread: thread, policy: random.oneIn(12) ? .residents : pick([.open, .inviteOnly, .listed]),
                history: pick([nil, nil, .all, .sinceJoining] as [ThreadHistory?]), by: moderator)
        case 0...7: return makeInvitationCommand(thread, by: moderator)
        case 8...10:
            let user = random.oneIn(4) ? moderator : randomMember(of: thread)
            return .setRole(user: user, thread: thread, role: pick(ThreadRole.allCases), by: moderator)
        case 11:
            if random.oneIn(3), !entities.operators.isEmpty { return .revokeOperator(user: pick(entities.operators)) }
            return .grantOperator(user: randomUser())
        case 12...20: return makeSanctionCommand(thread, by: moderator)
        case 21, 22:
            let (message, thread) = randomMessage()
            return .pin(message: message, by: randomModerator(of: thread))
        case 23:
            let message = entities.pinned.isEmpty || random.oneIn(8) ? randomMessage().0 : pick(entities.pinned)
            return .unpin(message: message, by: randomModerator(of: entities.threadsOfPosts[.message(message)]))
        case 24: return .lockThread(thread: thread, by: moderator)
        case 25:
            let stopped = entities.threads.filter { entities.stopped.contains($0) }
            let thread = stopped.isEmpty ? thread : pick(stopped)
            return .unlockThread(thread: thread, by: randomModerator(of: thread))
        case 26:
            return random.oneIn(3)
                ? .closeThread(thread: thread, by: moderator) : .unlockThread(thread: thread, by: moderator)
        case 27, 28:
            let post = randomPost().0
            let member = randomMember(of: entities.threadsOfPosts[post])
            return .report(post, reason: randomReason(), by: member)
        case 29:
            let post = entities.reported.isEmpty || random.oneIn(8) ? randomPost().0 : pick(entities.reported)
            return .resolveReport(post, by: randomModerator(of: entities.threadsOfPosts[post]))
        case 30:
            if random.oneIn(3) {
                if entities.blocks.isEmpty || random.oneIn(8) { return .unblock(user: randomUser(), by: randomUser()) }
                let block = pick(entities.blocks)
                return .unblock(user: block.user, by: block.by)
            }
            return .block(user: randomUser(), by: randomUser())
        default:
            let id = newOrExisting(entities.customEvents)
            let kind = random.oneIn(10) ? CustomKind(unchecked: pick(["poll", "", "com..poll"])) : "com.example.poll"
            let writer = randomWriter(of: thread)
            return .custom(id: id, kind: kind, thread: thread, payload: randomPayload(), by: writer)
        }
    }

    private mutating func makeReactionCommand() -> ChatCommand {
        if random.oneIn(3), !entities.reactions.isEmpty, !random.oneIn(8) {
            let reaction = pick(entities.reactions)
            return .unreact(reaction.post, emoji: reaction.emoji, by: reaction.user)
        }
        // Mostly a recent post, so that several users react to the same one.
        let recent = random.oneIn(2) ? entities.reactions.last?.post : nil
        let post = recent ?? randomPost().0
        let user = randomWriter(of: entities.threadsOfPosts[post])
        let emoji = pick(["👍", "👍", "👍", "❤", "❤️", "👍🏽", ":wave:", "🎉", random.oneIn(8) ? "ok" : "👍"])
        return random.oneIn(6) ? .unreact(post, emoji: emoji, by: user) : .react(post, emoji: emoji, by: user)
    }

    /// Returns a command about what a member has read of a thread or their inbox, what of the
    /// thread notifies them, and their profile text.
    private mutating func makeUnreadCommand() -> ChatCommand {
        let thread = randomThread()
        let user = randomMember(of: thread)
        let position = UInt64.random(in: 0...entities.head + 3, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 9: return .setProfile(about: random.oneIn(4) ? nil : random.oneIn(20) ? "\u{7}" : randomBody(), by: user)
        case 8: return .markInboxRead(upTo: position, by: user)
        case 0...3: return .markRead(thread: thread, upTo: position, by: user)
        case 4, 5: return .markUnread(thread: thread, from: position, by: user)
        default:
            return .setNotifications(
                thread: thread, level: pick(NotificationLevel.allCases), until: randomEnd(), by: user)
        }
    }

    private mutating func makeInvitationCommand(_ thread: ThreadID, by moderator: UserID) -> ChatCommand {
        let choice = Int.random(in: 0..<8, using: &random)
        if choice < 4 { return .invite(user: randomUser(), thread: thread, by: moderator) }
        let (user, thread) = randomPair(entities.invitations)
        switch choice {
        case 4, 5: return .acceptInvitation(thread: thread, by: user)
        case 6: return .declineInvitation(thread: thread, by: user)
        default: return .revokeInvitation(user: user, thread: thread, by: randomModerator(of: thread))
        }
    }

    /// Returns a command that removes a post, or that mutes, bans or removes a member, or ends a
    /// mute or a ban.
    private mutating func makeSanctionCommand(_ thread: ThreadID, by moderator: UserID) -> ChatCommand {
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
            let post = randomPost().0
            let moderator = randomModerator(of: entities.threadsOfPosts[post])
            return .remove(post, reason: randomReason(), by: moderator)
        case 2, 3:
            return .mute(
                user: randomMember(of: thread), thread: thread, reason: randomReason(), until: randomEnd(),
                by: moderator)
        case 4:
            let (user, thread) = randomPair(entities.mutes)
            return .unmute(user: user, thread: thread, by: randomModerator(of: thread))
        case 5, 6:
            return .ban(
                user: randomMember(of: thread), thread: thread, reason: randomReason(), until: randomEnd(),
                by: moderator)
        case 7:
            let (user, thread) = randomPair(entities.bans)
            return .unban(user: user, thread: thread, by: randomModerator(of: thread))
        default:
            return .removeMember(user: randomMember(of: thread), thread: thread, reason: randomReason(), by: moderator)
        }
    }

    /// Returns a user who usually moderates the thread.
    private mutating func randomModerator(of thread: ThreadID?) -> UserID {
        if random.oneIn(6) { return randomMember(of: thread) }
        if let thread, let moderators = entities.moderators[thread], !moderators.isEmpty, !random.oneIn(8) {
            return pick(moderators)
        }
        return entities.operators.isEmpty ? randomMember(of: thread) : pick(entities.operators)
    }

    /// Returns a user and a thread, usually a pair from the list.
    private mutating func randomPair(_ pairs: [GeneratedEntities.UserAndThread]) -> (UserID, ThreadID) {
        if pairs.isEmpty || random.oneIn(8) { return (randomUser(), randomThread()) }
        let pair = pick(pairs)
        return (pair.user, pair.thread)
    }

    private mutating func randomReason() -> String {
        random.oneIn(20) ? pick(["", " ", String(repeating: "r", count: 513)]) : "spam"
    }

    /// Returns no end, or an end before or after the present.
    private mutating func randomEnd() -> Timestamp? {
        guard random.oneIn(2) else { return nil }
        return Timestamp(
            millisecondsSince1970: random.oneIn(8)
                ? 0 : entities.lastRecordedAt.millisecondsSince1970 + Int64.random(in: 1...100_000, using: &random))
    }

    private mutating func randomPayload() -> CustomPayload {
        // Foundation's coders keep the bytes of these texts, so that events can be compared after
        // them.
        let text = pick(["null", "{\"question\":\"Tea?\",\"weights\":[1.5,2000]}", "\"\u{1F375}\"", "[[],{}]"])
        guard let payload = CustomPayload(text) else { preconditionFailure("every text is JSON") }
        return payload
    }

    /// Returns a new id, or sometimes an existing one.
    private mutating func newOrExisting<ID: EntityID>(_ taken: [ID]) -> ID {
        taken.isEmpty || !random.oneIn(25) ? ID(bits: random.bits128()) : pick(taken)
    }

    private mutating func randomUser() -> UserID {
        entities.users.isEmpty || random.oneIn(30) ? UserID(bits: random.bits128()) : pick(entities.users)
    }

    private mutating func randomThread() -> ThreadID {
        if random.oneIn(30) { return ThreadID(bits: random.bits128()) }
        return entities.threads.isEmpty || random.oneIn(12) ? ThreadID(randomOutwardCode()) : pick(entities.threads)
    }

    /// Returns a user, usually a member of the thread, so that the command is accepted.
    private mutating func randomMember(of thread: ThreadID?) -> UserID {
        guard let thread, let members = entities.members[thread], !members.isEmpty, !random.oneIn(6) else {
            return randomUser()
        }
        return pick(members)
    }

    /// Returns a thread, usually one with members that takes posts.
    private mutating func randomWritableThread() -> ThreadID {
        let threads = entities.threads.filter {
            !entities.stopped.contains($0) && entities.members[$0]?.isEmpty == false
        }
        return threads.isEmpty || random.oneIn(10) ? randomThread() : pick(threads)
    }

    /// Returns a user, usually a member of the thread who may write there.
    private mutating func randomWriter(of thread: ThreadID?) -> UserID {
        guard let thread, let members = entities.members[thread], !random.oneIn(10) else {
            return randomMember(of: thread)
        }
        let writers = members.filter { user in !entities.mutes.contains { $0.user == user && $0.thread == thread } }
        return writers.isEmpty ? randomMember(of: thread) : pick(writers)
    }

    /// Returns a message, usually one of a thread that takes posts.
    private mutating func randomWritableMessage() -> (MessageID, ThreadID?) {
        let found = randomMessage()
        guard let thread = found.1, entities.stopped.contains(thread), !random.oneIn(8) else { return found }
        return randomMessage()
    }

    /// Returns an existing message with its thread, or sometimes an unknown message.
    private mutating func randomMessage() -> (MessageID, ThreadID?) {
        guard !entities.messages.isEmpty, !random.oneIn(20) else { return (MessageID(bits: random.bits128()), nil) }
        let message = pick(entities.messages)
        return (message.id, message.thread)
    }

    /// Returns a message or a reply, usually with its author.
    private mutating func randomPost() -> (PostID, UserID) {
        let found: (PostID, UserID)
        if !entities.replies.isEmpty, random.oneIn(2) {
            let reply = pick(entities.replies)
            found = (.reply(reply.id), reply.author)
        } else if !entities.messages.isEmpty {
            let message = pick(entities.messages)
            found = (.message(message.id), message.author)
        } else {
            found = (.message(MessageID(bits: random.bits128())), randomUser())
        }
        if random.oneIn(40) { return (.reply(ReplyID(bits: random.bits128())), found.1) }
        if random.oneIn(40) { return (.message(MessageID(bits: random.bits128())), found.1) }
        return random.oneIn(5) ? (found.0, randomUser()) : found
    }

    private mutating func randomUsername() -> String {
        random.oneIn(3)
            ? pick(["Ann", "ann", "Bob", "Çelik", "C\u{327}elik", "Strasse", "straße", "Дима", "李雷", "", "a\u{7}b"])
            : "Name \(Int.random(in: 0..<300, using: &random))"
    }

    private mutating func randomPostcode() -> String {
        random.oneIn(8)
            ? pick(["GIR 0AA", "QQ1 1AA", ""])
            : pick(["SW1A 1AA", "sw1a1ab", " N1P 2NG", "E1 6AN", "E1 7AA", "M1 1AE"])
    }

    private mutating func randomOutwardCode() -> OutwardCode {
        guard let code = OutwardCode(pick(["SW1A", "N1P", "E1", "M1"])) else {
            preconditionFailure("every text is a valid outward code")
        }
        return code
    }

    private mutating func randomBody() -> String {
        switch Int.random(in: 0..<30, using: &random) {
        case 0: " \n\t"
        case 1: ""
        case 2: String(repeating: "x", count: Int.random(in: 16_380...16_390, using: &random))
        case 3: "\u{1b}[31mred\u{1b}[0m and a nul \0"
        case 4: "Zum Glück gibt es 🥛 noch, e\u{301}!"
        default: "Message \(generated.count) " + String(repeating: "la ", count: Int.random(in: 0..<30, using: &random))
        }
    }

    /// Whether the store is to find the people whom a body names; of one body always the same.
    private func asksForNames(_ body: String) -> Bool { body.utf8.count.isMultiple(of: 4) }

    /// The id beside a third of the commands that take one: the same each time, and now and then that of
    /// another command.
    ///
    /// It follows from the text, so that it draws no random number.
    private func once(_ command: ChatCommand) -> CommandID? {
        guard command.kind.takesOnce else { return nil }
        let digest = command.description.utf8.reduce(0xCBF2_9CE4_8422_2325) { (digest: UInt64, byte) in
            (digest ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        return digest.isMultiple(of: 3) ? CommandID(bits: UInt128(digest % 1_000)) : nil
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &random)]
    }
}
