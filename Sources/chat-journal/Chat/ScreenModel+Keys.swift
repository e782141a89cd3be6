#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatLive
    import ChatValues

    // What keys do.
    extension ScreenModel {
        func handle(_ key: Key) {
            feedback = nil
            if let question {
                self.question = nil
                guard key == .character("y") || key == .character("Y") else { return feedback = "Nothing was done." }
                return performInOrder(question.action)
            }
            switch key {
            case .control("c"): finish(.quit)
            case .control("d") where editor.isEmpty: finish(.quit)
            case .function(1): show(.help)
            case .character("?") where editor.isEmpty && target == nil: show(.help)
            case .control("t"): show(.threads)
            case .control("n"): showNextUnread()
            case .escape: cancel()
            case .up, .down: move(by: key == .up ? -1 : 1)
            case .pageUp, .pageDown: scroll(isUp: key == .pageUp)
            case .home where editor.isEmpty: moveToEnd(isFirst: true)
            case .end where editor.isEmpty: moveToEnd(isFirst: false)
            case .enter: enter()
            default: write(key)
            }
        }

        private func write(_ key: Key) {
            if editor.handle(key) == .tooLong {
                feedback = "The text is too long: a message has at most \(MessageBody.maximumByteCount) bytes."
            }
        }

        /// Ends the edit, else the selection, else goes back.
        private func cancel() {
            if target != nil {
                target = nil
                editor.set("")
            } else if selectedPost != nil || anchor != nil {
                (selectedPost, anchor) = (nil, nil)
            } else {
                goBack()
            }
        }

        private func showNextUnread() {
            guard let next = threads.first(where: { $0.unreadCount > 0 && $0.id != currentThread }) else {
                return feedback = "No other thread has unread messages."
            }
            show(.timeline(next.id))
        }

        // MARK: Moving

        /// Selects an entry of a list by its row, or the nearest one.
        private func select(_ row: Int) {
            let ids = entryIDs
            selectedRow = max(0, min(row, ids.count - 1))
            selectedEntry = ids.isEmpty ? nil : ids[selectedRow]
        }

        private func move(by step: Int) {
            guard layout != nil else {
                return select((selectedIndex ?? selectedRow) + step)
            }
            let posts = shownPosts
            let index = selectedPost.flatMap { id in posts.firstIndex { $0.id == id } }
            // Below the last one, the end is followed.
            if step > 0, index.map({ $0 + 1 >= posts.count }) ?? true { return (selectedPost, anchor) = (nil, nil) }
            guard !posts.isEmpty else { return }
            let next = index.map { max(0, $0 + step) } ?? posts.count - 1
            selectedPost = posts[next].id
            anchor = layout?.anchor(showing: posts[next].id)
            if next == 0 { loadEarlier() }
        }

        private func scroll(isUp: Bool) {
            guard let layout else {
                let rows = max(1, ScreenFrame.contentRows(of: size) - 1)
                return move(by: isUp ? -rows : rows)
            }
            anchor = isUp ? layout.pageUp : layout.pageDown
            if isUp, self.layout?.visible.first?.index == 0 { loadEarlier() }
        }

        private func moveToEnd(isFirst: Bool) {
            guard layout != nil else { return select(isFirst ? 0 : .max) }
            (selectedPost, anchor) = (nil, nil)
            guard isFirst, let first = shownPosts.first else { return }
            selectedPost = first.id
            anchor = layout?.anchor(showing: first.id)
            loadEarlier()
        }

        private func loadEarlier() {
            guard let posts, posts.hasEarlier else { return }
            performConcurrently { try await posts.loadEarlier() }
        }

        // MARK: Enter

        private func enter() {
            guard editor.isEmpty else {
                return submit()
            }
            switch place {
            case .threads: if let thread = selected(of: threads) { show(.timeline(thread.id)) }
            case .inbox:
                if let entry = selected(of: inbox.entries) { performConcurrently { try await self.open(entry) } }
            case .outbox: performInOrder { try await self.run(.retry, "") }
            case .directory:
                if let entry = selected(of: directory) {
                    question = Question(text: "Join \(entry.name ?? "(erased)")?") {
                        try await self.join(entry.id, from: .directory)
                    }
                }
            case .timeline(let thread):
                guard let post = shownPosts.first(where: { $0.id == selectedPost }), !post.isPending else { return }
                show(.replies(post.message, thread), root: post)
            case .replies, .members, .help: break
            }
        }

        /// The selected one of the entries that are listed; nil if it is gone.
        func selected<Entry>(of entries: [Entry]) -> Entry? {
            selectedIndex.flatMap { entries.indices.contains($0) ? entries[$0] : nil }
        }

        /// Shows what an entry of the inbox is about, or asks whether an invitation is accepted.
        private func open(_ entry: InboxEntry) async throws {
            if entry.reason == .invitation, thread(entry.thread) == nil {
                question = Question(text: "Join \(name(entry.name, entry.people))?") {
                    try await self.chat.enqueue(.acceptInvitation(thread: entry.thread, by: self.chat.user))
                    if self.place == .inbox { self.show(.timeline(entry.thread)) }
                }
                return
            }
            guard let id = entry.post else { return show(.timeline(entry.thread)) }
            let post = try await chat.post(id)
            let root = post.id.isReply ? try await chat.post(.message(post.message)) : nil
            // The user can have gone elsewhere meanwhile.
            guard place == .inbox else { return }
            if let root {
                show(.replies(post.message, entry.thread), root: root)
            } else {
                show(.timeline(entry.thread))
            }
            selectedPost = post.id
        }
    }
#endif
