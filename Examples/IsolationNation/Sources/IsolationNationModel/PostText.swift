#if Client || canImport(SQLite3)
    public import ChatClient

    /// What a screen shows as the text of a post.
    public enum PostText: Hashable, Sendable {
        /// The text that its author wrote.
        case written(String)
        /// A moderator has removed the post.
        case removed
        /// The author has retracted the post.
        case retracted
        /// The user blocks the author. The post has its text, which a screen must not show.
        case blocked
        /// The text was erased.
        case unavailable
    }

    extension Post {
        /// What a screen shows as the text.
        public var shownText: PostText {
            if isRemoved { return .removed }
            if isRetracted { return .retracted }
            if isFromBlockedUser { return .blocked }
            return body.map(PostText.written) ?? .unavailable
        }
    }
#endif
