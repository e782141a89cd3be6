#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues
    import Foundation
    import Observation

    /// The outbox of a client, as far as a screen uses it.
    protocol ChatOutbox {
        func outbox(after item: OutboxItem.ID, limit: Int) throws(ClientError) -> [OutboxItem]
        var pendingCount: Int { get throws(ClientError) }
        func withdraw(_ item: OutboxItem.ID) throws
        func replace(_ item: OutboxItem.ID, by request: CommandRequest) throws
        func connectNow()
    }

    extension ChatClient: ChatOutbox {}

    /// The chat of a user on the screen of a terminal: keys in, a state out.
    @MainActor @Observable final class ScreenModel {
        /// What the screen shows.
        enum Place: Hashable {
            case threads, inbox, outbox, directory, help
            case timeline(ThreadID)
            case replies(MessageID, ThreadID)
            case members(ThreadID)
        }

        /// Why the screen ends.
        enum End: Equatable { case quit, signOut }

        /// What an answer of yes does.
        struct Question {
            var text: String
            var action: @MainActor () async throws -> Void
        }

        /// What the line replaces when it is sent.
        enum Target: Equatable {
            case post(PostID, replaces: Position)
            case item(OutboxItem)
        }

        /// The most items of the outbox that are listed.
        static let mostItems = 200

        let chat: any UserChat
        @ObservationIgnored let outbox: (any ChatOutbox)?
        let user: LiveUser
        let inbox: LiveInbox
        @ObservationIgnored let clock: LocalClock

        var size = Terminal.Size(rows: 24, columns: 80)
        var connection: ConnectionState?
        private(set) var place = Place.threads
        var editor = LineEditor()
        /// The entry of a list.
        var selectedRow = 0
        var selectedPost: PostID?
        var anchor: PostAnchor?
        /// What has happened, until the next key.
        var notice: String?
        var question: Question?
        var target: Target?
        /// The view of the messages or the replies that are shown.
        private(set) var posts: LiveTimeline?
        /// The message whose replies are shown.
        private(set) var root: Post?
        /// The position of the first unread post when the thread was shown.
        private(set) var unreadFrom: Position?
        /// The items of the outbox that the user wrote, and how many wait.
        private(set) var items: [OutboxItem] = []
        private(set) var pendingCount = 0
        /// The entries of the directory, or the members of the thread.
        var directory: [DirectoryEntry] = []
        var members: [ThreadMember] = []
        private(set) var end: End?

        /// The lines that were not sent, by place.
        @ObservationIgnored private var drafts: [Place: LineEditor] = [:]
        @ObservationIgnored private var following: Task<Void, Never>?
        @ObservationIgnored private let work: AsyncStream<@MainActor () async throws -> Void>
        @ObservationIgnored private let workContinuation: AsyncStream<@MainActor () async throws -> Void>.Continuation
        /// The last post that was seen at the last tick.
        @ObservationIgnored var seen: (place: Place, position: Position)?
        /// What was marked as read, by place.
        @ObservationIgnored var markedRead: [Place: Position] = [:]

        init(_ chat: any UserChat, outbox: (any ChatOutbox)? = nil, clock: LocalClock = LocalClock()) {
            (self.chat, self.outbox, self.clock) = (chat, outbox, clock)
            (user, inbox) = (chat.liveUser(), chat.liveInbox())
            (work, workContinuation) = AsyncStream.makeStream()
            readOutbox()
        }

        /// Keeps the views current and carries out what the user does, until the task is cancelled.
        func run() async {
            async let following: Void = keep { await self.user.follow() }
            async let inbox: Void = keep { await self.inbox.follow() }
            for await action in work { await attempt(action) }
            await following
            await inbox
        }

        /// Follows a view again after an error.
        private func keep(_ follow: @MainActor () async -> Void) async {
            while !Task.isCancelled {
                await follow()
                // A cancelled sleep is the end.
                try? await Task.sleep(for: .seconds(1))
            }
        }

        /// Has something done beside everything else, because it can wait for the network.
        func performLater(_ action: @escaping @MainActor () async throws -> Void) { Task { await attempt(action) } }

        /// Has something done after what was asked for before.
        func perform(_ action: @escaping @MainActor () async throws -> Void) { workContinuation.yield(action) }

        /// Does something, and shows its error.
        func attempt(_ action: @MainActor () async throws -> Void) async {
            do { try await action() } catch {
                notice = Self.sentence(of: error)
            }
        }

        static func sentence(of error: any Error) -> String {
            (error as? any ChatFailure)?.rejection?.message ?? "\(error)"
        }

        /// Ends the screen.
        func finish(_ end: End) { self.end = end }

        // MARK: Places

        /// Shows a place; the line that is written stays with the former one.
        func show(_ next: Place, root: Post? = nil) {
            guard next != place else { return }
            drafts[place] = target == nil && !editor.isEmpty ? editor : nil
            editor = drafts[next] ?? LineEditor()
            (place, target, selectedRow, selectedPost, anchor, self.root) = (next, nil, 0, nil, nil, root)
            following?.cancel()
            posts = nil
            switch next {
            case .timeline(let thread):
                posts = chat.liveTimeline(of: thread)
                unreadFrom = self.thread(thread)?.firstUnread
            case .replies(let message, _):
                posts = chat.liveReplies(to: message)
                unreadFrom = nil
                if root == nil { performLater { self.root = try await self.chat.post(.message(message)) } }
            case .directory: performLater { self.directory = try await self.chat.directory().entries.reversed() }
            case .members(let thread):
                members = []
                performLater { self.members = try await self.chat.members(of: thread).entries }
            case .outbox: readOutbox()
            case .threads, .inbox, .help: break
            }
            if let posts { following = Task { await posts.follow() } }
        }

        /// Shows what is above the place.
        func goBack() {
            switch place {
            case .replies(_, let thread), .members(let thread): show(.timeline(thread))
            case .threads, .timeline, .inbox, .outbox, .directory, .help: show(.threads)
            }
        }

        /// The thread that is shown, or whose replies are.
        var currentThread: ThreadID? {
            switch place {
            case .timeline(let thread), .replies(_, let thread), .members(let thread): thread
            case .threads, .inbox, .outbox, .directory, .help: nil
            }
        }

        func thread(_ id: ThreadID) -> UserThread? { user.user?.threads.first { $0.id == id } }

        /// The user's threads, the one with the latest message first.
        var threads: [UserThread] {
            (user.user?.threads ?? []).sorted { ($0.lastMessage?.position ?? $0.since) > ($1.lastMessage?.position ?? $1.since) }
        }

        /// The posts that are shown: of replies, the answered message is the first.
        var shownPosts: [Post] { (root.map { [$0] } ?? []) + (posts?.messages ?? []) }

        // MARK: The outbox

        /// Reads the outbox again, after it has changed.
        func readOutbox() {
            guard let outbox else { return }
            do throws(ClientError) {
                let all = try outbox.outbox(after: 0, limit: Self.mostItems)
                // Marks are not what the user wrote.
                items = all.filter { ![.markRead, .markInboxRead].contains($0.request.command.kind) }
                pendingCount = all.count < Self.mostItems ? items.filter { $0.state == .queued }.count : try outbox.pendingCount
            } catch { notice = "\(error)" }
        }

        /// Notes a change of the outbox, and says what a user must know.
        func note(_ change: OutboxChange) {
            readOutbox()
            if case .rejected(_, let rejection) = change { notice = "Not sent: \(rejection.message) See /outbox." }
        }

        var rejectedItems: [OutboxItem] { items.filter { $0.state != .queued } }

        /// The item of the outbox that creates a post.
        func item(of post: PostID) -> OutboxItem? { items.first { $0.createdPost == post } }

        // MARK: Reading

        /// Marks as read what was seen at two ticks, a second apart.
        func tick() {
            guard let position = lastSeen else { return seen = nil }
            defer { seen = (place, position) }
            guard let seen, seen.place == place, seen.position == position, position > markedRead[place] ?? 0 else { return }
            let command: ChatCommand
            switch place {
            case .timeline(let thread):
                guard let thread = self.thread(thread), thread.readUpTo < position else { return }
                command = .markRead(user: chat.user, thread: thread.id, upTo: position)
            case .inbox: command = .markInboxRead(user: chat.user, upTo: position)
            default: return
            }
            markedRead[place] = position
            perform { try await self.chat.send(command) }
        }

        /// The position of the last confirmed post or entry on the screen.
        private var lastSeen: Position? {
            switch place {
            case .timeline:
                guard case .loaded? = posts?.state else { return nil }
                let posts = shownPosts
                return layout?.visible.map { posts[$0.index] }.filter { !$0.isPending }.map(\.position).max()
            case .inbox: return inbox.entries.first { $0.isUnread }?.position
            default: return nil
            }
        }

        /// The layout of the posts that are shown.
        var layout: PostLayout? {
            guard case .posts(let list) = state.content else { return nil }
            return PostLayout(list, rows: ScreenFrame.contentRows(of: size), width: size.columns)
        }
    }
#endif
