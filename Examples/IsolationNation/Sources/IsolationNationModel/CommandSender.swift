#if Client || canImport(SQLite3)
    internal import ChatClient

    /// A model that sends commands of the user, and shows what went wrong.
    @MainActor protocol CommandSender: AnyObject {
        /// Where the commands are sent.
        var chat: any UserChat { get }
        /// What went wrong with the last command.
        var feedback: Feedback? { get set }
    }

    extension CommandSender {
        /// Sends a command; returns whether it is on its way, and says in ``feedback`` why it is not.
        @discardableResult func send(_ command: ChatCommand) async -> Bool {
            await attempt { try await $0.enqueue(command) }
        }

        /// Does something in the chat; returns whether it is done or on its way, and says in
        /// ``feedback`` why it is not.
        @discardableResult func attempt(_ action: (any UserChat) async throws -> Void) async -> Bool {
            do {
                try await action(chat)
                feedback = nil
                return true
            } catch {
                feedback = Feedback(error)
                return false
            }
        }
    }
#endif
