package import ChatDomain
import Columns
import Primitives

/// A report of a post.
package struct ReportRecord: Hashable, Sendable {
    /// The position of the report's event, which has the reason.
    package var position: Position
    /// The reporter.
    package var reporter: UserID
    /// The message or the reply.
    package var post: PostID

    /// Creates a report.
    package init(position: Position, reporter: UserID, post: PostID) {
        self.position = position
        self.reporter = reporter
        self.post = post
    }
}

/// The reports of posts, by thread, and the resolutions, by post.
struct ReportHistory: Equatable, Sendable {
    struct Report: Equatable, Sendable {
        var position: Position
        var reporter: Int
        /// The index of the message or the reply.
        var post: Int
        var isReply: Bool
    }

    private var positions = PackedColumn<Position>()
    private var reporters = PackedColumn<UInt32>()
    private var posts = PackedColumn<UInt64>()
    private(set) var reportsOfThread = RowLists()
    /// By post, as the number of its ``ChatDomain/ReactionIndex/PostKey``: a version for each resolution.
    private var resolutions = SparseChains<UInt8>()

    /// The number of reports.
    var count: Int { positions.count }

    /// Returns a report.
    subscript(row: Int) -> Report {
        let key = ReactionIndex.PostKey(number: Int(posts[row]))
        return Report(position: positions[row], reporter: Int(reporters[row]), post: key.index, isReply: key.isReply)
    }

    mutating func append(_ post: Int, isReply: Bool, by reporter: Int, _ thread: Int, at position: Position) {
        positions.append(position)
        reporters.append(UInt32(truncatingIfNeeded: reporter))
        posts.append(UInt64(ReactionIndex.PostKey(post, isReply: isReply).number))
        reportsOfThread.append(to: thread)
    }

    mutating func resolve(_ post: Int, isReply: Bool, at position: Position) {
        resolutions.set(1, at: position, of: ReactionIndex.PostKey(post, isReply: isReply).number)
    }

    /// Whether a report was open as of a position: made, and not resolved later.
    func isOpen(_ row: Int, asOf position: Position) -> Bool {
        let made = positions[row]
        guard made <= position else { return false }
        return (resolutions.version(of: Int(posts[row]), asOf: position)?.position ?? 0) < made
    }

    mutating func removeSlots() { resolutions.removeSlots() }
}

extension ReadModels {
    /// Returns a report that was open as of a position; nil if it was not, or if its post is in
    /// another thread or its message at or before `start`.
    package func openReport(_ row: Int, in thread: ThreadID, asOf position: Position, after start: Position = 0) -> ReportRecord? {
        guard views.rare.reports.isOpen(row, asOf: position) else { return nil }
        let report = views.rare.reports[row]
        let message = report.isReply ? identities.replyFacts.parent(report.post) : report.post
        // As for pins: a forged event can report a post of another thread.
        guard identities.messageFacts.parent(message) == identities.index(ofThread: thread),
            identities.messageFacts.position(message) > start
        else { return nil }
        return ReportRecord(
            position: report.position, reporter: identities.userID(report.reporter),
            post: identities.postID(report.post, isReply: report.isReply))
    }

    /// Returns a scan of every report that was ever made in a thread.
    package func scan(reportsOf thread: ThreadID) -> Scan {
        Scan(from: identities.index(ofThread: thread).flatMap { views.rare.reports.reportsOfThread.last(of: $0) }) {
            $0.views.rare.reports.reportsOfThread.row(before: $1)
        }
    }
}

extension ReportHistory {
    func write(to writer: inout ColumnWriter) {
        positions.write(to: &writer)
        reporters.write(to: &writer)
        posts.write(to: &writer)
        reportsOfThread.write(to: &writer)
        resolutions.write(to: &writer)
    }

    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) {
        positions = try PackedColumn(from: &reader, atMost: Int(clamping: head))
        try positions.check(ascendingTo: head)
        reporters = try PackedColumn(from: &reader, atMost: count)
        try reporters.check(below: ids.users.count)
        posts = try PackedColumn(from: &reader, atMost: count)
        try require(reporters.count == count && posts.count == count, "\(posts.count) reports at \(count) positions")
        for row in posts.indices {
            try require(posts[row] >> 1 < (posts[row] & 1 == 0 ? ids.messages.count : ids.replies.count), "a report of no post")
            let report = self[row]
            let postedAt = report.isReply ? ids.replyFacts.position(report.post) : ids.messageFacts.position(report.post)
            try require(postedAt < report.position, "a report before its post")
        }
        reportsOfThread = try RowLists(from: &reader, rows: count, owners: ids.threads.count)
        let entries = max(ids.messages.count, ids.replies.count) << 1
        resolutions = try SparseChains(from: &reader, entries: entries, below: 2, head: head)
    }
}
