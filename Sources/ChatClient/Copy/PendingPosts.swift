#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatValues
    internal import LocalStorage

    // What waits in the outbox, as posts.
    extension Database<ClientError> {
        /// The posts of the outbox in a list, in the order of sending, after all others.
        func pendingPosts(in list: PostList, of user: UserID) throws(ClientError) -> [Post] {
            // A page can have a post before its command is answered.
            let items = try outboxItems(
                "WHERE list = ? AND NOT EXISTS (SELECT 1 FROM posts WHERE id = creates) ORDER BY number LIMIT 1000",
                list.key)
            return try posts(of: items, by: user)
        }

        func pendingPost(_ id: PostID, of user: UserID) throws(ClientError) -> Post? {
            try posts(of: outboxItems("WHERE creates = ? AND list IS NOT NULL", id.value), by: user).first
        }

        private func posts(of items: [OutboxItem], by user: UserID) throws(ClientError) -> [Post] {
            guard !items.isEmpty else { return [] }
            let author = try ownName(user) ?? UserSummary(id: user)
            return try showing(items.compactMap { Post($0, by: author) }, of: user)
        }

        /// Returns posts with the edits, retractions and reactions that wait, and with the name that
        /// the user takes.
        func showing(_ posts: [Post], of user: UserID) throws(ClientError) -> [Post] {
            guard try !run("SELECT 1 FROM outbox LIMIT 1").isEmpty else { return posts }
            let name = try waitingName()
            return try posts.map { post throws(ClientError) in
                var post = post
                if let name, post.author.id == user { post.author.username = name }
                for item in try outboxItems("WHERE needs = ? AND rejection IS NULL ORDER BY number", post.id.value) {
                    post.show(item)
                }
                return post
            }
        }
    }

    extension Post {
        /// The post of an item that waits.
        fileprivate init?(_ item: OutboxItem, by author: UserSummary) {
            let command = item.request.command
            guard let id = command.createdPost else { return nil }
            let message: MessageID
            switch (id, command.postID) {
            case (.message(let own), _): message = own
            case (.reply, .message(let answered)): message = answered
            case (.reply, .reply): return nil
            }
            self.init(
                id: id, position: .firstPending + Position(item.id), thread: id.isReply ? nil : command.threadID,
                message: message,
                author: author, body: command.text, createdAt: item.writtenAt, isRetracted: false, replyCount: 0,
                mentions: command.mentions)
        }
    }
#endif
