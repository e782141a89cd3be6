#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Copies of random communities, which are told of the updates late, in pieces and twice, and
    /// of pages that are older or newer than what they know.
    @Suite struct LocalCopyPropertyTests {
        @Test(.serialized, arguments: Seeds.seeds(Repetitions.few(20, of: 2_000), from: Repetitions.seed))
        func aCopyEqualsWhatTheServerAnswers(_ seed: UInt64) async throws {
            var community = try Community(seed: seed)
            for _ in 0..<Int.random(in: 60...260, using: &community.random) { try await community.step() }
            for index in community.readers.indices {
                try await community.update(index, count: .max)
                try await community.expectEqual(index, allowingStale: true)
                try community.refresh(index)
                try await community.expectEqual(index, allowingStale: false)
            }
        }
    }

    /// A store, and the copies of some of its users.
    private struct Community {
        struct Reader {
            let user: UserID
            let copy: LocalCopy
            /// A page that was read and is not kept yet, and the updates since.
            var answer: (page: Page<Post>, list: PostList, thread: ThreadID, request: PageRequest, position: Position)?
            var meanwhile: [FollowedUpdate] = []
        }

        var random: SeededRandom
        var generator: CommandGenerator
        let store: ChatStore
        let directory: TemporaryDirectory
        var readers: [Reader] = []
        var threads: [ThreadID] = []
        var messages: [(MessageID, ThreadID)] = []

        init(seed: UInt64) throws {
            (random, generator) = (SeededRandom(seed: seed), CommandGenerator(seed: seed))
            store = try ChatStore.inMemory()
            directory = try TemporaryDirectory()
        }

        mutating func step() async throws {
            let receipt = try? store.executeBlocking(generator.next())
            for event in receipt?.events ?? [] {
                if event.kind == .userRegistered, readers.count < 3, let user = event.user { try await addReader(user) }
                if event.kind == .threadOpened || event.kind == .directOpened, let thread = event.thread {
                    threads.append(thread)
                }
                if event.kind == .messagePosted, let message = event.message, let thread = event.thread {
                    messages.append((message, thread))
                }
            }
            if random.oneIn(60), let position = receipt?.position {
                let first = UInt64.random(in: 1...position, using: &random)
                let positions = PositionSet([first...first])
                _ = try store.eraseContent(of: positions, reason: "a-test")
            }
            for index in readers.indices {
                if random.oneIn(4) { try await update(index, count: Int.random(in: 1...9, using: &random)) }
                if random.oneIn(3) { try ask(index) }
                if random.oneIn(3) { try keepAnswer(index) }
                if random.oneIn(12) { try refresh(index) }
            }
        }

        private mutating func addReader(_ user: UserID) async throws {
            let copy = try LocalCopy(
                path: directory.file("\(readers.count)"), server: "https://chat.example", user: user)
            try copy.begin(at: store.resumeToken(after: store.head.position))
            readers.append(Reader(user: user, copy: copy))
        }

        /// Applies some of the waiting updates; those of a piece can be applied twice.
        mutating func update(_ index: Int, count: Int) async throws {
            let reader = readers[index]
            let token = try #require(try reader.copy.token)
            var updates: [FollowedUpdate] = []
            let filter = EventFilter(as: .user(reader.user))
            for try await update in store.events(after: token, upTo: store.head.position, matching: filter).updates {
                updates.append(update)
                if updates.count == count { break }
            }
            _ = try reader.copy.apply(updates)
            if random.oneIn(3) { _ = try reader.copy.apply(updates) }
            readers[index].meanwhile += updates
        }

        /// Asks for a page of a random list.
        private mutating func ask(_ index: Int) throws {
            guard let (list, thread) = randomList() else { return }
            let head = store.head.position
            var request = PageRequest.latest(Int.random(in: 1...12, using: &random))
            switch Int.random(in: 0...3, using: &random) {
            case 0: request.before = UInt64.random(in: 0...head + 1, using: &random)
            case 1: request.after = UInt64.random(in: 0...head, using: &random)
            default: break
            }
            guard let page = try? read(list, request, as: readers[index].user) else { return }
            readers[index].answer = (page, list, thread, request, head)
            readers[index].meanwhile = []
        }

        private mutating func keepAnswer(_ index: Int) throws {
            guard let answer = readers[index].answer else { return }
            readers[index].answer = nil
            _ = try readers[index].copy.keep(
                answer.page, of: answer.list, in: answer.thread, answer.request, asOf: answer.position,
                then: readers[index].meanwhile)
        }

        private mutating func randomList() -> (PostList, ThreadID)? {
            if random.oneIn(3), let (message, thread) = messages.randomElement(using: &random) {
                return (.replies(message), thread)
            }
            return threads.randomElement(using: &random).map { (.messages($0), $0) }
        }

        private func read(_ list: PostList, _ request: PageRequest, as user: UserID) throws -> Page<Post> {
            switch list {
            case .messages(let thread): try store.reader(as: .user(user)).timeline(thread, page: request)
            case .replies(let message): try store.reader(as: .user(user)).replies(to: message, page: request)
            }
        }

        /// Reads again what is out of date.
        mutating func refresh(_ index: Int) throws {
            let reader = readers[index]
            while let (list, thread, request) = try reader.copy.stalePosts() {
                let head = store.head.position
                guard let page = try? read(list, request, as: reader.user) else {
                    _ = try reader.copy.forget(list)
                    continue
                }
                _ = try reader.copy.keep(page, of: list, in: thread, request, asOf: head)
            }
        }

        /// Compares each list of a copy with the answer of the server, for the ranges that it
        /// claims to know.
        func expectEqual(_ index: Int, allowingStale: Bool) async throws {
            let reader = readers[index]
            let lists = threads.map { PostList.messages($0) } + messages.map { PostList.replies($0.0) }
            for list in lists {
                let ranges = try reader.copy.knownRanges(of: list)
                let found = try reader.copy.allPosts(in: list)
                guard let answer = try? read(list, .all, as: reader.user).entries else {
                    #expect(found.isEmpty, "\(list) is not readable")
                    continue
                }
                let expected = answer.filter { post in ranges.contains { $0.contains(post.position) } }
                #expect(found.map(\.post.id) == expected.map(\.id), "\(list) of \(reader.user)")
                for (one, answer) in zip(found, expected) where !one.isStale || !allowingStale {
                    var post = answer
                    // When they share a thread again, one post of the author is out of date, and
                    // has the name of all.
                    if allowingStale { post.author.username = one.post.author.username }
                    #expect(!one.isStale && one.post == post, "\(differences(one.post, post))")
                }
            }
        }
    }

    /// The fields in which two posts differ, for the message of a failure.
    private func differences(_ one: Post, _ other: Post) -> [String] {
        zip(Mirror(reflecting: one).children, Mirror(reflecting: other).children).compactMap { mine, theirs in
            let (found, expected) = ("\(mine.value)", "\(theirs.value)")
            return found == expected ? nil : "\(mine.label ?? ""): \(found), expected \(expected)"
        }
    }

    extension LocalCopy {
        /// Every post of a list, also those outside of any page.
        fileprivate func allPosts(in list: PostList) throws -> [(post: Post, isStale: Bool)] {
            try file.withLock { file in
                try file.run(
                    """
                    SELECT p.value, u.name, u.blocked, p.stale FROM posts p
                    LEFT JOIN users u ON u.id = p.author AND u.thread = p.thread WHERE p.list = ? ORDER BY position
                    """,
                    list.key
                ).map { (try file.post(of: $0), $0[3] == .integer(1)) }
            }
        }
    }
#endif
