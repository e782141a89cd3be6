#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues

    // What a line does.
    extension ScreenModel {
        /// Takes the line, and sends it as a message, a reply or an edit, or carries out its command.
        ///
        /// A line that is not accepted is put back.
        func submit() {
            let (text, place, target) = (editor.text, place, target)
            editor.set("")
            func restoring(_ action: @escaping @MainActor () async throws -> Void) -> @MainActor () async throws -> Void {
                {
                    do { try await action() } catch {
                        if self.editor.isEmpty, self.place == place { self.editor.set(text) }
                        throw error
                    }
                }
            }
            do {
                if let (command, argument) = try SlashCommand.parse(text) {
                    return performLater(restoring { try await self.run(command, argument) })
                }
            } catch {
                editor.set(text)
                return notice = error.description
            }
            // Two slashes begin a text with one.
            let body = text.hasPrefix("//") ? String(text.dropFirst()) : text
            (self.target, selectedPost, anchor) = (nil, nil, nil)
            perform(
                restoring {
                    if let target { try await self.edit(target, body) } else { try await self.write(body, at: place) }
                })
        }

        private func write(_ body: String, at place: Place) async throws {
            switch place {
            case .timeline(let thread):
                try await chat.send(
                    .postMessage(thread: thread, author: chat.user, body: body, mentions: try await mentions(in: body, thread)))
            case .replies(let message, let thread):
                try await chat.send(
                    .reply(message: message, author: chat.user, body: body, mentions: try await mentions(in: body, thread)))
            default: throw ArgumentError("Choose a thread first, with Enter. Commands begin with a slash: /help.")
            }
        }

        /// The members of a thread whose names follow an @ in a text.
        private func mentions(in body: String, _ thread: ThreadID) async throws -> [UserID] {
            guard body.contains("@") else { return [] }
            let text = body.lowercased()
            return try await chat.members(of: thread).entries.map(\.user).filter { user in
                user.id != chat.user && user.username.map { text.contains("@\($0.lowercased())") } ?? false
            }.prefix(MessageBody.maximumMentionCount).map(\.id)
        }

        func run(_ command: SlashCommand, _ argument: String) async throws {
            let me = chat.user
            switch command {
            case .threads: show(.threads)
            case .inbox: show(.inbox)
            case .outbox: show(.outbox)
            case .directory: show(.directory)
            case .help: show(.help)
            case .members: show(.members(try requireThread()))
            case .quit: finish(.quit)
            case .signOut: askToSignOut()
            case .connect: outbox?.connectNow()
            case .join: try await join(try await findThread(try require(argument, command)))
            case .leave:
                let thread = try requireThread()
                question = Question(text: "Leave \(name(of: thread))?") {
                    try await self.chat.send(.leaveThread(user: me, thread: thread))
                    self.show(.threads)
                }
            case .open:
                // The receipt has the id of the new thread.
                try await chat.send(.openThread(name: try require(argument, command), by: me))
                notice = "The thread is opened, and will be among your threads."
            case .dm:
                var people: [UserID] = []
                for name in try require(argument, command).split(separator: ",") { people.append(try await person(String(name))) }
                try await chat.send(.openDirect(by: me, with: people))
                notice = "The thread will be among your threads."
            case .postcode: try await chat.send(.setPostcode(user: me, postcode: try require(argument, command)))
            case .name: try await chat.send(.changeUsername(user: me, username: try require(argument, command)))
            case .notify:
                guard let level = NotificationLevel(rawValue: argument) else { throw usage(command) }
                try await chat.send(.setNotifications(user: me, thread: try requireThread(), level: level))
            case .reply: try await reply(argument)
            case .react, .unreact:
                let post = try requirePost()
                let emoji = try require(argument, command)
                let text = SlashCommand.emoji[emoji] ?? emoji
                try await chat.send(command == .react ? .react(post.id, by: me, emoji: text) : .unreact(post.id, by: me, emoji: text))
            case .edit: try await beginEdit(argument)
            case .retract:
                let post = try requireOwnPost()
                if post.isPending { return try await run(.withdraw, "") }
                question = Question(text: "Take your message back?") { try await self.chat.send(.retract(post.id, by: me)) }
            case .report:
                try await chat.send(.report(try requirePost().id, by: me, reason: try require(argument, command)))
                notice = "Reported to the moderators."
            case .unread:
                let post = try requirePost()
                let thread = try requireThread()
                // Otherwise it would be read again at once.
                markedRead[place] = .max
                try await chat.send(.markUnread(user: me, thread: thread, from: post.position))
                show(.threads)
            case .block:
                let user = try await argument.isEmpty ? requirePost().author.id : person(argument)
                question = Question(text: "Block this person?") { try await self.chat.send(.block(user: user, by: me)) }
            case .unblock:
                try await chat.send(.unblock(user: try await argument.isEmpty ? requirePost().author.id : person(argument), by: me))
            case .retry:
                let item = try requireItem()
                try requireOutbox().replace(item.id, by: item.request)
            case .withdraw:
                try requireOutbox().withdraw(try requireItem().id)
                notice = "Withdrawn."
            }
        }

        private func reply(_ text: String) async throws {
            let thread = try requireThread()
            guard case .timeline = place else { throw ArgumentError("Write the reply without a command.") }
            let post = try requirePost()
            guard !text.isEmpty else { return show(.replies(post.message, thread), root: post) }
            try await chat.send(
                .reply(message: post.message, author: chat.user, body: text, mentions: try await mentions(in: text, thread)))
        }

        func join(_ thread: ThreadID) async throws {
            try await chat.send(.joinThread(user: chat.user, thread: thread))
            show(.timeline(thread))
        }

        private func askToSignOut() {
            let text =
                pendingCount + rejectedItems.count == 0 ? "" : "\(pendingCount) waiting and \(rejectedItems.count) rejected are lost. "
            question = Question(text: "\(text)Sign out?") { self.finish(.signOut) }
        }

        // MARK: Editing

        private func beginEdit(_ text: String) async throws {
            let post = try requireOwnPost()
            let next: Target = item(of: post.id).map { .item($0) } ?? .post(post.id, replaces: post.editPosition ?? post.position)
            guard text.isEmpty else { return try await edit(next, text) }
            target = next
            editor.set(post.body ?? "")
        }

        private func edit(_ target: Target, _ body: String) async throws {
            var mentioned: [UserID] = []
            if let currentThread { mentioned = try await mentions(in: body, currentThread) }
            switch target {
            case .post(let post, let replaced):
                try await chat.send(.edit(post, by: chat.user, body: body, mentions: mentioned, replaces: replaced))
            case .item(let item):
                var request = item.request
                (request.command.text, request.command.mentions) = (body, mentioned)
                try requireOutbox().replace(item.id, by: request)
            }
        }

        // MARK: What a command is about

        private func usage(_ command: SlashCommand) -> ArgumentError {
            ArgumentError("Use: /\(command.rawValue) \(command.form.arguments)")
        }

        private func require(_ argument: String, _ command: SlashCommand) throws -> String {
            if argument.isEmpty { throw usage(command) }
            return argument
        }

        private func requireThread() throws -> ThreadID {
            guard let currentThread else { throw ArgumentError("Choose a thread first, with Enter.") }
            return currentThread
        }

        /// The selected post, or the last one.
        private func requirePost() throws -> Post {
            let posts = shownPosts
            guard let post = posts.first(where: { $0.id == selectedPost }) ?? posts.last else {
                throw ArgumentError("Choose a message first, with the arrow keys.")
            }
            return post
        }

        /// The selected post, or the user's last one.
        private func requireOwnPost() throws -> Post {
            let own = shownPosts.filter { $0.author.id == chat.user }
            guard let post = selectedPost.map({ id in own.first { $0.id == id } }) ?? own.last(where: { $0.body != nil }) else {
                throw ArgumentError("This is not a message of yours.")
            }
            return post
        }

        private func requireOutbox() throws -> any ChatOutbox {
            guard let outbox else { throw ArgumentError("There is no outbox.") }
            return outbox
        }

        private func requireItem() throws -> OutboxItem {
            let found = place == .outbox ? selected(of: items) : try item(of: requireOwnPost().id)
            guard let found else { throw ArgumentError("This message is not in the outbox.") }
            return found
        }

        /// Finds a thread by the name of one of the user's or of the directory, its id or its outward code.
        private func findThread(_ text: String) async throws -> ThreadID {
            if let thread = threads.first(where: { $0.name == text }) { return thread.id }
            if let thread = ThreadID(text) ?? OutwardCode(text).map({ ThreadID($0) }) { return thread }
            let entries = try await chat.directory(page: PageRequest(limit: 200)).entries.filter { $0.name == text }
            guard entries.count == 1 else {
                throw ArgumentError(
                    entries.isEmpty ? "No thread has this name in the directory." : "Several threads have this name: /directory.")
            }
            return entries[0].id
        }

        private func person(_ text: String) async throws -> UserID {
            let name = text.trimmingPrefix(while: \.isWhitespace).description
            let people = try await chat.people(named: name).entries
            guard
                let person = people.first(where: { $0.username?.lowercased() == name.lowercased() })
                    ?? (people.count == 1 ? people[0] : nil)
            else { throw ArgumentError("No person of your threads is called \(name).") }
            return person.id
        }
    }
#endif
