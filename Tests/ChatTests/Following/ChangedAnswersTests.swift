import ChatDomain
import ChatTesting
import ChatValues
import Projections
import TestSupport
import Testing

@testable import Chat

/// The column of the table of kinds that says which answers an event changes, against the answers of
/// every user before and after each command of random histories.
@Suite(.timeLimit(.minutes(5))) struct ChangedAnswersTests {
    /// An answer that a user can ask for.
    private struct Question: Hashable {
        let viewer: UserID
        /// The member of the column.
        let answers: ChangedAnswers
        /// The query, with what it asks about.
        let query: String
        /// Whether it asks about one thread, which the user may not be able to read.
        var isAboutThread = false
    }

    /// The answers that the events of each kind have changed.
    private struct Changes {
        /// With events that were the only ones of their command.
        var alone: [EventKind: ChangedAnswers] = [:]
        var beside: [EventKind: ChangedAnswers] = [:]

        /// The members of the rows that no event has changed.
        var missing: [String] {
            EventKind.allCases.flatMap { kind in
                let seen = alone[kind] ?? beside[kind] ?? []
                let missing = kind.form.changes.subtracting(seen)
                return ChangedAnswers.named.filter { missing.contains($0.answers) }.map { "\(kind.name): \($0.name)" }
            }
        }

        mutating func merge(_ other: Self) {
            alone.merge(other.alone) { $0.union($1) }
            beside.merge(other.beside) { $0.union($1) }
        }
    }

    /// A store with the answers of all its users.
    private struct Community {
        let store: ChatStore
        private(set) var answers: [Question: AnyHashable] = [:]
        private var (users, threads, messages): ([UserID], [ThreadID], [MessageID]) = ([], [], [])

        init(seed: UInt64) throws { store = try StoreFixture(seed: seed).open() }

        /// Executes a command, and returns its events; none if it is rejected or repeated.
        mutating func execute(_ command: ChatCommand) throws -> [RecordedEvent] {
            guard case .success(let receipt) = try store.executeBlocking([CommandRequest(command)])[0],
                !receipt.isDuplicate, !receipt.events.isEmpty
            else { return [] }
            if let user = receipt.user { users.append(user) }
            for event in receipt.events {
                if let thread = event.thread, !threads.contains(thread) { threads.append(thread) }
                if event.kind == .messagePosted { messages += [event.message].compactMap(\.self) }
            }
            answers = [:]
            for user in users { try ask(as: user) }
            return receipt.events
        }

        private mutating func ask(as viewer: UserID) throws {
            let reader = store.reader(as: .user(viewer))
            func ask(
                _ answers: ChangedAnswers, _ query: String, in thread: ThreadID? = nil,
                _ value: () throws -> AnyHashable
            ) {
                let answer: AnyHashable
                // What does not exist and what the user may not see are one answer.
                do { answer = try value() } catch { answer = "rejected" }
                let name = thread.map { "\(query) \($0)" } ?? query
                self.answers[
                    Question(viewer: viewer, answers: answers, query: name, isAboutThread: thread != nil)] = answer
            }
            var details = try reader.user(viewer)
            for index in details.threads.indices {
                let counts = details.threads[index].lastMessage?.takeCounts()
                ask(.messages, "counts of the latest message", in: details.threads[index].id) { counts }
            }
            ask(.details, "details") { details }
            ask(.threads, "threads") { try reader.threads(page: .all).entries }
            ask(.inbox, "inbox") { try reader.inbox(of: viewer, page: .all).entries }
            ask(.inbox, "unread") { try reader.unreadInboxCount(of: viewer) }
            ask(.inbox, "invitations") { try reader.invitations(of: viewer).entries }
            for thread in threads {
                ask(.access, "members", in: thread) { try reader.members(of: thread).entries }
                ask(.moderation, "settings", in: thread) {
                    let summary = try reader.thread(thread)
                    return [summary.name, summary.policy, summary.history, summary.isLocked, summary.isClosed]
                        as [AnyHashable?]
                }
                ask(.moderation, "invitations", in: thread) { try reader.invitations(to: thread).entries }
                ask(.moderation, "roles", in: thread) { try reader.roles(in: thread).entries }
                ask(.moderation, "standing", in: thread) { try reader.standing(of: viewer, in: thread) }
                ask(.moderation, "sanctions", in: thread) { try reader.sanctions(in: thread).entries }
                ask(.moderation, "reports", in: thread) { try reader.reports(in: thread).entries }
                ask(.moderation, "pins", in: thread) {
                    var pins = try reader.pins(in: thread)
                    for index in pins.indices { _ = pins[index].takeCounts() }
                    return pins
                }
                ask(.messages, "messages", in: thread) { try reader.timeline(thread, page: .all).entries }
            }
            for message in messages {
                ask(.replies, "replies to \(message)", in: try store.reader(as: .host).message(message).thread) {
                    try reader.replies(to: message, page: .all).entries
                }
            }
        }

        /// Whether an event came into the inbox of a user.
        func isTold(_ user: UserID, of event: RecordedEvent) -> Bool {
            store.withCurrentModels { models, _ in models.inboxReason(ofEventAt: event.position, for: user) != nil }
        }
    }

    /// Executes commands, and compares what each changes with the rows of its events.
    ///
    /// - Throws: A `Mismatch` for a change that no row has.
    private static func execute(_ commands: [ChatCommand], seed: UInt64) throws -> Changes {
        var community = try Community(seed: seed)
        var changes = Changes()
        for (step, command) in commands.enumerated() {
            let former = community.answers
            let events = try community.execute(command)
            let kinds = events.compactMap(\.kind)
            let row = kinds.reduce(into: ChangedAnswers()) { $0.formUnion($1.form.changes) }
            for (question, value) in events.isEmpty ? [:] : community.answers {
                guard let before = former[question], before != value else { continue }
                var seen = question.answers
                let isTold =
                    question.answers == .inbox && events.contains { community.isTold(question.viewer, of: $0) }
                if isTold { seen.insert(.inboxOfTold) }
                // Who may read more or less, and the name of whom others see again.
                let hasAccess =
                    row.contains(.access)
                    && (events.contains { $0.kind == .threadPolicySet || $0.user == question.viewer }
                        || withoutNames(before) == withoutNames(value))
                if question.isAboutThread, hasAccess { seen.insert(.access) }
                for kind in kinds {
                    if kinds.count == 1 {
                        changes.alone[kind, default: []].formUnion(seen)
                    } else {
                        changes.beside[kind, default: []].formUnion(seen)
                    }
                }
                if row.contains(question.answers) || isTold && row.contains(.inboxOfTold) { continue }
                if question.isAboutThread, hasAccess { continue }
                throw Mismatch(
                    "\(question.query), as \(question.viewer), after \(kinds.map(\.name)), whose rows lack it",
                    expected: "\(before)", actual: "\(value)", step: step)
            }
        }
        return changes
    }

    private static func withoutNames(_ answer: AnyHashable) -> String {
        "\(answer)".replacing(/username: (nil|Optional\("(\\.|[^"\\])*"\))/, with: "")
    }

    private static func commands(seed: UInt64) -> [ChatCommand] {
        var generator = CommandGenerator(seed: seed)
        return (0..<160).map { _ in generator.next() }
    }

    /// What an event changes in an answer of any user is in the row of its kind.
    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 60))) func onlyTheAnswersOfItsRowChange(seed: UInt64) throws {
        try expectAgreement(Self.commands(seed: seed), seed: seed, tries: 60) { commands in
            _ = try Self.execute(commands, seed: seed)
        }
    }

    /// Each row has only what its events change, in a history in which all of it is shown to somebody.
    @Test func everyAnswerOfARowCanChange() throws {
        let missing = try Self.execute(Self.history, seed: 1).missing
        // An operator loses the reports of a named thread without an owner, which no command makes.
        #expect(missing == ["threadPolicySet: inbox"])
    }

    private static let history: [ChatCommand] = {
        let street = ThreadID(bits: 0x5357_3141_0000_8000_806f_7574_7761_7264)
        let (ann, bob, cat, dan) = (UserID(bits: 1), UserID(bits: 2), UserID(bits: 3), UserID(bits: 4))
        let (garden, den, direct) = (ThreadID(bits: 5), ThreadID(bits: 6), ThreadID(bits: 7))
        let (weeds, seeds, roots, keys) = (
            MessageID(bits: 11), MessageID(bits: 12), MessageID(bits: 13), MessageID(bits: 14)
        )
        let replies = (0..<5).map { ReplyID(bits: 20 + $0) }
        let people: [ChatCommand] = [
            .registerUser(id: ann, username: "Ann"), .registerUser(id: bob, username: "Bob"),
            .registerUser(id: cat, username: "Cat"), .registerUser(id: dan, username: "Dan"),
            .setPostcode(postcode: "SW1A 1AA", by: ann), .setPostcode(postcode: "SW1A 2AA", by: ann),
            .setPostcode(postcode: "SW1A 1AA", by: bob), .setPostcode(postcode: "SW1A 1AA", by: dan),
            .openThread(id: garden, name: "Garden", by: ann), .joinThread(thread: garden, by: cat),
            .invite(user: bob, thread: garden, by: ann), .acceptInvitation(thread: garden, by: bob),
            .invite(user: dan, thread: garden, by: ann), .declineInvitation(thread: garden, by: dan),
            .invite(user: dan, thread: garden, by: ann), .revokeInvitation(user: dan, thread: garden, by: ann),
            .joinThread(thread: garden, by: dan), .openDirect(id: direct, with: [bob], by: ann),
        ]
        let posts: [ChatCommand] = [
            .postMessage(id: weeds, thread: garden, body: "Weeds", mentions: [bob], by: ann),
            .reply(id: replies[0], to: weeds, body: "Where?", by: bob),
            .react(.message(weeds), emoji: "👍", by: bob), .unreact(.message(weeds), emoji: "👍", by: bob),
            .react(.reply(replies[0]), emoji: "👍", by: ann), .unreact(.reply(replies[0]), emoji: "👍", by: ann),
            .pin(message: weeds, by: ann), .edit(.message(weeds), body: "All weeds", by: ann),
            .unpin(message: weeds, by: ann), .report(.message(weeds), reason: "rude", by: dan),
            .resolveReport(.message(weeds), by: ann),
            .reply(id: replies[1], to: weeds, body: "There", mentions: [bob], by: cat),
            .report(.reply(replies[1]), reason: "rude", by: dan), .edit(.reply(replies[1]), body: "Here", by: cat),
            .resolveReport(.reply(replies[1]), by: ann),
            .reply(id: replies[2], to: weeds, body: "Now", mentions: [bob], by: cat),
            .report(.reply(replies[2]), reason: "rude", by: dan), .retract(.reply(replies[2]), by: cat),
            .reply(id: replies[3], to: weeds, body: "Then", mentions: [bob], by: cat),
            .report(.reply(replies[3]), reason: "rude", by: dan), .remove(.reply(replies[3]), reason: "rude", by: ann),
            .postMessage(id: seeds, thread: garden, body: "Seeds", mentions: [bob], by: cat),
            .pin(message: seeds, by: ann), .retract(.message(seeds), by: cat),
            .postMessage(id: roots, thread: garden, body: "Roots", mentions: [bob], by: cat),
            .pin(message: roots, by: ann), .remove(.message(roots), reason: "rude", by: ann),
            .postMessage(thread: garden, body: "Soil", mentions: [bob], by: ann),
            .reply(id: replies[4], to: weeds, body: "Dig", by: ann),
        ]
        let own: [ChatCommand] = [
            .block(user: ann, by: bob), .unblock(user: ann, by: bob), .changeUsername(username: "Anna", by: ann),
            .markRead(thread: garden, upTo: 50, by: bob), .markUnread(thread: garden, from: 40, by: bob),
            .markInboxRead(upTo: 54, by: bob), .setNotifications(thread: garden, level: .mentions, by: bob),
            .renameThread(thread: garden, name: "Meadow", by: ann),
            .custom(kind: "com.example.poll", thread: garden, payload: CustomPayload(unchecked: "1"), by: ann),
        ]
        let moderation: [ChatCommand] = [
            .setRole(user: cat, thread: garden, role: .moderator, by: ann),
            .mute(user: dan, thread: garden, reason: "rude", by: ann), .unmute(user: dan, thread: garden, by: ann),
            .removeMember(user: cat, thread: garden, reason: "rude", by: ann),
            .ban(user: cat, thread: garden, reason: "rude", by: ann), .unban(user: cat, thread: garden, by: ann),
            .leaveThread(thread: garden, by: bob), .lockThread(thread: garden, by: ann),
            .unlockThread(thread: garden, by: ann), .closeThread(thread: garden, by: ann),
        ]
        // The thread of an outward code has no moderators: operators are told of its reports.
        let operators: [ChatCommand] = [
            .postMessage(id: keys, thread: street, body: "Keys", by: dan),
            .grantOperator(user: cat), .report(.message(keys), reason: "rude", by: bob), .revokeOperator(user: cat),
            .grantOperator(user: cat), .openThread(id: den, name: "Den", by: dan),
            .setThreadPolicy(thread: den, policy: .inviteOnly, by: dan),
        ]
        return people + posts + own + moderation + operators
    }()
}

extension Post {
    /// Removes the number of replies and the reactions, which change with the messages of a thread
    /// wherever the post is shown.
    fileprivate mutating func takeCounts() -> [AnyHashable] {
        defer { (replyCount, reactions) = (0, []) }
        return [replyCount, reactions]
    }
}
