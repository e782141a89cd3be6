import Chat
import ChatDomain
import ChatTesting
import NaiveViews
import EventJournal
import Foundation
import Locking
import Projections
import StubRewriter
import TestSupport
import Testing

@testable import Chat

/// A store on a journal with erased or withheld content.
///
/// The kept parts are unchanged, and the removed content is null.
@Suite struct StubTests {
    /// A generated history in a closed journal of many small segments.
    private struct History {
        let options: StoreOptions
        var accepted: [(CommandRequest, Receipt)] = []
        let events: [RecordedEvent]
        let head: JournalHead
        let state: ChatState

        init(seed: UInt64) throws {
            var options = StoreFixture(seed: seed).options
            options.journal.segmentSize = 4_096
            self.options = options
            let store = try ChatStore.open("journal", options: options)
            var generator = CommandGenerator(seed: seed)
            var random = SeededRandom(seed: seed)
            for _ in 0..<120 {
                let batch = (0..<Int.random(in: 1...6, using: &random)).map { _ in generator.nextRequest() }
                for (request, result) in zip(batch, try store.executeBlocking(batch)) {
                    if case .success(let receipt) = result, !receipt.isDuplicate, !receipt.events.isEmpty {
                        accepted.append((request, receipt))
                    }
                }
            }
            events = try store.allEvents()
            head = store.head
            state = store.chatState
            try store.close()
        }

        func store() throws(ChatError) -> ChatStore { try ChatStore.openReadOnly("journal", options: options) }

        /// Turns some events into stubs.
        ///
        /// - Returns: The positions of the stubs, and of all events that can become stubs.
        func rewrite(_ choose: (ChatEvent) -> RecordContentState) throws -> (
            chosen: Set<Position>, eligible: Set<Position>
        ) {
            var eligible: Set<Position> = []
            let chosen = try StubRewriter("journal", on: options.journal.storage).rewrite { position, _, _ in
                eligible.insert(position)
                return choose(events[Int(position) - 1].event)
            }
            return (Set(chosen), eligible)
        }

        func verify() throws {
            var journal = options.journal
            journal.expectedHead = head
            for deep in [false, true] {
                let report = try ChatStore.verify("journal", options: journal, deep: deep)
                try expectOnlyUnorderedStubs(report, of: "journal", journal)
                #expect(report.position == head.position)
            }
        }
    }

    private static let states: [RecordContentState] = [.whole, .whole, .erased, .withheld]

    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 8))) func eventsAreUnchangedOrStubs(seed: UInt64) throws {
        let history = try History(seed: seed)
        var random = SeededRandom(seed: seed)
        let before = try history.store()
        let (chosen, eligible) = try history.rewrite { _ in Self.states.randomElement(using: &random) ?? .whole }
        #expect(chosen.count > 20 && eligible.count - chosen.count > 20)
        try history.verify()
        let store = try history.store()
        #expect(store.head == history.head)
        for (event, old) in zip(try store.allEvents(), history.events) {
            #expect(event.position == old.position && event.event.details == old.event.details)
            #expect(event.event.recordedAt == old.event.recordedAt && event.event.origin == old.event.origin)
            if chosen.contains(event.position) {
                let hadMore = old.event.content != .none || old.event.correlation != nil
                #expect(event.event.isErased == hadMore && event.event.correlation == nil)
                if case .custom(let kind, _) = old.event.content {
                    #expect(event.event.content == .custom(kind: kind, payload: .erased))
                } else {
                    #expect(event.event.content == (hadMore ? .erased : .none))
                }
            } else {
                #expect(event == old)
            }
        }
        // A store opened before the rewrite continues, with the original events or the stubs.
        for (event, old) in zip(try before.allEvents(), history.events) {
            let stub = ChatEvent(
                recordedAt: old.event.recordedAt, origin: old.event.origin, details: old.event.details, content: .erased
            )
            #expect(
                event == old || chosen.contains(event.position) && (event.event == stub || event.event.content == .none)
            )
        }
    }

    /// Names and postcodes are content.
    ///
    /// The rest of the rules' state comes from the kept parts.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 4))) func stubsKeepRulesState(seed: UInt64) throws {
        let history = try History(seed: seed)
        let (chosen, _) = try history.rewrite { event in
            switch event.content {
            case .body, .device, .threadName, .none: .erased
            default: .whole
            }
        }
        #expect(chosen.count > 50)
        try history.verify()
        #expect(try history.store().chatState == history.state)

        let (rest, _) = try history.rewrite { _ in .withheld }
        #expect(!rest.isEmpty && rest.isDisjoint(with: chosen))
        try history.verify()
        let bare = try history.store().chatState
        #expect(bare.head == history.state.head && bare.lastRecordedAt == history.state.lastRecordedAt)
        #expect(
            bare.identities.users == history.state.identities.users && bare.rules.threads == history.state.rules.threads
        )
        #expect(
            bare.rules.memberships == history.state.rules.memberships
                && bare.rules.sessions == history.state.rules.sessions)
        #expect(bare.identities.posts == history.state.identities.posts)
        #expect(bare.rules.postMarks == history.state.rules.postMarks)
        #expect(bare.rules.users.map(\.oneBasedResidence) == history.state.rules.users.map(\.oneBasedResidence))
    }

    /// Each view lacks exactly the content of the stubs.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 6))) func viewsLackStubsContentOnly(seed: UInt64) throws {
        let history = try History(seed: seed)
        let whole = try Views(of: try history.store(), history.events)
        var random = SeededRandom(seed: seed &+ 100)
        let (chosen, _) = try history.rewrite { _ in Self.states.randomElement(using: &random) ?? .whole }
        let left = try Views(of: try history.store(), history.events)
        let sources = Sources(history.events, chosen)

        #expect(left.threads == whole.threads.map { sources.applied(to: $0) })
        #expect(left.timelines == whole.timelines.map { $0.map { sources.applied(to: $0) } })
        #expect(left.replies == whole.replies.map { $0.map { sources.applied(to: $0) } })
        #expect(
            left.members
                == whole.members.map { $0.map { ThreadMember(user: sources.applied(to: $0.user), since: $0.since) } })
        #expect(left.users == whole.users.map { sources.applied(to: $0) })
        for (now, then) in zip(left.residents, whole.residents) {
            #expect(now.map(\.user.id) == then.map(\.user.id) && now.map(\.since) == then.map(\.since))
            #expect(
                zip(now, then).allSatisfy { $0.postcode == (sources.postcode[$0.user.id] == true ? nil : $1.postcode) })
        }
        #expect(
            whole.timelines.joined().contains { $0.body != nil }
                && left.timelines.joined().contains { $0.body == nil && !$0.isRetracted })
        for user in whole.users {
            guard let name = user.username else { continue }
            #expect(try history.store().userID(named: name) == (sources.username[user.id] == true ? nil : user.id))
        }
    }

    /// The store still recognizes duplicates of events that have become stubs.
    @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 4))) func storeAcceptsCommandsAfterStubs(seed: UInt64) throws {
        let history = try History(seed: seed)
        var random = SeededRandom(seed: seed)
        let (chosen, _) = try history.rewrite { _ in Self.states.randomElement(using: &random) ?? .whole }
        let store = try ChatStore.open("journal", options: history.options)
        for (request, receipt) in history.accepted {
            guard request.command.id != nil, [.postMessage, .reply, .startSession].contains(request.command.kind) else {
                continue
            }
            let again = try answer(request, of: store).get()
            // The post alone, without the return of the other person to a direct thread.
            let last = try #require(receipt.positions?.upperBound)
            #expect(again.isDuplicate && again.positions == last...last)
            for (event, old) in zip(again.events, receipt.events.suffix(1)) {
                #expect(
                    chosen.contains(event.position)
                        ? event.event.body == nil && event.event.details == old.event.details : event == old)
            }
        }
        #expect(store.head == history.head)
        var generator = CommandGenerator(seed: seed &+ 1_000)
        var appended = 0
        for _ in 0..<400 {
            if case .success(let receipt) = try answer(generator.nextRequest(), of: store) {
                appended += receipt.events.count
            }
        }
        #expect(appended > 50)
        let head = store.head
        try store.close()
        #expect(try history.store().head == head)
        let report = try ChatStore.verify("journal", options: history.options.journal, deep: true)
        try expectOnlyUnorderedStubs(report, of: "journal", history.options.journal)
    }
}

/// Expects the finding that no event orders the erased records, and no other.
func expectOnlyUnorderedStubs(_ report: VerificationReport, of directory: String, _ options: JournalOptions) throws {
    var erased = PositionSet()
    let journal = try Journal.openReadOnly(directory, options: options)
    try journal.forEachRecord(in: 1...journal.lastPosition) { position, state, _, _ in
        if state == .erased { erased.append(position) }
        return true
    }
    #expect(report.findings.map(\.positions) == erased.ranges.map(Optional.some))
    #expect(report.findings.allSatisfy { $0.problem == "stubWithoutErasure" })
}

/// The answers of the queries about a whole history.
private struct Views {
    let threads: [ThreadSummary]
    let timelines: [[Post]]
    let replies: [[Post]]
    let members: [[ThreadMember]]
    let residents: [[Resident]]
    let users: [UserDetails]

    init(of store: ChatStore, _ events: [RecordedEvent]) throws {
        let all = PageRequest.latest(.max)
        threads = try store.reader(as: .host).threads(page: all).entries
        timelines = try threads.map { try store.reader(as: .host).timeline($0.id, page: all).entries }
        replies = try timelines.joined().map { try store.reader(as: .host).replies(to: $0.message, page: all).entries }
        members = try threads.map { try store.reader(as: .host).members(of: $0.id).entries }
        residents = try threads.compactMap(\.outwardCode).map { try store.reader(as: .host).residents(of: $0).entries }
        users = try events.compactMap {
            if case (.userRegistered, .user(let itsUser)) = ($0.event.kind, $0.event.shape) { itsUser } else { nil }
        }.map {
            try store.reader(as: .host).user($0)
        }
    }
}

/// The texts of the views whose events have become stubs.
private struct Sources {
    var username: [UserID: Bool] = [:]
    var postcode: [UserID: Bool] = [:]
    var threadName: [ThreadID: Bool] = [:]
    var message: [MessageID: Bool] = [:]
    var reply: [ReplyID: Bool] = [:]
    /// A naive model of the history without the content of the stubs.
    let naive: NaiveViews

    init(_ events: [RecordedEvent], _ stubs: Set<Position>) {
        naive = NaiveViews(
            events: events.map { recorded in
                var recorded = recorded
                if stubs.contains(recorded.position), recorded.emoji != nil { recorded.event.content = .erased }
                return recorded
            })
        for recorded in events {
            let isStub = stubs.contains(recorded.position)
            switch (recorded.event.kind, recorded.event.shape) {
            case (.userRegistered, .user(let itsUser)): username[itsUser] = isStub
            case (.usernameChanged, .user(let itsUser)): username[itsUser] = isStub
            case (.postcodeSet, .postcode(let itsUser, _)): postcode[itsUser] = isStub
            case (.threadOpened, .thread(let itsThread, _, _)), (.threadRenamed, .thread(let itsThread, _, _)):
                threadName[itsThread] = isStub && itsThread.outwardCode == nil
            case (.messagePosted, .message(_, _, let itsMessage, _)): message[itsMessage] = isStub
            case (.messageEdited, .message(_, _, let itsMessage, _)): message[itsMessage] = isStub
            case (.replyPosted, .reply(_, _, _, let itsReply, _)): reply[itsReply] = isStub
            case (.replyEdited, .reply(_, _, _, let itsReply, _)): reply[itsReply] = isStub
            default: break
            }
        }
    }

    func applied(to person: UserSummary) -> UserSummary {
        UserSummary(id: person.id, username: username[person.id] == true ? nil : person.username)
    }

    func applied(to thread: ThreadSummary) -> ThreadSummary {
        var thread = thread
        if threadName[thread.id] == true { thread.name = nil }
        thread.people = thread.people?.map { applied(to: $0) }
        return thread
    }

    func applied(to post: Post) -> Post {
        var post = post
        post.author = applied(to: post.author)
        let isErased =
            switch post.id {
            case .message(let id): message[id] == true
            case .reply(let id): reply[id] == true
            }
        if isErased { post.body = nil }
        post.reactions = naive.reactionCounts(of: post.id, viewer: nil)
        return post
    }

    func applied(to user: UserDetails) -> UserDetails {
        var user = user
        if username[user.id] == true { user.username = nil }
        if postcode[user.id] == true { user.postcode = nil }
        user.threads = user.threads.map { thread in
            var thread = thread
            if threadName[thread.id] == true { thread.name = nil }
            thread.people = thread.people?.map { applied(to: $0) }
            thread.lastMessage = thread.lastMessage.map { applied(to: $0) }
            return thread
        }
        return user
    }
}
