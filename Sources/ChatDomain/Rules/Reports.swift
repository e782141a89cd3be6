import Columns

/// Reports of messages and replies.
extension RuleState {
    func report(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (actor, _, found) = try visiblePost(command, ids, envelope)
        guard !found.marks.isWithdrawn else { throw .retracted }
        guard !hasReported(found.post, actor) else { return .unchanged }
        try requireReason(command.text)
        appendPostEvent(
            command.postID.kind(.messageReported, .replyReported), command, found, actor, ids, envelope, &batch)
        return .append
    }

    func resolveReport(
        _ command: borrowing ChatCommand, _ ids: Identities, _ envelope: EventEnvelope,
        _ batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        let (actor, found) = try moderatedPost(command, isDecision: true, ids, envelope)
        guard hasOpenReports(found.post) else { return .unchanged }
        appendPostEvent(
            command.postID.kind(.messageReportsResolved, .replyReportsResolved), command, found, actor, ids, envelope,
            &batch)
        return .append
    }

    /// Whether a post has open reports.
    func hasOpenReports(_ post: PostKey) -> Bool { community.reports.read(of: post) { $0.hasOpenReports(post.index) } }

    /// Whether a user has made an open report of a post.
    private func hasReported(_ post: PostKey, _ user: Int) -> Bool {
        community.reports.read(of: post) { $0.isReported(post.index, by: user) }
    }
}

/// The open reports, by reporter and post.
///
/// A resolution closes all reports of its post: it begins a new round, and a report is open if it
/// was made in the post's current round.
struct ReportTable: Equatable, Sendable {
    /// By post: the number of resolutions.
    private var rounds = SparseColumn()
    /// By post: the number of reports in the current round.
    private var openCounts = SparseColumn()
    private var pairs = PairInterner()
    /// By pair of reporter and post: the round of the latest report, from 1.
    private var reportRounds = PackedColumn<UInt64>()

    func hasOpenReports(_ post: Int) -> Bool { openCounts[post] > 0 }

    func isReported(_ post: Int, by user: Int) -> Bool {
        pairs.find(user, post).map { reportRounds[$0] == rounds[post] &+ 1 } ?? false
    }

    mutating func report(_ post: Int, by user: Int) {
        guard !isReported(post, by: user) else { return }
        let (pair, isNew) = pairs.insert(user, post)
        if isNew { reportRounds.append(0) }
        // Wrapping: a checkpoint can contain any count, and nothing may trap.
        reportRounds[pair] = rounds[post] &+ 1
        openCounts[post] &+= 1
    }

    mutating func resolve(_ post: Int) {
        guard hasOpenReports(post) else { return }
        rounds[post] &+= 1
        openCounts[post] = 0
    }
}

extension ReportTable {
    mutating func visit(_ visitor: inout ColumnVisitor, posts: Int, users: Int) throws(ColumnError) {
        try rounds.visit(&visitor, rows: posts)
        try openCounts.visit(&visitor, rows: posts)
        try pairs.visit(&visitor, below: users, posts)
        try reportRounds.visit(&visitor, rows: pairs.count)
    }
}
