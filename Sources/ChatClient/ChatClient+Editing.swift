#if Client || canImport(SQLite3)
    public import ChatDomain
    public import ChatValues

    // Own posts are changed where they are: in the outbox, or at the server.
    extension ChatClient {
        /// Replaces the text of an own post: that of a command which waits or was rejected, or else
        /// by a new edit.
        ///
        /// An edit that waits for another one names no text that it replaces, because it replaces
        /// that of the other.
        ///
        /// - Throws: ``ClientError``.
        @concurrent public func edit(_ post: Post, body: String, mentions: [UserID]) async throws {
            let shown = post.isPending ? nil : post.editPosition ?? post.position
            let texts = try items(about: post.id).filter { $0.text != nil }
            let changeable = texts.filter(\.isChangeable)
            var isReplaced = false
            // The rejected post too: what was stopped with it is sent with it, and the latest text
            // is the last.
            for item in changeable
            where item.id == changeable.last?.id || item.createdPost == post.id && item.state != .queued {
                guard var request = item.request(withText: body) else { continue }
                request.command.mentions = mentions
                request.command.findsMentions = true
                // A rejected edit replaces the text that is shown.
                if item.createdPost == nil, item.state != .queued { request.command.replaces = shown }
                isReplaced = try unlessSent { try replace(item.id, by: request) }
            }
            if isReplaced { return }
            let waits = post.isPending || texts.contains { $0.state == .queued }
            try enqueue(
                CommandRequest(
                    .edit(
                        post.id, body: body, mentions: mentions, findMentions: true, replaces: waits ? nil : shown,
                        by: user)))
        }

        /// Takes an own post back: out of the outbox, with what waits about it, or else by a
        /// retraction.
        ///
        /// - Throws: ``ClientError``.
        @concurrent public func retract(_ post: Post) async throws {
            let items = try items(about: post.id)
            if items.contains(where: { $0.createdPost == post.id && $0.isChangeable }) {
                var isWithdrawn = false
                for item in items.reversed() where item.isChangeable {
                    isWithdrawn = try unlessSent { try withdraw(item.id) }
                }
                if isWithdrawn { return }
            }
            try enqueue(CommandRequest(.retract(post.id, by: user)))
        }

        /// The commands that create a post or change it.
        private func items(about post: PostID) throws(ClientError) -> [OutboxItem] {
            try copy.outbox(about: post)
        }

        /// Changes the outbox; returns false if the item was sent meanwhile.
        private func unlessSent(_ change: () throws -> Void) throws -> Bool {
            do { try change() } catch let refusal as OutboxRefusal {
                guard refusal == .alreadySent || refusal == .unknownItem else { throw refusal }
                return false
            }
            return true
        }
    }

    extension OutboxItem {
        /// Whether it can be replaced or withdrawn: it was never sent, or was rejected.
        fileprivate var isChangeable: Bool { state != .queued || !wasSent }
    }
#endif
