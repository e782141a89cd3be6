#if Client || canImport(SQLite3)
    import Chat
    @testable import ChatClient
    import ChatDomain
    import ChatLive
    import Foundation
    import Testing

    @testable import chat_journal

    /// The whole screen on a store: keys in, lines out.
    @MainActor @Suite(.timeLimit(.minutes(3))) struct ScreenModelTests {
        private let ann = UserID(bits: 1)
        private let ben = UserID(bits: 2)
        private let store: ChatStore
        private let model: ScreenModel

        init() throws {
            store = try ChatStore.inMemory()
            for (id, name) in [(ann, "Ann"), (ben, "Ben")] {
                try store.executeBlocking(.registerUser(id: id, username: name))
                try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: id))
            }
            model = ScreenModel(store.chat(of: ann))
        }

        private var thread: ThreadID { get throws { ThreadID(try #require(OutwardCode("SW1A"))) } }

        private var screen: String { ScreenFrame(model.state, model.size).lines.map(\.text).joined(separator: "\n") }

        private func type(_ text: String) {
            for character in text { model.handle(.character(character)) }
            model.handle(.enter)
        }

        private func until(_ text: String, isShown: Bool = true, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
        {
            for _ in 0..<10_000 {
                if screen.contains(text) == isShown { return }
                try await Task.sleep(for: .milliseconds(1))
            }
            Issue.record("not \(isShown ? "" : "without ")'\(text)':\n\(screen)", sourceLocation: sourceLocation)
        }

        private func running(_ body: () async throws -> Void) async throws {
            let run = Task { await model.run() }
            do { try await body() } catch {
                run.cancel()
                throw error
            }
            run.cancel()
            await run.value
        }

        @Test func aConversation() async throws {
            try store.executeBlocking(.postMessage(thread: thread, body: "Milk, @Ann?", mentions: [ann], by: ben))
            try await running {
                try await until("SW1A")
                try await until("@1 · 1 unread")
                model.handle(.enter)
                try await until("Milk, @Ann?")
                #expect(screen.contains("unread"))
                type("Yes.")
                try await until("  Yes.")
                type("/react +1")
                try await until("Choose a message first")
                model.handle(.control("u"))
                model.handle(.up)
                type("/react +1")
                try await until("👍 1*")
                type("/edit No.")
                try await until("  No.")
                #expect(screen.contains("edited"))
                model.handle(.up)
                model.handle(.enter)
                try await until("replies")
                type("Which one?")
                try await until("Which one?")
                model.handle(.escape)
                try await until("1 reply")
                type("/retract")
                try await until("[y/n]")
                model.handle(.character("y"))
                try await until("(retracted)")
                model.handle(.escape)
                try await until("Threads")
            }
        }

        @Test func whatWasSeenForASecondIsRead() async throws {
            try store.executeBlocking(.postMessage(thread: thread, body: "Milk?", by: ben))
            try await running {
                try await until("1 unread")
                model.tick()
                model.tick()
                model.handle(.enter)
                try await until("Milk?")
                model.tick()
                #expect(try store.reader(as: .host).user(ann).threads[0].unreadCount == 1)
                model.tick()
                model.handle(.escape)
                try await until("1 unread", isShown: false)
                #expect(try store.reader(as: .host).user(ann).threads[0].unreadCount == 0)
            }
        }

        @Test func earlierMessagesAreLoaded() async throws {
            for number in 1...120 {
                try store.executeBlocking(.postMessage(thread: thread, body: "number \(number).", by: ben))
            }
            try await running {
                try await until("unread")
                model.handle(.enter)
                try await until("number 120.")
                for _ in 0..<1_000 where !screen.contains("number 1.") {
                    model.handle(.pageUp)
                    try await Task.sleep(for: .milliseconds(2))
                }
                #expect(screen.contains("number 1."))
                model.handle(.escape)
                try await until("number 120.")
            }
        }

        @Test func threadsAndPeople() async throws {
            try await running {
                try await until("SW1A")
                type("/open Garden")
                try await until("Garden")
                type("/dm Ben")
                try await until("Ben")
                type("/inbox")
                try await until("Nothing has happened to you yet.")
                type("/threads")
                type("/leave")
                try await until("Choose a thread first")
                type("/postcode nonsense")
                try await until("postcode")
                #expect(model.editor.text == "/postcode nonsense")
                model.handle(.control("u"))
                type("/nothing")
                #expect(screen.contains("There is no command /nothing."))
                model.handle(.control("u"))
                type("lost?")
                try await until("Choose a thread first")
                #expect(model.editor.text == "lost?")
                model.handle(.control("u"))
                type("/help")
                try await until("Help")
                for command in SlashCommand.allCases {
                    model.size = Terminal.Size(rows: 200, columns: 80)
                    #expect(screen.contains("/\(command.rawValue)"))
                }
            }
        }

        @Test func aDraftStaysWithItsThread() async throws {
            try await running {
                try await until("SW1A")
                model.handle(.enter)
                for character in "half a" { model.handle(.character(character)) }
                model.handle(.control("t"))
                #expect(model.editor.isEmpty)
                model.handle(.enter)
                #expect(model.editor.text == "half a")
                model.handle(.control("c"))
                #expect(model.end == .quit)
            }
        }
    }
#endif
