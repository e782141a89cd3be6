#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatLive
    package import ChatValues
    internal import LocalStorage
    internal import Locking

    extension LocalCopy {
        /// Adds a command to the end of the outbox; it is durable when the call returns.
        ///
        /// - Parameters:
        ///   - request: The command; if it creates something, it must have its id.
        ///   - now: The time of the device.
        package func enqueue(_ request: CommandRequest, now: Timestamp) throws(ClientError) -> CopyChanges {
            try change(isDurable: true) { file, changes throws(ClientError) in
                var request = request
                try file.setSeen(&request.command)
                let place = try file.place(of: &request.command)
                try file.run(
                    "INSERT INTO outbox(command, writtenAt, creates, needs, list, attempts) VALUES (?, ?, ?, ?, ?, 0)",
                    .blob(try File.encode(request)), .integer(now.millisecondsSince1970), place.creates ?? .null,
                    place.needs ?? .null,
                    place.list?.key ?? .null)
                guard let item = try file.outboxItems("ORDER BY number DESC LIMIT 1").first else {
                    throw .storage(.damaged)
                }
                changes.outbox = [.queued(item)]
                try file.show(item, &changes)
            }
        }

        /// Returns the items after one, in the order of sending.
        package func outbox(after number: Int64 = 0, limit: Int = 100) throws(ClientError) -> [OutboxItem] {
            try file.withLock { file throws(ClientError) in
                try file.outboxItems(
                    "WHERE number > ? ORDER BY number LIMIT ?", .integer(number),
                    .integer(Int64(max(0, min(limit, 1_000)))))
            }
        }

        /// Returns the items that create a post or change it, at most 1,000, in the order of
        /// sending.
        package func outbox(about post: PostID) throws(ClientError) -> [OutboxItem] {
            try file.withLock { file throws(ClientError) in
                try file.outboxItems(
                    "WHERE creates = ? OR needs = ? ORDER BY number LIMIT 1000", post.value, post.value
                )
                .filter { $0.post == post }
            }
        }

        /// The number of items that wait, without those that were rejected.
        package var pendingCount: Int {
            get throws(ClientError) {
                try file.withLock { file throws(ClientError) in
                    guard
                        case .integer(let count)? = try file.run("SELECT count(*) FROM outbox WHERE rejection IS NULL")
                            .first?.first
                    else { throw .storage(.damaged) }
                    return Int(count)
                }
            }
        }

        /// Returns the next commands to send, in their order, and notes durably that they are sent.
        ///
        /// Until they are answered, the same ones are returned again: commands are never sent past
        /// one that waits.
        package func nextBatch(limit: Int, byteLimit: Int) throws(ClientError) -> [OutboxItem] {
            try file.withLock { file throws(ClientError) in
                try file.durably { () throws(ClientError) in
                    var byteCount = 0
                    let rows = try file.run(
                        "SELECT number, length(command) FROM outbox WHERE rejection IS NULL ORDER BY number LIMIT ?",
                        .integer(Int64(limit))
                    )
                    var last: Int64 = 0
                    for row in rows {
                        guard case .integer(let number) = row[0], case .integer(let size) = row[1] else {
                            throw .storage(.damaged)
                        }
                        byteCount += Int(size) + 1
                        if last > 0, byteCount > byteLimit { break }
                        last = number
                    }
                    let items = try file.outboxItems(
                        "WHERE rejection IS NULL AND number <= ? ORDER BY number", .integer(last)
                    ).sendableTogether
                    // Once and again is all that is asked for.
                    try file.run(
                        """
                        UPDATE outbox SET attempts = attempts + 1
                        WHERE rejection IS NULL AND attempts < 2 AND number <= ?
                        """, .integer(items.last?.id ?? 0))
                    return items.map {
                        OutboxItem(
                            id: $0.id, request: $0.request, writtenAt: $0.writtenAt, state: $0.state, wasSent: true)
                    }
                }
            }
        }

        /// Ends the items that the server has answered, in one transaction.
        ///
        /// The events of a receipt are applied like those of the stream, so that what was shown as
        /// waiting is replaced in its place. An item that an event of the stream has ended already
        /// stays ended. What depends on a rejected item is stopped.
        ///
        /// - Parameter position: The position that the answers are at least as new as; nil if the server
        ///   has not said.
        package func end(
            _ answers: [(number: Int64, result: Result<Receipt, Rejection>)], asOf position: Position? = nil
        ) throws(ClientError) -> CopyChanges {
            try change(isDurable: true) { file, changes throws(ClientError) in
                var moved: Set<OutboxItem.ID> = []
                for (number, result) in answers {
                    switch result {
                    case .success(let receipt):
                        try moved.formUnion(file.confirm(number, receipt, asOf: position, of: user, &changes))
                        // Before there is a token, no part of a list is known.
                        for event in receipt.events { try file.apply(event, of: user, &changes) }
                        // What a duplicate repeats can have been erased in the meantime.
                        if receipt.isDuplicate { changes.takesContent = true }
                    // It was sent for another thread, and waits again.
                    case .failure where moved.contains(number): break
                    case .failure(let rejection): try file.reject(number, rejection, cause: nil, &changes)
                    }
                }
            }
        }

        /// Takes an item back that was never sent or was rejected; its text is gone from the file
        /// when the call returns.
        package func withdraw(_ number: Int64) throws(ClientError) -> Result<CopyChanges, OutboxRefusal> {
            try file.withLock { file throws(ClientError) in
                let result = try file.durably { () throws(ClientError) -> Result<CopyChanges, OutboxRefusal> in
                    switch try file.changeableItem(number) {
                    case .failure(let refusal): return .failure(refusal)
                    case .success(let item):
                        var changes = CopyChanges()
                        changes.outbox = [.withdrawn(item)]
                        try file.show(item, &changes)
                        try file.run("DELETE FROM outbox WHERE number = ?", .integer(number))
                        // What was to be done with it cannot be done any more.
                        try file.stopDependents(
                            of: item, Rejection(.unknownMessage, "What this depends on was withdrawn."), &changes)
                        return .success(changes)
                    }
                }
                switch result {
                case .success(let changes): return .success(try settle(changes, of: file, emptiesLog: true))
                case .failure(let refusal): return .failure(refusal)
                }
            }
        }

        /// Replaces the command of an item that was never sent or was rejected, and has it and what
        /// was stopped with it sent.
        ///
        /// A new command without an id has that of the item. The former text is gone from the file
        /// when the call returns.
        package func replace(_ number: Int64, by request: CommandRequest) throws(ClientError) -> Result<
            CopyChanges, OutboxRefusal
        > {
            try file.withLock { file throws(ClientError) in
                let result = try file.durably { () throws(ClientError) -> Result<CopyChanges, OutboxRefusal> in
                    let item: OutboxItem
                    switch try file.changeableItem(number) {
                    case .failure(let refusal): return .failure(refusal)
                    case .success(let found): item = found
                    }
                    var request = request
                    let before = item.request.command
                    if before.kind.form.createsID, request.command.id == nil { request.command.id = before.id }
                    guard before.kind == request.command.kind,
                        OutboxPlace(of: before) == OutboxPlace(of: request.command)
                    else {
                        return .failure(.anotherKind)
                    }
                    try file.run(
                        "UPDATE outbox SET command = ?, rejection = NULL, cause = NULL, attempts = 0 WHERE number = ?",
                        .blob(try File.encode(request)), .integer(number))
                    let stopped = try file.outboxItems("WHERE cause = ? ORDER BY number", .integer(number)).map(\.id)
                    try file.run("UPDATE outbox SET rejection = NULL, cause = NULL WHERE cause = ?", .integer(number))
                    var changes = CopyChanges()
                    for number in [number] + stopped {
                        guard let queued = try file.outboxItem(number) else { throw .storage(.damaged) }
                        changes.outbox.append(.queued(queued))
                        try file.show(queued, &changes)
                    }
                    return .success(changes)
                }
                switch result {
                case .success(let changes): return .success(try settle(changes, of: file, emptiesLog: true))
                case .failure(let refusal): return .failure(refusal)
                }
            }
        }
    }

    /// What a command creates and what it is about.
    struct OutboxPlace: Equatable {
        var creates: SQLValue?
        var needs: SQLValue?
        /// The list in which what it creates is shown.
        var list: PostList?

        init(of command: ChatCommand) {
            let form = command.kind.form
            if let post = command.createdPost {
                creates = post.value
            } else if form.createsID, let id = command.id {
                creates = UserID(bits: id).value
            }
            if form.concernsPost {
                needs = command.postID.value
            } else if form.fields.contains(.thread) {
                needs = command.threadID.value
            }
            switch (command.kind, command.postID) {
            case (.postMessage, _): list = .messages(command.threadID)
            case (.reply, .message(let message)): list = .replies(message)
            default: break
            }
        }
    }

    extension Database<ClientError> {
        func outboxItems(_ condition: String, _ parameters: SQLValue...) throws(ClientError) -> [OutboxItem] {
            let rows = try run(
                "SELECT number, command, writtenAt, attempts, rejection FROM outbox " + condition, with: parameters)
            return try rows.map { row throws(ClientError) in
                guard case .integer(let number) = row[0], case .blob(let command) = row[1],
                    case .integer(let writtenAt) = row[2]
                else {
                    throw .storage(.damaged)
                }
                var state = OutboxItem.State.queued
                if case .blob(let rejection) = row[4] { state = .rejected(try Self.decode(Rejection.self, rejection)) }
                return OutboxItem(
                    id: number, request: try Self.decode(CommandRequest.self, command),
                    writtenAt: Timestamp(millisecondsSince1970: writtenAt), state: state, wasSent: row[3] != .integer(0)
                )
            }
        }

        func outboxItem(_ number: Int64) throws(ClientError) -> OutboxItem? {
            try outboxItems("WHERE number = ?", .integer(number)).first
        }

        /// Returns an item that the server has not, and cannot get meanwhile.
        func changeableItem(_ number: Int64) throws(ClientError) -> Result<OutboxItem, OutboxRefusal> {
            guard let item = try outboxItem(number) else { return .failure(.unknownItem) }
            return item.wasSent && item.state == .queued ? .failure(.alreadySent) : .success(item)
        }

        /// Names what an item changes of what is shown.
        func show(_ item: OutboxItem, _ changes: inout CopyChanges) throws(ClientError) {
            let command = item.request.command
            if let list = OutboxPlace(of: command).list, let id = command.createdPost { changes.add(id, in: list) }
            try announceAnswers(of: item, &changes)
            guard [.edit, .retract, .react, .unreact].contains(command.kind) else { return }
            if let row = try run("SELECT list FROM posts WHERE id = ?", command.postID.value).first,
                let list = PostList(key: row[0])
            {
                changes.add(command.postID, in: list)
            } else if let row = try run("SELECT list FROM outbox WHERE creates = ?", command.postID.value).first,
                let list = PostList(key: row[0])
            {
                changes.add(command.postID, in: list)
            }
        }

        /// Ends the item whose post or edit an event of its user shows.
        func endOutboxItem(
            creating id: SQLValue, by event: RecordedEvent, of user: UserID, _ changes: inout CopyChanges
        ) throws(ClientError) {
            guard event.user == user, let item = try outboxItems("WHERE creates = ?", id).first else { return }
            _ = try confirm(item, Receipt(events: [event.event], from: event.position), of: user, &changes)
        }

        /// Ends an item that the server has executed, and returns the items that it has moved to
        /// another thread.
        func confirm(
            _ number: Int64, _ receipt: Receipt, asOf position: Position?, of user: UserID,
            _ changes: inout CopyChanges
        ) throws(ClientError) -> Set<OutboxItem.ID> {
            guard let item = try outboxItem(number) else { return [] }
            return try confirm(item, receipt, asOf: position, of: user, &changes)
        }

        private func confirm(
            _ item: OutboxItem, _ receipt: Receipt, asOf position: Position? = nil, of user: UserID,
            _ changes: inout CopyChanges
        ) throws(ClientError) -> Set<OutboxItem.ID> {
            try keepShown(item, of: user, &changes)
            let attempts = try run("SELECT attempts FROM outbox WHERE number = ?", .integer(item.id)).first?.first
            try run("DELETE FROM outbox WHERE number = ?", .integer(item.id))
            // Sent again, it can have had its effect anywhere before an answer that says that it has none.
            if receipt.positions != nil || attempts == .integer(2) {
                try tellWaiting(of: item, asOf: receipt.positions?.upperBound ?? position)
            }
            if let post = item.createdPost { try moveMarkers(to: post.value, receipt) }
            changes.outbox.append(.confirmed(item, receipt))
            try show(item, &changes)
            // A post has the text from now on, and an event takes it away. Nothing has a reason or
            // a name of the user's own.
            let command = item.request.command
            if command.createdPost == nil, !command.text.isEmpty || command.payload != nil {
                changes.takesContent = true
            }
            return try follow(receipt, of: item, &changes)
        }

        func reject(_ number: Int64, _ rejection: Rejection, cause: Int64?, _ changes: inout CopyChanges)
            throws(ClientError)
        {
            guard let item = try outboxItem(number), item.state == .queued else { return }
            try run(
                "UPDATE outbox SET rejection = ?, cause = ? WHERE number = ?", .blob(try Self.encode(rejection)),
                cause.map { .integer($0) } ?? .null, .integer(number))
            guard let rejected = try outboxItem(number) else { throw .storage(.damaged) }
            changes.outbox.append(.rejected(rejected, rejection))
            try show(item, &changes)
            try stopDependents(of: item, rejection, cause: cause ?? number, &changes)
        }

        /// Stops the items that are about what an item would have created.
        func stopDependents(
            of item: OutboxItem, _ rejection: Rejection, cause: Int64? = nil, _ changes: inout CopyChanges
        )
            throws(ClientError)
        {
            guard let created = OutboxPlace(of: item.request.command).creates else { return }
            try releaseMarkers(waitingFor: created)
            for row in try run(
                "SELECT number FROM outbox WHERE needs = ? AND rejection IS NULL ORDER BY number", created)
            {
                if case .integer(let dependent) = row[0] {
                    try reject(dependent, rejection, cause: cause ?? item.id, &changes)
                }
            }
        }
    }
#endif
