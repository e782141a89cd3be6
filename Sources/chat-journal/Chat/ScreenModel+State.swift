#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues

    // What the screen shows.
    extension ScreenModel {
        var state: ScreenState {
            var state = ScreenState()
            state.title = title
            let unread = threads.filter { $0.id != currentThread }.reduce(0) { $0 + $1.unreadCount }
            state.hint = unread > 0 && place != .threads ? "\(unread) unread elsewhere" : "F1 help"
            state.content = content
            (state.status, state.statusStyle) = feedback.map { ($0, [.bold, .reverse]) } ?? (status, .reverse)
            state.editor = editor
            state.prompt = target == nil ? "> " : "edit> "
            state.question = question.map { "\($0.text) [y/n]" }
            return state
        }

        /// The name of a thread, or of the other people of a direct one.
        func name(of thread: ThreadID) -> String {
            guard let thread = self.thread(thread) else { return "(not one of your threads)" }
            return name(thread.name, thread.people)
        }

        func name(_ name: String?, _ people: [UserSummary]?) -> String {
            guard let people else { return name ?? "(erased)" }
            let others = people.filter { $0.id != chat.user }.map(\.shownName).joined(separator: ", ")
            return others.isEmpty ? "(only you)" : others
        }

        private var title: String {
            switch place {
            case .threads: "Threads"
            case .inbox: "Inbox"
            case .outbox: "Outbox"
            case .directory: "Directory"
            case .help: "Help"
            case .timeline(let thread): name(of: thread)
            case .replies(_, let thread): "Replies in \(name(of: thread))"
            case .members(let thread): "Members of \(name(of: thread))"
            }
        }

        private var status: String {
            var parts = [user.user?.username ?? "…"]
            if let connection { parts.append(connection.word) }
            if !pendingItems.isEmpty { parts.append("\(pendingItems.count)\(outbox.hasMore ? "+" : "") waiting") }
            if !rejectedItems.isEmpty { parts.append("\(rejectedItems.count) rejected: /outbox") }
            if let unread = inbox.unread, unread.count > 0 {
                parts.append("inbox \(unread.count)\(unread.hasMore ? "+" : "")")
            }
            // Last, because it can be too long for the line.
            if let reason = connection?.reason { parts.append(reason) }
            return parts.joined(separator: " · ")
        }

        private var content: ScreenContent {
            switch place {
            case .threads:
                .list(
                    threads.map(row), selected: selectedIndex,
                    empty: empty(
                        user.state, "No threads yet. Set your postcode with /postcode, or join one with /join."))
            case .inbox:
                .list(
                    inbox.entries.map(row), selected: selectedIndex,
                    empty: empty(inbox.state, "Nothing has happened to you yet."))
            case .outbox:
                .list(items.map(row), selected: selectedIndex, empty: empty(outbox.state, "Nothing waits."))
            case .directory:
                .list(
                    directory.map { .init(text: $0.name ?? "(erased)", detail: "\($0.memberCount) members") },
                    selected: selectedIndex,
                    empty: "No threads, or the server cannot be reached.")
            case .members:
                .list(
                    (members?.members ?? []).map { .init(text: $0.user.shownName) }, selected: selectedIndex,
                    empty: "Not known yet.")
            case .help: .list(help(width: size.columns), selected: selectedIndex, empty: "")
            case .timeline, .replies: .posts(postList)
            }
        }

        /// The ids of the entries of the list that is shown, in its order.
        var entryIDs: [AnyHashable] {
            switch place {
            case .threads: threads.map(\.id)
            case .inbox: inbox.entries.map(\.position)
            case .outbox: items.map(\.id)
            case .directory: directory.map(\.id)
            case .members: members?.members.map(\.user.id) ?? []
            case .help: Array(help(width: size.columns).indices)
            case .timeline, .replies: []
            }
        }

        /// The row of the selected entry; nil if it is gone.
        var selectedIndex: Int? {
            guard let selectedEntry else { return 0 }
            return entryIDs.firstIndex(of: selectedEntry)
        }

        /// What stands in place of an empty list.
        private func empty<Value>(_ state: LoadState<Value>, _ text: String) -> String {
            if let error = state.error { return Self.sentence(of: error) }
            return state.value == nil ? "Loading…" : text
        }

        private func help(width: Int) -> [ScreenContent.ListRow] {
            let commands = SlashCommand.allCases.map { ("/\($0.rawValue) \($0.form.arguments)", $0.form.help) }
            return (SlashCommand.keys + commands).flatMap { term, help in
                [.init(text: term, style: .cyan)]
                    + TextLayout.lines(of: help, width: width - 6).map { .init(text: "    \($0)") }
            }
        }

        private var postList: PostList {
            var list = PostList(posts: shownPosts, user: chat.user)
            list.unreadFrom = unreadFrom
            (list.selected, list.anchor) = (selectedPost, anchor)
            list.hasEarlier = posts?.hasEarlier ?? false
            list.isReplies = root != nil
            list.clock = clock
            if let posts { list.empty = empty(posts.state, "No messages yet. Write the first one.") }
            for item in rejectedItems { if let post = item.createdPost { list.rejections[post] = item.rejection } }
            return list
        }

        private func row(_ thread: UserThread) -> ScreenContent.ListRow {
            let mentions = inbox.entries.filter { $0.isUnread && $0.reason == .mention && $0.thread == thread.id }.count
            var parts: [String] = []
            if thread.notifications.level != .all {
                parts.append(thread.notifications.level == .none ? "muted" : "mentions only")
            }
            if mentions > 0 { parts.append("@\(mentions)") }
            if thread.unreadCount > 0 { parts.append("\(thread.unreadCount) unread") }
            var row = ScreenContent.ListRow(
                text: name(thread.name, thread.people), detail: parts.joined(separator: " · "))
            row.style = mentions > 0 ? .yellow : thread.unreadCount > 0 ? .green : []
            return row
        }

        private func row(_ entry: InboxEntry) -> ScreenContent.ListRow {
            let thread = name(entry.name, entry.people)
            let text =
                switch entry.reason {
                case .reply: "\(entry.by.shownName) replied in \(thread)"
                case .mention: "\(entry.by.shownName) mentioned you in \(thread)"
                case .reaction: "\(entry.by.shownName) reacted with \(entry.emoji ?? "") in \(thread)"
                case .invitation: "\(entry.by.shownName) invites you to \(thread)"
                case .moderation:
                    "A moderator of \(thread): \(entry.kind?.name ?? "")\(entry.moderatorNote.map { ": \($0)" } ?? "")"
                case .report: "A post in \(thread) was reported"
                }
            return .init(
                text: text, detail: "\(clock.day(entry.createdAt)) \(clock.time(entry.createdAt))",
                style: entry.isUnread ? .green : [])
        }

        private func row(_ item: OutboxItem) -> ScreenContent.ListRow {
            let command = item.request.command
            let text = "\(command.name) \(command.text)"
            switch item.state {
            case .queued: return .init(text: text, detail: item.wasSent ? "sent, no answer yet" : "waiting")
            case .rejected(let rejection):
                return .init(text: "\(text): \(rejection.message)", detail: "rejected", style: .red)
            }
        }
    }

    extension ConnectionState {
        /// A word for people.
        fileprivate var word: String {
            switch self {
            case .idle: "not connected"
            case .connecting: "connecting…"
            case .connected: "connected"
            case .waiting: "offline"
            case .stopped: "stopped"
            }
        }

        /// Why the client is not connected.
        fileprivate var reason: String? {
            switch self {
            case .idle, .connecting, .connected: nil
            case .waiting(let error, _): "\(error)"
            case .stopped(let reason): "\(reason)"
            }
        }
    }
#endif
