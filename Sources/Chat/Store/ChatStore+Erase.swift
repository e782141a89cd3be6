public import ChatDomain
import Columns
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Erases all content that a user wrote or was given, and ends what they can do.
    ///
    /// Their bodies, usernames, subject, postcodes, devices, thread names, reasons, payloads and
    /// correlation ids go, and the reasons of sanctions on them and of removals of their posts. Texts
    /// of other users stay, also reports of the user's posts. Ids, times, memberships and outward
    /// codes stay: without them no earlier answer could be audited. The username and the subject
    /// become free. Every later command of the user is rejected with `userErased`; a repeat of one
    /// of their posts returns the first receipt without content.
    ///
    /// One event, `userErased`, orders the erasure. Once it is durable, no answer contains the
    /// content any more, now or as of an earlier point. When the call returns, no file of the
    /// journal contains it. After a crash, the next opening carries the order out. Chain values, tree
    /// heads, proofs and tokens from before stay valid.
    ///
    /// The call blocks the thread. Commands wait while the order is appended; queries do not wait.
    ///
    /// - Parameters:
    ///   - user: A registered user. For a user who was erased before, the call only completes an
    ///     unfinished erasure.
    ///   - reason: A code of 1 to 32 lower-case ASCII letters, digits and hyphens. It is kept.
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownUser`, `invalidReason` or `storageFull`
    ///   (nothing has changed); ``ChatError/erasureUnfinished(_:)`` if the order is durable and
    ///   files still have content; ``ChatError/journal(_:)`` if the journal has failed or is open for
    ///   reading only.
    /// - Complexity: O(*n*) in the events of the journal, which are replayed once; reads and writes
    ///   the segments that have such content.
    @discardableResult
    public func eraseUser(_ user: UserID, reason: String) throws(ChatError) -> Erasure {
        try erase(.user(user), reason: reason)
    }

    /// Erases the content of events.
    ///
    /// The events `contentErased` order the erasure, each with at most 3,000 ranges. Otherwise the
    /// same as ``eraseUser(_:reason:)``: who wrote the content can go on.
    ///
    /// - Parameters:
    ///   - positions: Positions of events. Events without content, and those whose content was
    ///     erased before, are unchanged.
    ///   - reason: As for ``eraseUser(_:reason:)``.
    /// - Throws: As ``eraseUser(_:reason:)``; with `invalidPosition` if no position is given or one
    ///   is beyond the last durable one.
    /// - Complexity: Reads the events at the positions, and reads and writes their segments. If the
    ///   content contains names, subjects or postcodes, also O(*n*) in the events of the journal.
    @discardableResult
    public func eraseContent(of positions: PositionSet, reason: String) throws(ChatError) -> Erasure {
        try erase(.positions(positions), reason: reason)
    }

    private func erase(_ target: ErasureTarget, reason: String) throws(ChatError) -> Erasure {
        guard let log = log as? any ErasableLog, !log.isReadOnly else {
            throw .journal(JournalError(.readOnly, "The store is open for reading only, or its log cannot erase."))
        }
        let result: Result<Erasure, ChatError> = erasing.withLock { _ in
            Result { () throws(ChatError) in try erase(target, reason: reason, in: log) }
        }
        return try result.get()
    }

    private func erase(_ target: ErasureTarget, reason: String, in log: any ErasableLog) throws(ChatError) -> Erasure {
        let end = applyDurableEvents()
        let former = (hidden: log.hiddenContent, concealed: concealment.concealed)
        // Rejects an order before anything is hidden.
        let isUnchanged = try isUnchanged(target, reason)
        var content = isUnchanged ? ErasableContent() : try self.content(of: target, in: end)
        if isUnchanged || content.positions.isEmpty && target.user == nil {
            // Only an earlier erasure may have to be completed.
            if !former.hidden.isEmpty || log.erasedThrough < lastOrder { try carryOut(through: lastOrder, in: log) }
            return Erasure(user: target.user, positions: former.hidden, reason: reason, orders: nil, head: head)
        }
        conceal(content.positions, in: log)
        var rebuilt = StoreModels()
        let orders: ClosedRange<Position>?
        do throws(ChatError) {
            if content.isIndexed, end > 0 { try Self.replay(log, 1...end, into: &rebuilt) }
            let result: Result<ClosedRange<Position>?, ChatError> = decider.withLock { decider in
                Result { () throws(ChatError) in try append(target, reason, after: end, &content, &rebuilt, &decider, log) }
            }
            orders = try result.get()
        } catch {
            // Unless the journal has failed, the order was not appended, and nothing is erased.
            if decider.withLock({ $0.failure == nil }) {
                log.setHiddenContent(former.hidden)
                concealment.replace(by: former.concealed)
                forgetContent()
            }
            throw error
        }
        // Also completes an earlier erasure that is unfinished.
        try carryOut(through: orders?.upperBound ?? lastOrder, in: log)
        return Erasure(user: target.user, positions: content.positions, reason: reason, orders: orders, head: head)
    }

    /// Returns whether an order would append nothing, or throws its rejection.
    private func isUnchanged(_ target: ErasureTarget, _ reason: String) throws(ChatError) -> Bool {
        let result: Result<Bool, ChatError> = decider.withLock { decider in
            Result { () throws(ChatError) in
                try requireWritable(decider)
                var batch = EventBatch(from: decider.rules.head + 1)
                do throws(Rejection) {
                    let decision = try readSide.withIdentities { ids throws(Rejection) in
                        try target.decide(reason, decider.rules, ids, at: clock.now(), into: &batch)
                    }
                    if case .append = decision { return false } else { return true }
                } catch {
                    throw .rejected(error)
                }
            }
        }
        return try result.get()
    }

    private func requireWritable(_ decider: borrowing Decider) throws(ChatError) {
        if let failure = decider.failure { throw .journal(failure) }
        if decider.rules.hasUnknownEvents { throw .newerEvents }
    }

    /// Appends the order and makes it durable; the read models forget the content before.
    ///
    /// The caller holds the decider's lock.
    private func append(
        _ target: ErasureTarget, _ reason: String, after end: Position, _ content: inout ErasableContent, _ rebuilt: inout StoreModels,
        _ decider: inout Decider, _ log: any ErasableLog
    ) throws(ChatError) -> ClosedRange<Position>? {
        try requireWritable(decider)
        try applyDecidedEvents(decider)
        let head = readSide.position
        if head > end, case .user = target {
            let tail = try self.content(of: target, in: head, after: end)
            content.add(tail)
            conceal(tail.positions, in: log)
        }
        var former: StoreModels?
        if content.isIndexed {
            if head > rebuilt.position {
                try Self.forEachDecodedBatch(log, rebuilt.position + 1...head) { rebuilt.apply(&$0) }
            }
            former = StoreModels(decider.rules, readSide.replaceModels(rebuilt.models))
            decider.rules = rebuilt.rules
        }
        do throws(ChatError) {
            return try appendOrder(target, reason, &decider)
        } catch {
            if decider.failure == nil, let former {
                decider.rules = former.rules
                _ = readSide.replaceModels(former.models)
            }
            throw error
        }
    }

    /// Appends the order and waits until it is durable; nil if its effect holds already.
    private func appendOrder(
        _ target: ErasureTarget, _ reason: String, _ decider: inout Decider
    ) throws(ChatError) -> ClosedRange<Position>? {
        decider.begin()
        let start = decider.rules.head
        let now = clock.now()
        do throws(Rejection) {
            let decision = try readSide.withIdentities { ids throws(Rejection) in
                try target.decide(reason, decider.rules, ids, at: now, into: &decider.batch)
            }
            guard case .append = decision else { return nil }
        } catch {
            throw .rejected(error)
        }
        do throws(JournalError) {
            for (row, content) in zip(decider.batch.rows, target.contents(reason)) {
                try decider.encode(row, content)
            }
            guard try decider.reserve(0, in: log) else { throw JournalError(.storageFull, "") }
        } catch {
            throw error.code == .storageFull ? .rejected(.storageFull) : .journal(error)
        }
        readSide.withIdentities { $0.resolve(&decider.batch) }
        decider.rules.apply(decider.batch, 0..<decider.batch.count)
        let positions = start + 1...decider.rules.head
        do throws(JournalError) {
            readSide.push(decider.batch)
            _ = try log.append(decider.draft, expecting: start)
            try log.waitUntilDurable(positions.upperBound)
        } catch {
            decider.failure = error
            throw .journal(error)
        }
        readSide.apply(log, through: positions.upperBound)
        return positions
    }

    /// Returns the content that an order would erase.
    private func content(of target: ErasureTarget, in end: Position, after start: Position = 0) throws(ChatError) -> ErasableContent {
        var orders = ErasureOrders()
        switch target {
        case .user(let user): orders.add(user, orderedAt: .max)
        case .positions(let positions): orders.add(positions, orderedAt: .max)
        }
        guard end > start else { return ErasableContent() }
        return try ErasableContent(orders, in: start + 1...end, of: log) { event in
            withCurrentModels { models, _ in models.identities.author(ofPostRemovedBy: event) }
        }
    }

    /// Hides content from every reader of this store, and drops the copies in memory.
    func conceal(_ positions: PositionSet, in log: any ErasableLog) {
        var hidden = log.hiddenContent
        hidden.formUnion(positions)
        log.setHiddenContent(hidden)
        concealment.add(positions)
        forgetContent()
    }

    private func forgetContent() {
        textCache.withLock { $0 = TextCache(capacity: textCacheByteCount) }
        feed.forgetEvents()
    }

    /// The position of the last order.
    private var lastOrder: Position { decider.withLock { $0.rules.erasures.last ?? 0 } }

    /// Removes hidden content from the files.
    ///
    /// - Throws: ``ChatError/erasureUnfinished(_:)``.
    func carryOut(through order: Position, in log: any ErasableLog) throws(ChatError) {
        let hidden = log.hiddenContent
        do throws(JournalError) {
            // No checkpoint is written meanwhile, and none of before may be left.
            if let checkpointer {
                try checkpointer.withoutCheckpoints { () throws(JournalError) in
                    try log.eraseContent(of: hidden, orderedThrough: order)
                }
            } else {
                try log.eraseContent(of: hidden, orderedThrough: order)
            }
        } catch {
            throw .erasureUnfinished(error)
        }
        log.setHiddenContent(PositionSet())
    }
}

/// What an order erases.
enum ErasureTarget {
    case user(UserID)
    case positions(PositionSet)

    var user: UserID? { if case .user(let user) = self { user } else { nil } }

    /// Decides the order, as one event or several.
    func decide(
        _ reason: String, _ rules: borrowing RuleState, _ ids: borrowing Identities, at now: Timestamp, into batch: inout EventBatch
    ) throws(Rejection) -> BatchDecision {
        switch self {
        case .user(let user): return try rules.eraseUser(user, reason: reason, ids, at: now, into: &batch)
        case .positions(let positions):
            // A check of all positions, also of none, before the parts.
            var whole = EventBatch(from: batch.firstPosition)
            _ = try rules.eraseContent(of: positions, reason: reason, at: now, into: &whole)
            for part in parts(of: positions) { _ = try rules.eraseContent(of: part, reason: reason, at: now, into: &batch) }
            return .append
        }
    }

    /// The contents of the events that ``decide(_:_:_:at:into:)`` adds.
    func contents(_ reason: String) -> [EventContent] {
        switch self {
        case .user: [.erasure(reason: reason, positions: nil)]
        case .positions(let positions): parts(of: positions).map { .erasure(reason: reason, positions: $0) }
        }
    }

    private func parts(of positions: PositionSet) -> [PositionSet] {
        let count = ChatEvent.maximumErasedRangeCount
        return stride(from: 0, to: positions.ranges.count, by: count).map {
            PositionSet(positions.ranges[$0..<min($0 + count, positions.ranges.count)])
        }
    }
}
