public import ChatDomain
import EventJournal
import Projections

/// Imports the history of another chat into a store, through the regular decider.
///
/// - **Channels**: a channel that is an outward code becomes the thread of that code, any other
///   channel a named thread. A named thread takes only users with an invitation (`inviteOnly`),
///   unless the importer's policy or the line of the channel (``ImportedChannel``) says otherwise.
/// - **Users** are registered and joined before their first message or join. A nickname is one
///   person in all channels, by its fold key. An account is one person by its id, whatever its
///   name. An imported user is never merged with a native user of the store: if the name is taken,
///   the imported user gets the suffix `~2`, `~3`, ..., and the summary lists it. Users keep the
///   name of their first line.
/// - **Replies**: a reply to a reply becomes a reply to the message. Replies may stand anywhere in
///   the history if its lines are added in the order of ``ImportOrder``; a reply whose message does
///   not exist is then posted as a message, and stays one.
/// - **Bodies** over `MessageBody.maximumByteCount` are split. The first part has the id of the
///   message.
/// - **Edits**: a message with an `editedAt` is posted and then edited to the same text, because
///   the source does not contain the earlier text.
/// - **Mentions** are those that a line lists. If the importer looks for them, a text also mentions
///   the members whose names follow an @, as for a command with `findMentions`: their names in the
///   store, and the members of the thread when the line is imported. An edit of a text that an
///   earlier import posted keeps a mention whose name stands in both texts.
/// - **Reactions** are added with the time of the message, and only to a post that never had one.
///   Their users are registered and joined as authors are, except former members. What a post
///   cannot take is left out and counted (``ImportAdaptation/reactionsLeftOut``); it never rejects
///   the line.
///
/// Ids are derived from the ids and names of the source, byte for byte, so importing the same
/// history again appends nothing, with three exceptions: a line that was rejected can succeed if
/// its reason is gone; a message that was never edited receives an edit that a later file contains
/// (of a split body, the first part; parts that do not exist are added); and a post that never had
/// a reaction receives those of a later file, and those whose reason to be left out is gone.
/// <doc:ImportingAHistory> describes the ids, and posts that were imported before version 0.1.0.
///
/// A line is rejected with `identifierTaken` if a native entity has its derived id: such ids can be
/// computed from names, and a native entity must never be taken for an imported one. The same
/// applies if an imported post by another author or in another place has the id.
///
/// Lines are collected into batches of one commit each; ``finish()`` commits the last batch. Memory
/// is proportional to the users, threads and memberships of the history, plus one batch of
/// messages.
///
/// The calls block; an `async` function imports within ``ChatStore/inBackground(_:)``.
public struct MessageImporter: ~Copyable {
    private let store: ChatStore
    private let batchSize: Int
    private let findsMentions: Bool
    private var batch: ImportBatch
    /// The result of the lines so far.
    public private(set) var summary = ImportSummary()

    /// Creates an importer into a store.
    ///
    /// - Parameters:
    ///   - store: The store to import into.
    ///   - policy: Who may join the new named threads whose channels have no line: `open` or
    ///     `inviteOnly`.
    ///   - isOrdered: Whether the lines are added in the order of an ``ImportOrder``. A reply whose
    ///     message does not exist is then posted as a message; otherwise its line is rejected,
    ///     because the message can follow.
    ///   - findMentions: Whether texts mention the members whom they name. A dry run finds none,
    ///     because its summary would be the same.
    ///   - batchSize: The number of lines per commit, clamped to 1...1,000.
    /// - Complexity: O(*n*) in the number of threads of the store.
    public init(
        into store: ChatStore, policy: ThreadPolicy = .inviteOnly, isOrdered: Bool = false,
        findMentions: Bool = false, batchSize: Int = 1_000
    ) {
        self.store = store
        findsMentions = findMentions && !store.isDryRun
        self.batchSize = min(max(1, batchSize), 1_000)
        batch = ImportBatch(policy: policy, postsLostReplies: isOrdered)
        summary.earlierOpenThreads = store.importedThreadsLeftOpen().count
    }

    /// Adds the next message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - line: The line of the message in its source, for the report.
    /// - Returns: The lines that were rejected by this call.
    /// - Throws: ``ChatError`` if the store fails. Earlier commits remain in the store.
    public mutating func add(_ message: ImportedMessage, line: Int) throws(ChatError) -> [RejectedLine] {
        try add(.message(message), line: line)
    }

    /// Adds the next line: a message, a join or a channel.
    ///
    /// A join of a current or former member of the thread is a duplicate: a user who has left is
    /// not brought back. The line of a channel comes before the first message and join of the
    /// channel; a line with another policy than that of the thread's opening is rejected.
    ///
    /// - Parameters:
    ///   - content: The line.
    ///   - line: The number of the line in its source, for the report.
    ///   - isMoved: Whether the line has moved, as ``ImportOrder/next()`` says.
    ///   - ignoredFields: The unknown fields of the line (``IgnoredFields``).
    /// - Returns: The lines that were rejected by this call.
    /// - Throws: ``ChatError`` if the store fails. Earlier commits remain in the store.
    public mutating func add(
        _ content: ImportedLine, line: Int, isMoved: Bool = false, ignoredFields: [String] = []
    ) throws(ChatError) -> [RejectedLine] {
        let store = store
        var staged = ImportBatch.ParsedLine(
            content, number: line, isMoved: isMoved, ignoredFields: ignoredFields, findMentions: findsMentions)
        if let post = unedited(by: staged) { staged.former = try store.peopleNamed(inTextOf: post) }
        let staging: ImportBatch.Staging
        do throws(Rejection) {
            staging = try store.withCurrentModels { (models, now) throws(Rejection) in
                try batch.stage(staged, models, now)
            }
        } catch {
            summary.rejected += 1
            return [RejectedLine(line: line, rejection: error)]
        }
        switch staging {
        case .commands: return batch.entries.count >= batchSize || batch.hasReachedLimit ? try commit() : []
        case .duplicate: summary.duplicates += 1
        case .policy: summary.count(staged.adapted, line: line)
        }
        return []
    }

    /// Returns the post of the store that a line edits, if people are looked for in the new text.
    ///
    /// The former text is read outside the locks of the staging.
    private func unedited(by line: ImportBatch.ParsedLine) -> PostID? {
        guard case .message(let message) = line.content, message.editedAt != nil,
            line.names.first?.isEmpty == false
        else { return nil }
        let posts = [
            PostID.message(ImportedID.message(message.channel, message.id)),
            .reply(ImportedID.reply(message.channel, message.id)),
        ]
        return store.withCurrentModels { models, now in
            posts.first { models.post($0, asOf: now).map { $0.isImported && $0.editPosition == nil } ?? false }
        }
    }

    /// Commits the last batch.
    ///
    /// - Returns: The lines of the last batch that were rejected.
    /// - Throws: ``ChatError`` if the store fails. Earlier commits remain in the store.
    public mutating func finish() throws(ChatError) -> [RejectedLine] { try commit() }

    private mutating func commit() throws(ChatError) -> [RejectedLine] {
        guard !batch.isEmpty else { return [] }
        var batch = ImportBatch()
        swap(&batch, &self.batch)
        var rejected: [RejectedLine] = []
        var duplicates = 0
        let answers: [Result<Receipt, Rejection>]
        do throws(ChatError) {
            answers = try store.executeBlocking(making: { models in
                if !batch.isValid(in: models) { (rejected, duplicates) = batch.restage(in: models) }
                return batch.requests
            })
        } catch {
            // It is unknown whether the lines are in the journal. The batch is kept, so that a
            // later call cannot report success.
            swap(&batch, &self.batch)
            throw error
        }
        summary.duplicates += duplicates
        for entry in batch.entries {
            // The first rejection is the cause; that of the post is its consequence.
            let rejections = answers[entry.requests].lazy.compactMap {
                if case .failure(let rejection) = $0 { rejection } else { nil }
            }
            let isRejected = answers[entry.recordingRequests].contains { if case .failure = $0 { true } else { false } }
            if isRejected, let rejection = rejections.first {
                rejected.append(RejectedLine(line: entry.line.number, rejection: rejection))
            } else if let first = answers[entry.recordingRequests].first, case .success(let receipt) = first,
                receipt.isDuplicate
            {
                // Another importer of the same history was first.
                summary.duplicates += 1
            } else {
                let reactions = answers[entry.reactionRequests]
                var adapted = entry.adapted
                if case .message(let message) = entry.line.content,
                    reactions.contains(where: { if case .failure = $0 { true } else { false } })
                {
                    adapted[.reactionsLeftOut] = message.id
                }
                if entry.recordingRequests.isEmpty, reactions.allSatisfy({ (try? $0.get())?.positions == nil }) {
                    // The store has the post, and takes none of the reactions.
                    summary.duplicates += 1
                }
                summary.count(adapted, line: entry.line.number)
                guard entry.line.isOfMembers else { continue }
                summary.joins += answers[entry.requests].count { answer in
                    (try? answer.get())?.events.contains { $0.kind == .threadJoined } ?? false
                }
            }
        }
        summary.rejected += rejected.count
        for answer in answers {
            switch answer {
            case .success(let receipt): count(receipt, of: batch)
            // A user or thread may be missing, for example after the disk was full. Look everything
            // up in the store again.
            case .failure: batch.resetKnown()
            }
        }
        batch.removeAll()
        swap(&batch, &self.batch)
        return rejected.sorted { $0.line < $1.line }
    }

    private mutating func count(_ receipt: Receipt, of batch: ImportBatch) {
        if receipt.isDuplicate { return }
        for recorded in receipt.events {
            switch (recorded.kind, recorded.shape) {
            case (.userRegistered, .user(let user)):
                summary.users += 1
                if let renamed = batch.people.renamed[user] { summary.renamed.append(renamed) }
                if let without = batch.people.withoutSubject[user] { summary.withoutSubject.append(without) }
            case (.threadOpened, .thread(let thread, _, _)):
                summary.threads += 1
                let policy = receipt.events.lazy.compactMap {
                    if case .policy(_, _, let policy, _, _) = $0.shape { policy } else { nil }
                }.first
                summary.threadsByPolicy[policy ?? (thread.outwardCode == nil ? .open : .residents), default: 0] += 1
            case (.messagePosted, _): summary.messages += 1
            case (.replyPosted, _): summary.replies += 1
            case (.messageEdited, _), (.replyEdited, _): summary.edits += 1
            case (.reactionAdded, _): summary.reactions += 1
            default: break
            }
        }
    }
}

/// The counts of an import.
///
/// In JSON, `joins`, `edits`, `reactions` and `earlierOpen` are omitted if 0, `policies`,
/// `adapted`, `renamed` and `withoutSubject` if empty.
public struct ImportSummary: Hashable, Sendable {
    /// The number of posted messages, each part of a split body included.
    public var messages = 0
    /// The number of posted replies, each part of a split body included.
    public var replies = 0
    /// The number of lines that the store already contained.
    public var duplicates = 0
    /// The number of rejected lines.
    public var rejected = 0
    /// The number of registered users.
    public var users = 0
    /// The number of opened threads.
    public var threads = 0
    /// The number of opened threads by their policy, `policies` in JSON.
    public var threadsByPolicy: [ThreadPolicy: Int] = [:]
    /// The number of named threads of earlier imports that are open to every user, `earlierOpen` in
    /// JSON.
    ///
    /// ``ChatStore/makeImportedThreadsInviteOnly()`` makes them `inviteOnly`.
    public var earlierOpenThreads = 0
    /// The number of recorded joins of lines of joins and channels.
    public var joins = 0
    /// The number of recorded edits.
    public var edits = 0
    /// The number of recorded reactions.
    public var reactions = 0
    /// The recorded lines that were adapted, by what was adapted, `adapted` in JSON.
    ///
    /// Users with another name are listed in ``renamed`` instead.
    public var adaptations: [ImportAdaptation: ImportAdaptation.Lines] = [:]
    /// The users registered under another name than in the source.
    ///
    /// Their names were taken, or are not valid usernames.
    public var renamed: [RenamedUser] = []
    /// The users registered without the subject of the source, because another user has it.
    public var withoutSubject: [UserWithoutSubject] = []
}

/// An imported user whose username differs from the name in the source.
public struct RenamedUser: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserID
    /// The name in the source.
    public var name: String
    /// The username in the store.
    public var username: String
}

/// An imported user without a subject, because another user has it.
public struct UserWithoutSubject: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserID
    /// The username in the store.
    public var username: String
    /// The subject in the source.
    public var subject: String
}

extension ImportSummary: Codable {
    private enum CodingKeys: String, CodingKey {
        case messages, replies, duplicates
        case rejected = "refused"
        case users, threads
        case threadsByPolicy = "policies"
        case earlierOpenThreads = "earlierOpen"
        case joins, edits, reactions
        case adaptations = "adapted"
        case renamed, withoutSubject
    }

    /// Decodes a summary; omitted fields are 0 or empty.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        messages = try container.decode(Int.self, forKey: .messages)
        replies = try container.decode(Int.self, forKey: .replies)
        duplicates = try container.decode(Int.self, forKey: .duplicates)
        rejected = try container.decode(Int.self, forKey: .rejected)
        users = try container.decode(Int.self, forKey: .users)
        threads = try container.decode(Int.self, forKey: .threads)
        if container.contains(.threadsByPolicy) {
            let policies = try container.nestedContainer(keyedBy: FieldKey.self, forKey: .threadsByPolicy)
            for policy in ThreadPolicy.allCases {
                threadsByPolicy[policy] = try policies.decodeIfPresent(Int.self, forKey: FieldKey(policy.rawValue))
            }
        }
        earlierOpenThreads = try container.decodeIfPresent(Int.self, forKey: .earlierOpenThreads) ?? 0
        joins = try container.decodeIfPresent(Int.self, forKey: .joins) ?? 0
        edits = try container.decodeIfPresent(Int.self, forKey: .edits) ?? 0
        reactions = try container.decodeIfPresent(Int.self, forKey: .reactions) ?? 0
        if container.contains(.adaptations) {
            let lines = try container.nestedContainer(keyedBy: FieldKey.self, forKey: .adaptations)
            for kind in ImportAdaptation.allCases {
                adaptations[kind] = try lines.decodeIfPresent(
                    ImportAdaptation.Lines.self, forKey: FieldKey(kind.rawValue))
            }
        }
        renamed = try container.decodeIfPresent([RenamedUser].self, forKey: .renamed) ?? []
        withoutSubject = try container.decodeIfPresent([UserWithoutSubject].self, forKey: .withoutSubject) ?? []
    }

    /// Encodes the summary; optional fields are omitted if 0 or empty.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(messages, forKey: .messages)
        try container.encode(replies, forKey: .replies)
        try container.encode(duplicates, forKey: .duplicates)
        try container.encode(rejected, forKey: .rejected)
        try container.encode(users, forKey: .users)
        try container.encode(threads, forKey: .threads)
        if !threadsByPolicy.isEmpty {
            var policies = container.nestedContainer(keyedBy: FieldKey.self, forKey: .threadsByPolicy)
            for policy in ThreadPolicy.allCases {
                try policies.encodeIfPresent(threadsByPolicy[policy], forKey: FieldKey(policy.rawValue))
            }
        }
        if earlierOpenThreads > 0 { try container.encode(earlierOpenThreads, forKey: .earlierOpenThreads) }
        if joins > 0 { try container.encode(joins, forKey: .joins) }
        if edits > 0 { try container.encode(edits, forKey: .edits) }
        if reactions > 0 { try container.encode(reactions, forKey: .reactions) }
        if !adaptations.isEmpty {
            var lines = container.nestedContainer(keyedBy: FieldKey.self, forKey: .adaptations)
            for kind in ImportAdaptation.allCases {
                try lines.encodeIfPresent(adaptations[kind], forKey: FieldKey(kind.rawValue))
            }
        }
        if !renamed.isEmpty { try container.encode(renamed, forKey: .renamed) }
        if !withoutSubject.isEmpty { try container.encode(withoutSubject, forKey: .withoutSubject) }
    }
}

/// A rejected line of an import.
public struct RejectedLine: Hashable, Sendable {
    /// The line number in the source.
    public var line: Int
    /// The reason.
    public var rejection: Rejection
}
