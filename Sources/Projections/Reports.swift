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
        var post: PostKey
    }

    private var positions = PackedColumn<Position>()
    private var reporters = PackedColumn<UInt32>()
    private var posts = PackedColumn<UInt64>()
    private(set) var reportsOfThread = RowLists()
    /// By post, as the number of its ``ChatDomain/PostKey``: a version for each resolution.
    private var resolutions = SparseChains<UInt8>()
    /// By post with open reports, as for ``resolutions``: the thread of the first of these reports;
    /// not stored, because it follows from the reports.
    private var openPosts: [UInt64: UInt32] = [:]
    /// By thread with open reports: the number of posts that have them; not stored either.
    private(set) var openPostCounts: [UInt32: Int] = [:]

    /// The number of reports.
    var count: Int { positions.count }

    /// Returns a report.
    subscript(row: Int) -> Report {
        Report(position: positions[row], reporter: Int(reporters[row]), post: PostKey(number: Int(posts[row])))
    }

    mutating func append(_ post: PostKey, by reporter: Int, _ thread: Int, at position: Position) {
        positions.append(position)
        reporters.append(UInt32(truncatingIfNeeded: reporter))
        posts.append(UInt64(post.number))
        reportsOfThread.append(to: thread)
        noteOpenPost(posts[count - 1], in: UInt32(truncatingIfNeeded: thread))
    }

    mutating func resolve(_ post: PostKey, at position: Position) {
        resolutions.set(1, at: position, of: post.number)
        guard let thread = openPosts.removeValue(forKey: UInt64(post.number)), let openCount = openPostCounts[thread]
        else {
            return
        }
        openPostCounts[thread] = openCount > 1 ? openCount - 1 : nil
    }

    private mutating func noteOpenPost(_ post: UInt64, in thread: UInt32) {
        guard openPosts[post] == nil else { return }
        openPosts[post] = thread
        openPostCounts[thread, default: 0] += 1
    }

    /// Finds the posts with open reports.
    ///
    /// - Complexity: O(*n*) in the number of threads and reports.
    private mutating func readOpenPosts(threads: Int) {
        guard count > 0 else { return }
        // In a forged checkpoint, threads can share rows, which are then read once.
        var threadOfRow = [UInt32](repeating: .max, count: count)
        for thread in 0..<threads {
            var next = reportsOfThread.last(of: thread)
            while let row = next, threadOfRow[row] == .max {
                threadOfRow[row] = UInt32(truncatingIfNeeded: thread)
                next = reportsOfThread.row(before: row)
            }
        }
        for row in 0..<count where isOpen(row, asOf: .max) { noteOpenPost(posts[row], in: threadOfRow[row]) }
    }

    /// Whether a report was open as of a position: made, and not resolved later.
    func isOpen(_ row: Int, asOf position: Position) -> Bool {
        let made = positions[row]
        guard made <= position else { return false }
        return (resolutions.version(of: Int(posts[row]), asOf: position)?.position ?? 0) < made
    }
}

extension ReadModels {
    /// Returns a report that was open as of a position; nil if it was not, or if its post is in
    /// another thread or its message at or before `start`.
    package func openReport(_ row: Int, in thread: ThreadID, asOf position: Position, after start: Position = 0)
        -> ReportRecord?
    {
        guard views.community.reports.isOpen(row, asOf: position) else { return nil }
        let report = views.community.reports[row]
        let message = identities.message(of: report.post)
        // As for pins: a forged event can report a post of another thread.
        guard identities.posts.messages.parent(message) == identities.index(ofThread: thread),
            identities.posts.messages.position(message) > start
        else { return nil }
        return ReportRecord(
            position: report.position, reporter: identities.userID(report.reporter),
            post: identities.postID(report.post))
    }

    /// Returns a scan of every report that was ever made in a thread.
    package func scan(reportsOf thread: ThreadID) -> Scan {
        Scan(from: identities.index(ofThread: thread).flatMap { views.community.reports.reportsOfThread.last(of: $0) })
        {
            $0.views.community.reports.reportsOfThread.row(before: $1)
        }
    }
}

extension ReportHistory {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        try positions.visit(&visitor, atMost: Int(clamping: head), ascendingTo: head)
        try reporters.visit(&visitor, rows: count, below: ids.users.count)
        try posts.visit(&visitor, rows: count)
        if visitor.isReading {
            for row in posts.indices {
                try require(posts[row] < ids.postNumberBound && ids.contains(self[row].post), "a report of no post")
                try require(ids.position(of: self[row].post) < positions[row], "a report before its post")
            }
        }
        try reportsOfThread.visit(&visitor, rows: count, owners: ids.threads.count)
        try resolutions.visit(&visitor, entries: ids.postNumberBound, below: 2, head: head)
        if visitor.isReading { readOpenPosts(threads: ids.threads.count) }
    }
}
