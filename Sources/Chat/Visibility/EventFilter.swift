public import ChatDomain

/// The conditions that an event must satisfy to be shown.
///
/// An unset condition admits every event.
public struct EventFilter: Hashable, Sendable {
    /// Only events in these threads, including read markers.
    public var threads: Set<ThreadID>?
    /// Only events by or about these users.
    public var users: Set<UserID>?
    /// Only events of these kinds.
    public var kinds: Set<EventKind>?
    /// Only custom events of these kinds of the host program.
    public var customKinds: Set<CustomKind>?
    /// Only events in the threads of these outward codes, and postcodes set within them.
    public var outwardCodes: Set<OutwardCode>?
    /// Who asks: a user gets the events that they may see, redacted for them; the host gets every
    /// event unredacted.
    ///
    /// A user sees:
    ///
    /// - their own events in full;
    /// - what moderators have done to them, with the reason;
    /// - the events of each thread that they can read now and could read at the event's position,
    ///   as a member or as an operator; in a thread with history since joining, those after their
    ///   latest join;
    /// - the outward codes of users who moved to such a thread;
    /// - the username changes of users who shared such a thread with them.
    ///
    /// Events of other users carry no correlation id, no postcode, and no text that was edited,
    /// retracted or removed later (`RecordedEvent.redacted`). The moderators of a thread also see
    /// its reports, the removed texts and the reasons. Read markers, sessions, registrations,
    /// blocks and changes as an operator of other users, and lost and unknown events, are visible
    /// to the host only. <doc:WhoIsShownWhat> has the table.
    public var viewer: Viewer
    /// Whether events that belong to no thread pass the condition on ``threads``: changes of
    /// usernames, and the viewer's own blocks and changes as an operator.
    var includesThreadlessEvents = false
    /// The kinds of events that pass the condition on ``viewer``.
    ///
    /// Live views set them: `LiveUser` shows the names of former members, and `LiveThreads` to an
    /// operator the threads that are open now. They show no event.
    var kindsWithoutViewer: Set<EventKind> = []
    /// The viewer of a live view.
    ///
    /// Its filter has no ``viewer``, because its queries check the rights.
    var liveViewer: UserID?

    /// Whether an order of an erasure passes every condition.
    ///
    /// Live views set it, because they reload after an erasure.
    var includesErasures = false

    /// Whether the follower also delivers what its viewer must no longer see (``ChatUpdates``).
    var includesNotices = false

    /// Creates a filter; without conditions it admits every event that the viewer may see.
    public init(
        as viewer: Viewer, threads: Set<ThreadID>? = nil, users: Set<UserID>? = nil, kinds: Set<EventKind>? = nil,
        customKinds: Set<CustomKind>? = nil,
        outwardCodes: Set<OutwardCode>? = nil
    ) {
        self.threads = threads
        self.users = users
        self.kinds = kinds
        self.customKinds = customKinds
        self.outwardCodes = outwardCodes
        self.viewer = viewer
    }

    /// Whether an event satisfies every condition other than ``viewer``.
    ///
    /// The viewer's condition depends on memberships, which the event does not contain.
    public func matches(_ event: ChatEvent) -> Bool {
        if includesErasures, event.isErasure { return true }
        if let kinds, !(event.kind.map(kinds.contains) ?? false) { return false }
        if let customKinds, !(event.customKind.map(customKinds.contains) ?? false) { return false }
        if let threads, !(event.thread.map(threads.contains) ?? isExemptFromThreads(event)) { return false }
        if let users, !(event.user.map(users.contains) ?? false), !(event.otherActor.map(users.contains) ?? false) {
            return false
        }
        if let outwardCodes { return event.relatedThread?.outwardCode.map(outwardCodes.contains) ?? false }
        return true
    }

    /// Whether the condition on ``threads`` does not apply to the event.
    func isExemptFromThreads(_ event: ChatEvent) -> Bool {
        guard includesThreadlessEvents else { return false }
        return switch event.kind {
        case .usernameChanged: true
        case .userBlocked, .userUnblocked, .operatorGranted, .operatorRevoked:
            event.user.map { $0 == liveViewer || viewer == .user($0) } ?? false
        default: false
        }
    }

    /// Whether the condition on ``viewer`` does not apply: the host asks, or the event is
    /// exempt.
    func isExemptFromViewer(_ event: ChatEvent) -> Bool {
        viewer == .host || includesErasures && event.isErasure || event.kind.map(kindsWithoutViewer.contains) ?? false
    }

    /// The viewer who gets notices; nil if the follower has none.
    var viewerOfNotices: UserID? { includesNotices ? viewer.user ?? liveViewer : nil }

    /// Whether an event in this thread, or in its outward code, can satisfy the filter.
    func admits(_ thread: ThreadID) -> Bool {
        if let threads, !threads.contains(thread) { return false }
        if let outwardCodes { return thread.outwardCode.map(outwardCodes.contains) ?? false }
        return true
    }
}

extension ChatEvent {
    /// Whether the event orders an erasure.
    var isErasure: Bool { kind == .userErased || kind == .contentErased }

    /// The thread of the event; for a postcode, the thread of the user's new outward code.
    var relatedThread: ThreadID? { row.relatedThreadID }
}

extension EventFilter: Codable {
    private static let threadsKey = FieldKey("threads")
    private static let usersKey = FieldKey("users")
    private static let kindsKey = FieldKey("kinds")
    private static let customKindsKey = FieldKey("customKinds")
    private static let outwardCodesKey = FieldKey("outwardCodes")
    private static let viewerKey = FieldKey("viewer")

    /// Decodes an object of conditions; a null or missing field leaves its condition unset, but the
    /// viewer is required.
    ///
    /// - Throws: `DecodingError` for an unknown field, an unknown event kind, or a malformed id,
    ///   custom kind or outward code. An ignored misspelt condition would admit every event.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try container.rejectFields(
            otherThan: [
                Self.threadsKey, Self.usersKey, Self.kindsKey, Self.customKindsKey, Self.outwardCodesKey,
                Self.viewerKey,
            ])
        threads = try container.decodeIfPresent([ThreadID].self, forKey: Self.threadsKey).map(Set.init)
        users = try container.decodeIfPresent([UserID].self, forKey: Self.usersKey).map(Set.init)
        kinds = try container.decodeIfPresent([String].self, forKey: Self.kindsKey).map { names in
            Set(
                try names.map { name in
                    guard let kind = EventKind(name: name) else {
                        throw DecodingError.dataCorruptedError(
                            forKey: Self.kindsKey, in: container,
                            debugDescription: "expected the name of an event kind, such as messagePosted")
                    }
                    return kind
                })
        }
        customKinds = try container.decodeIfPresent([CustomKind].self, forKey: Self.customKindsKey).map(Set.init)
        outwardCodes = try container.decodeIfPresent([OutwardCode].self, forKey: Self.outwardCodesKey).map(Set.init)
        viewer = try container.decode(Viewer.self, forKey: Self.viewerKey)
    }

    /// Encodes the conditions that are set, each list sorted.
    ///
    /// The form is
    /// `{"threads":[...],"users":[...],"kinds":["messagePosted"],"outwardCodes":["SW1A"]}`, with
    /// `customKinds` as names and `viewer` as the id of a user or `"host"`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try container.encodeIfPresent(threads?.sorted(), forKey: Self.threadsKey)
        try container.encodeIfPresent(users?.sorted(), forKey: Self.usersKey)
        try container.encodeIfPresent(kinds?.sorted { $0.rawValue < $1.rawValue }.map(\.name), forKey: Self.kindsKey)
        try container.encodeIfPresent(customKinds?.sorted(), forKey: Self.customKindsKey)
        try container.encodeIfPresent(outwardCodes?.map(\.description).sorted(), forKey: Self.outwardCodesKey)
        try container.encode(viewer, forKey: Self.viewerKey)
    }
}
