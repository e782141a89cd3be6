#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues
    import Foundation
    import Observation

    /// What a screen does with a client beside the chat.
    protocol ScreenClient {
        /// What the user would lose with the outbox.
        func outboxLoss() throws -> OutboxLoss
        func connectNow()
    }

    extension ChatClient: ScreenClient {}

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
            var action: Action
        }

        /// The own post whose text the line replaces when it is sent.
        struct Target: Equatable {
            /// The post as it was shown: a text that another device writes meanwhile is not
            /// replaced unseen.
            var post: Post
            var thread: ThreadID
        }

        /// A line that is written, and what it replaces.
        struct Draft {
            var editor: LineEditor
            var target: Target?
        }

        /// The members of a thread.
        struct ThreadMembers {
            var thread: ThreadID
            var members: [ThreadMember] = []
        }

        /// A view of posts, and the task that keeps it current.
        struct FollowedPosts {
            var view: LiveTimeline
            var task: Task<Void, Never>
        }

        /// Work that can fail.
        typealias Action = @MainActor () async throws -> Void

        /// The most items of the outbox that are listed.
        static let mostItems = 200

        let chat: any UserChat
        /// Nil for a chat without one.
        @ObservationIgnored let client: (any ScreenClient)?
        let outbox: LiveOutbox
        let user: LiveUser
        let inbox: LiveInbox
        @ObservationIgnored let clock: LocalClock
        @ObservationIgnored let endSession: Action

        var size = Terminal.Size(rows: 24, columns: 80)
        var connection: ConnectionState?
        private(set) var place = Place.threads
        var editor = LineEditor()
        /// The entry of a list, by its id; nil for the first one, until the next tick.
        var selectedEntry: AnyHashable?
        /// Where the entry was when it was selected.
        @ObservationIgnored var selectedRow = 0
        var selectedPost: PostID?
        var anchor: PostAnchor?
        /// What has happened, until the next key.
        var feedback: String?
        var question: Question?
        var target: Target?
        /// The messages of the thread that is shown, or whose replies are.
        var messages: (thread: ThreadID, posts: FollowedPosts)?
        /// The replies that are shown.
        var replies: FollowedPosts?
        /// The message whose replies are shown, if it is not among the messages.
        var readRoot: Post?
        /// The members of the thread that is shown.
        var members: ThreadMembers?
        /// The position of the first unread post when the thread was shown.
        var unreadFrom: Position?
        var directory: [DirectoryEntry] = []
        private(set) var end: End?

        /// The lines that were not sent, by place.
        @ObservationIgnored private var drafts: [Place: Draft] = [:]
        @ObservationIgnored private let work: AsyncStream<Action>
        @ObservationIgnored private let workContinuation: AsyncStream<Action>.Continuation
        /// The last post that was seen at the last tick.
        @ObservationIgnored var seen: (place: Place, position: Position)?
        /// What was marked as read, by place.
        @ObservationIgnored var markedRead: [Place: Position] = [:]

        /// Creates the model.
        ///
        /// - Parameters:
        ///   - client: The client of the chat, if it has one.
        ///   - outbox: The outbox; by default that of the chat.
        ///   - endSession: Ends the session at the server.
        init(
            _ chat: any UserChat, client: (any ScreenClient)? = nil, outbox: LiveOutbox? = nil,
            clock: LocalClock = LocalClock(), endSession: @escaping Action = {}
        ) {
            (self.chat, self.client, self.clock, self.endSession) = (chat, client, clock, endSession)
            (user, inbox) = (chat.liveUser(), chat.liveInbox())
            self.outbox = outbox ?? chat.liveOutbox(limit: Self.mostItems)
            (work, workContinuation) = AsyncStream.makeStream()
            self.outbox.onChange = { [weak self] change in
                guard case .rejected(_, let rejection) = change else { return }
                self?.feedback = "Not sent: \(rejection.message) See /outbox."
            }
        }

        /// Keeps the views current and carries out what the user does, until the task is cancelled.
        func run() async {
            async let following: Void = keep { await self.user.follow() }
            async let inbox: Void = keep { await self.inbox.follow() }
            async let outbox: Void = keep { await self.outbox.follow() }
            for await action in work { await attempt(action) }
            await following
            await inbox
            await outbox
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
        func performConcurrently(_ action: @escaping Action) { Task { await attempt(action) } }

        /// Has something done after what was asked for before.
        func performInOrder(_ action: @escaping Action) { workContinuation.yield(action) }

        /// Does something, and shows its error.
        private func attempt(_ action: Action) async {
            do { try await action() } catch {
                feedback = Self.sentence(of: error)
            }
        }

        static func sentence(of error: any Error) -> String { (error as? any ChatFailure)?.sentence ?? "\(error)" }

        /// Ends the screen.
        func finish(_ end: End) { self.end = end }

        // MARK: Places

        /// Shows a place; the line that is written stays with the former one.
        ///
        /// - Parameter root: The message of replies, as far as it is known.
        func show(_ next: Place, root: Post? = nil) {
            guard next != place else { return }
            drafts[place] = editor.isEmpty ? nil : Draft(editor: editor, target: target)
            let draft = drafts[next]
            (editor, target) = (draft?.editor ?? LineEditor(), draft?.target)
            (place, selectedEntry, selectedRow, selectedPost, anchor) = (next, nil, 0, nil, nil)
            // What was marked as unread is read again when it is seen again.
            markedRead[next] = nil
            followPosts(root: root)
            switch next {
            case .directory: performConcurrently { self.directory = try await self.chat.directory().entries.reversed() }
            case .threads, .inbox, .outbox, .help, .timeline, .replies, .members: break
            }
        }

        /// Puts a line back that was not accepted; returns false if another one is written in its
        /// place.
        func putBack(_ draft: Draft, at place: Place) -> Bool {
            if self.place == place {
                guard editor.isEmpty, target == nil || target == draft.target else { return false }
                (editor, target) = (draft.editor, draft.target)
            } else {
                guard drafts[place] == nil else { return false }
                drafts[place] = draft
            }
            return true
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
            (user.user?.threads ?? []).sorted {
                ($0.lastMessage?.position ?? $0.since) > ($1.lastMessage?.position ?? $1.since)
            }
        }

        // MARK: The outbox

        /// The commands of the outbox that the user wrote.
        var items: [OutboxItem] { outbox.items.filter(\.isWritten) }
        var pendingItems: [OutboxItem] { items.filter { $0.state == .queued } }
        var rejectedItems: [OutboxItem] { items.filter { $0.state != .queued } }
    }
#endif
