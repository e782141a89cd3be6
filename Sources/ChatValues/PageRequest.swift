public import ChatDomain

/// A range of a list ordered by position; the page is returned oldest entry first.
///
/// Without bounds, or with ``before`` alone, the page holds the latest entries (before that
/// position). With ``after`` it holds the earliest entries after that position. With ``around`` it
/// holds entries on both sides of a position, including the entry at it. ``before`` and ``after``
/// are exclusive, so the first and last positions of a page are the bounds of the adjacent pages. A
/// page does not shift while messages arrive.
///
/// Bounds can be combined. With ``before`` and ``after`` the page holds the earliest entries
/// between them. With ``around`` and a bound, the halves end at the bound, and a centre beyond it
/// counts as the bound.
public struct PageRequest: Hashable, Sendable, Codable {
    /// The maximum number of entries; a negative limit counts as 0.
    public var limit: Int
    /// The exclusive upper bound; nil for none.
    public var before: Position?
    /// The exclusive lower bound; the page then holds the earliest entries after it.
    public var after: Position?
    /// The centre of the page: half of the entries precede it, half start at it.
    ///
    /// With an odd limit, the later half is larger. A short half is not compensated by the other
    /// half, so the earlier half stays stable while messages arrive. The position may be that of
    /// any event, such as an edit or the last event before a time.
    public var around: Position?

    /// The limits of a page that a server answers.
    package static let answerLimits = 1...200

    /// Every entry of a list.
    public static let all = latest(.max)

    /// Returns the request of the latest entries.
    public static func latest(_ limit: Int = 50) -> PageRequest { PageRequest(limit: limit) }

    /// Returns the request of the latest entries before a position.
    public static func before(_ position: Position, limit: Int = 50) -> PageRequest {
        PageRequest(limit: limit, before: position)
    }

    /// Returns the request of the earliest entries after a position.
    public static func after(_ position: Position, limit: Int = 50) -> PageRequest {
        PageRequest(limit: limit, after: position)
    }

    /// Returns the request of the entries on both sides of a position.
    public static func around(_ position: Position, limit: Int = 50) -> PageRequest {
        PageRequest(limit: limit, around: position)
    }

    /// Creates a request with several bounds, or with bounds that are optional.
    public init(limit: Int = 50, before: Position? = nil, after: Position? = nil, around: Position? = nil) {
        self.limit = limit
        self.before = before
        self.after = after
        self.around = around
    }
}
