import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// A random community: threads of each policy and history, whose members come and go.
struct NoticeLife {
    let store: ChatStore
    let users = (1...5).map { UserID(bits: UInt128($0)) }
    private let threads = (31...34).map { ThreadID(bits: UInt128($0)) }

    init(steps: Int, _ random: inout SeededRandom) throws {
        store = try ChatStore.inMemory(options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1)))
        for (index, user) in users.enumerated() {
            try store.executeBlocking(.registerUser(id: user, username: "User \(index)"))
        }
        for (index, thread) in threads.enumerated() {
            try store.executeBlocking(
                .openThread(
                    id: thread, name: "Thread \(index)", policy: index < 2 ? .open : .inviteOnly,
                    history: index % 2 == 0 ? .all : .sinceJoining, by: users[index % 2]))
        }
        try act(steps, &random)
    }

    /// Executes random commands, of which some are rejected.
    func act(_ steps: Int, _ random: inout SeededRandom) throws {
        for step in 0..<steps { _ = try? store.executeBlocking(try command(step, &random)) }
    }

    /// Erases a user, or the content of some events.
    func erase(_ random: inout SeededRandom) throws {
        if Bool.random(using: &random) {
            try store.eraseUser(users[Int.random(in: 0..<users.count, using: &random)], reason: "user-request")
        } else {
            let end = store.head.position
            let positions = (0..<20).map { _ in Position.random(in: 1...end, using: &random) }
            try store.eraseContent(of: PositionSet(positions.map { $0...$0 }), reason: "wrong-address")
        }
    }

    private func command(_ step: Int, _ random: inout SeededRandom) throws -> ChatCommand {
        let (user, other) = (
            try #require(users.randomElement(using: &random)), try #require(users.randomElement(using: &random))
        )
        let thread = try #require(threads.randomElement(using: &random))
        let messages = try store.reader(as: .host).timeline(thread, page: .latest(100))
        let message = messages.randomElement(using: &random)?.message ?? MessageID(bits: 1)
        let replies = (try? store.reader(as: .host).replies(to: message, page: .latest(100)).entries) ?? []
        let post = replies.randomElement(using: &random)?.id ?? .message(message)
        let text = "text \(store.head.position) \(step)"
        return switch Int.random(in: 0..<28, using: &random) {
        case 0...5: .postMessage(id: nil, thread: thread, body: text, by: user)
        case 6...7: .reply(id: nil, to: message, body: text, by: user)
        case 8...9: .edit(post, body: text, by: user)
        case 10...12: .joinThread(thread: thread, by: user)
        case 13: .leaveThread(thread: thread, by: user)
        case 14: .removeMember(user: other, thread: thread, reason: text, by: user)
        case 15: .changeUsername(username: "Name \(store.head.position)", by: user)
        case 16: .report(post, reason: text, by: user)
        case 17: .mute(user: other, thread: thread, reason: text, by: user)
        case 18: .ban(user: other, thread: thread, reason: text, by: user)
        case 19: .unban(user: other, thread: thread, by: user)
        case 20: .invite(user: other, thread: thread, by: user)
        case 21: .acceptInvitation(thread: thread, by: user)
        case 22: Bool.random(using: &random) ? .grantOperator(user: user) : .revokeOperator(user: user)
        case 23: .remove(post, reason: text, by: user)
        case 24: .setPostcode(postcode: Bool.random(using: &random) ? "SW1A 1AA" : "M1 1AE", by: user)
        case 25, 26: .setProfile(about: text, by: user)
        default: .setRole(user: other, thread: thread, role: .moderator, by: user)
        }
    }
}

/// Everything that a viewer is shown, by events and by queries as of now.
struct ShownContent {
    /// The texts of events, and of entries of lists at the positions of their events.
    private var contents: [Position: String] = [:]
    private var positions: Set<Position> = []
    private var posts: [PostID: String] = [:]
    private var allPosts: Set<PostID> = []
    private var names: [UserID: String] = [:]
    private var users: Set<UserID> = []
    private var threadNames: [ThreadID: String] = [:]
    private var threads: Set<ThreadID> = []
    private var abouts: [UserID: String] = [:]

    init(_ store: ChatStore, to viewer: UserID) throws {
        try store.forEachEvent(matching: EventFilter(as: .user(viewer))) { event, _ in
            positions.insert(event.position)
            let content = event.event.content
            if content != .none, content != .erased, content != content.withoutText {
                contents[event.position] = "\(content)"
            }
            let details = event.event
            for user in [details.user, details.otherActor] { if let user { users.insert(user) } }
            if let thread = details.thread { threads.insert(thread) }
            addPost(of: details)
        }
        let profile = try store.reader(as: .user(viewer)).user(viewer)
        add(UserSummary(id: viewer, username: profile.username))
        for access in try store.reader(as: .user(viewer)).access(of: viewer) { add(access.thread, access.name) }
        for invitation in try store.reader(as: .user(viewer)).invitations(of: viewer) {
            add(invitation.by)
            add(invitation.thread, invitation.name)
        }
        for entry in try store.reader(as: .user(viewer)).inbox(of: viewer, page: .all) {
            add(entry.by)
            add(entry.thread, entry.name)
        }
        for holder in (try? store.reader(as: .user(viewer)).operators())?.entries ?? [] { add(holder.user) }
        try addPersons(store, viewer)
        for thread in try store.reader(as: .user(viewer)).threads(page: .latest(1_000)) {
            add(thread.id, thread.name)
            try addContents(of: thread, store, viewer)
        }
    }

    private mutating func addPersons(_ store: ChatStore, _ viewer: UserID) throws {
        var current: [UserID: Position] = [:]
        try store.forEachEvent(matching: EventFilter(as: .host, kinds: [.profileSet])) { event, _ in
            if let user = event.user { current[user] = event.position }
        }
        for (user, position) in current {
            guard let person = try? store.reader(as: .user(viewer)).person(user) else { continue }
            users.insert(user)
            positions.insert(position)
            abouts[user] = person.about
        }
    }

    private mutating func addContents(of thread: ThreadSummary, _ store: ChatStore, _ viewer: UserID) throws {
        for member in try store.reader(as: .user(viewer)).members(of: thread.id) { add(member.user) }
        for holder in try store.reader(as: .user(viewer)).roles(in: thread.id) { add(holder.user) }
        if let code = thread.id.outwardCode {
            for resident in try store.reader(as: .user(viewer)).residents(of: code) { add(resident.user) }
        }
        for message in try store.reader(as: .user(viewer)).timeline(thread.id, page: .latest(1_000)) {
            add(message.id, message.body, message.position, message.author)
            for reply in try store.reader(as: .user(viewer)).replies(
                to: message.message, page: .latest(1_000))
            {
                add(reply.id, reply.body, reply.position, reply.author)
            }
        }
        for report in (try? store.reader(as: .user(viewer)).reports(in: thread.id))?.entries ?? [] {
            for user in [report.author, report.by] { add(user) }
            add(report.reason, report.position)
        }
        for sanction in (try? store.reader(as: .user(viewer)).sanctions(in: thread.id))?.entries ?? [] {
            for user in [sanction.user, sanction.by] { add(user) }
            add(sanction.reason, sanction.position)
        }
        for invitation in (try? store.reader(as: .user(viewer)).invitations(to: thread.id))?.entries ?? [] {
            for user in [invitation.user, invitation.by] { add(user) }
        }
    }

    /// Adds the post whose text an event wrote: users see the events of their own posts, also in
    /// threads that they can no longer read.
    private mutating func addPost(of details: ChatEvent) {
        switch (details.kind, details.shape) {
        case (.messagePosted, .message(_, _, let itsMessage, _)): allPosts.insert(.message(itsMessage))
        case (.messageEdited, .message(_, _, let itsMessage, _)): allPosts.insert(.message(itsMessage))
        case (.replyPosted, .reply(_, _, _, let itsReply, _)): allPosts.insert(.reply(itsReply))
        case (.replyEdited, .reply(_, _, _, let itsReply, _)): allPosts.insert(.reply(itsReply))
        default: break
        }
    }

    private mutating func add(_ user: UserSummary) {
        users.insert(user.id)
        names[user.id] = user.username
    }

    private mutating func add(_ thread: ThreadID, _ name: String?) {
        threads.insert(thread)
        threadNames[thread] = name
    }

    private mutating func add(_ reason: String?, _ position: Position) {
        positions.insert(position)
        contents[position] = reason ?? contents[position]
    }

    private mutating func add(_ post: PostID, _ body: String?, _ position: Position, _ author: UserSummary) {
        add(author)
        positions.insert(position)
        allPosts.insert(post)
        posts[post] = body
    }

    /// Expects that the notices of an erasure name what was shown before and is not shown now, and
    /// nothing that was not shown.
    func expect(_ notices: [ErasedContent], _ now: ShownContent, _ comment: Comment) {
        let told = PositionSet(notices.flatMap(\.positions.ranges))
        let lostContents = contents.keys.filter { now.contents[$0] == nil }
        #expect(lostContents.filter { !told.contains($0) }.isEmpty, comment)
        #expect(told.ranges.joined().filter { !positions.contains($0) }.isEmpty, comment)
        let toldPosts = Set(notices.flatMap(\.posts))
        #expect(posts.keys.filter { now.posts[$0] == nil && !toldPosts.contains($0) }.isEmpty, comment)
        #expect(toldPosts.subtracting(allPosts).isEmpty, comment)
        let toldUsers = Set(notices.flatMap(\.users))
        let nameless = Set(notices.flatMap(\.namelessUsers))
        #expect(names.keys.filter { now.names[$0] == nil && !nameless.contains($0) }.isEmpty, comment)
        #expect(toldUsers.subtracting(users).isEmpty, comment)
        #expect(nameless.isSubset(of: toldUsers), comment)
        #expect(abouts.keys.filter { now.abouts[$0] == nil && !toldUsers.contains($0) }.isEmpty, comment)
        let toldThreads = Set(notices.flatMap(\.threads))
        let namelessThreads = Set(notices.flatMap(\.namelessThreads))
        #expect(
            threadNames.keys.filter { now.threadNames[$0] == nil && !namelessThreads.contains($0) }.isEmpty, comment)
        #expect(toldThreads.subtracting(threads).isEmpty, comment)
        #expect(notices.allSatisfy { $0.positions.count <= 200 }, comment)
    }
}
