#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The threads of the directory, which every user can find.
    @MainActor @Observable public final class DirectoryModel: CommandSender {
        /// The threads, the latest first; more are read on demand.
        public private(set) var entries: [DirectoryEntry] = []
        /// Whether more can be read.
        public var hasMore: Bool { older != nil }
        /// Whether a page is being read.
        public private(set) var isLoading = false
        /// What went wrong.
        public var feedback: Feedback?

        @ObservationIgnored let chat: any UserChat
        private var older: PageRequest? = .latest()

        init(_ chat: any UserChat) { self.chat = chat }

        /// Reads the list from its beginning.
        public func reload() async {
            await load {
                let page = try await self.chat.directory()
                (self.entries, self.older) = (page.entries.reversed(), page.older)
            }
        }

        /// Reads the next page.
        public func loadMore() async {
            guard let older else { return }
            await load {
                let page = try await self.chat.directory(page: older)
                self.entries += page.entries.reversed()
                self.older = page.older
            }
        }

        /// Joins a thread; returns whether it is on its way.
        @discardableResult public func join(_ entry: DirectoryEntry) async -> Bool {
            await send(.joinThread(thread: entry.id, by: chat.user))
        }

        /// Opens a thread of the directory; returns whether it is on its way.
        @discardableResult public func open(named name: String) async -> Bool {
            await send(.openThread(name: name, policy: .listed, by: chat.user))
        }

        private func load(_ body: () async throws -> Void) async {
            guard !isLoading else { return }
            isLoading = true
            defer { isLoading = false }
            do {
                try await body()
                feedback = nil
            } catch { feedback = Feedback(error) }
        }
    }
#endif
