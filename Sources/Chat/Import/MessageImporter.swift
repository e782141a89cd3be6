public import ChatDomain
import EventJournal
import Locking
import Projections

/// Takes the history of another chat into a store, through the same decider as everything else.
///
/// A channel that is an outward code is that code's thread, another becomes a named thread. Users are registered and joined as they first speak; nicknames with
/// one fold key are one user, shown as first spelt, and a nickname that a user of the store bears is that user. A reply to a reply becomes a reply to its message.
/// Ids derive from the channel and the id, byte for byte, so that importing the same history again appends nothing; only what was refused may be taken then, if what
/// it lacked has come since. A derived id that something native bears is refused (`identifierTaken`): nobody can plant what an import would take for its own. So is one
/// that an imported post of another author or in another place bears.
///
/// Messages are collected into batches, one commit each; ``finish()`` commits the last.
public struct MessageImporter: ~Copyable {
    private let store: ChatStore
    private let batchSize: Int
    private var requests: [CommandRequest] = []
    /// For each message of the batch its line and the requests for it; the last of them posts it.
    private var posts: [(line: Int, requests: Range<Int>)] = []
    /// What earlier messages have made sure of, in this batch or before it.
    private var known = Known()
    /// The messages and replies of this batch, which the store does not show yet, by the id that each would have as a message.
    private var unshown: [MessageID: Present] = [:]
    /// What has become of the messages so far.
    public private(set) var summary = ImportSummary()

    private struct Known {
        var users: [UserID: UserID] = [:]
        var threads: Set<ThreadID> = []
        var members: Set<Member> = []
    }

    /// A post that is there.
    private struct Present {
        /// The message that it is, or that it answers.
        var root: MessageID
        var isReply: Bool
        var author: UserID
    }

    private struct Member: Hashable {
        var user: UserID
        var thread: ThreadID
    }

    /// Makes an importer into a store.
    ///
    /// - Parameters:
    ///   - store: Where the history goes.
    ///   - batchSize: How many messages share a commit, 1 to 1,000; what is beyond is taken for the nearest.
    public init(into store: ChatStore, batchSize: Int = 1_000) {
        self.store = store
        self.batchSize = min(max(1, batchSize), 1_000)
    }

    /// Takes in the next message.
    ///
    /// - Parameters:
    ///   - message: The message; one that it answers comes before it.
    ///   - line: Where the message stands in its source, for the report.
    /// - Returns: The messages that were refused by now, with their lines.
    /// - Throws: ``ChatError`` if the store fails; what was committed before stays.
    public mutating func add(_ message: ImportedMessage, line: Int) throws(ChatError) -> [RefusedMessage] {
        do throws(Rejection) {
            if let present = try post(message.id, in: message.channel) {
                try check(message, against: present)
                summary.duplicates += 1
            } else {
                try stage(message, line)
            }
        } catch {
            summary.refused += 1
            return [RefusedMessage(line: line, rejection: error)]
        }
        return posts.count >= batchSize ? try commit() : []
    }

    /// Commits what is left.
    ///
    /// - Returns: The messages of the last batch that were refused, with their lines.
    public mutating func finish() throws(ChatError) -> [RefusedMessage] { try commit() }

    /// Puts the commands that a message needs into the batch.
    private mutating func stage(_ message: ImportedMessage, _ line: Int) throws(Rejection) {
        // Everything that can be refused is looked at before anything is staged: a refused line leaves no user and no thread behind.
        guard let username = Username(message.user) else { throw .invalidUsername }
        guard MessageBody.isValid(message.body) else { throw .invalidBody }
        let thread = try thread(of: message.channel)
        var answered: MessageID?
        if let replyTo = message.replyTo {
            answered = try post(replyTo, in: message.channel)?.root
            guard answered != nil else { throw .unknownMessage }
        }
        let origin = Origin.imported(sentAt: message.t)
        let start = requests.count
        let user = try stageUser(username, origin)
        stageThread(thread, message.channel, user, origin)
        if known.members.insert(Member(user: user, thread: thread)).inserted {
            requests.append(CommandRequest(.joinThread(user: user, thread: thread), origin: origin))
        }
        let id = ImportedID.message(message.channel, message.id)
        if let answered {
            let reply = ImportedID.reply(message.channel, message.id)
            requests.append(CommandRequest(.reply(reply: reply, message: answered, author: user, body: message.body), origin: origin))
        } else {
            requests.append(CommandRequest(.postMessage(message: id, thread: thread, author: user, body: message.body), origin: origin))
        }
        posts.append((line, start..<requests.count))
        unshown[id] = Present(root: answered ?? id, isReply: answered != nil, author: user)
    }

    /// The thread of a channel, which may have to be opened.
    private func thread(of channel: String) throws(Rejection) -> ThreadID {
        if let code = OutwardCode(channel) { return ThreadID(code) }
        guard ThreadName(channel) != nil else { throw .invalidThreadName }
        let derived = ImportedID.thread(channel)
        let present = store.present { $0.thread(derived, asOf: $1) }
        if let present, !present.isImported { throw .identifierTaken }
        return derived
    }

    /// The post that an id of the source stands for, nil if there is none yet.
    private func post(_ id: String, in channel: String) throws(Rejection) -> Present? {
        let message = ImportedID.message(channel, id)
        if let present = unshown[message] { return present }
        let reply = ImportedID.reply(channel, id)
        let found = store.present { models, now -> (post: Present, isImported: Bool)? in
            if let posted = models.message(message, asOf: now) {
                return (Present(root: message, isReply: false, author: posted.author), posted.isImported)
            }
            guard let posted = models.reply(reply, asOf: now), let answered = models.message(answeredBy: reply, asOf: now) else {
                return nil
            }
            return (Present(root: answered, isReply: true, author: posted.author), posted.isImported)
        }
        if let found, !found.isImported { throw .identifierTaken }
        return found?.post
    }

    /// Refuses a message whose id is another's: of another author, or in another place.
    private func check(_ message: ImportedMessage, against present: Present) throws(Rejection) {
        let answered: MessageID? = if let replyTo = message.replyTo { try post(replyTo, in: message.channel)?.root } else { nil }
        guard present.isReply == (message.replyTo != nil), !present.isReply || answered == present.root else { throw .identifierTaken }
        guard let username = Username(message.user) else { throw .identifierTaken }
        let derived = ImportedID.user(username.foldKey)
        if present.author == derived || present.author == known.users[derived] { return }
        // A nickname that was a user's own when the post was taken in may since have become another's.
        let isNative = store.present { $0.profile(present.author, asOf: $1).map { !$0.isImported } ?? false }
        guard isNative, store.present({ $0.profile(derived, asOf: $1) }) == nil else { throw .identifierTaken }
    }

    private mutating func stageUser(_ username: Username, _ origin: Origin) throws(Rejection) -> UserID {
        let derived = ImportedID.user(username.foldKey)
        if let user = known.users[derived] { return user }
        let (profile, named) = store.present { ($0.profile(derived, asOf: $1), $0.user(named: username.text, asOf: $1)) }
        if let profile, !profile.isImported { throw .identifierTaken }
        let user = profile?.id ?? named ?? derived
        if profile == nil, named == nil {
            requests.append(CommandRequest(.registerUser(user: user, username: username.text), origin: origin))
        }
        known.users[derived] = user
        return user
    }

    private mutating func stageThread(_ thread: ThreadID, _ channel: String, _ user: UserID, _ origin: Origin) {
        guard known.threads.insert(thread).inserted else { return }
        guard store.present({ $0.thread(thread, asOf: $1) }) == nil else { return }
        requests.append(CommandRequest(.openThread(thread: thread, name: channel, by: user), origin: origin))
    }

    private mutating func commit() throws(ChatError) -> [RefusedMessage] {
        guard !requests.isEmpty else { return [] }
        let answers = try store.execute(requests)
        var refused: [RefusedMessage] = []
        for post in posts {
            // The first refusal: that of the post follows from it.
            let refusals = answers[post.requests].lazy.compactMap { if case .failure(let rejection) = $0 { rejection } else { nil } }
            guard case .failure = answers[post.requests.upperBound - 1], let rejection = refusals.first else { continue }
            summary.refused += 1
            refused.append(RefusedMessage(line: post.line, rejection: rejection))
        }
        for answer in answers {
            guard case .success(let receipt) = answer else {
                // A user or thread may have been refused (a full disk does that): what is known comes from the store again.
                known = Known()
                continue
            }
            if receipt.duplicate { continue }
            for recorded in receipt.events {
                switch recorded.event.fact {
                case .userRegistered: summary.users += 1
                case .threadOpened: summary.threads += 1
                case .messagePosted: summary.messages += 1
                case .replyPosted: summary.replies += 1
                default: break
                }
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
