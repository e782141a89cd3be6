#if Client || canImport(SQLite3)
    import Chat
    @testable import ChatClient
    import ChatDomain
    import ChatLive
    import ChatValues
    import Foundation
    import Locking
    import Testing

    @testable import chat_journal

    /// The screen while the server does not answer, and while others change what it shows.
    @MainActor @Suite(.timeLimit(.minutes(3))) struct ScreenFaultTests {
        private let ann = UserID(bits: 1)
        private let ben = UserID(bits: 2)
        private let store: ChatStore

        init() throws {
            store = try ChatStore.inMemory()
            for (id, name) in [(ann, "Ann"), (ben, "Ben"), (UserID(bits: 3), "Benedict")] {
                try store.executeBlocking(.registerUser(id: id, username: name))
                try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: id))
            }
        }

        private var thread: ThreadID { get throws { ThreadID(try #require(OutwardCode("SW1A"))) } }

        private func screen(_ model: ScreenModel) -> String {
            ScreenFrame(model.state, model.size).lines.map(\.text).joined(separator: "\n")
        }

        private func type(_ text: String, in model: ScreenModel) {
            for character in text { model.handle(.character(character)) }
            model.handle(.enter)
        }

        private func until(
            _ what: String, _ model: ScreenModel, sourceLocation: SourceLocation = #_sourceLocation,
            _ condition: () throws -> Bool
        ) async throws {
            for _ in 0..<10_000 {
                if try condition() { return }
                try await Task.sleep(for: .milliseconds(1))
            }
            Issue.record("not: \(what)\n\(screen(model))", sourceLocation: sourceLocation)
        }

        private func shows(_ text: String, _ model: ScreenModel, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
        {
            try await until(text, model, sourceLocation: sourceLocation) { screen(model).contains(text) }
        }

        private func running(_ model: ScreenModel, _ body: () async throws -> Void) async throws {
            let run = Task { await model.run() }
            do { try await body() } catch {
                run.cancel()
                throw error
            }
            run.cancel()
            await run.value
        }

        @Test func aMentionDoesNotWaitForTheServer() async throws {
            try store.executeBlocking(.postMessage(thread: thread, body: "Milk?", by: ben))
            // The members are never answered.
            let model = ScreenModel(
                HeldChat(store.chat(of: ann), beforeServer: { _ in try await Task.sleep(for: .seconds(3_600)) }))
            try await running(model) {
                try await shows("SW1A", model)
                model.handle(.enter)
                try await shows("Milk?", model)
                type("Yes, @Ben, @benedict. x@ben.example", in: model)
                try await shows("Yes, @Ben", model)
                let post = try #require(try store.reader(as: .host).timeline(thread).entries.last)
                #expect(post.mentions == [ben, UserID(bits: 3)])
            }
        }

        @Test func membersAreMentionedByWholeNames() async throws {
            let model = ScreenModel(store.chat(of: ann))
            try await running(model) {
                try await shows("SW1A", model)
                model.handle(.enter)
                type("@benedict: milk?", in: model)
                try await shows("milk?", model)
                #expect(try store.reader(as: .host).timeline(thread).entries.last?.mentions == [UserID(bits: 3)])
                // An edit that keeps the name keeps the mention.
                type("/edit", in: model)
                try await shows("edit> ", model)
                type(" Please.", in: model)
                try await shows("milk? Please.", model)
                #expect(try store.reader(as: .host).timeline(thread).entries.last?.mentions == [UserID(bits: 3)])
            }
        }

        @Test func aMemberWhoHasJoinedSinceIsMentioned() async throws {
            let model = ScreenModel(store.chat(of: ann))
            try await running(model) {
                try await shows("SW1A", model)
                model.handle(.enter)
                try store.executeBlocking(.registerUser(id: UserID(bits: 4), username: "Carol"))
                try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: UserID(bits: 4)))
                type("@Carol: milk?", in: model)
                try await shows("@Carol: milk?", model)
                #expect(try store.reader(as: .host).timeline(thread).entries.last?.mentions == [UserID(bits: 4)])
            }
        }

        @Test func whatWasWrittenIsPutBackWithItsTarget() async throws {
            let isFull = Lock(false)
            let model = ScreenModel(
                HeldChat(
                    store.chat(of: ann),
                    beforeSend: { _ in if isFull.withLock({ $0 }) { throw ClientError.storage(.full) } }))
            try await running(model) {
                try await shows("SW1A", model)
                model.handle(.enter)
                type("one", in: model)
                try await shows("  one", model)
                type("/edit", in: model)
                try await shows("edit> one", model)
                isFull.withLock { $0 = true }
                type(" more", in: model)
                try await shows("The disk is full.", model)
                #expect(model.editor.text == "one more" && model.target != nil)
                // With another line in its place, the text is shown.
                model.handle(.escape)
                type("lost?", in: model)
                model.handle(.character("x"))
                try await shows("Not sent: lost?", model)
                #expect(model.editor.text == "x")
                // A draft keeps what it replaces.
                model.handle(.control("u"))
                isFull.withLock { $0 = false }
                type("/edit", in: model)
                try await shows("edit> one", model)
                model.handle(.control("t"))
                model.handle(.enter)
                type(" two", in: model)
                try await shows("one two", model)
                #expect(try store.reader(as: .host).timeline(thread).entries.map(\.body) == ["one two"])
            }
        }

        @Test func withoutTheServerSigningOutAsksAgain() async throws {
            let model = ScreenModel(store.chat(of: ann), endSession: { throw HeldChat.Unreachable() })
            try await running(model) {
                for answer in ["n", "y"] {
                    type("/sign-out", in: model)
                    try await shows("Sign out? [y/n]", model)
                    model.handle(.character("y"))
                    try await shows("The session stays at the server until it expires.", model)
                    #expect(model.feedback == "The server cannot be reached." && model.end == nil)
                    model.handle(.character(Character(answer)))
                }
                try await until("the end", model) { model.end == .signOut }
            }
        }

        @Test func unreadEndsWhenTheThreadIsShownAgain() async throws {
            try store.executeBlocking(.postMessage(thread: thread, body: "Milk?", by: ben))
            let model = ScreenModel(store.chat(of: ann))
            try await running(model) {
                try await shows("SW1A", model)
                model.handle(.enter)
                try await shows("Milk?", model)
                for _ in 0..<2 { model.tick() }
                try await until("read", model) { try store.reader(as: .host).user(ann).threads[0].unreadCount == 0 }
                model.handle(.up)
                type("/unread", in: model)
                try await shows("1 unread", model)
                model.handle(.enter)
                try await shows("Milk?", model)
                for _ in 0..<2 { model.tick() }
                try await until("read again", model) {
                    try store.reader(as: .host).user(ann).threads[0].unreadCount == 0
                }
            }
        }

        @Test func onlyTheSelectedMessageIsActedOn() async throws {
            try store.executeBlocking(.postMessage(thread: thread, body: "Milk?", by: ben))
            let model = ScreenModel(store.chat(of: ann))
            try await running(model) {
                try await shows("SW1A", model)
                model.handle(.enter)
                try await shows("Milk?", model)
                for text in ["/report Rude.", "/react +1", "/block", "/unblock"] {
                    model.selectedPost = nil
                    type(text, in: model)
                    try await shows("Choose a message first", model)
                    model.handle(.control("u"))
                    model.selectedPost = .message(MessageID(bits: 77))
                    type(text, in: model)
                    try await shows("is not loaded", model)
                    model.handle(.control("u"))
                }
                #expect(model.question == nil && !screen(model).contains("👍"))
                model.selectedPost = nil
                model.handle(.up)
                type("/block", in: model)
                try await shows("Block Ben? [y/n]", model)
                model.handle(.character("n"))
                type("/dm Bene", in: model)
                try await shows("No person of your threads is called Bene. Do you mean Benedict?", model)
            }
        }

        @Test func theMessageOfRepliesIsKeptCurrent() async throws {
            let message = MessageID(bits: 9)
            try store.executeBlocking(.postMessage(id: message, thread: thread, body: "Milk?", by: ben))
            let model = ScreenModel(store.chat(of: ann))
            try await running(model) {
                try await shows("SW1A", model)
                model.handle(.enter)
                try await shows("Milk?", model)
                model.handle(.up)
                model.handle(.enter)
                try await shows("replies", model)
                try store.executeBlocking(.retract(.message(message), by: ben))
                try await shows("(retracted)", model)
            }
        }

        @Test func anOldMessageOfRepliesIsReadAgain() async throws {
            let message = MessageID(bits: 9)
            try store.executeBlocking(.postMessage(id: message, thread: thread, body: "Milk?", by: ben))
            for number in 0..<60 {
                try store.executeBlocking(.postMessage(thread: thread, body: "number \(number)", by: ben))
            }
            let model = ScreenModel(store.chat(of: ann))
            try await running(model) {
                model.show(.replies(message, try thread))
                try await shows("Milk?", model)
                try store.executeBlocking(.retract(.message(message), by: ben))
                try store.executeBlocking(
                    .postMessage(id: MessageID(bits: 10), thread: thread, body: "Tea?", by: ben))
                model.show(.timeline(try thread))
                try await shows("Tea?", model)
                model.show(.replies(message, try thread))
                try await shows("(retracted)", model)
            }
        }

        @Test func anEntryStaysSelectedWhenAnotherIsListedBeforeIt() async throws {
            let model = ScreenModel(store.chat(of: ann))
            try await running(model) {
                try await shows("SW1A", model)
                type("/open Garden", in: model)
                try await shows("Garden", model)
                model.handle(.home)
                try await shows("▶ Garden", model)
                try store.executeBlocking(.postMessage(thread: thread, body: "Milk?", by: ben))
                try await until("the order", model) { model.threads.first?.name != "Garden" }
                #expect(screen(model).contains("▶ Garden"))
                // The first one stays selected too, once it was shown for a second.
                model.handle(.home)
                model.tick()
                try store.executeBlocking(
                    .postMessage(thread: #require(model.threads.last).id, body: "Tea?", by: ann))
                try await until("the order", model) { model.threads.first?.name == "Garden" }
                #expect(screen(model).contains("▶ SW1A"))
            }
        }

        @Test func aLateAnswerChangesNothingElsewhere() async throws {
            try store.executeBlocking(.openThread(id: ThreadID(bits: 5), name: "Garden", by: ann))
            let garden = ThreadID(bits: 5)
            try store.executeBlocking(.openThread(id: ThreadID(bits: 6), name: "Shed", by: ben))
            let (holds, release) = AsyncStream<Void>.makeStream()
            let chat = HeldChat(
                store.chat(of: ann),
                beforeSend: { command in
                    guard command.kind == .joinThread else { return }
                    for await _ in holds { return }
                })
            let model = ScreenModel(chat)
            try await running(model) {
                try await shows("SW1A", model)
                type("/join \(ThreadID(bits: 6))", in: model)
                model.show(.timeline(garden))
                release.yield()
                try await until("the thread", model) { model.threads.count == 3 }
                #expect(model.place == .timeline(garden))
                model.show(.members(try thread))
                model.show(.members(garden))
                try await until("the members", model) { model.members?.members.isEmpty == false }
                #expect(model.members?.thread == garden && model.members?.members.map(\.user.id) == [ann])
            }
        }
    }
#endif
