#if Client || canImport(SQLite3)
    import Chat
    import ChatClient
    import ChatDomain
    import ChatValues
    import Foundation

    /// Measures a client with a large copy: C.
    ///
    /// A process of its own opens the copy, so that its memory is that of the client alone.
    struct ClientBenchmarks {
        private static let user = UserID(bits: 1)
        private static let thread = ThreadID(bits: 2)
        private static let posts = 100_000
        /// The most seconds and bytes for a readable screen.
        private static let (mostSeconds, mostBytes) = (0.3, Double(40 << 20))
        let directory: String
        let repetitions: Int

        func run(_ report: inout Report) throws {
            guard report.wants("C") else { return }
            try makeDirectory(directory)
            let path = "\(directory)/copy"
            defer { for suffix in ["", "-wal", "-shm", ".lock"] { discard(path + suffix) } }
            try write(path)
            var (times, sizes) = (Median(), Median())
            for _ in 0..<repetitions {
                let (seconds, bytes) = try openInProcess(path)
                times.add(seconds)
                sizes.add(bytes)
            }
            try report.add(
                Figure(
                    workload: "C screen of 10^5 posts", subject: "ChatClient", value: times.value * 1e3, unit: "ms",
                    ratio: Self.mostSeconds / times.value, target: 1, spread: times.spread))
            try report.add(
                Figure(
                    workload: "C memory of 10^5 posts", subject: "ChatClient", value: sizes.value / Double(1 << 20),
                    unit: "MiB",
                    ratio: Self.mostBytes / sizes.value, target: 1, spread: sizes.spread))
        }

        /// Opens a copy and reads what a screen shows; prints the seconds and the most bytes of the
        /// process.
        static func open(_ path: String) throws {
            let time = try seconds {
                let copy = try openCopy(path)
                let threads = try copy.answer(ThreadsQuery())
                let posts = try copy.posts(in: .messages(thread), limit: 50).posts
                precondition(
                    threads?.value.entries.count == 200 && posts.count == 50, "the copy is not the written one")
            }
            printLine("\(time) \(peakBytes())")
        }

        private static func openCopy(_ path: String) throws(ClientError) -> LocalCopy {
            try LocalCopy(path: path, server: "https://chat.example", user: user, postLimit: 2 * posts)
        }

        private func openInProcess(_ path: String) throws -> (seconds: Double, bytes: Double) {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(filePath: CommandLine.arguments[0])
            process.arguments = ["--open-copy", path]
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
            guard process.terminationStatus == 0, numbers.count == 2 else {
                throw UsageError("the copy could not be opened: \(text)")
            }
            return (numbers[0], numbers[1])
        }

        /// Writes a copy with messages of a thousand authors, and a list of threads.
        private func write(_ path: String) throws {
            let copy = try Self.openCopy(path)
            try copy.begin(at: ChatStore.inMemory().resumeToken(after: 0))
            for first in stride(from: 1, through: Self.posts, by: 200) {
                let request = PageRequest.after(Position(first - 1), limit: 200)
                _ = try copy.keep(
                    Page(entries: (first..<first + 200).map(post), older: nil, newer: request),
                    of: .messages(Self.thread),
                    in: Self.thread, request, asOf: Position(Self.posts))
            }
            let threads = (0..<200).map { number in
                ThreadSummary(
                    id: ThreadID(bits: UInt128(number) + 2), name: "Thread \(number)", memberCount: 100,
                    messageCount: 500,
                    lastPosition: Position(number + 1), createdAt: Timestamp(millisecondsSince1970: 0), policy: .open)
            }
            let newer = PageRequest.after(200, limit: 200)
            _ = try copy.keep(
                Page(entries: threads, older: nil, newer: newer), of: ThreadsQuery(), asOf: Position(Self.posts),
                then: [])
            copy.close()
        }

        private func post(_ number: Int) -> Post {
            let message = MessageID(bits: UInt128(number) + 1_000_000)
            return Post(
                id: .message(message), position: Position(number), thread: Self.thread, message: message,
                author: UserSummary(id: UserID(bits: UInt128(number % 1_000) + 10), username: "User \(number % 1_000)"),
                body: "Message \(number): could someone pick up milk and bread this afternoon?",
                createdAt: Timestamp(millisecondsSince1970: Int64(number)), isRetracted: false, replyCount: 0,
                mentions: [])
        }

        /// The most resident memory of this process; 0 on a platform without `/proc`.
        private static func peakBytes() -> Int {
            guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
                let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
                let kilobytes = line.split(whereSeparator: \.isWhitespace).dropFirst().first
            else { return 0 }
            return (Int(kilobytes) ?? 0) << 10
        }
    }
#endif
