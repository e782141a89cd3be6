public import ChatDomain
public import ChatLive
import ChatValues
import EventJournal

extension ChatStore {
    /// Returns the chat as a user sees it.
    ///
    /// For code that also runs on a client of a server, such as a view model. Its errors are
    /// ``ChatError``s.
    public func chat(of user: UserID) -> some UserChat { StoreUserChat(store: self, user: user) }
}

/// The chat of a store as one user sees it.
private struct StoreUserChat: UserChat {
    let store: ChatStore
    let user: UserID

    func execute(_ request: CommandRequest) async throws -> Receipt {
        // As of a server: its clients act as their own user only.
        guard request.command.kind.form.sender == .client, request.command.actor == user else {
            throw ChatError.rejected(.notTheUser)
        }
        return try await store.execute([request])[0].receipt()
    }

    func enqueue(_ command: ChatCommand) async throws { _ = try await execute(CommandRequest(command)) }

    func answer<Query: ChatQuery>(_ query: Query) async throws -> Query.Answer {
        guard let computed = query as? any StoreQuery,
            let answer = try await store.onReadExecutor({ () async throws(ChatError) in
                try await answerInBackground(computed)
            }) as? Query.Answer
        else { throw ChatError.rejected(.noStoreQuery) }
        return answer
    }

    /// Answers outside the actor of the caller, because that may read the journal.
    @concurrent private func answerInBackground(_ query: some StoreQuery) async throws(ChatError) -> any Sendable {
        try store.reader(as: .user(user)).answer(query)
    }

    func liveTimeline(of thread: ThreadID, limit: Int) -> LiveTimeline {
        LiveTimeline(store, thread: thread, as: .user(user), limit: limit)
    }
    func liveReplies(to message: MessageID, limit: Int) -> LiveTimeline {
        LiveTimeline(store, repliesTo: message, as: .user(user), limit: limit)
    }
    func customEvents(of thread: ThreadID, kind: CustomKind?, after position: Position) -> CustomEvents {
        CustomEvents(
            source: LiveStoreSource(
                store, StoreCustomEvents(thread: thread, kind: kind, viewer: .user(user), limit: 1)),
            after: position)
    }
    func liveCustomEvents(of thread: ThreadID, kind: CustomKind?, limit: Int) -> LiveCustomEvents {
        LiveCustomEvents(store, of: thread, kind: kind, as: .user(user), limit: limit)
    }
    func liveThreads(limit: Int) -> LiveThreads { LiveThreads(store, as: .user(user), limit: limit) }
    func liveUser() -> LiveUser { LiveUser(store, user: user) }
    func liveInbox(limit: Int) -> LiveInbox { LiveInbox(store, of: user, limit: limit) }
}

extension Rejection {
    fileprivate static let noStoreQuery = Rejection(.notAllowed, "A store has no such query.")
    fileprivate static let notTheUser = Rejection(.notAllowed, "The user of this chat cannot send this command.")
}
