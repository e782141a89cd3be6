#if Postgres
    import Chat
    import EventJournal
    import Foundation
    import JournalPostgres
    import Locking

    /// Measures the log on PostgreSQL: `--postgres ADDRESS`.
    ///
    /// The floor is libpq with the same events: a prepared `INSERT` for one, binary `COPY` for a
    /// thousand, a connection for each of 64 callers, and `COPY` of all events to replay them.
    struct PostgresBenchmarks {
        let address: String
        let directory: String
        let messages: Int
        let repetitions: Int
        let isQuick: Bool

        private struct Row {
            var phase: WritePhase
            /// The target of the log alone; the store has none.
            var target: Double?
        }

        private var rows: [Row] {
            let (w1, w4) = isQuick ? (1_000, 10_000) : (4_000, 40_000)
            return [
                Row(phase: WritePhase(name: "PG W1", isDurable: true, count: w1), target: 0.8),
                Row(
                    phase: WritePhase(
                        name: "PG W2", isDurable: true, batch: WriteInput.batch, count: min(messages, 500_000)),
                    target: 0.8),
                Row(
                    phase: WritePhase(name: "PG W4 threads", isDurable: true, callers: .threads(64), count: w4),
                    target: 0.8),
                Row(
                    phase: WritePhase(name: "PG W4 tasks", isDurable: true, callers: .tasks(64), count: w4), target: 0.8
                ),
            ]
        }

        func run(_ report: inout Report) async throws {
            let rows = rows.filter { report.wants($0.phase.name) || report.wants("PG") }
            let reads = report.wants("PG") || report.wants("PG R1")
            let follows = report.wants("PG") || report.wants("PG live")
            guard !rows.isEmpty || reads || follows else { return }
            let input = try WriteInput(count: reads ? messages : rows.map(\.phase.count).max() ?? 1_000, in: directory)
            defer { discard(input.prepared) }
            for row in rows { try await measure(row, input, &report) }
            if reads { try replay(input, &report) }
            if follows { try await follow(input, &report) }
        }

        /// The address of a new log in the same database.
        private func newAddress() -> String {
            "\(address.prefix { $0 != "#" })#bench-\(UUID().uuidString.lowercased())"
        }

        private func measure(_ row: Row, _ input: WriteInput, _ report: inout Report) async throws {
            var (floor, log, chat) = (Median(), Median(), Median())
            for _ in 0..<repetitions {
                floor.add(try PostgresFloor.rate(of: row.phase, input.events, at: address))
                log.add(try await rateOfLog(row.phase, input))
                chat.add(try await rateOfStore(row.phase, input))
            }
            for (subject, rate, target) in [("PostgresLog", log, row.target), ("Chat", chat, nil)] {
                try report.add(
                    Figure(
                        workload: row.phase.name, subject: subject, value: rate.value, unit: "events/s",
                        floor: floor.value,
                        ratio: rate.value / floor.value, target: target, spread: rate.spread))
            }
        }

        private func rateOfLog(_ phase: WritePhase, _ input: WriteInput) async throws -> Double {
            let log = try PostgresLog.open(newAddress())
            let rate = try await JournalWriter.rate(of: phase, input.events, log)
            try log.close()
            return rate
        }

        private func rateOfStore(_ phase: WritePhase, _ input: WriteInput) async throws -> Double {
            let address = newAddress()
            let prepared = try Journal.openReadOnly(input.prepared)
            var copy = try PostgresCopy(address, of: prepared)
            try LogCopy.copyRecords(of: prepared, to: &copy)
            try copy.activateAndClose()
            var options = PostgresOptions()
            options.lockTimeout = .seconds(30)
            let store = try ChatStore.open(
                log: try PostgresLog.open(address, options: options), options: WrittenHistory.options)
            let rate = try await ChatWriter.rate(of: phase, input, store)
            try store.close()
            return rate
        }

        private func replay(_ input: WriteInput, _ report: inout Report) throws {
            let address = newAddress()
            let log = try PostgresLog.open(address)
            let phase = WritePhase(
                name: "", isDurable: true, batch: WriteInput.batch, count: messages, limit: .seconds(86_400))
            _ = try JournalWriter.rateOfOne(phase, input.events, log)
            try log.close()
            var (floor, rate) = (Median(), Median())
            for _ in 0..<repetitions {
                floor.add(try PostgresFloor.replay(input.events, count: messages, at: self.address))
                let reader = try PostgresLog.openReadOnly(address)
                var count = 0
                rate.add(
                    Double(messages)
                        / (try seconds {
                            try reader.forEachRecord(in: 1...Position(messages)) { _, _, _, _ in
                                count += 1
                                return true
                            }
                        }))
                guard count == messages else { throw UsageError("the log has lost events") }
                try reader.close()
            }
            try report.add(
                Figure(
                    workload: "PG R1 replay", subject: "PostgresLog", value: rate.value, unit: "events/s",
                    floor: floor.value,
                    ratio: rate.value / floor.value, target: 0.8, spread: rate.spread))
        }

        /// Measures the time from the confirmation of an append until a reader of another log
        /// object has the record.
        private func follow(_ input: WriteInput, _ report: inout Report) async throws {
            let address = newAddress()
            let log = try PostgresLog.open(address)
            let reader = try PostgresLog.openReadOnly(address)
            let count: Position = isQuick ? 100 : 500
            let confirmed = Lock<[ContinuousClock.Instant]>([])
            let following = Task {
                var received: [ContinuousClock.Instant] = []
                while received.count < Int(count) {
                    let end = try await reader.waitForRecords(after: Position(received.count))
                    try reader.forEachRecord(in: Position(received.count) + 1...end) { _, _, _, _ in true }
                    let now = ContinuousClock.now
                    while received.count < Int(end) { received.append(now) }
                }
                return received
            }
            for _ in 0..<count {
                let phase = WritePhase(name: "", isDurable: true, count: 1)
                _ = try JournalWriter.rateOfOne(phase, input.events, log)
                confirmed.withLock { $0.append(.now) }
                try await Task.sleep(for: .milliseconds(20))
            }
            let received = try await following.value
            let delays = zip(received, confirmed.withLock { $0 }).map { max(0, ($0 - $1) / .milliseconds(1)) }.sorted()
            for (name, delay) in [("p50", delays[delays.count / 2]), ("p99", delays[delays.count * 99 / 100])] {
                try report.add(Figure(workload: "PG live \(name)", subject: "PostgresLog", value: delay, unit: "ms"))
            }
            try reader.close()
            try log.close()
        }
    }
#endif
