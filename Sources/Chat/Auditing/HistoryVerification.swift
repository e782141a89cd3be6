import ChatDomain
import Columns
import EventJournal
import Projections

/// Verifies the records of a journal in batches: each record is an event, and the history is valid.
///
/// Besides the models, memory holds one batch without the texts of posts.
struct HistoryVerification {
    /// The number of events per batch; amortises memory latency.
    static let batchSize = 1_024

    private(set) var findings: [JournalFinding] = []
    /// The rules of earlier versions that some events still follow.
    private var notes: [EarlierRule: EarlierRuleNote] = [:]
    private var models = StoreModels()
    private var checkpoint: CheckpointVerification?
    private let isDeep: Bool
    private var erasures = ErasureVerification()
    private var isFullyDecoded = true
    private var batch = EventBatch(from: 1, capacity: batchSize)
    /// The faults of texts in the batch, in order.
    ///
    /// They are kept separately, because a batch has no bodies.
    private var textFaults: [(row: Int, fault: HistoryFault)] = []

    /// The position of the last verified event.
    var position: Position { models.position }
    /// The earlier rules that events follow, in the order of ``EarlierRule``.
    var earlierRules: [EarlierRuleNote] { EarlierRule.allCases.compactMap { notes[$0] } }
    /// The latest recorded time since the last correction of the clock.
    var lastRecordedAt: Timestamp { models.rules.lastRecordedAt }
    /// The number of events recorded as lost.
    var lostEventCount: Int { models.rules.lostEventCount }
    /// The threads that may have lost events.
    var threadsInDoubt: [ThreadInDoubt] { models.rules.threadsInDoubt(models.readModels.identities) }

    /// Creates a verification that starts at the first record.
    ///
    /// - Parameters:
    ///   - checkpoint: The checkpoint to compare with the models at its position.
    ///   - isDeep: Whether the events are applied to the read models as well.
    ///   - estimate: The estimate for reserving capacity.
    init(checkpoint: CheckpointVerification?, isDeep: Bool, _ estimate: ReplayEstimate) {
        self.checkpoint = checkpoint
        self.isDeep = isDeep
        models.readModels.identities.reserve(messages: estimate.messages, memberships: estimate.memberships)
    }

    /// Adds the next record.
    mutating func addRecord(_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) {
        do throws(EventDecodingError) {
            let event = try ChatEvent(kept: kept, erasable: state == .whole ? erasable : nil)
            erasures.add(event, state, at: position)
            if let fault = event.textFault { textFaults.append((batch.count, fault)) }
            batch.append(event)
        } catch {
            verifyBatch()
            addFinding("undecodable", "the record cannot be decoded as an event: \(error)", at: position)
            isFullyDecoded = false
            batch.removeAll(from: position + 1)
        }
        if batch.count == Self.batchSize || position == checkpoint?.position { verifyBatch() }
    }

    /// Verifies the last batch, and compares the models at the end.
    mutating func finish(_ log: any CommitLog) {
        verifyBatch()
        findings += checkpoint?.findings(log, models) ?? []
        if isDeep { findings += DeepVerification(models).findings() }
    }

    /// Compares the orders of erasures, the ledger beside the journal and another one with the
    /// records.
    ///
    /// - Returns: The number of records whose content is withheld without an order.
    mutating func verifyErasures(_ log: any ErasableLog, _ ledger: ErasureLedger) throws(ChatError) -> UInt64 {
        let own: ErasureLedger
        do throws(ChatError) { own = try ChatStore.ledger(of: log) } catch {
            guard case .journal(let error) = error else { throw error }
            findings.append(JournalFinding(error.code.rawValue, error.message))
            own = ErasureLedger()
        }
        let (found, withheldCount) = try erasures.result(log, models, own, ledger)
        findings += found
        return withheldCount
    }

    /// Verifies the records of the batch.
    mutating func verifyBatch() {
        var found: [(row: Int, fault: HistoryFault)] = []
        var followed: [(row: Int, rule: EarlierRule)] = []
        models.rules.audit(&batch, &models.readModels.identities) { row, faults in
            found += faults.map { (row, $0) }
        } note: { row, rule in
            followed.append((row, rule))
        }
        for (row, rule) in followed { notes[rule, default: EarlierRuleNote(rule)].add(batch.position(row)) }
        // For one event, the fault of the text comes last.
        for (row, fault) in (found + textFaults).sorted(by: { $0.row < $1.row }) {
            addFinding(fault.problem.rawValue, fault.message, at: batch.position(row))
        }
        if isDeep { models.readModels.views.apply(batch, 0..<batch.count) }
        if isFullyDecoded, batch.count > 0, batch.lastPosition == checkpoint?.position { checkpoint?.compare(models) }
        batch.removeAll(from: batch.lastPosition + 1)
        textFaults.removeAll()
    }

    private mutating func addFinding(_ problem: String, _ message: String, at position: Position) {
        findings.append(JournalFinding(problem, message, positions: position...position))
    }
}

/// Compares the read models with the state of the rules.
///
/// Both are derived from the same history by different code, so they must agree on all shared
/// values.
struct DeepVerification {
    private let models: ReadModels
    private let identities: Identities
    private let rules: RuleState
    private let now: Position
    /// The number of messages by thread.
    private let messageCounts: [Int]
    /// The number of replies by message, without retracted and removed ones.
    private let replyCounts: [Int]

    init(_ models: StoreModels) {
        self.models = models.readModels
        identities = models.readModels.identities
        rules = models.rules
        now = models.position
        var counts = [Int](repeating: 0, count: rules.threads.count)
        let posts = identities.posts
        for message in 0..<posts.messages.count { counts[posts.messages.parent(message)] += 1 }
        messageCounts = counts
        counts = [Int](repeating: 0, count: posts.messages.count)
        for reply in 0..<posts.replies.count where !rules.marks(of: PostKey(reply, isReply: true)).isWithdrawn {
            counts[posts.replies.parent(reply)] += 1
        }
        replyCounts = counts
    }

    /// Returns all differences.
    ///
    /// - Complexity: O(*n*) in users, threads, memberships and posts.
    func findings() -> [JournalFinding] {
        users() + threads() + memberships() + posts(areReplies: false) + posts(areReplies: true)
    }

    /// Returns a finding unless the condition holds.
    private func finding(unless condition: Bool, _ projection: String, _ message: @autoclosure () -> String)
        -> [JournalFinding]
    {
        condition
            ? [] : [JournalFinding("projectionDiffers", "\(projection): \(message())")]
    }

    private func users() -> [JournalFinding] {
        let registered = rules.users.indices.filter { rules.users[$0].registeredAt > 0 }
        let shown = models.userCount(asOf: now)
        return finding(unless: shown == registered.count, "users", "\(shown) users, expected \(registered.count)")
            + registered.flatMap { index in
                let id = identities.userID(index)
                let row = rules.users[index]
                let profile = models.profile(id, asOf: now)
                return finding(
                    unless:
                        profile?.username?.text == row.username && profile?.postcode == row.postcode, "users",
                    "the username or postcode of user \(id) differs")
                    + finding(
                        unless:
                            models.isOperator(id, asOf: now) == rules.isOperator(index), "community",
                        "user \(id) as an operator differs")
            }
    }

    private func threads() -> [JournalFinding] {
        rules.threads.indices.flatMap { index in
            let id = identities.threadID(index)
            let count = models.thread(id, asOf: now)?.messageCount ?? 0
            let (row, record) = (rules.threads[index], models.thread(id, asOf: now))
            return finding(
                unless:
                    count == messageCounts[index], "timelines",
                "thread \(id) has \(count) messages, expected \(messageCounts[index])")
                + finding(
                    unless:
                        record.map {
                            $0.policy == rules.policy(of: index, identities) && $0.history == rules.history(of: index)
                                && $0.isLocked == row.isLocked && $0.isClosed == row.isClosed
                        } ?? true, "community", "the policy or lock of thread \(id) differs")
        }
    }

    private func memberships() -> [JournalFinding] {
        (0..<rules.memberships.count).flatMap { membership in
            let pair = identities.memberships.pair(membership)
            let user = identities.userID(pair.first)
            let thread = identities.threadID(pair.second)
            let standing = rules.memberships.standing(membership)
            let sanctions = models.sanctions(ofMembership: membership, asOf: now)
            return finding(
                unless: (models.joinPosition(user, in: thread, asOf: now) != nil) == standing.isMember, "membership",
                "the membership of user \(user) in thread \(thread) differs")
                + finding(
                    unless:
                        models.role(ofMembership: membership, asOf: now)?.role == standing.role
                        && sanctions.contains { !$0.isBan } == standing.hasMute
                        && sanctions.contains { $0.isBan } == standing.hasBan
                        && (models.invitation(ofMembership: membership, asOf: now) != nil) == standing.isInvited,
                    "community",
                    "the role, the sanctions or the invitation of user \(user) in thread \(thread) differ")
                + finding(
                    unless:
                        models.readMarker(user, in: thread, asOf: now) == rules.memberships.readUpTo(membership),
                    "membership",
                    "the read marker of user \(user) in thread \(thread) differs")
        }
    }

    private func posts(areReplies: Bool) -> [JournalFinding] {
        (0..<identities.posts.read(isReply: areReplies) { $0.count }).flatMap { index in
            let post = PostKey(index, isReply: areReplies)
            let (id, marks) = (identities.postID(post), rules.marks(of: post))
            let record = models.post(id, asOf: now)
            return finding(
                unless:
                    record?.position == identities.position(of: post)
                    && record?.isRetracted == marks.contains(.retracted)
                    && record?.isRemoved == marks.contains(.removed)
                    && record?.replyCount == (areReplies ? 0 : replyCounts[index]),
                "timelines", "\(id.name) differs")
        }
    }
}

/// Compares a checkpoint of the read models with a rebuild from the first event.
///
/// Holds digests, so that the read models are in memory twice only if they differ.
struct CheckpointVerification {
    let position: Position
    private let digests: [String: [UInt8]]
    /// The components in which the rebuild at the checkpoint's position differs.
    private(set) var differing: [String] = []

    /// Reads the checkpoint of a log; nil if an opening would not use it.
    ///
    /// A damaged or outdated checkpoint is not a fault of the journal.
    init?(_ log: any CheckpointLog) {
        guard let models = try? StoreModels(checkpointOf: log) else { return nil }
        position = models.position
        digests = models.digests
    }

    /// Compares the checkpoint with a rebuild that has reached its position.
    ///
    /// - Complexity: O(*n*) in the read models.
    mutating func compare(_ rebuilt: StoreModels) {
        let rebuiltDigests = rebuilt.digests
        differing = StoreModels.componentNames.filter { rebuiltDigests[$0] != digests[$0] }
    }

    /// Returns a finding for each component that differs.
    ///
    /// - Parameter rebuilt: A rebuild at the checkpoint's position or later.
    /// - Complexity: O(1) without a difference; otherwise O(*n*) in the events up to the position.
    func findings(_ log: any CommitLog, _ rebuilt: StoreModels) -> [JournalFinding] {
        if differing.isEmpty { return [] }
        let divergence = firstDivergence(log, rebuilt)
        let difference =
            divergence.map { "they first differ at position \($0)" }
            ?? "no query about a single event shows the difference, which lies at one of these positions"
        return differing.map { component in
            JournalFinding(
                "checkpointDiffers",
                "the checkpoint '\(ReadModels.name)' at position \(position) and a rebuild differ in \(component): \(difference); remove the file, "
                    + "and the next opening replays the journal",
                positions: divergence.map { $0...$0 } ?? min(1, position)...position)
        }
    }

    /// Returns the first position at which both answer differently about the event there, if any.
    private func firstDivergence(_ log: any CommitLog, _ rebuilt: StoreModels) -> Position? {
        guard let log = log as? any CheckpointLog, let checkpoint = try? StoreModels(checkpointOf: log) else {
            return nil
        }
        var first: Position?
        do throws(ChatError) {
            try ChatStore.forEachDecodedEvent(log, 1...position, contents: .all) { event, position in
                if checkpoint.readModels.answers(about: event, at: position)
                    == rebuilt.readModels.answers(about: event, at: position)
                {
                    return true
                }
                first = position
                return false
            }
        } catch {
            // The rebuild has read these events before; the next verification finds a damage since.
            return nil
        }
        return first
    }
}

extension ReadModels {
    /// Returns the answers about all entities that an event names, as of its own position.
    fileprivate func answers(about event: ChatEvent, at position: Position) -> Answers {
        var answers = Answers(
            userCount: userCount(asOf: position), messageCount: messageCount(asOf: position),
            replyCount: replyCount(asOf: position))
        answers.day =
            activity(from: CalendarDay(event.createdAt), to: CalendarDay(event.createdAt), asOf: position).first
        answers.user = event.user.flatMap { profile($0, asOf: position) }
        answers.userWithName = event.username.flatMap { userID(named: $0.text, asOf: position) }
        answers.userWithSubject = event.subject.flatMap { userID(withSubject: $0, asOf: position) }
        answers.thread = event.thread.flatMap { thread($0, asOf: position) }
        if let user = event.user, let thread = event.thread {
            answers.memberSince = joinPosition(user, in: thread, asOf: position)
            answers.readUpTo = readMarker(user, in: thread, asOf: position)
            if let user = identities.index(ofUser: user), let thread = identities.index(ofThread: thread),
                let membership = identities.memberships.find(user, thread)
            {
                answers.role = role(ofMembership: membership, asOf: position)?.role
                answers.sanctions = sanctions(ofMembership: membership, asOf: position)
                answers.invitation = invitation(ofMembership: membership, asOf: position)
            }
        }
        answers.isOperator = event.user.map { isOperator($0, asOf: position) } ?? false
        answers.message = event.message.flatMap { post(.message($0), asOf: position) }
        answers.reply = event.reply.flatMap { post(.reply($0), asOf: position) }
        return answers
    }
}

private struct Answers: Equatable {
    var userCount: Int
    var messageCount: Int
    var replyCount: Int
    var day: ActivityDay?
    var user: UserProfile?
    var userWithName: UserID?
    var userWithSubject: UserID?
    var thread: ThreadRecord?
    var memberSince: Position?
    var readUpTo: Position?
    var role: ThreadRole?
    var sanctions: [SanctionRecord] = []
    var invitation: Position?
    var isOperator = false
    var message: PostRecord?
    var reply: PostRecord?
}
