#if Client || canImport(SQLite3)
    internal import ChatClient

    /// A model that sends commands of the user, and shows what went wrong.
    @MainActor protocol CommandSender: AnyObject {
        /// Where the commands are sent.
        var chat: any UserChat { get }
        /// What went wrong with the last command.
        var notice: Notice? { get set }
    }

    extension CommandSender {
        /// Sends a command; returns whether it is on its way, and says in ``notice`` why it is not.
        @discardableResult func send(_ command: ChatCommand) async -> Bool {
            do {
                try await chat.send(command)
                notice = nil
                return true
            } catch {
                notice = Notice(error)
                return false
            }
        }
    }
#endif
