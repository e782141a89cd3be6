#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatValues
    import Foundation

    /// What a screen shows, as a value: the layout needs nothing else.
    struct ScreenState {
        var title = ""
        /// At the right of the title.
        var hint = ""
        var content = ScreenContent.list([], selected: 0, empty: "")
        var status = ""
        var statusStyle = TextStyle.reverse
        /// Before the line that is written.
        var prompt = "> "
        var editor = LineEditor()
        /// The question that waits for an answer, in place of the line.
        var question: String?
    }

    /// What is between the title and the status.
    enum ScreenContent {
        case list([ListRow], selected: Int?, empty: String)
        case posts(PostList)

        struct ListRow: Equatable {
            var text: String
            /// At the right.
            var detail = ""
            var style = TextStyle()
        }
    }

    /// The posts of a thread, or a message and its replies, as they are shown.
    struct PostList {
        var posts: [Post]
        var user: UserID
        /// The position of the first unread post when the thread was shown.
        var unreadFrom: Position?
        var selected: PostID?
        /// The last line that is shown; nil for the end of the posts.
        var anchor: PostAnchor?
        var hasEarlier = false
        /// In place of the posts, if there are none.
        var empty = ""
        /// Why a post of the outbox was rejected.
        var rejections: [PostID: Rejection] = [:]
        var clock = LocalClock()
        /// Whether the first post is the one that the others answer.
        var isReplies = false
    }

    /// A line of a post.
    struct PostAnchor: Hashable {
        var post: PostID
        var line: Int
    }

    /// Days and times of a time zone.
    struct LocalClock {
        private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        private static let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]

        private var calendar = Calendar(identifier: .gregorian)

        init(_ zone: TimeZone = .current) { calendar.timeZone = zone }

        private func parts(_ time: Timestamp) -> DateComponents {
            let date = Date(timeIntervalSince1970: Double(time.millisecondsSince1970) / 1_000)
            return calendar.dateComponents([.year, .month, .day, .weekday, .hour, .minute], from: date)
        }

        /// The day, such as `Sat 28 Nov 2026`.
        func day(_ time: Timestamp) -> String {
            let parts = parts(time)
            guard let weekday = parts.weekday, let day = parts.day, let month = parts.month, let year = parts.year
            else { return "" }
            return "\(Self.weekdays[weekday - 1]) \(day) \(Self.months[month - 1]) \(year)"
        }

        /// The time of the day, such as `16:05`.
        func time(_ time: Timestamp) -> String {
            let parts = parts(time)
            func digits(_ number: Int?) -> String { String((number ?? 0) + 100).suffix(2).description }
            return "\(digits(parts.hour)):\(digits(parts.minute))"
        }
    }

    extension UserSummary {
        /// The name, or a word for an erased one.
        var shownName: String { username ?? "(erased)" }
    }
#endif
