import ChatDomain
import ChatTesting
import EventJournal
import TestSupport
import Testing

@testable import Chat

/// Random histories, imported repeatedly and in parts.
///
/// Meanwhile native users take names, ids and threads, and change imported posts.
@Suite struct ImportProperties {
    private static let names = ["Amy", "AMY", "amy~2", "Bob", "Bob\u{FE0F}", "\u{3164}", "a\u{7}b", "Amelia"]
    private static let channels = ["#rust", "SW1A", "\u{2764}\u{FE0F}", "#den"]

    private static func user(_ random: inout SeededRandom) -> ImportedUser {
        let name = names.randomElement(using: &random) ?? "Amy"
        if Bool.random(using: &random) { return .nickname(name) }
        return .account(
            id: ["amy", "Bob", "7"].randomElement(using: &random) ?? "7", name: name,
            subject: ["s", "t", nil].randomElement(using: &random) ?? nil)
    }

    private static func history(_ random: inout SeededRandom) -> [ImportedLine] {
        // Each message id has one author, because a repeated id with another author is rejected.
        (0..<Int.random(in: 1...25, using: &random)).map { index in
            let time = Timestamp(millisecondsSince1970: Int64.random(in: 0...99, using: &random))
            let channel = channels.randomElement(using: &random) ?? "#rust"
            if Int.random(in: 0..<9, using: &random) == 0 {
                let members = (0..<Int.random(in: 1...3, using: &random)).map { _ in user(&random) }
                return .channel(
                    ImportedChannel(
                        channel: channel, policy: Bool.random(using: &random) ? .open : .inviteOnly, members: members))
            }
            if Int.random(in: 0..<5, using: &random) == 0 {
                return .join(ImportedJoin(joinedAt: time, channel: channel, user: user(&random)))
            }
            let replyTo =
                Int.random(in: 0..<3, using: &random) == 0 ? "\(Int.random(in: 0...index, using: &random))" : nil
            return .message(
                ImportedMessage(
                    sentAt: time, channel: channel, user: user(&random), id: "\(index)", replyTo: replyTo, body: "x",
                    editedAt: Int.random(in: 0..<4, using: &random) == 0 ? time : nil))
        }
    }

    /// Returns a random command of a native user with any id.
    private static func command(_ random: inout SeededRandom) -> ChatCommand {
        let natives = [
            UserID(bits: 1), UserID(bits: 2), ImportedID.user("amy"), ImportedID.account("7"), ImportedID.user("bob"),
        ]
        let user = natives.randomElement(using: &random) ?? natives[0]
        let channel = channels.randomElement(using: &random) ?? "#rust"
        let thread = ThreadID.imported(channel)
        let post = PostID.message(ImportedID.message(channel, "\(Int.random(in: 0..<25, using: &random))"))
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<3:
            return .registerUser(
                id: user, username: ["Amy", "Bob", "Amy~2", "imported"].randomElement(using: &random) ?? "Amy",
                subject: ["s", nil].randomElement(using: &random) ?? nil)
        case 3..<6:
            return .changeUsername(username: ["Amelia", "amy", "bob"].randomElement(using: &random) ?? "amy", by: user)
        case 6: return .openThread(id: thread, name: "Den", by: user)
        case 7: return .leaveThread(thread: thread, by: user)
        case 8: return .retract(post, by: user)
        case 9: return .edit(post, body: "mine", by: user)
        case 10: return .joinThread(thread: thread, by: user)
        default:
            return .postMessage(id: ImportedID.message(channel, "3"), thread: thread, body: "mine", by: user)
        }
    }

    @Test func importIsRepeatableAndKeepsNativeUsers() throws {
        var posted = 0
        var rejectedLines = 0
        for round in UInt64(0)..<50 {
            var random = SeededRandom(seed: Repetitions.seed &+ round)
            let at: Comment = "round \(round), CHATJOURNAL_SEED=\(Repetitions.seed)"
            let fixture = StoreFixture()
            let store = try fixture.open()
            let history = Self.history(&random)
            let policy: ThreadPolicy = Bool.random(using: &random) ? .open : .inviteOnly
            func native() throws {
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    _ = try store.executeBlocking([CommandRequest(Self.command(&random))])
                }
            }
            for _ in 0..<3 {
                try native()
                var importer = MessageImporter(
                    into: store, policy: policy, batchSize: Int.random(in: 1...10, using: &random))
                // A prefix of the file, as after an interrupted import.
                for (index, line) in history.prefix(Int.random(in: 0...history.count, using: &random)).enumerated() {
                    _ = try importer.add(line, line: index + 1)
                    if Int.random(in: 0..<4, using: &random) == 0 { try native() }
                }
                _ = try importer.finish()
            }
            func importAll() throws -> ImportSummary {
                var importer = MessageImporter(
                    into: store, policy: policy, batchSize: Int.random(in: 1...30, using: &random))
                for (index, line) in history.enumerated() { _ = try importer.add(line, line: index + 1) }
                _ = try importer.finish()
                return importer.summary
            }
            // A rejected line may succeed once its dependencies exist, so import until a pass adds
            // nothing.
            var head = store.head
            for _ in 0...history.count {
                _ = try importAll()
                if store.head == head { break }
                head = store.head
            }
            let summary = try importAll()
            #expect(store.head == head, at)
            let unchanged = ImportSummary(
                duplicates: summary.duplicates, rejected: summary.rejected,
                earlierOpenThreads: summary.earlierOpenThreads)
            #expect(summary == unchanged, at)
            #expect(summary.duplicates + summary.rejected == history.count, at)
            posted += summary.duplicates
            rejectedLines += summary.rejected

            var imported: Set<UserID> = []
            var derived: Set<UserID> = []
            for line in history {
                let people =
                    switch line {
                    case .message(let message): [message.user]
                    case .join(let join): [join.user]
                    case .channel(let channel): channel.members
                    }
                derived.formUnion(people.compactMap { ImportBatch.Person($0).user })
            }
            for recorded in try store.allEvents() where recorded.event.origin != .native {
                if case (.userRegistered, .user(let itsUser)) = (recorded.event.kind, recorded.event.shape) {
                    imported.insert(itsUser)
                }
                let user = recorded.event.user
                #expect(
                    user.map { imported.contains($0) && derived.contains($0) } ?? false,
                    "\(recorded) belongs to another user, \(at)")
            }
            try store.close()
            #expect(
                try ChatStore.verify(fixture.directory, options: fixture.options.journal, deep: true).findings.isEmpty,
                at)
        }
        #expect(posted > 100 && rejectedLines > 20, "the cases are one-sided: \(posted) and \(rejectedLines)")
    }
}
