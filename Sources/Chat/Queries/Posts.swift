public import ChatDomain
import EventJournal
import Projections

/// Timelines, messages and replies.
extension ChatStore {
    /// Returns the message that a reply answers; nil if it is unknown or the viewer may not read
    /// its thread.
    public func messageID(answeredBy reply: ReplyID, as viewer: Viewer) -> MessageID? {
        withCurrentModels { models, now -> MessageID? in
            let view = Viewpoint(viewer: viewer, position: now, currentPosition: now)
            // Any rejection means that the viewer may not see the reply.
            guard (try? models.requireReadable(.reply(reply), from: view)) != nil else { return nil }
            return models.messageID(of: .reply(reply), asOf: now)
        }
    }
}

extension TimelineQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<Post> {
        let (found, now) = try reader.query { models, view throws(ChatError) in
            let start = try models.requireReadable(thread, from: view)
            var found = models.messages(of: thread, page, asOf: view.position, after: start)
            models.mark(&found.posts, thread, from: view)
            return (found, view.position)
        }
        return Page(
            try reader.store.posts(found.posts, in: thread), from: found.posts.first?.position,
            to: found.posts.last?.position,
            hasOlder: found.hasOlder, page, asOf: now)
    }
}

extension ChatReader {
    /// Returns a page of a thread's messages, oldest first; by default the latest 50.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - page: The part of the list.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(log *n* + *m*), where *n* is the number of the thread's messages and *m* the
    ///   size of the page, whose texts are read.
    public func timeline(_ thread: ThreadID, page: PageRequest = .latest()) throws(ChatError) -> Page<Post> {
        try answer(TimelineQuery(thread: thread, page: page))
    }
}

extension MessageQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Post { try reader.post(.message(message)) }
}

extension ChatReader {
    fileprivate func post(_ id: PostID) throws(ChatError) -> Post {
        let (rows, thread) = try query { models, view throws(ChatError) in
            let (thread, isAlone) = try models.requireShown(id, from: view)
            guard let row = models.post(id, asOf: view.position) else { throw .rejected(.unknown(id)) }
            return (models.marking([isAlone ? row.alone : row], in: thread, from: view), thread)
        }
        return try store.posts(rows, in: id.isReply ? nil : thread)[0]
    }

    /// Returns one message.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `notAMember`.
    public func message(_ id: MessageID) throws(ChatError) -> Post {
        try answer(MessageQuery(message: id))
    }
}

extension ReplyQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Post { try reader.post(.reply(reply)) }
}

extension ChatReader {
    /// Returns one reply.
    ///
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownReply`; with a viewer also `notAMember`.
    public func reply(_ id: ReplyID) throws(ChatError) -> Post {
        try answer(ReplyQuery(reply: id))
    }
}

extension RepliesQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> Page<Post> {
        let (found, now) = try reader.query { models, view throws(ChatError) in
            let thread = try models.requireReadable(.message(message), from: view)
            var found = models.replies(to: message, page, asOf: view.position)
            models.mark(&found.posts, thread, from: view)
            return (found, view.position)
        }
        return Page(
            try reader.store.posts(found.posts), from: found.posts.first?.position, to: found.posts.last?.position,
            hasOlder: found.hasOlder, page,
            asOf: now)
    }
}

extension ChatReader {
    /// Returns a page of the replies to a message, oldest first; by default the latest 50.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - page: The part of the list.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownMessage`; with a viewer also `notAMember`.
    /// - Complexity: O(log *n* + *m*), or O(log² *n* + *m*) with bounds, where *n* is the number of
    ///   the message's replies and *m* the size of the page, whose texts are read.
    public func replies(to message: MessageID, page: PageRequest = .latest()) throws(ChatError) -> Page<Post> {
        try answer(RepliesQuery(message: message, page: page))
    }
}
