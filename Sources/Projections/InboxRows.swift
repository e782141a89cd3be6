import ChatDomain
import Columns
import Primitives

/// What happened to each user: a row for each event that concerns them, and how far they have read.
///
/// A row says what the event is about, and nothing that depends on rights, blocks or later events:
/// a query finds out whether the row has an entry as of its point
/// (``ReadModels/inboxItem(_:of:except:asOf:)``). An event has at most one row for a user.
struct InboxRows: Equatable, Sendable {
    /// By user: the newest link of the chain of their rows.
    private var links = PackedColumn<UInt32>()
    /// The rows: a ``Code`` in the lowest four bits, and above them what the row is about.
    private var rows = VersionChains<UInt64>()
    /// Who did what the rows are about.
    private var shares = InboxShares()
    /// By history of a message: the users who replied, the latest first reply first.
    private var writers = RowLists()
    /// By row of ``writers``: the user.
    private var writerUsers = PackedColumn<UInt32>()
    /// By row of ``writers``: the user's membership + 1, or 0.
    private var writerMemberships = PackedColumn<UInt32>()
    /// By user: the position up to which they have read their inbox.
    private var markers = SparseChains<UInt64>()

    /// The maximum number of users who are told of a reply, besides the author, or of a report.
    static let maximumRecipientCount = 50

    /// What a row is about; the number in the comment is the rest of the row.
    enum Code: UInt64 {
        /// A reply to a message of the user, or to one that they answered: the reply.
        case reply
        /// A message that mentions the user: the message.
        case mentionInMessage
        /// A reply that mentions the user: the reply.
        case mentionInReply
        /// ``reply`` and ``mentionInReply``: the reply.
        case replyWithMention
        /// A reaction to a post of the user: the number of its ``ChatDomain/PostKey``.
        case reaction
        /// An invitation: the membership.
        case invitation
        /// What a moderator did to the user or to a post of theirs: the thread.
        case moderation
        /// A report of a post in a thread that the user moderates: the report.
        case report
        /// ``mentionInMessage`` and ``mentionInReply`` under the level `none`: no entry begins
        /// there, and one that began before goes on.
        case silentMentionInMessage, silentMentionInReply

        var isReply: Bool { self == .reply || self == .replyWithMention }
        var isMention: Bool {
            isMentionInMessage || self == .mentionInReply || self == .replyWithMention || self == .silentMentionInReply
        }
        var isMentionInMessage: Bool { self == .mentionInMessage || self == .silentMentionInMessage }
        var isSilent: Bool { self == .silentMentionInMessage || self == .silentMentionInReply }
    }

    /// A row of a user.
    struct Row: Equatable {
        var position: Position
        var code: Code
        var target: Int
        /// The index of the row among those of the user, from 0.
        var index: Int

        /// The post that a reply or a mention is about.
        var post: PostKey { PostKey(target, isReply: !code.isMentionInMessage) }
    }

    /// Applies the next event, after the other models.
    mutating func apply(
        _ batch: borrowing EventBatch, _ row: Int, _ community: CommunityHistory, _ timelines: borrowing ThreadTimelines
    ) {
        let (event, indexes, position) = (batch.rows[row], batch.indexes[row], batch.position(row))
        let (user, post, thread) = (indexes.user, indexes.secondIndex, indexes.thread)
        // Of what is done to a user, the other index is that of the user who acted; a forged event
        // names none.
        let actor = post
        switch event.kind {
        // A forged event can name a later position, which a checkpoint may not have.
        case .inboxRead: markers.set(min(event.number, position), at: position, of: user)
        case .messagePosted: if indexes.isNew { addMentions(batch, row, .mentionInMessage, community) }
        case .messageEdited: addMentions(batch, row, .mentionInMessage, community)
        case .replyEdited: addMentions(batch, row, .mentionInReply, community)
        case .replyPosted:
            guard indexes.isNew else { return }
            addMentions(batch, row, .mentionInReply, community)
            if let history = timelines.histories.messages.find(indexes.message) {
                addReply(batch, row, history, community)
            }
        case .reactionAdded:
            guard let post = indexes.post(of: event), !batch.content(of: row).reactions.isEmpty else { return }
            for author in batch.concerned(by: row)
            where author.user != user && level(author.membership, event, community) == .all {
                add(.reaction, post.number, of: author.user, by: user, at: position)
            }
        case .messageRemoved, .replyRemoved:
            for author in batch.concerned(by: row) where author.user != user {
                add(.moderation, thread, of: author.user, by: user, at: position)
            }
        case .memberRemoved:
            // A ban and the removal that follows it have one row, that of the ban.
            if community.bans.version(of: indexes.membership, asOf: position)?.position == position - 1 { return }
            if actor != user { add(.moderation, thread, of: user, by: actor, at: position) }
        case .userMuted, .userUnmuted, .userBanned, .userUnbanned, .roleSet:
            if actor != user { add(.moderation, thread, of: user, by: actor, at: position) }
        case .userInvited: if actor != user { add(.invitation, indexes.membership, of: user, by: actor, at: position) }
        case .messageReported, .replyReported:
            guard post >= 0 else { return }
            let recipients = community.reportRecipients(in: thread).prefix(Self.maximumRecipientCount)
            for recipient in recipients where recipient != user {
                add(.report, community.reports.count - 1, of: recipient, by: user, at: position)
            }
        default: break
        }
    }

    /// Adds a row for each user whom a text mentions.
    private mutating func addMentions(
        _ batch: borrowing EventBatch, _ row: Int, _ code: Code, _ community: CommunityHistory
    ) {
        guard batch.rows[row].hasMentions, batch.indexes[row].secondIndex >= 0 else { return }
        for mentioned in batch.concerned(by: row)
        where mentioned.relation == .mentioned && mentioned.user != batch.indexes[row].user {
            let isSilent = level(mentioned.membership, batch.rows[row], community) == .none
            let code = !isSilent ? code : code == .mentionInMessage ? .silentMentionInMessage : .silentMentionInReply
            let indexes = batch.indexes[row]
            add(code, indexes.secondIndex, of: mentioned.user, by: indexes.user, at: batch.position(row))
        }
    }

    /// Adds a row of a reply for the author of the message and for the last users who began to
    /// reply to it.
    ///
    /// - Parameter history: The history of the message.
    private mutating func addReply(
        _ batch: borrowing EventBatch, _ row: Int, _ history: Int, _ community: CommunityHistory
    ) {
        let (event, indexes, position) = (batch.rows[row], batch.indexes[row], batch.position(row))
        guard let author = batch.concerned(by: row).first(where: { $0.relation == .author }) else { return }
        func notify(_ user: Int, _ membership: Int) {
            guard user != indexes.user, level(membership, event, community) == .all else { return }
            add(.reply, indexes.secondIndex, of: user, by: indexes.user, at: position)
        }
        notify(author.user, author.membership)
        // The author is told of every reply.
        var (next, count, isListed) = (writers.last(of: history), 0, indexes.user == author.user)
        while let entry = next, count < Self.maximumRecipientCount {
            let user = Int(writerUsers[entry])
            if user == indexes.user { isListed = true }
            notify(user, Int(writerMemberships[entry]) - 1)
            next = writers.row(before: entry)
            count += 1
        }
        guard !isListed else { return }
        writers.append(to: history)
        writerUsers.append(UInt32(truncatingIfNeeded: indexes.user))
        writerMemberships.append(UInt32(truncatingIfNeeded: indexes.membership + 1))
    }

    /// Returns what notifies a membership at the recording time of an event.
    private func level(_ membership: Int, _ event: EventRow, _ community: CommunityHistory) -> NotificationLevel {
        guard membership >= 0 else { return .all }
        return LimitedLevel(rawValue: community.notifications.value(of: membership)).inEffect(at: event.recordedAt)
            .level
    }

    private mutating func add(_ code: Code, _ target: Int, of user: Int, by actor: Int, at position: Position) {
        while links.count <= user { links.append(0) }
        // The mention was added first.
        if code == .reply, links[user] > 0, rows[links[user]].position == position {
            rows.values[Int(links[user]) - 1] = UInt64(target) << 4 | Code.replyWithMention.rawValue
            return
        }
        rows.append(UInt64(target) << 4 | code.rawValue, at: position, to: &links[user])
        shares.append(by: actor, to: user, rows, links[user])
    }
}

extension InboxRows {
    /// Returns the number of a user's rows as of a position.
    func count(of user: Int, asOf position: Position) -> Int {
        user < links.count ? rows.count(links[user], asOf: position) : 0
    }

    /// Returns a user's row with a rank, from 1; nil if there is none.
    ///
    /// An erased reaction has no row once the models are rebuilt, so a rank of a moment ago may be
    /// gone.
    func row(of user: Int, rank: Int) -> Row? {
        guard user < links.count, links[user] > 0 else { return nil }
        let version = rows[rows.link(links[user], rank: rank)]
        return version.rank == rank ? Row(version) : nil
    }

    /// Returns the last row before an index at which a query of the first `count` rows of a user
    /// looks at once, and who acted; nil if there is none.
    func lastRow(before index: Int, of user: Int, count: Int) -> (index: Int, link: UInt32, actor: Int)? {
        guard user < links.count, links[user] > 0 else { return nil }
        // An erased reaction has no row once the models are rebuilt, so there may be fewer rows
        // than a moment ago.
        let index = min(index, Int(rows.rank(links[user])))
        return shares.lastRow(before: index, of: user, count: count, rows, links[user]).map {
            ($0.index, $0.link, shares.actor($0.link))
        }
    }

    /// Returns the row before another one in the same inbox by the same user who acted; nil if
    /// there is none.
    func previousRow(_ link: UInt32) -> (index: Int, link: UInt32)? {
        shares.previous(link).map { (Int(rows.rank($0)) - 1, $0) }
    }

    /// Whether a query of the first `count` rows of a user looks at a row at once.
    func isInShare(_ row: Row, of user: Int, count: Int) -> Bool {
        shares.isInShare(rows.link(links[user], rank: row.index + 1), row.index, of: count)
    }

    /// Returns the row that a user has of the event at a position; nil for none.
    func row(of user: Int, at position: Position) -> Row? {
        guard user < links.count, let version = rows.version(links[user], asOf: position), version.position == position
        else { return nil }
        return Row(version)
    }

    /// Returns the position up to which a user had read their inbox.
    func marker(of user: Int, asOf position: Position) -> Position { markers.value(of: user, asOf: position) }
}

extension InboxRows.Row {
    fileprivate init(_ version: VersionChains<UInt64>.Version) {
        // A checkpoint has no other code.
        self.init(
            position: version.position, code: InboxRows.Code(rawValue: version.value & 15) ?? .reply,
            target: Int(version.value >> 4),
            index: Int(version.rank) - 1)
    }
}

extension InboxRows: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        let (users, replies) = (ids.users.count, ids.posts.replies.count)
        try links.visit(&visitor, atMost: users)
        // A reply has a row for the author, for those who write there, and for those whom it
        // mentions.
        try rows.visit(
            &visitor, head: head, perEvent: 1 + Self.maximumRecipientCount + MessageBody.maximumMentionCount)
        if visitor.isReading {
            try links.check(below: rows.count + 1)
            try rows.values.forEachPiece { piece throws(ColumnError) in
                for value in piece { try require(Self.isValid(value, ids), "a row about what does not exist") }
            }
        }
        try shares.visit(&visitor, rows: rows.count, users: users)
        try writerUsers.visit(&visitor, atMost: replies, below: users)
        try writerMemberships.visit(&visitor, rows: writerUsers.count, below: ids.memberships.count + 1)
        try writers.visit(&visitor, rows: writerUsers.count, owners: ids.posts.messages.count)
        try markers.visit(&visitor, entries: users, below: Int(clamping: head) + 1, head: head)
    }

    /// Whether what a row is about exists; a report is looked for when the row is read.
    private static func isValid(_ value: UInt64, _ ids: Identities) -> Bool {
        let target = value >> 4
        let count =
            switch Code(rawValue: value & 15) {
            case .reply, .mentionInReply, .replyWithMention, .silentMentionInReply: ids.posts.replies.count
            case .mentionInMessage, .silentMentionInMessage: ids.posts.messages.count
            case .reaction: 2 * ids.posts.read(isReply: target & 1 != 0) { $0.count }
            case .invitation: ids.memberships.count
            case .moderation: ids.threads.count
            case .report: Int.max >> 4
            case nil: 0
            }
        return target < count
    }
}
