#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatLive
    import ChatValues
    import Observation

    // The posts that are shown, and what was read of them.
    extension ScreenModel {
        /// The view of the messages or the replies that are shown.
        var posts: LiveTimeline? {
            switch place {
            case .timeline: messages?.posts.view
            case .replies: replies?.view
            case .threads, .inbox, .outbox, .directory, .help, .members: nil
            }
        }

        /// The message whose replies are shown.
        var root: Post? {
            guard case .replies(let message, _) = place else { return nil }
            return messages?.posts.view.messages.first { $0.id == .message(message) } ?? readRoot
        }

        /// The posts that are shown: of replies, the answered message is the first.
        var shownPosts: [Post] { (root.map { [$0] } ?? []) + (posts?.messages ?? []) }

        /// Keeps the posts and the members of the place current, and those of no other one.
        ///
        /// The messages of a thread are kept for as long as its replies are shown.
        func followPosts(root: Post?) {
            replies?.task.cancel()
            (replies, readRoot) = (nil, root)
            if messages?.thread != currentThread || messages?.posts.view.state.error != nil {
                messages?.posts.task.cancel()
                messages = nil
            }
            guard let thread = currentThread else { return members = nil }
            if messages == nil {
                let view = chat.liveTimeline(of: thread)
                messages = (thread, FollowedPosts(view: view, task: Task { await view.follow() }))
            }
            if members?.thread != thread { members = ThreadMembers(thread: thread) }
            switch place {
            case .timeline: unreadFrom = self.thread(thread)?.firstUnread
            case .replies(let message, _):
                unreadFrom = nil
                let view = chat.liveReplies(to: message)
                let task = Task {
                    async let reading: Void = readRoot(message, with: view)
                    await view.follow()
                    await reading
                }
                replies = FollowedPosts(view: view, task: task)
            case .members: readMembers(of: thread)
            case .threads, .inbox, .outbox, .directory, .help: break
            }
        }

        /// Reads the message whose replies are shown whenever these change, unless it is among the
        /// messages of the thread.
        private func readRoot(_ message: MessageID, with view: LiveTimeline) async {
            for await _ in Observations({ view.messages.map(\.id) }) {
                guard messages?.posts.view.messages.contains(where: { $0.id == .message(message) }) == false else {
                    continue
                }
                do {
                    let post = try await chat.post(.message(message))
                    guard replies?.view === view else { return }
                    readRoot = post
                } catch {
                    guard replies?.view === view else { return }
                    // Without the server, the message stays as it was read; the status says so.
                    if let failure = error as? any ChatFailure, failure.rejection != nil || failure.code == "notFound" {
                        readRoot = nil
                    }
                }
            }
        }

        // MARK: Members

        /// Reads the members of a thread: of the copy if they are current.
        private func readMembers(of thread: ThreadID) {
            performConcurrently {
                do {
                    let page = try await self.chat.members(of: thread, page: .latest(200))
                    if self.members?.thread == thread { self.members?.members = page.entries }
                } catch {
                    // Who has left the place is told nothing of it.
                    if self.place == .members(thread) { throw error }
                }
            }
        }

        // MARK: Reading

        /// Marks as read what was seen at two ticks, a second apart.
        func tick() {
            // A later entry does not move the selection from the one that was the first.
            if selectedEntry == nil { selectedEntry = entryIDs.first }
            guard let position = lastSeen else { return seen = nil }
            defer { seen = (place, position) }
            guard let seen, seen.place == place, seen.position == position, position > markedRead[place] ?? 0 else {
                return
            }
            let command: ChatCommand
            switch place {
            case .timeline(let thread):
                guard let thread = self.thread(thread), thread.readUpTo < position else { return }
                command = .markRead(thread: thread.id, upTo: position, by: chat.user)
            case .inbox: command = .markInboxRead(upTo: position, by: chat.user)
            default: return
            }
            markedRead[place] = position
            performInOrder { try await self.chat.enqueue(command) }
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
