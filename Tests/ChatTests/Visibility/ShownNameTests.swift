import ChatDomain
import ChatTesting
import Projections
import TestSupport
import Testing

@testable import Chat

/// Under which name a viewer is shown people whom they cannot look up, wherever they still appear.
@Suite struct ShownNameTests {
    private let ann = UserID(bits: 1)
    private let bert = UserID(bits: 2)
    private let cem = UserID(bits: 3)
    private let garden = ThreadID(bits: 31)
    private let soup = ThreadID(bits: 32)
    private let den = ThreadID(bits: 33)
    private let hello = MessageID(bits: 41)
    private let answer = ReplyID(bits: 42)
    private let store: ChatStore

    /// Bert has written in the garden, where Ann and Cem are.
    init() throws {
        store = try StoreFixture().open()
        try execute(
            .registerUser(id: ann, username: "Ann"), .registerUser(id: bert, username: "Bert"),
            .registerUser(id: cem, username: "Cem"), .openThread(id: garden, name: "Garden", by: ann),
            .joinThread(thread: garden, by: bert), .joinThread(thread: garden, by: cem),
            .postMessage(id: hello, thread: garden, body: "Hello", by: bert),
            .reply(id: answer, to: hello, body: "Hello again", by: bert),
            .react(.message(hello), emoji: ":wave:", by: bert))
    }

    private func execute(_ commands: ChatCommand...) throws {
        for answer in try store.executeBlocking(commands.map { CommandRequest($0) }) { _ = try answer.get() }
    }

    /// Returns every name of Bert that a viewer is shown in the garden.
    private func names(_ viewer: UserID, asOf point: AsOf = .now) throws -> Set<String?> {
        let viewer = Viewer.user(viewer)
        var people = try store.reader(as: viewer, asOf: point).timeline(garden).map(\.author)
        people += try store.reader(as: viewer, asOf: point).replies(to: hello).map(\.author)
        people += try store.reader(as: viewer, asOf: point).reactions(to: .message(hello)).map(\.user)
        people.append(try store.reader(as: viewer, asOf: point).details(of: .reply(answer)).post.author)
        return Set(people.filter { $0.id == bert }.map(\.username))
    }

    @Test func authorWhoHasLeftKeepsTheNameOfTheEnd() throws {
        try execute(.changeUsername(username: "Bertie", by: bert), .leaveThread(thread: garden, by: bert))
        try execute(.changeUsername(username: "Rob", by: bert))
        #expect(try names(ann) == ["Bertie"] && names(cem) == ["Bertie"])
        #expect(try store.reader(as: .user(ann)).user(ann).threads[0].lastMessage?.author.username == "Bertie")
        #expect(try store.reader(as: .host).timeline(garden)[0].author.username == "Rob")
        #expect(try names(ann, asOf: .position(9)) == ["Bert"])
        // Who joins later has no membership in common, and is shown the name of the end too.
        let dee = UserID(bits: 4)
        try execute(.registerUser(id: dee, username: "Dee"), .joinThread(thread: garden, by: dee))
        #expect(try names(dee) == ["Bertie"])
        // They meet elsewhere.
        try execute(.openThread(id: soup, name: "Soup", by: dee), .joinThread(thread: soup, by: bert))
        #expect(try names(dee) == ["Rob"] && names(ann) == ["Bertie"])
        try execute(.leaveThread(thread: soup, by: bert), .changeUsername(username: "Robert", by: bert))
        #expect(try names(dee) == ["Rob"] && names(ann) == ["Bertie"])
        try execute(.joinThread(thread: garden, by: bert))
        #expect(try names(dee) == ["Robert"] && names(ann) == ["Robert"])
    }

    /// The event of the name that a viewer is shown has it; a later one is not theirs to see.
    @Test func eventsHaveTheNameThatIsShown() throws {
        try execute(.changeUsername(username: "Bertie", by: bert), .leaveThread(thread: garden, by: bert))
        try execute(.changeUsername(username: "Rob", by: bert))
        var shown: [String?] = []
        try store.forEachEvent(matching: EventFilter(as: .user(ann), kinds: [.usernameChanged])) { event, _ in
            shown.append(event.event.username?.text)
        }
        #expect(shown == ["Bertie"])
    }

    @Test func inviterAndModeratorHaveTheNameOfTheEvent() throws {
        let dee = UserID(bits: 4)
        try execute(
            .openThread(id: den, name: "Den", policy: .inviteOnly, by: bert),
            .invite(user: ann, thread: den, by: bert),
            .leaveThread(thread: garden, by: bert), .registerUser(id: dee, username: "Dee"),
            .grantOperator(user: dee),
            .mute(user: ann, thread: garden, reason: "spam", by: dee))
        try execute(.changeUsername(username: "Rob", by: bert), .changeUsername(username: "Dora", by: dee))
        #expect(try store.reader(as: .user(ann)).invitations(of: ann).map(\.by.username) == ["Bert"])
        let inbox = try store.reader(as: .user(ann)).inbox(of: ann)
        #expect(inbox.first { $0.reason == .moderation }?.by.username == "Dee")
        #expect(inbox.first { $0.reason == .invitation }?.by.username == "Bert")
        #expect(try store.reader(as: .user(ann)).sanctions(in: garden).map(\.by.username) == ["Dee"])
    }

    /// Sanctions that follow one another do not tell a stranger each name in between.
    @Test func whoIsOnlyInvitedIsShownTheNamesOfTheInvitation() throws {
        let dee = UserID(bits: 4)
        try execute(
            .registerUser(id: dee, username: "Dee"), .grantOperator(user: dee),
            .openThread(id: den, name: "Den", policy: .inviteOnly, by: dee),
            .invite(user: ann, thread: den, by: dee))
        for number in 1...3 {
            try execute(
                .renameThread(thread: den, name: "Den \(number)", by: dee),
                .changeUsername(username: "Dee \(number)", by: dee),
                .mute(user: ann, thread: den, reason: "x", by: dee), .unmute(user: ann, thread: den, by: dee))
        }
        var entries = try store.reader(as: .user(ann)).inbox(of: ann).filter { $0.reason == .moderation }
        #expect(entries.count == 6)
        #expect(Set(entries.map(\.by.username)) == ["Dee"] && Set(entries.map(\.name)) == ["Den"])
        try execute(.revokeInvitation(user: ann, thread: den, by: dee))
        entries = try store.reader(as: .user(ann)).inbox(of: ann).filter { $0.reason == .moderation }
        #expect(entries.count == 6)
        #expect(Set(entries.map(\.by.username)) == [nil] && Set(entries.map(\.name)) == [nil])
    }

    @Test func peopleOfADirectThreadWhoHaveLeftKeepTheirName() throws {
        try execute(.openDirect(id: den, with: [bert], by: ann), .leaveThread(thread: den, by: bert))
        #expect(
            try store.reader(as: .user(ann)).thread(den).people?.map(\.username) == ["Ann", "Bert"], "in the garden too"
        )
        try execute(.leaveThread(thread: garden, by: bert), .changeUsername(username: "Rob", by: bert))
        #expect(try store.reader(as: .user(ann)).thread(den).people?.map(\.username) == ["Ann", "Bert"])
        #expect(
            try store.reader(as: .user(ann)).threads().first { $0.id == den }?.people?.map(\.username) == [
                "Ann", "Bert",
            ])
        #expect(
            try store.reader(as: .user(ann)).user(ann).threads.first { $0.id == den }?.people?.map(\.username) == [
                "Ann", "Bert",
            ])
    }

    /// The text of a sanction is no message to somebody who was only invited.
    @Test func reasonsReachMembersOnly() throws {
        try execute(
            .openThread(id: den, name: "Den", policy: .inviteOnly, by: bert),
            .invite(user: ann, thread: den, by: bert),
            .mute(user: ann, thread: den, reason: "secret", by: bert),
            .ban(user: ann, thread: den, reason: "secret", by: bert))
        var reasons: [String?] = []
        try store.forEachEvent(matching: EventFilter(as: .user(ann), threads: [den])) { event, _ in
            reasons.append(event.event.reason)
            #expect(event.event.reason != nil || event.redacted == .reason || event.kind == .userInvited)
        }
        #expect(reasons == [nil, nil, nil])
        let standing = try store.reader(as: .user(ann)).standing(of: ann, in: den)
        #expect(standing.mute != nil && standing.mute?.reason == nil && standing.ban?.reason == nil)
        #expect(
            try store.reader(as: .user(ann)).inbox(of: ann).filter { $0.reason == .moderation }.map(\.moderatorNote)
                == [nil, nil])
        #expect(try store.reader(as: .host).standing(of: ann, in: den).mute?.reason == "secret")
        #expect(try store.reader(as: .user(bert)).sanctions(in: den).map(\.reason) == ["secret", "secret"])
        // A member is told.
        try execute(.mute(user: cem, thread: garden, reason: "loud", by: ann))
        #expect(try store.reader(as: .user(cem)).standing(of: cem, in: garden).mute?.reason == "loud")
    }
}

/// Random communities, of which every name in every answer is compared with a second
/// implementation.
@Suite struct ShownNameProperties {
    /// A person in an answer, with the thread and the event with which they are shown.
    private struct Shown {
        var user: UserSummary
        var thread: ThreadID?
        var event: Position
        var what: String
    }

    private final class Village {
        let users = (1...5).map { UserID(bits: UInt128($0)) }
        let threads = (31...34).map { ThreadID(bits: UInt128($0)) }
        let store: ChatStore
        var random: SeededRandom
        var count: UInt128 = 100
        /// By position: the members of each thread, the names and the operators after the event.
        var members: [[ThreadID: Set<UserID>]] = [[:]]
        var names: [[UserID: String]] = [[:]]
        var operators: [Set<UserID>] = [[]]
        var messages: [MessageID] = []

        init(seed: UInt64) throws {
            (store, random) = (try StoreFixture(seed: seed).open(), SeededRandom(seed: seed))
            for user in users { try execute(.registerUser(id: user, username: "User \(user.bits)")) }
            for (index, thread) in threads.enumerated() {
                try execute(
                    .openThread(
                        id: thread, name: "Thread \(index)", policy: index == 3 ? .inviteOnly : .open, by: users[index])
                )
            }
        }

        func execute(_ command: ChatCommand) throws {
            _ = try store.executeBlocking([CommandRequest(command)])[0]
            try store.forEachEvent(after: Position(members.count - 1), matching: EventFilter(as: .host)) {
                recorded, _ in
                let event = recorded.event
                var (members, names, operators) = (
                    self.members.last ?? [:], self.names.last ?? [:], self.operators.last ?? []
                )
                if let user = event.user, let thread = event.thread {
                    if event.kind == .threadJoined { members[thread, default: []].insert(user) }
                    if event.kind == .threadLeft || event.kind == .memberRemoved { members[thread]?.remove(user) }
                }
                if let user = event.user, let name = event.username { names[user] = name.text }
                if let user = event.user, event.kind == .operatorGranted { operators.insert(user) }
                if let user = event.user, event.kind == .operatorRevoked { operators.remove(user) }
                self.members.append(members)
                self.names.append(names)
                self.operators.append(operators)
            }
        }

        private func pick<Element>(_ elements: [Element]) -> Element {
            elements[Int.random(in: 0..<elements.count, using: &random)]
        }

        func act() throws {
            count += 1
            let (user, other, thread) = (pick(users), pick(users), pick(threads))
            switch Int.random(in: 0..<20, using: &random) {
            case 0, 1, 2: try execute(.joinThread(thread: thread, by: user))
            case 3, 4, 5: try execute(.leaveThread(thread: thread, by: user))
            case 6, 7, 8: try execute(.changeUsername(username: "Name \(count)", by: user))
            case 9: try execute(.invite(user: user, thread: thread, by: other))
            case 10: try execute(.acceptInvitation(thread: thread, by: user))
            case 11: try execute(.mute(user: user, thread: thread, reason: "x", by: other))
            case 12: try execute(.ban(user: user, thread: thread, reason: "x", by: other))
            case 13: try execute(.unban(user: user, thread: thread, by: other))
            case 14: try execute(.openDirect(id: ThreadID(bits: count), with: [other], by: user))
            case 15: try execute(.setRole(user: user, thread: thread, role: .moderator, by: other))
            case 16: try execute(random.oneIn(3) ? .grantOperator(user: user) : .revokeOperator(user: user))
            case 17 where !messages.isEmpty:
                try execute(
                    random.oneIn(2)
                        ? .react(.message(pick(messages)), emoji: ":x:", by: user)
                        : .reply(to: pick(messages), body: "x", by: user))
            case 18 where !messages.isEmpty: try execute(.report(.message(pick(messages)), reason: "x", by: user))
            default:
                let id = MessageID(bits: count)
                try execute(
                    .postMessage(id: id, thread: thread, body: "x", mentions: random.oneIn(3) ? [other] : [], by: user))
                if (try? store.reader(as: .host).message(id)) != nil { messages.append(id) }
            }
        }

        /// The name by the definition, from every point of the history backwards.
        func name(
            of person: UserID, to viewer: UserID, in thread: ThreadID?, at event: Position, asOf position: Position
        ) -> String? {
            let (position, last) = (Int(position), members.count - 1)
            if person == viewer { return names[position][person] }
            for past in (0...position).reversed()
            where members[past].values.contains(where: { $0.contains(person) && $0.contains(viewer) }) {
                return names[past][person]
            }
            if let thread, [position, last].allSatisfy({ reads(viewer, thread, at: $0) }) {
                for past in (0...position).reversed() where members[past][thread]?.contains(person) == true {
                    return names[past][person]
                }
            }
            let wasMember = thread.map { thread in
                members[0...position].contains { $0[thread]?.contains(viewer) == true }
            }
            if let thread, wasMember == false, !operators[position].contains(viewer),
                !reads(viewer, thread, at: position) || !reads(viewer, thread, at: last)
            {
                let invitations = try? store.reader(as: .host, asOf: .position(Position(position))).invitations(
                    of: viewer)
                let invited = invitations?.first { $0.thread == thread }
                return invited.flatMap { names[Int($0.position)][person] }
            }
            return names[Int(event)][person]
        }

        private func reads(_ viewer: UserID, _ thread: ThreadID, at position: Int) -> Bool {
            members[position][thread]?.contains(viewer) == true
                || operators[position].contains(viewer) && thread != threads[3] && threads.contains(thread)
        }

        /// Returns everybody whom the answers to a viewer show, each answer that the viewer gets.
        func shown(to viewer: UserID, asOf position: Position) -> [Shown] {
            let (asViewer, point) = (Viewer.user(viewer), AsOf.position(position))
            var found: [Shown] = []
            func add(_ what: String, _ users: () throws -> [(UserSummary, ThreadID?, Position)]) {
                for (user, thread, event) in (try? users()) ?? [] {
                    found.append(Shown(user: user, thread: thread, event: event, what: what))
                }
            }
            func posts(_ what: String, _ thread: ThreadID?, _ posts: () throws -> [Post]) {
                add(what) { try posts().map { ($0.author, thread ?? $0.thread, $0.position) } }
            }
            for thread in Set(members.flatMap(\.keys)) {
                posts("timeline", thread) { try self.store.reader(as: asViewer, asOf: point).timeline(thread).entries }
                add("members") {
                    try self.store.reader(as: asViewer, asOf: point).members(of: thread).map {
                        ($0.user, thread, position)
                    }
                }
                add("roles") {
                    try self.store.reader(as: asViewer, asOf: point).roles(in: thread).map {
                        ($0.user, thread, position)
                    }
                }
                add("sanctions") {
                    try self.store.reader(as: asViewer, asOf: point).sanctions(in: thread).flatMap {
                        [($0.user, thread, $0.position), ($0.by, thread, $0.position)]
                    }
                }
                add("invitations to") {
                    try self.store.reader(as: asViewer, asOf: point).invitations(to: thread).flatMap {
                        [($0.user, thread, $0.position), ($0.by, thread, $0.position)]
                    }
                }
                add("reports") {
                    try self.store.reader(as: asViewer, asOf: point).reports(in: thread).flatMap { report in
                        [(report.by, thread, report.position), (report.author, thread, report.position)]
                    }
                }
                add("thread") {
                    (try self.store.reader(as: asViewer, asOf: point).thread(thread).people ?? []).map {
                        ($0, thread, position)
                    }
                }
            }
            for message in messages {
                let thread = (try? store.reader(as: .host).message(message))?.thread
                posts("message", thread) { [try self.store.reader(as: asViewer, asOf: point).message(message)] }
                posts("replies", thread) {
                    try self.store.reader(as: asViewer, asOf: point).replies(to: message).entries
                }
                add("reactions") {
                    try self.store.reader(as: asViewer, asOf: point).reactions(to: .message(message)).map {
                        ($0.user, thread, $0.position)
                    }
                }
            }
            add("invitations of") {
                try self.store.reader(as: asViewer, asOf: point).invitations(of: viewer).flatMap {
                    [($0.user, $0.thread, $0.position), ($0.by, $0.thread, $0.position)]
                }
            }
            add("inbox") {
                try self.store.reader(as: asViewer, asOf: point).inbox(of: viewer).map {
                    ($0.by, $0.thread, $0.position)
                }
            }
            add("operators") {
                try self.store.reader(as: asViewer, asOf: point).operators().map { ($0.user, nil, $0.since) }
            }
            for thread in (try? store.reader(as: asViewer, asOf: point).user(viewer).threads) ?? [] {
                posts("user view", thread.id) { thread.lastMessage.map { [$0] } ?? [] }
                add("user view's people") { (thread.people ?? []).map { ($0, thread.id, position) } }
            }
            for person in users {
                add("people in common") {
                    try self.store.reader(as: asViewer, asOf: point).person(person).threads.flatMap { thread in
                        (thread.people ?? []).map { ($0, thread.id, position) }
                    }
                }
            }
            return found
        }
    }

    /// Of posts and reports the author's name does not depend on the event: every author was a
    /// member.
    @Test(arguments: Repetitions.oneIn(25, of: 0..<100)) func everyNameIsThatOfTheLastLookUp(number: Int) throws {
        let seed = Repetitions.seed &+ UInt64(number)
        let village = try Village(seed: seed)
        var count = 0
        for step in 0..<200 {
            try village.act()
            guard step % 20 == 19 else { continue }
            let last = village.store.head.position
            for viewer in village.users {
                for position in [last, Position.random(in: 1...last, using: &village.random)] {
                    for shown in village.shown(to: viewer, asOf: position) {
                        count += 1
                        let name = village.name(
                            of: shown.user.id, to: viewer, in: shown.thread, at: shown.event, asOf: position)
                        #expect(
                            shown.user.username == name,
                            "\(shown.what) of \(viewer) as of \(position) of \(last): \(shown.user), seed \(seed), step \(step)"
                        )
                    }
                }
            }
        }
        #expect(count > 200)
    }
}
