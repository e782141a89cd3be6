package import Columns

/// The part of ``ChatState`` that the rules keep, as columns by the indexes of ``Identities``.
package struct RuleState: Equatable, Sendable {
    /// The position of the last applied event, or 0 before the first.
    package internal(set) var head: Position = 0
    /// The latest recording time since the last correction of the clock; only a correction is
    /// recorded earlier.
    package internal(set) var lastRecordedAt = Timestamp(millisecondsSince1970: 0)
    /// Whether the last event was lost: it may have been a correction, so the next one may be
    /// earlier.
    package internal(set) var isAfterLoss = false
    /// Whether an event of an unknown kind was applied; the rules of a newer version may hold.
    package internal(set) var hasUnknownEvents = false
    /// The number of lost events.
    package internal(set) var lostEventCount = 0

    /// The users, by index.
    package internal(set) var users = Column<UserRow>()
    /// The threads, by index.
    package internal(set) var threads = Column<ThreadRow>()
    /// The memberships, by index.
    package internal(set) var memberships = MembershipTable()
    /// By fold key: the index + 1 of the user with that username now, or 0.
    package internal(set) var usernameOwners = Column<UInt32>()
    /// By subject: the index + 1 of the user who registered with it, or 0.
    package internal(set) var subjectOwners = Column<UInt32>()
    /// By post: the raw value of its ``PostMarks``.
    package internal(set) var postMarks = PostTables(MostlyZeroColumn<UInt8>())
    /// The sessions, by index.
    package internal(set) var sessions = Column<SessionRow>()
    /// Sanctions, operators, blocks and reports.
    package internal(set) var community: CommunityState {
        _read { yield rareStorage[0] }
        _modify { yield &rareStorage[0] }
    }
    /// One element, behind a reference: the rules are moved for each command, and few commands
    /// change this part.
    private var rareStorage = [CommunityState()]

    /// Creates the state before the first event.
    package init() {}
}

/// A user, who is unregistered if the registration was lost.
package struct UserRow: Sendable, Hashable {
    /// The position of the registration, or 0 if it was lost.
    package var registeredAt: Position = 0
    /// The current postcode, or nil if none is set or it was erased.
    package var postcode: Postcode?
    /// The current username as the user wrote it.
    package var username: String?
    /// The index + 1 of the current username's fold key, or 0.
    package var oneBasedFoldKey: UInt32 = 0
    /// The index + 1 of the fold key at registration, or 0 once erased.
    ///
    /// Identifies a repeated registration.
    package var oneBasedFoldKeyAtRegistration: UInt32 = 0
    /// The index + 1 of the thread of the user's current outward code, or 0.
    package var oneBasedResidence: UInt32 = 0
    /// The index + 1 of the subject that the user owns, or 0; not stored, because it follows from
    /// the owners of the subjects.
    package var oneBasedSubject: UInt32 = 0
    /// Whether the user's content was erased.
    package var isErased = false
}

/// A thread, which is not open if its opening was lost.
package struct ThreadRow: Sendable, Hashable {
    /// The position of the opening, or 0 if it was lost.
    package var openedAt: Position = 0
    /// The number of the thread's last event.
    package var lastEventNumber: UInt64 = 0
    /// The index of the opener.
    package var openedBy = 0
    /// The policy that was set last; the thread of an outward code has another one.
    package var policy = ThreadPolicy.open
    /// The posts that users who join from now on may read.
    package var history = ThreadHistory.all
    /// The position at which the thread last ceased to be `inviteOnly`, or 0.
    package var disclosedAt: Position = 0
    /// Whether the opening set a policy.
    package var wasOpenedWithPolicy = false
    /// Whether the thread takes no posts and joins for now.
    package var isLocked = false
    /// Whether the thread takes no posts and joins for good.
    package var isClosed = false
    /// Whether the thread can have owners: a named thread that was not imported.
    package var canHaveOwners = false
    /// Whether the next join is the one of the opening, which makes the opener the owner.
    package var awaitsOpener = false
    /// The largest number of that join in its thread: only a policy can stand between it and the
    /// opening.
    ///
    /// A later one of the opener, if that one is lost, makes nobody the owner.
    package static let maximumNumberOfOpenersJoin: UInt64 = 3
    /// The number of owners.
    package var ownerCount: UInt32 = 0
    /// The number of pinned messages.
    package var pinCount: UInt32 = 0
    /// The index + 1 of the first member other than the opener, or 0.
    package var oneBasedSecondMember: UInt32 = 0
    /// Whether more than two users were ever members.
    package var hadThreeMembers = false
    /// Whether it is the direct thread of a set of people.
    package var isDirect = false
    /// Whether it is the direct thread of three people or more.
    package var isGroup = false
    /// Whether it is the thread of an outward code; not stored, because it follows from the id.
    package var isDistrict = false
}

/// The marks of a message or a reply.
package struct PostMarks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Its author has retracted it.
    package static let retracted = PostMarks(rawValue: 1)
    /// A moderator has removed it.
    package static let removed = PostMarks(rawValue: 2)
    /// It is pinned; only messages are.
    package static let pinned = PostMarks(rawValue: 4)

    /// The marks of a *withdrawn* post: it has no text any more, and takes no edits and replies.
    static let withdrawn: PostMarks = [.retracted, .removed]

    /// Whether the post is withdrawn: retracted or removed.
    package var isWithdrawn: Bool { !isDisjoint(with: .withdrawn) }
}

/// A session.
package struct SessionRow: Sendable, Hashable, BitwiseCopyable {
    /// The position of the event that started the session.
    package var startedAt: Position
    /// The index of the user.
    package var user: UInt32
    /// Whether the session has ended.
    package var hasEnded = false
}
