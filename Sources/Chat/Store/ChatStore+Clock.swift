import ChatDomain
import Columns
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// What the store makes of its clock.
    ///
    /// A store that is open for writing rejects commands with `clockStepped` if its clock is more
    /// than a day before the last recorded time or more than 400 days after it, or was stepped by
    /// more than a day since (``StoreOptions/acceptsClock``). Queries go on.
    ///
    /// Does not wait for commands.
    public var clockStatus: ClockStatus {
        let reading = ClockCheck.Reading(clock)
        return published.withLock { state in
            let last = state.lastRecordedAt
            let rejection = log.isReadOnly ? nil : state.clockCheck.rejection(of: reading, after: last)
            return ClockStatus(now: reading.time, lastRecordedAt: last, rejection: rejection)
        }
    }

    /// Appends an event after which times may begin lower, because the clock was wrong and is right
    /// now.
    ///
    /// The event `clockCorrected` is recorded at the time that the clock shows. Sanctions that
    /// ended only by the wrong clock are in force again until their end. Nothing is appended if no
    /// recorded time is ahead of the clock. The store accepts the clock.
    ///
    /// The call blocks the thread.
    ///
    /// - Returns: The position of the event, both times, and the sanctions that were set at times
    ///   ahead of the clock: look at their ends.
    /// - Throws: ``ChatError/journal(_:)`` if the store has stopped or is open for reading only;
    ///   ``ChatError/newerEvents``; ``ChatError/rejected(_:)`` with `storageFull`;
    ///   ``ChatError/undecodable(position:_:)`` if an event does not decode.
    /// - Complexity: O(*n*) in the events before it.
    @discardableResult
    public func correctClock() throws(ChatError) -> ClockCorrection {
        try requireRunning()
        guard !log.isReadOnly else { throw .journal(JournalError(.readOnly, "The store is open for reading only.")) }
        var correction = try decider.withLock { decider throws(ChatError) in
            try requireWritable(decider)
            let reading = ClockCheck.Reading(clock)
            var correction = ClockCorrection(to: reading.time, from: decider.rules.lastRecordedAt)
            decider.begin()
            if case .append = decider.rules.correctClock(at: reading.time, into: &decider.batch) {
                correction.position = try append([.none], &decider).upperBound
                decider.clockCheck.accept(reading)
                published.withLock { $0.clockCheck.accept(reading) }
            }
            return correction
        }
        guard let position = correction.position else { return correction }
        try forEachEvent(upTo: position - 1, matching: EventFilter(as: .host, kinds: [.userMuted, .userBanned])) {
            recorded, _ in
            guard recorded.recordedAt > correction.time,
                case .sanction(let thread, _, let user, _, let until) = recorded.shape
            else {
                return
            }
            correction.sanctions.append(
                MisdatedSanction(
                    position: recorded.position, recordedAt: recorded.recordedAt, thread: thread,
                    user: withCurrentModels { models, now in
                        UserSummary(
                            id: user, username: models.userIndex(user).flatMap { models.name(ofUser: $0, asOf: now) })
                    },
                    kind: recorded.kind == .userBanned ? .ban : .mute,
                    until: until))
        }
        return correction
    }

    /// Appends the events of the decider's batch, which no command causes, and waits until they are
    /// durable.
    ///
    /// The caller holds the decider's lock.
    ///
    /// - Parameter contents: The contents of the events.
    func append(_ contents: [EventContent], _ decider: inout Decider) throws(ChatError) -> ClosedRange<Position> {
        let start = decider.rules.head
        let hasRoom: Bool
        do throws(JournalError) {
            for (row, content) in zip(decider.batch.rows, contents) { try decider.encode(row, content) }
            hasRoom = try decider.reserve(0, in: log)
        } catch {
            throw .journal(error)
        }
        guard hasRoom else { throw .rejected(.storageFull) }
        readSide.withIdentities { $0.resolve(&decider.batch) }
        decider.rules.apply(decider.batch, 0..<decider.batch.count)
        let positions = start + 1...decider.rules.head
        do throws(JournalError) {
            readSide.push(decider.batch)
            _ = try log.append(decider.draft, expecting: start)
            try log.waitUntilDurable(positions.upperBound)
        } catch {
            throw stopping(after: error)
        }
        readSide.apply(log, through: positions.upperBound)
        publish(decider.rules)
        return positions
    }
}
