#if Client || canImport(SQLite3)
    import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues

    // What the commands do that begin with a slash.
    extension ScreenModel {
        /// Carries out a command.
        ///
        /// - Parameter start: Where the user wrote it; nil for the place that is shown. Only there
        ///   another place is shown at the end.
        func run(_ command: SlashCommand, _ argument: String, from start: Place? = nil) async throws {
            let (me, start) = (chat.user, start ?? place)
            switch command {
            case .threads: show(.threads)
            case .inbox: show(.inbox)
            case .outbox: show(.outbox)
            case .directory: show(.directory)
            case .help: show(.help)
            case .members: show(.members(try requireThread()))
            case .quit: finish(.quit)
            case .signOut: try askToSignOut()
            case .connect: client?.connectNow()
            case .join: try await join(try await findThread(try require(argument, command)), from: start)
            case .leave:
                let thread = try requireThread()
                question = Question(text: "Leave \(name(of: thread))?") {
                    try await self.chat.enqueue(.leaveThread(thread: thread, by: me))
                    if self.currentThread == thread { self.show(.threads) }
                }
            case .open:
                // The receipt has the id of the new thread.
                try await chat.enqueue(.openThread(name: try require(argument, command), by: me))
                feedback = "The thread is opened, and will be among your threads."
            case .dm:
                var people: [UserID] = []
                for name in try require(argument, command).split(separator: ",") {
                    people.append(try await person(String(name)).id)
                }
                try await chat.enqueue(.openDirect(with: people, by: me))
                feedback = "The thread will be among your threads."
            case .postcode: try await chat.enqueue(.setPostcode(postcode: try require(argument, command), by: me))
            case .name: try await chat.enqueue(.changeUsername(username: try require(argument, command), by: me))
            case .notify:
                guard let level = NotificationLevel(rawValue: argument) else { throw usage(command) }
                try await chat.enqueue(.setNotifications(thread: try requireThread(), level: level, by: me))
            case .reply: try await reply(argument)
            case .react, .unreact:
                let post = try requirePost()
                let emoji = try require(argument, command)
                let text = SlashCommand.emoji[emoji] ?? emoji
                try await chat.enqueue(
                    command == .react ? .react(post.id, emoji: text, by: me) : .unreact(post.id, emoji: text, by: me))
            case .edit: try await beginEdit(argument)
            case .retract:
                let post = try requireOwnPost()
                if post.isPending { return try await chat.retract(post) }
                question = Question(text: "Take your message back?") { try await self.chat.retract(post) }
            case .report:
                try await chat.enqueue(.report(try requirePost().id, reason: try require(argument, command), by: me))
                feedback = "Reported to the moderators."
            case .unread:
                let post = try requirePost()
                let thread = try requireThread()
                // Otherwise it would be read again at once. Ends when the thread is shown again.
                markedRead[start] = .max
                do { try await chat.enqueue(.markUnread(thread: thread, from: post.position, by: me)) } catch {
                    markedRead[start] = nil
                    throw error
                }
                if place == start { show(.threads) }
            case .block:
                let user = try await personOrAuthor(argument)
                question = Question(text: "Block \(user.shownName)?") {
                    try await self.chat.enqueue(.block(user: user.id, by: me))
                }
            case .unblock: try await chat.enqueue(.unblock(user: try await personOrAuthor(argument).id, by: me))
            case .retry: try outbox.sendAgain(try requireItem())
            case .withdraw:
                try outbox.withdraw(try requireItem())
                feedback = "Withdrawn."
            }
        }

        /// Joins a thread, and shows it if the user is still where they asked for it.
        func join(_ thread: ThreadID, from place: Place) async throws {
            try await chat.enqueue(.joinThread(thread: thread, by: chat.user))
            if self.place == place { show(.timeline(thread)) }
        }

        private func askToSignOut() throws {
            let loss = try client?.outboxLoss() ?? OutboxLoss()
            let text = loss.isEmpty ? "" : "\(loss) "
            question = Question(text: "\(text)Sign out?") { self.performConcurrently { await self.signOut() } }
        }

        /// Ends the session; if the server cannot do that, asks whether it may stay there.
        private func signOut() async {
            do {
                try await endSession()
                finish(.signOut)
            } catch {
                feedback = Self.sentence(of: error)
                question = Question(text: "The session stays at the server until it expires. Sign out here?") {
                    self.finish(.signOut)
                }
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

        func requireThread() throws -> ThreadID {
            guard let currentThread else { throw ArgumentError("Choose a thread first, with Enter.") }
            return currentThread
        }

        /// The selected post.
        ///
        /// - Throws: `ArgumentError` if none is selected or the selected one is not loaded; another
        ///   one is never meant.
        func requirePost() throws -> Post {
            guard let selectedPost else { throw ArgumentError("Choose a message first, with the arrow keys.") }
            guard let post = shownPosts.first(where: { $0.id == selectedPost }) else {
                throw ArgumentError("The selected message is not loaded. PageUp loads earlier ones.")
            }
            return post
        }

        /// The selected post, or the user's last one if none is selected.
        func requireOwnPost() throws -> Post {
            let post =
                try selectedPost.map { _ in try requirePost() }
                ?? shownPosts.last { $0.author.id == chat.user && $0.body != nil }
            guard let post, post.author.id == chat.user else { throw ArgumentError("This is not a message of yours.") }
            return post
        }

        private func requireItem() throws -> OutboxItem {
            let post = place == .outbox ? nil : try requireOwnPost().id
            let found = post == nil ? selected(of: items) : items.first { $0.createdPost == post }
            guard let found else { throw ArgumentError("This message is not in the outbox.") }
            return found
        }

        /// Finds a thread by the name of one of the user's or of the directory, its id or its
        /// outward code.
        private func findThread(_ text: String) async throws -> ThreadID {
            if let thread = threads.first(where: { $0.name == text }) { return thread.id }
            if let thread = ThreadID(text) ?? OutwardCode(text).map({ ThreadID($0) }) { return thread }
            let entries = try await chat.directory(page: .latest(200)).entries.filter { $0.name == text }
            guard entries.count == 1 else {
                throw ArgumentError(
                    entries.isEmpty
                        ? "No thread has this name in the directory." : "Several threads have this name: /directory.")
            }
            return entries[0].id
        }

        /// The person with a name, or the author of the selected post.
        private func personOrAuthor(_ name: String) async throws -> UserSummary {
            name.isEmpty ? try requirePost().author : try await person(name)
        }

        /// Finds the person with a name; of people with longer names, none is meant.
        private func person(_ text: String) async throws -> UserSummary {
            let name = text.trimmingPrefix(while: \.isWhitespace).description
            let people = try await chat.people(named: name).entries
            if let person = people.first(where: { $0.username.map(Username.foldKey) == Username.foldKey(name) }) {
                return UserSummary(id: person.id, username: person.username)
            }
            let others = people.prefix(3).compactMap(\.username).joined(separator: ", ")
            throw ArgumentError(
                "No person of your threads is called \(name).\(others.isEmpty ? "" : " Do you mean \(others)?")")
        }
    }
#endif
