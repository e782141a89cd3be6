public import ChatDomain
public import ChatValues

/// The chat as one user sees it, in a store or at a server.
///
/// A view model that holds `any UserChat` works with both: with a store in the same process, in a
/// test or a preview, and with a client and its local copy. Pages have the bounds and the order of
/// the queries of a store with the same names; every query of a store can be asked with
/// ``answer(_:)``. The functions throw errors that are a ``ChatFailure``:
///
/// ```swift
/// @MainActor @Observable final class ThreadModel {
///     let timeline: LiveTimeline
///     private(set) var problem: String?
///     private let chat: any UserChat
///     private let thread: ThreadID
///
///     init(_ chat: any UserChat, _ thread: ThreadID) {
///         (self.chat, self.thread) = (chat, thread)
///         timeline = chat.liveTimeline(of: thread)
///     }
///
///     func post(_ body: String) async {
///         do {
///             try await chat.enqueue(.postMessage(thread: thread, body: body, by: chat.user))
///         } catch {
///             problem = "\(error)"
///         }
///     }
/// }
/// ```
public protocol UserChat: Sendable {
    // The errors have no type: the compiler (6.3.1) miscompiles a call through an existential whose
    // error is an associated type.

    /// The user who sees the chat and acts in it.
    var user: UserID { get }

    /// Executes a command and returns its receipt, once the journal has it.
    ///
    /// A client without a network keeps the command in its outbox, and returns when it has sent it.
    ///
    /// - Throws: A ``ChatFailure``, with a ``ChatFailure/rejection`` if a rule rejects the command.
    ///   A command of another acting user, or one that no client sends, is rejected with
    ///   `notAllowed`.
    @discardableResult func execute(_ request: CommandRequest) async throws -> Receipt
    /// Returns when a command is durable: in the journal of a store, or in the outbox of a client,
    /// which works without a network.
    ///
    /// - Throws: As ``execute(_:)``. A client reports a later rejection in its outbox.
    func enqueue(_ command: ChatCommand) async throws

    /// Replaces the text of an own post, wherever it is: in the journal, or in the outbox of a
    /// client.
    ///
    /// A text that another device has written, and `post` does not have, is not replaced unseen.
    ///
    /// - Parameters:
    ///   - post: The post as it is shown.
    ///   - body: The new text.
    ///   - mentions: The users whom the new text mentions beside those whom it names.
    /// - Throws: As ``enqueue(_:)``.
    func edit(_ post: Post, body: String, mentions: [UserID]) async throws
    /// Takes an own post back, wherever it is: in the journal, or in the outbox of a client.
    ///
    /// - Throws: As ``enqueue(_:)``.
    func retract(_ post: Post) async throws

    /// Returns the answer of a query, as the user.
    ///
    /// - Throws: A ``ChatFailure``.
    func answer<Query: ChatQuery>(_ query: Query) async throws -> Query.Answer

    /// Returns the view of a thread's messages.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - limit: The number of messages that are loaded first, and that a load of earlier ones
    ///     adds.
    @MainActor func liveTimeline(of thread: ThreadID, limit: Int) -> LiveTimeline
    /// Returns the view of the replies to a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - limit: The number of replies that are loaded first, and that a load of earlier ones
    ///     adds.
    @MainActor func liveReplies(to message: MessageID, limit: Int) -> LiveTimeline
    /// Returns the custom events of a thread, existing ones first, then future ones, for as long as the
    /// user can read the thread.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - kind: The only kind of the events; nil for all.
    ///   - position: The sequence starts after this position: 0 for all events, that of the last known
    ///     event to continue.
    func customEvents(of thread: ThreadID, kind: CustomKind?, after position: Position) -> CustomEvents
    /// Returns the view of the latest custom events of a thread.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - kind: The only kind of the events; nil for all.
    ///   - limit: The maximum number of events; at most 200.
    @MainActor func liveCustomEvents(of thread: ThreadID, kind: CustomKind?, limit: Int) -> LiveCustomEvents
    /// Returns the view of the user's threads.
    ///
    /// - Parameter limit: The maximum number of threads.
    @MainActor func liveThreads(limit: Int) -> LiveThreads
    /// Returns the view of the user's own details.
    @MainActor func liveUser() -> LiveUser
    /// Returns the view of the user's inbox.
    ///
    /// - Parameter limit: The maximum number of entries.
    @MainActor func liveInbox(limit: Int) -> LiveInbox
    /// Returns the view of the commands that the server does not have yet, or has rejected.
    ///
    /// - Parameter limit: The maximum number of commands.
    @MainActor func liveOutbox(limit: Int) -> LiveOutbox
}

/// Of a chat without an outbox, all posts are in the journal.
extension UserChat {
    /// Replaces the text of an own post that is in the journal.
    public func edit(_ post: Post, body: String, mentions: [UserID]) async throws {
        try await enqueue(
            .edit(
                post.id, body: body, mentions: mentions, findMentions: true,
                replaces: post.editPosition ?? post.position, by: user))
    }
    /// Takes an own post back that is in the journal.
    public func retract(_ post: Post) async throws { try await enqueue(.retract(post.id, by: user)) }
    /// Returns a view that stays empty: nothing waits of a chat whose commands are executed at once.
    @MainActor public func liveOutbox(limit: Int) -> LiveOutbox { LiveOutbox(source: NoOutbox(), limit: limit) }
}

/// The queries by name; a page is by default the first one, with 50 entries.
extension UserChat {
    /// Returns the user's own details, with all of their threads.
    public func me() async throws -> UserDetails { try await answer(UserQuery()) }
    /// Returns what the user is shown of a person, with a page of the threads in common.
    public func person(_ user: UserID, threads page: PageRequest = .latest()) async throws -> PersonDetails {
        try await answer(PersonQuery(user: user, page: page))
    }
    /// Returns a page of the people of the user's threads whose names begin with a text.
    public func people(named prefix: String = "", page: PageRequest = .latest()) async throws -> Page<PersonSummary> {
        try await answer(PeopleQuery(prefix: prefix, page: page))
    }
    /// Returns a page of the user's threads, the one with the latest event last.
    public func threads(page: PageRequest = .latest()) async throws -> Page<ThreadSummary> {
        try await answer(ThreadsQuery(page: page))
    }
    /// Returns one thread.
    public func thread(_ id: ThreadID) async throws -> ThreadSummary { try await answer(ThreadQuery(thread: id)) }
    /// Returns a page of the threads that everybody finds.
    public func directory(page: PageRequest = .latest()) async throws -> Page<DirectoryEntry> {
        try await answer(DirectoryQuery(page: page))
    }
    /// Returns a page of the members of a thread.
    public func members(of thread: ThreadID, page: PageRequest = .latest()) async throws -> Page<ThreadMember> {
        try await answer(MembersQuery(thread: thread, page: page))
    }
    /// Returns a page of a thread's messages, oldest first.
    public func timeline(_ thread: ThreadID, page: PageRequest = .latest()) async throws -> Page<Post> {
        try await answer(TimelineQuery(thread: thread, page: page))
    }
    /// Returns a page of the replies to a message, oldest first.
    public func replies(to message: MessageID, page: PageRequest = .latest()) async throws -> Page<Post> {
        try await answer(RepliesQuery(message: message, page: page))
    }
    /// Returns one message or reply.
    public func post(_ id: PostID) async throws -> Post {
        switch id {
        case .message(let message): try await answer(MessageQuery(message: message))
        case .reply(let reply): try await answer(ReplyQuery(reply: reply))
        }
    }
    /// Returns a page of the user's inbox, newest entry first.
    public func inbox(page: PageRequest = .latest()) async throws -> Page<InboxEntry> {
        try await answer(InboxQuery(page: page))
    }
}

/// The same without limits and correlation: a limit of 50.
extension UserChat {
    /// Executes a command and returns its receipt, once the journal has it.
    @discardableResult public func execute(_ command: ChatCommand) async throws -> Receipt {
        try await execute(CommandRequest(command))
    }
    /// Returns the view of a thread's messages.
    @MainActor public func liveTimeline(of thread: ThreadID) -> LiveTimeline { liveTimeline(of: thread, limit: 50) }
    /// Returns the view of the replies to a message.
    @MainActor public func liveReplies(to message: MessageID) -> LiveTimeline { liveReplies(to: message, limit: 50) }
    /// Returns the custom events of a thread, all existing ones first, then future ones, for as long as
    /// the user can read the thread.
    public func customEvents(of thread: ThreadID, kind: CustomKind? = nil) -> CustomEvents {
        customEvents(of: thread, kind: kind, after: 0)
    }
    /// Returns the view of the latest custom events of a thread.
    @MainActor public func liveCustomEvents(of thread: ThreadID, kind: CustomKind? = nil) -> LiveCustomEvents {
        liveCustomEvents(of: thread, kind: kind, limit: 50)
    }
    /// Returns the view of the user's threads.
    @MainActor public func liveThreads() -> LiveThreads { liveThreads(limit: 50) }
    /// Returns the view of the user's inbox.
    @MainActor public func liveInbox() -> LiveInbox { liveInbox(limit: 50) }
    /// Returns the view of the commands that the server does not have yet, or has rejected.
    @MainActor public func liveOutbox() -> LiveOutbox { liveOutbox(limit: 50) }
}
