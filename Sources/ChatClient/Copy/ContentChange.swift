#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatValues

    /// What an update takes from the content of a copy, and what stands in its place.
    ///
    /// This is the one place that says which updates take texts, names or reasons away. Every table
    /// and every kept answer applies it in the transaction of the update, so that none keeps what
    /// another one has forgotten, also if nothing can be read again.
    package struct ContentChange {
        /// The posts whose text is another one, or gone.
        var posts: Set<PostID> = []
        /// Changes one of the posts; returns whether it must be read again.
        var changePost: (inout Post) -> Bool = { _ in false }
        /// Whether the posts have no text any more, and so no entries in the inbox.
        var endsPosts = false
        /// The names that users have now; nil for one that is erased or withheld.
        var names: [UserID: String?] = [:]
        /// The names that threads have now, likewise.
        var threadNames: [ThreadID: String?] = [:]
        /// The user's postcode from now on; nil if it is erased.
        var postcodes: [UserID: Postcode?] = [:]
        /// The users whom the user of the copy blocks from now on, or no more.
        var blocks: [UserID: Bool] = [:]
        /// The events whose content is gone.
        var positions = PositionSet()
        /// The threads of which the user may be shown nothing any more.
        var lostThreads: Set<ThreadID> = []
        /// The threads to which the user is not invited any more.
        var endedInvitations: Set<ThreadID> = []
        /// The threads in which the user is not muted, or not banned any more: whether the reason
        /// is still shown is read again.
        var endedSanctions: [ThreadID: EventKind] = [:]
        /// The reaction that was withdrawn.
        var withdrawn: (post: PostID, by: UserID, emoji: String)?

        /// Returns nil for an update that takes nothing away.
        ///
        /// - Parameters:
        ///   - update: The update.
        ///   - user: The user of the copy.
        init?(_ update: FollowedUpdate, of user: UserID) {
            self.init()
            switch update {
            case .event(let event):
                guard let change = Self(event.recorded, of: user) else { return nil }
                self = change
            case .erased(let content, _): erase(content)
            case .accessLost(let thread, _): lostThreads = [thread]
            }
        }

        /// Returns nil for an event that takes nothing away.
        init?(_ event: RecordedEvent, of user: UserID) {
            self.init()
            switch event.kind {
            case .messageEdited, .replyEdited:
                change(event.post) { post in
                    guard event.position > post.editPosition ?? post.position, !post.isRetracted, !post.isRemoved else {
                        return false
                    }
                    (post.body, post.mentions) = (event.body, event.mentions)
                    // A text that is withheld was changed since: it is read again.
                    guard event.body != nil else { return true }
                    (post.editedAt, post.editPosition) = (event.recordedAt, event.position)
                    return false
                }
            case .messageRetracted, .replyRetracted:
                change(event.post) { post in
                    (post.body, post.reactions, post.mentions, post.isRetracted) = (nil, [], [], true)
                    return false
                }
                endsPosts = true
            case .messageRemoved, .replyRemoved:
                change(event.post) { post in
                    (post.body, post.reactions, post.mentions, post.isRemoved) = (nil, [], [], true)
                    return false
                }
                endsPosts = true
            case .reactionRemoved:
                guard let post = event.post, let by = event.user, let emoji = event.event.emoji?.text else {
                    return nil
                }
                withdrawn = (post, by, emoji)
                change(post) { post in
                    // Others can have the same one, until they withdraw it too: one fewer for each
                    // that does. The counts are read again.
                    for index in post.reactions.indices where post.reactions[index].emoji == emoji {
                        post.reactions[index].count -= 1
                    }
                    post.reactions.removeAll { $0.count < 1 }
                    return true
                }
            case .usernameChanged: if let renamed = event.user { names[renamed] = .some(event.username?.text) }
            case .threadRenamed: if let thread = event.thread { threadNames[thread] = .some(event.event.threadName) }
            case .postcodeSet: if event.user == user { postcodes[user] = .some(event.event.postcode) }
            case .userBlocked, .userUnblocked:
                guard case .block(let blocked, by: user) = event.shape else { return nil }
                blocks[blocked] = event.kind == .userBlocked
            case .invitationDeclined, .invitationRevoked, .userBanned:
                guard event.user == user, let thread = event.thread else { return nil }
                endedInvitations = [thread]
            case .userUnmuted, .userUnbanned:
                guard event.user == user, let thread = event.thread else { return nil }
                endedSanctions[thread] = event.kind == .userUnmuted ? .userMuted : .userBanned
            default: return nil
            }
        }

        private init() {}

        private mutating func erase(_ content: ErasedContent) {
            posts = Set(content.posts)
            changePost = { post in
                // An erased reaction does not say which one it was.
                (post.body, post.reactions, post.mentions) = (nil, [], [])
                return true
            }
            endsPosts = true
            for user in content.namelessUsers { (names[user], postcodes[user]) = (.some(nil), .some(nil)) }
            for thread in content.namelessThreads { threadNames[thread] = .some(nil) }
            positions = content.positions
        }

        private mutating func change(_ post: PostID?, _ change: @escaping (inout Post) -> Bool) {
            if let post { posts = [post] }
            changePost = change
        }

        /// The names that a page has shown, where the copy had other ones.
        init(names: [UserID: String?]) { self.names = names }

        /// The ids of which an answer must have one to be concerned; nil if any can be.
        var ids: [String]? {
            guard positions.isEmpty else { return nil }
            var ids = posts.map(\.idText)
            for users in [Array(names.keys), Array(postcodes.keys), Array(blocks.keys)] {
                ids += users.map(\.description)
            }
            for threads in [
                Array(threadNames.keys), Array(lostThreads), Array(endedInvitations), Array(endedSanctions.keys),
            ] {
                ids += threads.map(\.description)
            }
            return ids
        }

        // MARK: What is shown

        func change(_ user: inout UserSummary) { if let name = names[user.id] { user.username = name } }

        func change(_ people: inout [UserSummary]?) {
            people = people?.map { person in
                var person = person
                change(&person)
                return person
            }
        }

        func change(_ name: inout String?, of thread: ThreadID) {
            if let current = threadNames[thread] { name = current }
        }

        func change(_ post: inout Post) {
            change(&post.author)
            if let isBlocked = blocks[post.author.id] { post.isFromBlockedUser = isBlocked }
            if posts.contains(post.id) { _ = changePost(&post) }
        }
    }
#endif
