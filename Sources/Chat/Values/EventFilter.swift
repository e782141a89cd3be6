public import ChatDomain

/// Which events to show: those that satisfy every condition that is set.
public struct EventFilter: Hashable, Sendable {
    /// Only events of these threads, and the read markers in them.
    public var threads: Set<ThreadID>?
    /// Only events by or about these users.
    public var users: Set<UserID>?
    /// Only events of these kinds.
    public var kinds: Set<EventKind>?
    /// Only events of these outward codes: those of their threads, and of users who set a postcode there.
    public var outwardCodes: Set<OutwardCode>?
    /// Only what this user may be shown, as they may be shown it; nil for the operator or the auditor, who are shown everything in its raw form.
    ///
    /// Users are shown their own events whole. Of others they are shown the events of the threads of which they are members now and were members at the event's own
    /// position, the outward codes of those who moved to such a thread, and the changes of username of those who shared such a thread with them. There they are shown no
    /// correlation id, no postcode, and no text that has been retracted or changed since (``ChatDomain/RecordedEvent/redacted``). Read markers, sessions and registrations
    /// of others, and lost and unknown events, are the operator's alone. <doc:WhoIsShownWhat> has the table.
    public var viewer: UserID?
    /// Whether changes of usernames pass whatever their threads and the viewer: for live views, which show the names of former members, and none of an event.
    var includesUsernames = false

    /// Makes a filter; without conditions it lets everything pass.
    public init(
        threads: Set<ThreadID>? = nil, users: Set<UserID>? = nil, kinds: Set<EventKind>? = nil, outwardCodes: Set<OutwardCode>? = nil,
        viewer: UserID? = nil
    ) {
        self.threads = threads
        self.users = users
        self.kinds = kinds
        self.outwardCodes = outwardCodes
        self.viewer = viewer
    }

    /// Whether a fact satisfies all conditions but that of the viewer, for which the fact alone does not say enough.
    public func matches(_ details: EventDetails) -> Bool {
        if let kinds, !(details.kind.map(kinds.contains) ?? false) { return false }
        if let threads, !(details.thread.map(threads.contains) ?? passesThreads(details)) { return false }
        if let users, !(details.user.map(users.contains) ?? false) { return false }
        if let outwardCodes { return details.place?.outwardCode.map(outwardCodes.contains) ?? false }
        return true
    }

    /// Whether a fact passes the condition of threads and that of the viewer whatever they are.
    func passesThreads(_ details: EventDetails) -> Bool {
        if includesUsernames, case .usernameChanged = details { true } else { false }
    }

    /// Whether events that happen in a thread, or in its outward code, can satisfy the filter.
    func admits(_ thread: ThreadID) -> Bool {
        if let threads, !threads.contains(thread) { return false }
        if let outwardCodes { return thread.outwardCode.map(outwardCodes.contains) ?? false }
        return true
    }
}

extension EventDetails {
    /// The thread in which it happened; for a postcode that of the outward code in which the user lives from then on.
    var place: ThreadID? {
        if case .postcodeSet(let details) = self { return details.thread }
        return thread
    }
}

extension EventFilter: Codable {
    private static let threadsKey = FieldKey("threads")
    private static let usersKey = FieldKey("users")
    private static let kindsKey = FieldKey("kinds")
    private static let outwardCodesKey = FieldKey("outwardCodes")
    private static let viewerKey = FieldKey("viewer")

    /// Reads an object of the conditions that are set; one that is null or left out is not.
    ///
    /// - Throws: `DecodingError` for a field that there is not, since a misspelt condition would let everything pass; for a kind that this version does not know; and for what
    ///   is no id or outward code.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try container.rejectFields(
            otherThan: [Self.threadsKey, Self.usersKey, Self.kindsKey, Self.outwardCodesKey, Self.viewerKey])
        threads = try container.decodeIfPresent([ThreadID].self, forKey: Self.threadsKey).map(Set.init)
        users = try container.decodeIfPresent([UserID].self, forKey: Self.usersKey).map(Set.init)
        kinds = try container.decodeIfPresent([String].self, forKey: Self.kindsKey).map { names in
            Set(
                try names.map { name in
                    guard let kind = EventKind(name: name) else {
                        throw DecodingError.dataCorruptedError(
                            forKey: Self.kindsKey, in: container, debugDescription: "not a kind of event, such as messagePosted")
                    }
                    return kind
                })
        }
        outwardCodes = try container.decodeIfPresent([OutwardCode].self, forKey: Self.outwardCodesKey).map(Set.init)
        viewer = try container.decodeIfPresent(UserID.self, forKey: Self.viewerKey)
    }

    /// Writes `{"threads":[...],"users":[...],"kinds":["messagePosted"],"outwardCodes":["SW1A"],"viewer":"..."}` without the conditions that are not set, each list in
    /// order.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try container.encodeIfPresent(threads?.sorted(), forKey: Self.threadsKey)
        try container.encodeIfPresent(users?.sorted(), forKey: Self.usersKey)
        try container.encodeIfPresent(kinds?.sorted { $0.rawValue < $1.rawValue }.map(\.name), forKey: Self.kindsKey)
        try container.encodeIfPresent(outwardCodes?.map(\.description).sorted(), forKey: Self.outwardCodesKey)
        try container.encodeIfPresent(viewer, forKey: Self.viewerKey)
    }
}
