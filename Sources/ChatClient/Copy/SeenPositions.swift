#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatLive
    internal import ChatValues
    internal import LocalStorage

    // What the user knew when they acted (`seen` of a command), so that a command that waited undoes
    // nothing that the same user has done on another device since.
    extension Database<ClientError> {
        /// The table of what is known as of a later position than the token.
        static var knownSchema: String {
            "CREATE TABLE IF NOT EXISTS known(place BLOB PRIMARY KEY, position INTEGER NOT NULL) WITHOUT ROWID"
        }

        /// Notes that a list, an answer, or what an act is about, is known as of a position.
        func know(_ place: SQLValue, asOf position: Position) throws(ClientError) {
            guard let token = try token, position > token.position, position < .firstPending else { return }
            try run(
                "INSERT INTO known VALUES (?1, ?2) ON CONFLICT(place) DO UPDATE SET position = max(position, ?2)",
                place,
                .integer(Int64(position)))
        }

        /// Sets the position that the copy knows of what a command is about, unless it has one.
        func setSeen(_ command: inout ChatCommand) throws(ClientError) {
            guard command.hasOpposite, command.seen == nil, let token = try token else { return }
            var places = [OutboxPlace(of: command).needs ?? .null]
            if command.kind.form.concernsPost {
                places += try run("SELECT list FROM posts WHERE id = ?", command.postID.value).map { $0[0] }
            } else {
                places.append(.text(UserQuery().key))
            }
            command.seen = token.position
            for place in places {
                guard
                    case .integer(let position)? = try run("SELECT position FROM known WHERE place = ?", place).first?
                        .first
                else { continue }
                command.seen = max(token.position, command.seen ?? 0, Position(max(position, 0)))
            }
        }

        /// Tells the commands that were written after an item what it has done: its user knew that.
        ///
        /// - Parameter position: The position up to which its effect is known; nil if the server has not
        ///   said, and what waits is then decided whatever has happened.
        func tellWaiting(of item: OutboxItem, asOf position: Position?) throws(ClientError) {
            let command = item.request.command
            guard command.hasOpposite, let place = OutboxPlace(of: command).needs else { return }
            if let position { try know(place, asOf: position) }
            // A marker that waits for a post of the thread, a message or a reply, needs the post.
            let later = try outboxItems(
                """
                WHERE list IS NULL AND rejection IS NULL
                AND (needs = ? OR needs IN (SELECT creates FROM outbox WHERE list IS NOT NULL))
                """, place)
            for later in later where later.request.command.isOpposite(of: command) {
                var request = later.request
                request.command.seen = position.flatMap { position in request.command.seen.map { max($0, position) } }
                try setRequest(request, of: later)
            }
        }

        /// Lowers what was known of another history of the journal.
        func lowerSeen(to position: Position) throws(ClientError) {
            for item in try outboxItems("WHERE list IS NULL AND instr(command, ?)", .blob([UInt8]("\"seen\"".utf8))) {
                guard let seen = item.request.command.seen, seen > position else { continue }
                var request = item.request
                request.command.seen = position
                try setRequest(request, of: item)
            }
        }

        private func setRequest(_ request: CommandRequest, of item: OutboxItem) throws(ClientError) {
            try run(
                "UPDATE outbox SET command = ? WHERE number = ?", .blob(try Self.encode(request)), .integer(item.id))
        }

        // MARK: A marker up to a post that waits

        /// Returns the place of a command in the outbox: a marker that is to reach a post that waits
        /// there needs the post.
        ///
        /// A post that waits no more has no such position, and the marker reaches what its user knew.
        func place(of command: inout ChatCommand) throws(ClientError) -> OutboxPlace {
            var place = OutboxPlace(of: command)
            guard command.kind == .markRead, command.upTo >= .firstPending else { return place }
            let row = try run(
                "SELECT creates FROM outbox WHERE number = ? AND list IS NOT NULL AND rejection IS NULL",
                .integer(Int64(command.upTo - .firstPending)))
            if let post = row.first?.first {
                place.needs = post
            } else {
                command.upTo = command.seen ?? 0
            }
            return place
        }

        /// Has the markers that wait for a post reach its event.
        func moveMarkers(to post: SQLValue, _ receipt: Receipt) throws(ClientError) {
            for item in try markers(waitingFor: post) {
                let event = receipt.events.first { $0.post?.value == post }
                var request = item.request
                request.command.upTo = event?.position ?? receipt.position
                // A direct thread can have got the id of another one.
                if let thread = event?.thread { request.command.threadID = thread }
                try setMarker(request, of: item)
            }
        }

        /// Has the markers that wait for a post that will not come reach what their user knew: not what
        /// has come since, which the user may not have seen.
        func releaseMarkers(waitingFor post: SQLValue) throws(ClientError) {
            for item in try markers(waitingFor: post) {
                var request = item.request
                request.command.upTo = request.command.seen ?? 0
                try setMarker(request, of: item)
            }
        }

        /// Sets the position that a marker reaches, for which it waits no more.
        private func setMarker(_ request: CommandRequest, of item: OutboxItem) throws(ClientError) {
            try setRequest(request, of: item)
            try run(
                "UPDATE outbox SET needs = ? WHERE number = ?", OutboxPlace(of: request.command).needs ?? .null,
                .integer(item.id))
        }

        private func markers(waitingFor post: SQLValue) throws(ClientError) -> [OutboxItem] {
            try outboxItems("WHERE needs = ? AND rejection IS NULL ORDER BY number", post)
                .filter { $0.request.command.kind == .markRead }
        }
    }

    extension [OutboxItem] {
        /// The first of these items that can be sent together, in their order.
        ///
        /// Two acts about one thing, of which the second can undo the first, are not sent in one request,
        /// nor a marker with the post that it reaches: the answer to the first one is needed. An act that
        /// has no effect leaves no trace; if the answer to both were lost, it would be repeated after the
        /// second one, and undo that.
        var sendableTogether: ArraySlice<OutboxItem> {
            var acts: [PostOrThread: [CommandRequest]] = [:]
            var posts: Set<OutboxItem.ID> = []
            for (index, item) in enumerated() {
                let command = item.request.command
                if item.createdPost != nil { posts.insert(item.id) }
                guard command.hasOpposite || item.request.once != nil else { continue }
                if command.kind == .markRead, command.upTo >= .firstPending,
                    posts.contains(OutboxItem.ID(command.upTo - .firstPending))
                {
                    return self[..<index]
                }
                let place = PostOrThread(command)
                if acts[place]?.contains(where: { $0.canBeUndone(by: item.request) }) == true { return self[..<index] }
                acts[place, default: []].append(item.request)
            }
            return self[...]
        }
    }

    extension CommandRequest {
        /// Whether an act can undo this one, about the same thing.
        ///
        /// Commands with `seen` of one kind add up or only move forward; those with `once` of different
        /// kinds, or with another value, are all taken to be opposites.
        fileprivate func canBeUndone(by later: CommandRequest) -> Bool {
            switch (command.hasOpposite, later.command.hasOpposite) {
            case (true, true): command.kind != later.command.kind
            case (false, false): command != later.command
            default: false
            }
        }
    }

    /// What an act is about: a post, a thread, or else its user or the community.
    private struct PostOrThread: Hashable {
        let post: PostID?
        let thread: ThreadID?

        init(_ command: ChatCommand) { (post, thread) = (command.post, command.thread) }
    }

    extension ChatCommand {
        /// Whether there is a command that undoes it, which `seen` is compared with.
        fileprivate var hasOpposite: Bool { kind.form.fields.contains(.seen) }

        /// Whether a command can undo another one; the emoji of two reactions are not compared,
        /// because one emoji can have several texts.
        fileprivate func isOpposite(of command: ChatCommand) -> Bool {
            hasOpposite && kind != command.kind && PostOrThread(self) == PostOrThread(command)
        }
    }
#endif
