public import ChatDomain
internal import ChatValues
internal import Foundation

/// The commands of the user in short, each of which returns what it has created.
///
/// Each returns when the command is durable, as ``enqueue(_:)`` does: of a client that is before the
/// server has it, and a later rejection is in the outbox.
///
/// ```swift
/// /// Asks for milk, and agrees with oneself.
/// func ask(_ chat: any UserChat, in thread: ThreadID) async throws {
///     let post = try await chat.post("Milk?", in: thread)
///     try await chat.react("👍", to: post)
/// }
/// ```
extension UserChat {
    /// Posts a message, and returns its id.
    ///
    /// It mentions the members whose names follow an @ in the text.
    ///
    /// - Parameters:
    ///   - body: The text.
    ///   - thread: The thread.
    ///   - mentions: The users whom the text mentions beside those whom it names.
    /// - Throws: As ``enqueue(_:)``.
    @discardableResult public func post(
        _ body: String, in thread: ThreadID, mentions: [UserID] = []
    ) async throws -> PostID {
        let message = MessageID(version7At: Timestamp(Date()), random: .random(in: 0...(.max)))
        try await enqueue(
            .postMessage(id: message, thread: thread, body: body, mentions: mentions, findMentions: true, by: user))
        return .message(message)
    }

    /// Replies to a message, and returns the id of the reply.
    ///
    /// It mentions the members whose names follow an @ in the text.
    ///
    /// - Throws: As ``enqueue(_:)``.
    @discardableResult public func reply(
        _ body: String, to message: MessageID, mentions: [UserID] = []
    ) async throws -> PostID {
        let reply = ReplyID(version7At: Timestamp(Date()), random: .random(in: 0...(.max)))
        try await enqueue(.reply(id: reply, to: message, body: body, mentions: mentions, findMentions: true, by: user))
        return .reply(reply)
    }

    /// Reacts to a post, and returns the emoji as it is shown; nil for a text that is none, which is
    /// rejected with `invalidEmoji`.
    ///
    /// - Parameters:
    ///   - emoji: An emoji of Unicode, or a name such as `:wave:`.
    ///   - post: The message or reply.
    /// - Throws: As ``enqueue(_:)``.
    @discardableResult public func react(_ emoji: String, to post: PostID) async throws -> Emoji? {
        try await enqueue(.react(post, emoji: emoji, by: user))
        return Emoji(emoji)
    }

    /// Takes a reaction back.
    ///
    /// - Parameters:
    ///   - emoji: An emoji of Unicode, or a name such as `:wave:`.
    ///   - post: The message or reply.
    /// - Throws: As ``enqueue(_:)``.
    public func unreact(_ emoji: String, from post: PostID) async throws {
        try await enqueue(.unreact(post, emoji: emoji, by: user))
    }

    /// Replaces the text of an own post, which then mentions the members whose names follow an @ in it.
    ///
    /// - Throws: As ``enqueue(_:)``.
    public func edit(_ post: Post, body: String) async throws { try await edit(post, body: body, mentions: []) }
}
