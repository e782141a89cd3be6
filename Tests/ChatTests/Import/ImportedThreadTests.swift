import ChatDomain
import ChatTesting
import Testing

@testable import Chat

/// Who may read the private channels of an import, and the host's means to close them.
@Suite struct ImportedThreadTests {
    private static let (mallory, olga) = (UserID(bits: 1), UserID(bits: 2))
    private let team = ThreadID.imported("core-team")
    private let pair = ThreadID.imported("dm: Ann, Bob")
    private static let secrets = [
        imported("1", by: "Ann", in: "core-team"), imported("2", by: "Bob", in: "core-team"),
        imported("3", by: "Cem", in: "core-team"),
        imported("1", by: "Ann", in: "dm: Ann, Bob"), imported("2", by: "Bob", in: "dm: Ann, Bob"),
        imported("1", by: "Ann", in: "SW1A"),
    ].map(ImportedLine.message)

    private static func run(
        _ lines: [ImportedLine], into store: ChatStore, policy: ThreadPolicy = .inviteOnly, batchSize: Int = 10
    ) throws -> (ImportSummary, [RejectedLine]) {
        var importer = MessageImporter(into: store, policy: policy, batchSize: batchSize)
        var rejected: [RejectedLine] = []
        for (index, line) in lines.enumerated() { rejected += try importer.add(line, line: index + 1) }
        rejected += try importer.finish()
        return (importer.summary, rejected)
    }

    /// A store with the secrets, Mallory, who is a stranger, and Olga, an operator.
    private static func store(policy: ThreadPolicy = .inviteOnly) throws -> ChatStore {
        let store = try StoreFixture().open()
        _ = try run(secrets, into: store, policy: policy)
        try store.executeBlocking(.registerUser(id: mallory, username: "Mallory"))
        try store.executeBlocking(.registerUser(id: olga, username: "Olga"))
        try store.executeBlocking(.grantOperator(user: olga))
        return store
    }

    /// Returns the texts of the private channels that a viewer is shown by any query.
    private func leaks(_ store: ChatStore, to viewer: UserID, in threads: [ThreadID]) throws -> [String] {
        var found: [String] = []
        for thread in threads {
            for entry in (try? store.reader(as: .user(viewer)).timeline(thread).entries) ?? [] {
                found.append(entry.body ?? "an entry")
            }
            if let open = try? store.openTimeline(thread, as: .user(viewer)) {
                found += open.page.entries.compactMap(\.body) + ["a timeline"]
            }
            for name in ["1", "2", "3"] {
                for channel in ["core-team", "dm: Ann, Bob"] where ThreadID.imported(channel) == thread {
                    if let entry = try? store.reader(as: .user(viewer)).message(ImportedID.message(channel, name)) {
                        found.append(entry.body ?? "a message")
                    }
                }
            }
        }
        try store.forEachEvent(matching: EventFilter(as: .user(viewer))) { event, _ in
            if let thread = event.thread, threads.contains(thread), let body = event.body { found.append(body) }
        }
        return found
    }

    private func attempt(_ store: ChatStore, _ command: ChatCommand) throws -> Rejection.Code? {
        switch try store.executeBlocking([CommandRequest(command)])[0] {
        case .success: nil
        case .failure(let rejection): rejection.code
        }
    }

    // MARK: Attacks

    @Test func strangerReadsNoPrivateChannel() throws {
        let store = try Self.store()
        for thread in [team, pair] {
            #expect(try attempt(store, .joinThread(thread: thread, by: Self.mallory)) != nil)
            #expect(try attempt(store, .acceptInvitation(thread: thread, by: Self.mallory)) != nil)
            #expect(try attempt(store, .setThreadPolicy(thread: thread, policy: .open, by: Self.mallory)) != nil)
            #expect(
                try attempt(store, .setRole(user: Self.mallory, thread: thread, role: .owner, by: Self.mallory)) != nil)
        }
        #expect(try leaks(store, to: Self.mallory, in: [team, pair]) == [])
    }

    /// Two commands let an operator into a private thread once: an invitation and its acceptance,
    /// or a policy and a join.
    @Test func operatorReadsNoPrivateChannelByTwoCommands() throws {
        let store = try Self.store()
        let threads = [team, pair]
        let firsts = threads.flatMap { thread -> [ChatCommand] in
            [
                .invite(user: Self.olga, thread: thread, by: Self.olga),
                .setThreadPolicy(thread: thread, policy: .open, by: Self.olga),
                .setThreadPolicy(thread: thread, policy: .open, history: .all, by: Self.olga),
                .setRole(user: Self.olga, thread: thread, role: .moderator, by: Self.olga),
                .setRole(user: ImportedID.user("ann"), thread: thread, role: .owner, by: Self.olga),
                .removeMember(user: ImportedID.user("ann"), thread: thread, reason: "x", by: Self.olga),
                .closeThread(thread: thread, by: Self.olga),
                .joinThread(thread: thread, by: Self.olga),
            ]
        }
        for first in firsts {
            _ = try attempt(store, first)
            for thread in threads {
                _ = try attempt(store, .joinThread(thread: thread, by: Self.olga))
                _ = try attempt(store, .acceptInvitation(thread: thread, by: Self.olga))
            }
            #expect(try leaks(store, to: Self.olga, in: threads).filter { $0.hasPrefix("body") } == [], "\(first)")
        }
        // The pair was never opened to her; what the team writes from now on she reads.
        #expect(
            try store.reader(as: .host).thread(pair).policy == .inviteOnly
                && store.reader(as: .host).thread(team).policy == .open)
    }

    /// An operator and an accomplice: neither reads the messages of a pair, nor earlier ones of a
    /// team that was opened.
    @Test func accompliceReadsNoPrivateChannel() throws {
        let store = try Self.store()
        #expect(try attempt(store, .invite(user: Self.mallory, thread: pair, by: Self.olga)) == .unknownUser)
        #expect(try attempt(store, .acceptInvitation(thread: pair, by: Self.mallory)) != nil)
        #expect(try attempt(store, .setThreadPolicy(thread: team, policy: .open, by: Self.olga)) == nil)
        #expect(try attempt(store, .joinThread(thread: team, by: Self.mallory)) == nil)
        #expect(try attempt(store, .invite(user: Self.mallory, thread: pair, by: Self.olga)) == .notAnOwner)
        #expect(try leaks(store, to: Self.mallory, in: [team, pair]).filter { $0.hasPrefix("body") } == [])
        try store.executeBlocking(.postMessage(thread: team, body: "body of now", by: ImportedID.user("ann")))
        #expect(try leaks(store, to: Self.mallory, in: [team]).contains("body of now"))
    }

    @Test func membersReadTheirChannels() throws {
        let store = try Self.store()
        #expect(
            try store.reader(as: .user(ImportedID.user("ann"))).timeline(pair).map(\.body) == [
                "body of 1", "body of 2",
            ])
        #expect(try store.reader(as: .user(ImportedID.user("cem"))).timeline(team).count == 3)
    }

    // MARK: What the import says

    @Test(arguments: [1, 10]) func lineOfChannelSetsPolicyAndMembers(batchSize: Int) throws {
        let store = try StoreFixture().open()
        let lines: [ImportedLine] = [
            .channel(ImportedChannel(channel: "#rust", policy: .open)),
            .channel(
                ImportedChannel(
                    channel: "core-team", policy: .inviteOnly, members: [.nickname("Dan"), .nickname("DAN")])),
            .message(imported("1", by: "Ann")), .message(imported("1", by: "Ann", in: "core-team")),
            .channel(ImportedChannel(channel: "#rust", policy: .inviteOnly)),
            .channel(ImportedChannel(channel: "SW1A", policy: .open)),
            .channel(ImportedChannel(channel: "core-team", policy: .inviteOnly, members: [.nickname("Eve")])),
        ]
        let (summary, rejected) = try Self.run(lines, into: store, batchSize: batchSize)
        #expect(rejected.map(\.line) == [5, 6] && rejected.allSatisfy { $0.rejection.code == .invalidPolicy })
        #expect(summary.threadsByPolicy == [.open: 1, .inviteOnly: 1] && summary.threads == 2 && summary.joins == 2)
        #expect(try store.reader(as: .host).members(of: team).map(\.user.username) == ["Dan", "Ann", "Eve"])
        #expect(try store.reader(as: .host).thread(team).policy == .inviteOnly)
        #expect(try store.reader(as: .host).thread(ThreadID.imported("#rust")).policy == .open)
        let head = store.head
        let (again, _) = try Self.run(lines, into: store, batchSize: batchSize)
        #expect(store.head == head && again.duplicates == 5 && again.rejected == 2 && again.earlierOpenThreads == 1)
    }

    @Test func policyOfImporterIsThatOfItsThreads() throws {
        let store = try StoreFixture().open()
        let (summary, _) = try Self.run(Self.secrets, into: store, policy: .open)
        #expect(summary.threadsByPolicy == [.open: 2, .residents: 1] && summary.earlierOpenThreads == 0)
        #expect(try Self.run(Self.secrets, into: store).0.earlierOpenThreads == 2)
    }

    @Test func memberOfChannelWhoLeftStaysOut() throws {
        let store = try StoreFixture().open()
        let lines: [ImportedLine] = [
            .channel(ImportedChannel(channel: "core-team", policy: .open, members: [.nickname("Dan")]))
        ]
        _ = try Self.run(lines, into: store)
        try store.executeBlocking(.leaveThread(thread: team, by: ImportedID.user("dan")))
        #expect(try Self.run(lines, into: store).0.duplicates == 1)
        #expect(try store.reader(as: .host).members(of: team).isEmpty)
    }

    // MARK: Closing

    @Test func hostClosesOpenImportedThreads() throws {
        let fixture = StoreFixture()
        let store = try fixture.open()
        _ = try Self.run(Self.secrets, into: store, policy: .open)
        try store.executeBlocking(.registerUser(id: Self.mallory, username: "Mallory"))
        try store.executeBlocking(.registerUser(id: Self.olga, username: "Olga"))
        try store.executeBlocking(.openThread(id: ThreadID(bits: 9), name: "Native", by: Self.olga))
        try store.executeBlocking(.joinThread(thread: team, by: Self.mallory))
        // An operator who sets the policy of an open thread does not take it from the host.
        try store.executeBlocking(.grantOperator(user: Self.olga))
        try store.executeBlocking(.setThreadPolicy(thread: team, policy: .open, history: .sinceJoining, by: Self.olga))
        // The content of an opener may be gone.
        try store.eraseUser(ImportedID.user("ann"), reason: "user-request")
        #expect(Set(store.importedThreadsLeftOpen()) == [team, pair])
        #expect(Set(try store.makeImportedThreadsInviteOnly()) == [team, pair])
        #expect(store.importedThreadsLeftOpen() == [])
        #expect(try store.makeImportedThreadsInviteOnly() == [])
        #expect(try attempt(store, .joinThread(thread: pair, by: Self.mallory)) != nil)
        #expect(try attempt(store, .joinThread(thread: ThreadID(bits: 9), by: Self.olga)) == nil)
        // Who was a member stays one, with what they could read.
        #expect(try store.reader(as: .user(Self.mallory)).timeline(team).count == 3)
        #expect(try store.reader(as: .user(ImportedID.user("bob"))).timeline(pair).count == 2)
        try store.close()
        let report = try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true)
        #expect(report.findings == [])
    }
}
