#if PeerBenchmarks
    import ChatDomain
    import Foundation

    /// Writes the messages to SQLite.
    ///
    /// Its calls block, so it does not take part in W1 async and W4 tasks.
    struct SQLiteWriter: EventWriter {
        let subject = "SQLite"

        func canWrite(_ phase: WritePhase) -> Bool {
            switch phase.callers {
            case .one, .threads: true
            case .task, .tasks: false
            }
        }

        func rate(of phase: WritePhase, _ input: WriteInput, in directory: String) async throws -> Double {
            try makeDirectory(directory)
            let store = try SQLiteStore("\(directory)/events.db", durable: phase.isDurable)
            if case .threads(let count) = phase.callers {
                return try phase.rate(threads: count) { index in try store.append(input.events, index..<index + 1) }
            }
            return try phase.rate { range in try store.append(input.events, range) }
        }
    }

    /// Reads the messages from SQLite, beside the floors of R1 and R2.
    struct SQLiteReading {
        let directory: String
        /// The same messages in a journal, whose files the floors read.
        let history: () throws -> WrittenHistory
        let messages: Int
        let repetitions: Int

        func run(_ report: inout Report) throws {
            guard report.wants("R1") || report.wants("R2") else { return }
            let input = try WriteInput(count: messages, in: directory)
            let path = "\(directory)/sqlite"
            defer { for place in [path, input.prepared] { discard(place) } }
            discard(path)
            try makeDirectory(path)
            let store = try SQLiteStore("\(path)/events.db", durable: false)
            for start in stride(from: 0, to: messages, by: WriteInput.batch) {
                try store.append(input.events, start..<min(messages, start + WriteInput.batch))
            }
            let history = try history()
            let files = try RecordFiles(history.segments, recordBytes: input.events.byteCount / messages)
            if report.wants("R1") { try replay(store, files, input, &report) }
            if report.wants("R2") { try pages(store, files, &report) }
        }

        private func replay(_ store: SQLiteStore, _ files: RecordFiles, _ input: WriteInput, _ report: inout Report)
            throws
        {
            var (floor, sqlite) = (Median(), Median())
            for _ in 0..<repetitions {
                floor.add(seconds { files.scan() })
                sqlite.add(
                    try seconds {
                        guard try store.replay() == messages else { throw UsageError("SQLite has lost events") }
                    })
            }
            // Scaled by bytes, because the journal's files contain users, threads and joins too.
            let floorRate = Double(files.byteCount) / floor.value / (Double(input.events.byteCount) / Double(messages))
            let rate = Double(messages) / sqlite.value
            try report.add(
                Figure(
                    workload: "R1 replay", subject: "SQLite", value: rate, unit: "events/s", floor: floorRate,
                    ratio: rate / floorRate,
                    spread: sqlite.spread))
        }

        private func pages(_ store: SQLiteStore, _ files: RecordFiles, _ report: inout Report) throws {
            var (floor, sqlite) = (Median(), Median())
            var random = SplitMix(state: 7)
            let count = 2_000
            for _ in 0..<repetitions {
                floor.add(seconds { files.readRecords(count * 50, &random) })
                sqlite.add(
                    try seconds {
                        for _ in 0..<count {
                            _ = try store.latest(
                                Workload.threadID(Int(random.next() % UInt64(Workload.threadCount))).bits)
                        }
                    })
            }
            try report.add(
                Figure(
                    workload: "R2 latest 50, any thread", subject: "SQLite", value: Double(count) / sqlite.value,
                    unit: "pages/s",
                    floor: Double(count) / floor.value, ratio: floor.value / sqlite.value, spread: sqlite.spread))
        }
    }
#endif
