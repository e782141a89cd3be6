public import ChatDomain
import EventJournal
import Projections

/// The inboxes of users: what happened to them.
extension ChatStore {
    /// Calls the body again if an erasure has ended meanwhile, after which rows can have other
    /// ranks.
    fileprivate func withStableRanks<Value>(_ body: () throws(ChatError) -> Value) throws(ChatError) -> Value {
        while true {
            let epoch = erasedPositions.epoch
            let value = try body()
            if epoch == erasedPositions.epoch { return value }
        }
    }

    fileprivate func inboxRows(of user: UserID, as viewer: Viewer, asOf point: AsOf) throws(ChatError) -> InboxRows {
        try query(point, as: viewer) { models, view throws(ChatError) in
            try requireSelf(viewer, user)
            try models.requireUser(user, asOf: view.position)
            // The host sees the inbox as the user sees it.
            let viewpoint = Viewpoint(
                viewer: .user(user), position: view.position, currentPosition: view.currentPosition)
            let (marker, count) = (
                models.inboxMarker(of: user, asOf: view.position), models.inboxCount(of: user, asOf: view.position)
            )
            return InboxRows(
                user: user, sections: SectionedQuery(readSide: readSide, viewpoint: viewpoint),
                blocked: models.blockedUsers(by: user),
                count: count, marker: marker, readCount: min(count, models.inboxCount(of: user, asOf: marker)))
        }
    }
}

/// A user's inbox as of a point, by the ranks of its rows.
private final class InboxRows {
    /// The maximum number of rows that a page or a count looks at.
    static let maximumRowCount = 1_000

    let user: UserID
    let sections: SectionedQuery
    let blocked: BlockedUsers
    /// The number of rows.
    let count: Int
    /// The position up to which the user has read the inbox.
    let marker: Position
    /// The number of rows up to the marker.
    let readCount: Int
    private var names: ShownNames
    /// By position of the text of a reply: whether it is erased.
    private var erasedReplies: [Position: Bool] = [:]
    /// Whether the row that was looked at last has an entry.
    private var hasEntry = false

    init(user: UserID, sections: SectionedQuery, blocked: BlockedUsers, count: Int, marker: Position, readCount: Int) {
        (self.user, self.sections, self.blocked, self.count) = (user, sections, blocked, count)
        (self.marker, self.readCount) = (marker, readCount)
        names = ShownNames(from: sections.viewpoint)
    }

    func position(_ rank: Int) -> Position { sections.withSection { $0.inboxPosition(of: user, rank: rank) } }

    /// Returns the rows of a range in the order in which they are looked at.
    func scan(_ rows: Range<Int>) -> some IteratorProtocol<Int> {
        var scan = InboxScan(of: user, rows, except: blocked)
        return AnyIterator { [self] in
            if hasEntry { scan.countEntry() }
            hasEntry = false
            while true {
                // A section for each step, because a user may block many.
                switch sections.withSection({ $0.step(&scan) }) {
                case .row(let row): return row
                case .blocked: continue
                case .end: return nil
                }
            }
        }
    }

    fileprivate func isErased(_ reply: InboxReply, from store: ChatStore) throws(ChatError) -> Bool {
        if let isErased = erasedReplies[reply.textPosition] { return isErased }
        let isErased = try store.event(at: reply.textPosition).isErased
        erasedReplies[reply.textPosition] = isErased
        return isErased
    }

    /// Returns what a row is about, and its event; nil if it has no entry.
    func item(_ rank: Int, from store: ChatStore) throws(ChatError) -> (item: InboxItem, event: ChatEvent)? {
        let viewpoint = sections.viewpoint
        let found = sections.withSection { models in
            models.shownInboxItem(rank, of: user, except: blocked, from: viewpoint).map { item in
                (
                    item,
                    text: item.post.map {
                        models.textPosition(of: $0, includesRemoved: false, asOf: viewpoint.position)
                    }
                )
            }
        }
        guard let (item, text) = found else { return nil }
        for reply in item.laterReplies where try !isErased(reply, from: store) { return nil }
        let event = try store.event(at: item.position)
        if let text {
            // An erased post has no entries, and neither has an erased reaction.
            guard let text, try !(text == item.position ? event : store.event(at: text)).isErased else { return nil }
            if event.kind == .reactionAdded, event.isErased { return nil }
        }
        guard let actor = event.otherActor ?? event.user else { return nil }
        let isBlocked = sections.withSection { $0.isBlocked(actor, by: user, asOf: viewpoint.currentPosition) }
        hasEntry = !isBlocked
        return isBlocked ? nil : (item, event)
    }

    /// Returns the entry of a row; nil if it has none.
    func entry(_ rank: Int, from store: ChatStore) throws(ChatError) -> InboxEntry? {
        guard let (item, event) = try item(rank, from: store), let actor = event.otherActor ?? event.user else {
            return nil
        }
        let viewpoint = sections.viewpoint
        let isModeration = item.reason == .moderation
        let (thread, by, isReasonShown) = sections.withSection { models in
            (
                models.shownThread(of: item, from: viewpoint, &names),
                names.summary(of: actor, in: item.thread, at: item.position, models),
                isModeration
                    && (event.user != user || models.isReasonShown(to: user, in: item.thread, at: item.position))
            )
        }
        return InboxEntry(
            position: item.position, reason: item.reason, thread: item.thread, name: thread.name, people: thread.people,
            post: item.post,
            by: by, createdAt: event.createdAt, isUnread: item.position > marker,
            emoji: event.emoji?.text, kind: isModeration ? event.kind : nil,
            moderatorNote: isReasonShown ? event.reason : nil,
            until: isModeration ? event.until : nil)
    }
}

extension ChatEvent {
    /// The end of a mute or a ban.
    fileprivate var until: Timestamp? {
        if case .sanction(_, _, _, _, let until) = shape { until } else { nil }
    }
}

extension InboxQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<InboxEntry> {
        let user = try reader.user(orViewer: user)
        return try reader.store.withStableRanks { () throws(ChatError) in
            let rows = try reader.store.inboxRows(of: user, as: reader.viewer, asOf: reader.point)
            var found = try rows.sections.readPage(
                page, count: rows.count, reading: InboxRows.maximumRowCount, older: { rows.scan($0) },
                position: { rows.position($0 + 1) },
                { (index) throws(ChatError) in try rows.entry(index + 1, from: reader.store) })
            found.entries.reverse()
            return found
        }
    }
}

extension ChatReader {
    /// Returns a page of a user's inbox, newest entry first; by default the latest 50.
    ///
    /// The entries are replies to the messages of the user and to those that they answered,
    /// mentions, reactions to their posts, invitations, what moderators did to them, and the
    /// reports that they decide: in the threads that they moderate and, as an operator, in direct
    /// threads. An entry about a post exists only while the post does and the user may be shown it;
    /// nothing is from a user whom they block now. What the user's level of notifications silenced
    /// when it was recorded is not in it.
    ///
    /// At most 1,000 events are looked at: a page for which that is not enough has fewer entries
    /// than were asked for, and `Page.isTruncated`. A page looks at the latest 40 events of each
    /// other user first, and then at the rest of theirs (<doc:Inbox#Bounds>).
    ///
    /// - Parameters:
    ///   - user: The user whose inbox it is.
    ///   - page: The part of the list.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownUser`, and with `notAllowed` if the viewer is
    ///   another user.
    /// - Complexity: O(*m* log *n*) in the number *m* of events that are looked at; reads two
    ///   events for each entry of the page and the one before it.
    public func inbox(of user: UserID, page: PageRequest = .latest()) throws(ChatError) -> Page<InboxEntry> {
        try answer(InboxQuery(user: user, page: page))
    }

    /// Returns the number of unread entries of a user's inbox, among the latest 1,000 events that
    /// concern them.
    ///
    /// - Throws: As ``inbox(of:page:)``.
    /// - Complexity: As ``inbox(of:page:)``, for the events after the one that the user has
    ///   read.
    public func unreadInboxCount(of user: UserID) throws(ChatError) -> InboxCount {
        try store.withStableRanks { () throws(ChatError) in
            let inbox = try store.inboxRows(of: user, as: viewer, asOf: point)
            var result = InboxCount(count: 0)
            var (rows, rest) = (inbox.scan(inbox.readCount..<inbox.count), InboxRows.maximumRowCount)
            while !result.hasMore, let row = rows.next() {
                if rest == 0 {
                    result.hasMore = true
                } else if try inbox.item(row + 1, from: store) != nil {
                    result.count += 1
                }
                rest -= 1
            }
            return result
        }
    }
}
