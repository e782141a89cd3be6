#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The messages of a thread, or the replies to a message.
    @MainActor @Observable public final class PostsModel {
        /// What the posts belong to.
        public enum Place: Hashable, Sendable {
            case thread(ThreadID)
            case replies(MessageID)
        }

        /// What the posts belong to.
        public let place: Place
        /// What the user is writing.
        public var draft = ""
        /// What went wrong.
        public var notice: Notice?
        /// Whether an earlier page is being read.
        public private(set) var isLoadingEarlier = false

        @ObservationIgnored private let chat: any UserChat
        private let outbox: OutboxModel
        private let timeline: LiveTimeline

        init(_ chat: any UserChat, _ outbox: OutboxModel, _ place: Place) {
            (self.chat, self.outbox, self.place) = (chat, outbox, place)
            switch place {
            case .thread(let thread): timeline = chat.liveTimeline(of: thread)
            case .replies(let message): timeline = chat.liveReplies(to: message)
            }
        }

        /// The posts, oldest first; those that wait are last.
        public var rows: [PostRow] {
            var items: [PostID: [OutboxItem]] = [:]
            for item in outbox.items { if let post = item.post { items[post, default: []].append(item) } }
            return timeline.messages.map { PostRow(post: $0, items: items[$0.id] ?? [], isMine: $0.author.id == chat.user) }
        }

        /// Whether earlier posts can be read.
        public var hasEarlier: Bool { timeline.hasEarlier }
        /// Whether nothing has been read yet.
        public var isLoading: Bool { if case .loading = timeline.state { true } else { false } }
        /// Why the posts are no longer kept current.
        public var failure: Notice? { timeline.state.error.map { Notice(failure: $0) } }

        /// Keeps the posts current until the task is cancelled.
        public func follow() async { await timeline.follow() }

        /// Reads an earlier page.
        public func loadEarlier() async {
            guard !isLoadingEarlier else { return }
            isLoadingEarlier = true
            defer { isLoadingEarlier = false }
            do { try await timeline.loadEarlier() } catch { notice = Notice(error) }
        }

        // MARK: Writing

        /// Posts the draft.
        public func post() async {
            let text = draft
            guard !text.isBlank else { return }
            draft = ""
            let isKept =
                switch place {
                case .thread(let thread): await send(.postMessage(thread: thread, author: chat.user, body: text))
                case .replies(let message): await send(.reply(message: message, author: chat.user, body: text))
                }
            // Nothing that the user wrote is lost.
            if !isKept, draft.isEmpty { draft = text }
        }

        /// Replaces the text of an own post, wherever it is: at the server, or in the outbox.
        public func edit(_ row: PostRow, _ text: String) async {
            guard !text.isBlank else { return }
            let changeable = row.items.last { $0.text != nil && ($0.rejection != nil || !$0.wasSent) }
            if let changeable, outbox.setText(text, of: changeable) { return }
            // A text that another device wrote meanwhile is not replaced unseen. What waits has no position yet.
            let waits = row.post.isPending || row.items.contains { $0.kind == "edit" && $0.rejection == nil }
            let replaces = waits ? nil : row.post.editPosition ?? row.post.position
            await send(.edit(row.id, by: chat.user, body: text, mentions: row.post.mentions, replaces: replaces))
        }

        /// Takes an own post back: out of the outbox, or at the server.
        public func retract(_ row: PostRow) async {
            let withdrawable = row.items.first { $0.createdPost != nil && ($0.rejection != nil || !$0.wasSent) }
            if let withdrawable, outbox.withdraw(withdrawable) { return }
            await send(.retract(row.id, by: chat.user))
        }

        /// Adds a reaction, or takes the user's own one back.
        public func toggle(_ emoji: String, on row: PostRow) async {
            let isMine = row.post.reactions.contains { $0.emoji == emoji && $0.isMine }
            await send(isMine ? .unreact(row.id, by: chat.user, emoji: emoji) : .react(row.id, by: chat.user, emoji: emoji))
        }

        /// Sends what was rejected of a post again.
        public func retry(_ row: PostRow) { for item in row.items where item.rejection != nil { outbox.retry(item) } }

        /// Takes what was rejected of a post back.
        public func dismiss(_ row: PostRow) { for item in row.items where item.rejection != nil { outbox.withdraw(item) } }

        // MARK: The thread

        /// Moves the read marker to the last message.
        ///
        /// - Parameter thread: The thread as the user's list has it.
        public func markRead(_ thread: UserThread) async {
            guard case .thread(thread.id) = place, thread.unreadCount > 0,
                let last = timeline.messages.last(where: { !$0.isPending })?.position, last > thread.readUpTo
            else { return }
            await send(.markRead(user: chat.user, thread: thread.id, upTo: last))
        }

        /// Reports a post to the moderators.
        public func report(_ row: PostRow, reason: String) async { await send(.report(row.id, by: chat.user, reason: reason)) }

        @discardableResult private func send(_ command: ChatCommand) async -> Bool {
            await chat.send(command) { notice = $0 }
        }
    }

    /// A post, and what of the outbox is about it.
    public struct PostRow: Identifiable, Sendable {
        /// The post as it is shown, with the edits that wait.
        public var post: Post
        /// The commands of the outbox about it, in the order of sending.
        public var items: [OutboxItem]
        /// Whether the user wrote it.
        public var isMine: Bool

        /// The id of the post, which stays when the server has it.
        public var id: PostID { post.id }

        /// Whether something about it waits for the server.
        public var isWaiting: Bool { rejection == nil && (post.isPending || !items.isEmpty) }

        /// Why the post, or a change of it, was rejected.
        public var rejection: Notice? { items.lazy.compactMap(\.rejection).first.map { Notice($0) } }

        /// Whether it can be edited.
        public var canEdit: Bool { isMine && !post.isRetracted && !post.isRemoved && post.body != nil }
    }

    extension String {
        /// Whether it has nothing but white space.
        var isBlank: Bool { allSatisfy(\.isWhitespace) }
    }
#endif
