import Columns

/// The role, sanctions and invitation of a user in a thread.
package struct Standing: Hashable, Sendable, BitwiseCopyable {
    /// The role's code in the lowest two bits, 0 for a user who is no member, and a bit for each
    /// mark; that of a former membership, which many have, is the lowest.
    package private(set) var rawValue: UInt8

    package init(rawValue: UInt8 = 0) { self.rawValue = rawValue }

    /// Whether the user is a member.
    package var isMember: Bool { rawValue & 3 != 0 }

    /// The role; nil if the user is no member.
    package var role: ThreadRole? {
        get {
            switch rawValue & 3 {
            case 1: .member
            case 2: .moderator
            case 3: .owner
            default: nil
            }
        }
        set {
            if newValue == nil, isMember { rawValue |= 4 }
            rawValue = rawValue & ~3 | UInt8(newValue?.code ?? 0)
        }
    }

    /// Whether the user is or was a member.
    package var hasBeenMember: Bool { rawValue & 7 != 0 }

    /// Whether the user can be muted and banned: they are or were a member, or are invited.
    package var isSanctionable: Bool { hasBeenMember || isInvited }

    /// Whether the user has a mute, whose end may have passed.
    package var hasMute: Bool {
        get { rawValue & 8 != 0 }
        set { rawValue = newValue ? rawValue | 8 : rawValue & ~8 }
    }

    /// Whether the user has a ban, whose end may have passed.
    package var hasBan: Bool {
        get { rawValue & 16 != 0 }
        set { rawValue = newValue ? rawValue | 16 : rawValue & ~16 }
    }

    /// Whether the user is invited.
    package var isInvited: Bool {
        get { rawValue & 32 != 0 }
        set { rawValue = newValue ? rawValue | 32 : rawValue & ~32 }
    }

    /// Whether the user has a sanction, whose end may have passed.
    package func has(_ kind: SanctionKind) -> Bool { kind == .mute ? hasMute : hasBan }

    /// The number of raw values.
    static let valueCount = 64
}

/// The kinds of sanctions.
package enum SanctionKind: Sendable {
    /// The user may not write.
    case mute
    /// The user may not be a member.
    case ban
}

/// The memberships by index.
///
/// The standings are packed: three bits each in a piece of plain members and former members.
package struct MembershipTable: Sendable, Equatable {
    private var readMarkers = MostlyZeroColumn<Position>()
    /// The positions of the events that moved the marker forward and back last, or 0.
    private var forwardMoves = MostlyZeroColumn<Position>()
    private var backwardMoves = MostlyZeroColumn<Position>()
    private var standings = PackedColumn<UInt8>()
    /// The index + 1 of the newest message that the user wrote in the thread or replied to, or 0.
    private var newestMessages = Column<UInt32>()
    /// By user: their memberships; not stored, because they follow from the identities.
    private var ofUser = RowLists()

    /// The number of memberships.
    package var count: Int { standings.count }

    /// Returns the position of a read marker, or 0.
    package func readUpTo(_ membership: Int) -> Position { readMarkers[membership] }

    /// Returns a user's standing in a thread.
    package func standing(_ membership: Int) -> Standing { Standing(rawValue: standings[membership]) }

    /// Returns the position of the event that moved a read marker forward last, or 0.
    func markedReadAt(_ membership: Int) -> Position { forwardMoves[membership] }

    /// Returns the position of the event that moved a read marker back last, or 0.
    func markedUnreadAt(_ membership: Int) -> Position { backwardMoves[membership] }

    /// Moves a read marker.
    ///
    /// - Parameters:
    ///   - isForward: Whether the event says so, whatever the marker was.
    ///   - position: The position of the event.
    mutating func setReadUpTo(_ marker: Position, _ membership: Int, isForward: Bool, at position: Position) {
        readMarkers[membership] = marker
        if isForward { forwardMoves[membership] = position } else { backwardMoves[membership] = position }
    }

    mutating func setStanding(_ standing: Standing, _ membership: Int) { standings[membership] = standing.rawValue }

    /// Returns the newest message that a user wrote in a thread or replied to; nil without any.
    func newestMessage(_ membership: Int) -> Int? {
        let link = newestMessages[membership]
        return link > 0 ? Int(link) - 1 : nil
    }

    /// Records that a user wrote a message or replied to it.
    @inline(__always)
    mutating func addPost(of message: Int, _ membership: Int) {
        if Int(newestMessages[membership]) <= message {
            newestMessages[membership] = UInt32(truncatingIfNeeded: message + 1)
        }
    }

    mutating func append(of user: Int) {
        readMarkers.appendZero()
        forwardMoves.appendZero()
        backwardMoves.appendZero()
        newestMessages.append(0)
        standings.append(0)
        ofUser.append(to: user)
    }

    /// Returns the newest membership of a user; nil without any.
    func last(of user: Int) -> Int? { ofUser.last(of: user) }

    /// Returns the membership of the same user before another one.
    func membership(before membership: Int) -> Int? { ofUser.row(before: membership) }
}

extension MembershipTable {
    /// Visits the memberships of these pairs.
    ///
    /// - Parameter messages: The number of messages.
    mutating func visit(_ visitor: inout ColumnVisitor, _ pairs: PairInterner, messages: Int)
        throws(ColumnError)
    {
        let count = pairs.count
        try readMarkers.visit(&visitor, rows: count)
        try forwardMoves.visit(&visitor, rows: count)
        try backwardMoves.visit(&visitor, rows: count)
        try standings.visit(&visitor, rows: count, below: Standing.valueCount)
        try newestMessages.visit(&visitor, rows: count, below: messages + 1)
        if visitor.isReading {
            for membership in 0..<count { ofUser.append(to: pairs.pair(membership).first) }
        }
    }
}
