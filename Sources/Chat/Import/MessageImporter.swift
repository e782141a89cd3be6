public import ChatDomain
import EventJournal
import Projections
import Synchronization

/// Takes the history of another chat into a store, through the same decider as everything else.
///
/// A channel that is an outward code is that code's thread, another becomes a named thread. Users are registered and joined as they first speak; nicknames with
/// one fold key are one user, shown as first spelt. A reply to a reply becomes a reply to its message. Ids derive from the channel and the id, so that
/// importing the same history again appends nothing.
///
/// Messages are collected into batches, one commit each; ``finish()`` commits the last.
public struct MessageImporter: ~Copyable {
    private let store: ChatStore
    private let batchSize: Int
    private var requests: [CommandRequest] = []
    /// For each message of the batch its line and the index of the request that posts it.
    private var posts: [(line: Int, request: Int)] = []
    private var users: [String: UserID] = [:]
    private var threads: [String: ThreadID] = [:]
    private var members: Set<Member> = []
    /// The messages and replies of this batch, which the store does not show yet: each with the message that a reply to it answers.
    private var unshown: [PostName: MessageID] = [:]
    /// What has become of the messages so far.
    public private(set) var summary = ImportSummary()

    private struct Member: Hashable {
        var user: UserID
        var thread: ThreadID
    }

    private struct PostName: Hashable {
        var channel: String
        var id: String
    }

    /// Makes an importer into a store.
    ///
    /// - Parameters:
    ///   - store: Where the history goes.
    ///   - batchSize: How many messages share a commit, at least 1.
    public init(into store: ChatStore, batchSize: Int = 1_000) {
        self.store = store
        self.batchSize = max(1, batchSize)
    }

    /// Takes in the next message.
    ///
    /// - Parameters:
    ///   - message: The message; one that it answers comes before it.
    ///   - line: Where the message stands in its source, for the report.
    /// - Returns: The messages that were refused by now, with their lines.
    /// - Throws: ``ChatError`` if the store fails; what was committed before stays.
    public mutating func add(_ message: ImportedMessage, line: Int) throws(ChatError) -> [RefusedMessage] {
        let name = PostName(channel: message.channel, id: message.id)
        if unshown[name] == nil {
            switch root(ofPost: name) {
            case .some: summary.duplicates += 1
            case nil:
                do throws(Rejection) { try stage(message, name, line) } catch {
                    summary.refused += 1
                    return [RefusedMessage(line: line, rejection: error)]
                }
            }
        } else {
            summary.duplicates += 1
        }
        return posts.count >= batchSize ? try commit() : []
    }

    /// Commits what is left.
    ///
    /// - Returns: The messages of the last batch that were refused, with their lines.
    public mutating func finish() throws(ChatError) -> [RefusedMessage] { try commit() }

    /// Puts the commands that a message needs into the batch.
    private mutating func stage(_ message: ImportedMessage, _ name: PostName, _ line: Int) throws(Rejection) {
        // Everything that can be refused is looked at before anything is staged: a refused line leaves no user and no thread behind.
        guard let username = Username(message.user) else { throw .invalidUsername }
        guard MessageBody.isValid(message.body) else { throw .invalidBody }
        let thread = try knownOrNamedThread(message.channel)
        var answered: MessageID?
        if let replyTo = message.replyTo {
            answered = try answeredMessage(PostName(channel: message.channel, id: replyTo))
        }
        let origin = Origin.imported(sentAt: message.t)
        let user = stageUser(username, origin)
        stageThread(thread, message.channel, user, origin)
        if members.insert(Member(user: user, thread: thread)).inserted {
            requests.append(CommandRequest(.joinThread(user: user, thread: thread), origin: origin))
        }
        posts.append((line, requests.count))
        if let answered {
            let reply = ImportedID.reply(name.channel, name.id)
            requests.append(CommandRequest(.reply(reply: reply, message: answered, author: user, body: message.body), origin: origin))
            unshown[name] = answered
        } else {
            let id = ImportedID.message(name.channel, name.id)
            requests.append(CommandRequest(.postMessage(message: id, thread: thread, author: user, body: message.body), origin: origin))
            unshown[name] = id
        }
    }

    private func knownOrNamedThread(_ channel: String) throws(Rejection) -> ThreadID {
        if let thread = threads[channel] { return thread }
        if let code = OutwardCode(channel) { return ThreadID(code) }
        guard ThreadName(channel) != nil else { throw .invalidThreadName }
        return ImportedID.thread(channel)
    }

    /// The message that a reply to this message or reply answers.
    private func answeredMessage(_ name: PostName) throws(Rejection) -> MessageID {
        guard let root = unshown[name] ?? root(ofPost: name) else { throw .unknownMessage }
        return root
    }

    /// The message that a post of an earlier batch is or answers, nil if there is no such post.
    private func root(ofPost name: PostName) -> MessageID? {
        let id = ImportedID.message(name.channel, name.id)
        let reply = ImportedID.reply(name.channel, name.id)
        return store.views.withLock { views in
            views.models.timelines.message(id) != nil ? id : views.models.timelines.message(answeredBy: reply)
        }
    }

    private mutating func stageUser(_ username: Username, _ origin: Origin) -> UserID {
        if let user = users[username.foldKey] { return user }
        let derived = ImportedID.user(username.foldKey)
        let known: UserID? = store.views.withLock { views in
            views.models.users.profile(derived) != nil ? derived : views.models.users.user(named: username.text)
        }
        let user = known ?? derived
        if known == nil {
            requests.append(CommandRequest(.registerUser(user: user, username: username.text), origin: origin))
            summary.users += 1
        }
        users[username.foldKey] = user
        return user
    }

    private mutating func stageThread(_ thread: ThreadID, _ channel: String, _ user: UserID, _ origin: Origin) {
        guard threads.updateValue(thread, forKey: channel) == nil else { return }
        guard store.views.withLock({ $0.models.timelines.thread(thread) }) == nil else { return }
        requests.append(CommandRequest(.openThread(thread: thread, name: channel, by: user), origin: origin))
        summary.threads += 1
    }

    private mutating func commit() throws(ChatError) -> [RefusedMessage] {
        guard !requests.isEmpty else { return [] }
        let answers = try store.execute(requests)
        var refused: [RefusedMessage] = []
        for post in posts {
            switch answers[post.request] {
            case .success(let receipt):
                if receipt.duplicate {
                    summary.duplicates += 1
                } else if case .replyPosted = receipt.events.first?.event.fact {
                    summary.replies += 1
                } else {
                    summary.messages += 1
                }
            case .failure(let rejection):
                summary.refused += 1
                refused.append(RefusedMessage(line: post.line, rejection: rejection))
            }
        }
        requests.removeAll(keepingCapacity: true)
        posts.removeAll(keepingCapacity: true)
        unshown.removeAll(keepingCapacity: true)
        return refused
    }
}

/// What became of the messages of an import.
public struct ImportSummary: Hashable, Sendable, Codable {
    /// Messages that were posted.
    public var messages = 0
    /// Replies that were posted.
    public var replies = 0
    /// Messages and replies that the store had already.
    public var duplicates = 0
    /// Messages that were refused.
    public var refused = 0
    /// Users who were registered.
    public var users = 0
    /// Threads that were opened.
    public var threads = 0
}

/// A message of an import that a rule refused.
public struct RefusedMessage: Hashable, Sendable {
    /// Where it stands in the source.
    public var line: Int
    /// The rule.
    public var rejection: Rejection
}
