import ChatDomain

/// An independent implementation of the rules with plain dictionaries and arrays, written from the
/// tables of rules.
///
/// The model is slow: it recomputes everything for each command. Validation of texts (names,
/// postcodes) uses the production types, which have their own tests.
struct RuleModel {
    enum Answer: Equatable {
        case appended([ChatEvent])
        case nothing
        case duplicate(first: Position, last: Position)
        case refused(Rejection.Code)
    }

    struct Refusal: Error {
        var code: Rejection.Code
    }

    struct User {
        var firstName: String
        var name: String
        var subject: String?
        var postcode: Postcode?
        var position: Position
    }

    struct Thread {
        var opener: UserID
        /// The people of a direct thread.
        var people: [UserID]?
        /// The positions of the events that opened it.
        var opened: ClosedRange<Position>
        var isOutward: Bool
        /// Whether the role `owner` exists: in named threads that were not imported.
        var canHaveOwner: Bool
        var policy: ThreadPolicy
        var history = ThreadHistory.all
        /// Whether an import opened it, under a name.
        var isImported = false
        /// The position at which it last ceased to be `inviteOnly`.
        var disclosedAt: Position = 0
        /// Every user who was ever a member.
        var everMembers: Set<UserID> = []
        /// The positions of the joins at which the history began.
        var readingStarts: [UserID: Position] = [:]
        /// The roles of the members.
        var roles: [UserID: ThreadRole] = [:]
        var invited: Set<UserID> = []
        var mutes: [UserID: End] = [:]
        var bans: [UserID: End] = [:]
        var isLocked = false
        var isClosed = false
        var pins: Set<MessageID> = []
    }

    /// The end of a sanction or a level.
    enum End: Equatable {
        case never
        case at(Timestamp)
    }

    /// What of a thread notifies a user.
    struct Level: Equatable {
        var level = NotificationLevel.all
        var end = End.never
    }

    struct Message {
        var thread: ThreadID
        var author: UserID
        var position: Position
        var retracted = false
        var removed = false
        var isWithdrawn: Bool { retracted || removed }
    }

    struct Reply {
        var message: MessageID
        var author: UserID
        var position: Position
        var retracted = false
        var removed = false
        var isWithdrawn: Bool { retracted || removed }
    }

    struct Custom {
        var thread: ThreadID
        var by: UserID
        var position: Position
    }

    struct Session {
        var user: UserID
        var position: Position
        var ended = false
    }

    var journal: [ChatEvent] = []
    var users: [UserID: User] = [:]
    var threads: [ThreadID: Thread] = [:]
    var messages: [MessageID: Message] = [:]
    var replies: [ReplyID: Reply] = [:]
    var sessions: [SessionID: Session] = [:]
    var markers: [UserID: [ThreadID: Position]] = [:]
    var levels: [UserID: [ThreadID: Level]] = [:]
    var inboxMarkers: [UserID: Position] = [:]
    var operators: Set<UserID> = []
    /// The users who reported a post, until the reports are resolved.
    var openReports: [PostID: Set<UserID>] = [:]
    /// The present reactions, in order.
    var reactions: [PostID: [Reaction]] = [:]

    struct Reaction: Equatable {
        var user: UserID
        var emoji: String
    }
    /// The users whom each user has blocked.
    var blocks: [UserID: Set<UserID>] = [:]
    var customEvents: [CustomEventID: Custom] = [:]

    var head: Position { Position(journal.count) }

    /// Answers a request and applies the resulting events.
    mutating func execute(_ request: CommandRequest, at now: Timestamp, freshID: UInt128) -> Answer {
        let before = self
        do throws(Refusal) {
            let answer = try answer(request, Draft(request, at: now, after: journal.last, freshID))
            // The rules of the envelope follow those of the command. A duplicate is a duplicate
            // whatever its envelope.
            if case .duplicate = answer { return answer }
            if let correlation = request.correlation, correlation.isEmpty || correlation.utf8.count > 256 {
                self = before
                return .refused(.invalidCorrelation)
            }
            return answer
        } catch {
            self = before
            return .refused(error.code)
        }
    }

    /// The values that all events of one command share.
    struct Draft {
        var time: Timestamp
        var origin: EventOrigin
        var correlation: String?
        /// The user who acts; nil for the host.
        var actor: UserID?
        var freshID: UInt128

        init(_ request: CommandRequest, at now: Timestamp, after last: ChatEvent?, _ freshID: UInt128) {
            time = now
            if let last, last.recordedAt > time { time = last.recordedAt }
            if time.millisecondsSince1970 < 0 { time = Timestamp(millisecondsSince1970: 0) }
            origin = request.origin
            correlation = request.correlation
            actor = request.command.actor
            self.freshID = freshID
        }

        var isImport: Bool { origin != .native }
    }

    /// Appends the events of one command.
    mutating func append(
        _ facts: [(EventDetails, EventContent)], edit: EditID? = nil, mentions: [UserID] = [], _ draft: Draft
    ) -> Answer {
        let events = facts.map { details, content in
            var event = ChatEvent(
                recordedAt: draft.time, origin: draft.origin, details: details, edit: edit, content: content,
                mentions: details.kind == .threadJoined ? [] : mentions)
            // A correlation id belongs to the user who acts.
            if draft.actor == nil || draft.actor == event.otherActor ?? event.user {
                event.correlation = draft.correlation
            }
            return event
        }
        journal += events
        return .appended(events)
    }

    /// Returns the number of the next event of a thread.
    ///
    /// Counts the events, which is the definition of the numbers.
    func next(_ thread: ThreadID, after pending: UInt64 = 0) -> UInt64 {
        var count: UInt64 = pending
        for event in journal where event.thread == thread {
            switch event.kind {
            case .postcodeSet, .threadRead, .messageReported, .replyReported, .messageReportsResolved,
                .replyReportsResolved, .threadMarkedUnread, .notificationsSet:
                continue
            default: count += 1
            }
        }
        return count + 1
    }

    func check(_ condition: Bool, _ code: Rejection.Code) throws(Refusal) {
        if !condition { throw Refusal(code: code) }
    }

    func isMember(_ user: UserID, _ thread: ThreadID) -> Bool { threads[thread]?.roles[user] != nil }

    /// 1 to 16,384 bytes, with at least one character that is not white space.
    func isBody(_ text: String) -> Bool {
        !text.utf8.isEmpty && text.utf8.count <= 16_384
            && !text.unicodeScalars.filter { !$0.properties.isWhitespace }.isEmpty
    }
}
