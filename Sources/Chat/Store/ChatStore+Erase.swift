public import ChatDomain
import Columns
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Erases the content of a user's events, and rejects the user's later commands.
    ///
    /// - Erased: bodies, usernames, the subject, postcodes, devices, thread names, reasons,
    ///   payloads and correlation ids of the user; the reasons of sanctions on the user and of
    ///   removals of their posts.
    /// - Kept: the texts of other users, also reports of the user's posts; ids, times, memberships
    ///   and outward codes, without which no earlier answer could be audited.
    ///
    /// The user's roles end in the same commit: where they were the only owner, the moderator who
    /// joined first or, without one, the member who joined first becomes an owner; in a thread
    /// without other members, operators have an owner's rights. A commit ends the roles in at most
    /// 1,000 threads; the rest follow before the call returns or, after a crash, when the journal
    /// is opened the next time.
    ///
    /// The username and the subject become free. Every later command of the user is rejected with
    /// `userErased`; a repeat of one of their posts returns the first receipt without content.
    ///
    /// One event, `userErased`, orders the erasure. Once it is durable, no answer contains the
    /// content any more, now or as of an earlier point. When the call returns, no file of the
    /// journal contains it. After a crash, the next opening carries the order out. Chain values,
    /// tree heads, proofs and tokens from before stay valid.
    ///
    /// The call blocks the thread. Commands wait while the order is appended; queries do not wait.
    ///
    /// - Parameters:
    ///   - user: A registered user. For a user who was erased before, the call only completes an
    ///     unfinished erasure.
    ///   - reason: A code of 1 to 32 lower-case ASCII letters, digits and hyphens. It is kept.
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser`, `invalidReason` or `storageFull`
    ///   (nothing has changed); ``ChatError/erasureUnfinished(_:)`` if the order is durable, and
    ///   files still have content or the user still has roles; ``ChatError/journal(_:)`` if the
    ///   journal has failed or is open for reading only.
    /// - Complexity: O(*n*) in the events of the journal, which are replayed once; reads and writes
    ///   the segments that have such content. The rules and the read models take twice their memory
    ///   until the call returns.
    @discardableResult
    public func eraseUser(_ user: UserID, reason: String) throws(ChatError) -> Erasure {
        try erase(.user(user, reason: reason), user: user, reason)
    }

    /// Erases the content of events.
    ///
    /// The events `contentErased` order the erasure, each with at most 3,000 ranges. Otherwise the
    /// same as ``eraseUser(_:reason:)``. The author can execute further commands.
    ///
    /// - Parameters:
    ///   - positions: Positions of events. Events without content, and those whose content was
    ///     erased before, are unchanged.
    ///   - reason: As for ``eraseUser(_:reason:)``.
    /// - Throws: As ``eraseUser(_:reason:)``; with `invalidPosition` if no position is given or one
    ///   is beyond the last durable one.
    /// - Complexity: Reads the events at the positions, and reads and writes their segments. If the
    ///   content contains names, subjects or postcodes, as ``eraseUser(_:reason:)``.
    @discardableResult
    public func eraseContent(of positions: PositionSet, reason: String) throws(ChatError) -> Erasure {
        try erase(.positions(positions, reason: reason), user: nil, reason)
    }

    private func erase(_ request: ErasureRequest, user: UserID?, _ reason: String) throws(ChatError) -> Erasure {
        // Before the kind of the log: a stopped store answers every call with its failure.
        try requireRunning()
        guard let log = log as? any ErasableLog, !log.isReadOnly else {
            throw .journal(JournalError(.readOnly, "The store is open for reading only, or its log cannot erase."))
        }
        return try erasing.withLock { _ throws(ChatError) in
            let (positions, orders) = try order([request], in: log)
            return Erasure(user: user, positions: positions, reason: reason, orders: orders, head: head)
        }
    }

    /// Orders erasures in one commit, and carries them out.
    ///
    /// The caller holds the lock of erasures.
    ///
    /// - Parameter isRepetition: Whether the orders are those of a ledger: they are appended even
    ///   if nothing is left to erase.
    /// - Returns: The events that lose their content, and the positions of the orders; nil if none
    ///   was appended.
    @discardableResult
    func order(
        _ requests: [ErasureRequest], isRepetition: Bool = false, in log: any ErasableLog
    ) throws(ChatError) -> (positions: PositionSet, orders: ClosedRange<Position>?) {
        let end = applyDurableEvents()
        let former = (hidden: log.hiddenContent, erased: erasedPositions.positions)
        // Rejects an order before anything is hidden.
        let isUnchanged = try isUnchanged(requests, isRepetition)
        var content = isUnchanged ? ErasableContent() : try self.content(of: requests, in: end)
        if isUnchanged || content.positions.isEmpty && !isRepetition && requests.allSatisfy({ $0.user == nil }) {
            // Only an earlier erasure may have to be completed.
            let last = lastOrder
            if !former.hidden.isEmpty || last > log.erasedThrough ?? 0 {
                try finishErasures(orderedThrough: last, in: log)
            }
            try endRolesOfErasedUsers()
            return (former.hidden, nil)
        }
        hideAndForget(content.positions, in: log)
        var rebuilt = StoreModels()
        let orders: ClosedRange<Position>?
        do throws(ChatError) {
            if content.isIndexed, end > 0 { try Self.replay(log, 1...end, into: &rebuilt) }
            orders = try decider.withLock { decider throws(ChatError) in
                try append(requests, isRepetition, after: end, &content, &rebuilt, &decider, log)
            }
        } catch {
            // Unless the journal has failed, the order was not appended, and nothing is erased.
            if failure == nil {
                log.setHiddenContent(former.hidden)
                erasedPositions.replace(by: former.erased)
                forgetContent()
            }
            throw error
        }
        // Also completes an earlier erasure that is unfinished.
        try finishErasures(orderedThrough: orders?.upperBound ?? lastOrder, in: log)
        try endRolesOfErasedUsers()
        return (PositionSet(content.positions.ranges + former.hidden.ranges), orders)
    }

    /// Returns whether the orders would append nothing, or throws their rejection.
    private func isUnchanged(_ requests: [ErasureRequest], _ isRepetition: Bool) throws(ChatError) -> Bool {
        try decider.withLock { decider throws(ChatError) in
            try requireWritable(decider)
            var batch = EventBatch(from: decider.rules.head + 1)
            try decide(requests, isRepetition, &decider, into: &batch)
            return batch.count == 0
        }
    }

    /// Decides the orders, and returns the content of each event that is added to the batch.
    ///
    /// The orders of a ledger are repeated under a wrong clock too, at the last recorded time.
    @discardableResult
    private func decide(
        _ requests: [ErasureRequest], _ isRepetition: Bool, _ decider: inout Decider, into batch: inout EventBatch
    ) throws(ChatError) -> [EventContent] {
        let (now, wrongClock) = readTime(&decider)
        do throws(Rejection) {
            let contents = try readSide.withIdentities { ids throws(Rejection) in
                var contents: [EventContent] = []
                for request in requests { contents += try request.decide(decider.rules, ids, at: now, into: &batch) }
                return contents
            }
            if let wrongClock, batch.count > 0, !isRepetition { throw wrongClock }
            return contents
        } catch {
            throw .rejected(error)
        }
    }

    /// Appends the orders and makes them durable; the read models forget the content before.
    ///
    /// The caller holds the decider's lock.
    private func append(
        _ requests: [ErasureRequest], _ isRepetition: Bool, after end: Position, _ content: inout ErasableContent,
        _ rebuilt: inout StoreModels, _ decider: inout Decider, _ log: any ErasableLog
    ) throws(ChatError) -> ClosedRange<Position>? {
        try requireWritable(decider)
        try applyDecidedEvents(decider)
        let head = readSide.position
        let users = requests.filter { $0.user != nil }
        if head > end, !users.isEmpty {
            let tail = try self.content(of: users, in: head, after: end)
            content.add(tail)
            hideAndForget(tail.positions, in: log)
        }
        var former: StoreModels?
        if content.isIndexed {
            if head > rebuilt.position {
                try Self.forEachDecodedBatch(log, rebuilt.position + 1...head) { rebuilt.apply(&$0) }
            }
            former = StoreModels(decider.rules, readSide.replaceModels(rebuilt.readModels))
            decider.rules = rebuilt.rules
        }
        do throws(ChatError) {
            return try appendOrders(requests, isRepetition, &decider)
        } catch {
            if failure == nil, let former {
                decider.rules = former.rules
                _ = readSide.replaceModels(former.readModels)
            }
            throw error
        }
    }

    /// Appends the orders and waits until they are durable; nil if their effect holds already.
    ///
    /// The roles of the users end in the same commit, as far as it has room for them.
    private func appendOrders(
        _ requests: [ErasureRequest], _ isRepetition: Bool, _ decider: inout Decider
    ) throws(ChatError) -> ClosedRange<Position>? {
        decider.begin()
        var batch = EventBatch(from: decider.rules.head + 1)
        var contents = try decide(requests, isRepetition, &decider, into: &batch)
        if batch.count == 0 { return nil }
        let orders = batch.firstPosition...batch.firstPosition + Position(batch.count - 1)
        contents += endRolesOfErasedUsers(&decider, into: &batch)
        decider.batch = batch
        _ = try append(contents, &decider)
        return orders
    }

    /// Returns the content that the orders would erase.
    private func content(of requests: [ErasureRequest], in end: Position, after start: Position = 0) throws(ChatError)
        -> ErasableContent
    {
        var orders = ErasureOrders()
        orders.add(requests)
        guard end > start else { return ErasableContent() }
        return try ErasableContent(orders, in: start + 1...end, of: log) { event, position in
            withCurrentModels { models, _ in models.otherConcernedUser(by: event, at: position) }
        }
    }

    /// Hides content from every reader of this store, and drops the copies in memory.
    func hideAndForget(_ positions: PositionSet, in log: any ErasableLog) {
        var hidden = log.hiddenContent
        hidden.formUnion(positions)
        log.setHiddenContent(hidden)
        erasedPositions.add(positions)
        forgetContent()
    }

    private func forgetContent() {
        textCache.withLock { $0 = TextCache(capacity: textCacheByteCount) }
        feed.forgetEvents()
    }

    /// The position of the last order; 0 if there is none.
    var lastOrder: Position { decider.withLock { $0.rules.erasures.last ?? 0 } }

    /// Lists the orders in the ledger, and removes hidden content from the files.
    ///
    /// - Throws: ``ChatError/erasureUnfinished(_:)``.
    func finishErasures(orderedThrough order: Position, in log: any ErasableLog) throws(ChatError) {
        do throws(ChatError) {
            try listOrders(in: log)
            try wrappingJournalErrors { () throws(JournalError) in
                let hidden = log.hiddenContent
                guard let checkpointer else { return try log.eraseContent(of: hidden, orderedThrough: order) }
                // No checkpoint is written meanwhile, and none of before may be left.
                try checkpointer.withoutCheckpoints { () throws(JournalError) in
                    try log.eraseContent(of: hidden, orderedThrough: order)
                }
            }
        } catch {
            if case .journal(let error) = error { throw .erasureUnfinished(error) }
            throw error
        }
        log.setHiddenContent(PositionSet())
    }
}
