public import ChatDomain
import EventJournal
import Locking
import Projections

/// Takes the history of another chat into a store, through the same decider as everything else.
///
/// A channel that is an outward code is that code's thread, another becomes a named thread. Users are registered and joined as they first speak or join. A nickname is one
/// person in all channels, by its fold key; an account is one person by its id alone, under whatever name. No user of the store's own is ever taken for one of them: where a
/// name is taken, the imported user gets it with the suffix `~2`, `~3`, ..., and the summary says so. A user keeps the name of the first line, also if the source renames them.
/// A reply to a reply becomes a reply to its message. A message with an `editedAt` is posted and then edited, to the same text, because the source has no other.
///
/// Ids derive from what the source names, byte for byte, so that importing the same history again appends nothing; only what was refused may be taken then, if what
/// it lacked has come since, and a message that has never been edited takes the edit that a later file tells of. What an earlier version attributed to a user of the store,
/// because that user bore the nickname, stays theirs and counts as duplicate. A derived id that something native bears is refused (`identifierTaken`): ids can be computed from
/// names, and nobody can plant what an import would take for its own. So is one that an imported post of another author or in another place bears.
///
/// Messages are collected into batches, one commit each; ``finish()`` commits the last. Memory is in proportion to the users, threads and memberships of the history and one
/// batch of its messages.
public struct MessageImporter: ~Copyable {
    private let store: ChatStore
    private let batchSize: Int
    private var batch = ImportBatch()
    /// The result of the lines so far.
    public private(set) var summary = ImportSummary()

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
        try add(.message(message), line: line)
    }

    /// Takes in the next line; otherwise as the form for a message.
    ///
    /// A join of who has ever been a member of the thread is a duplicate: who has left since is not brought back.
    public mutating func add(_ content: ImportedLine, line: Int) throws(ChatError) -> [RefusedMessage] {
        let staged = ImportBatch.Line(content, number: line)
        var batch = ImportBatch()
        swap(&batch, &self.batch)
        let result: Result<Bool, Rejection> = store.present { models, now in
            do throws(Rejection) { return .success(try batch.stage(staged, models, now)) } catch { return .failure(error) }
        }
        swap(&batch, &self.batch)
        switch result {
        case .success(true): return self.batch.entries.count >= batchSize || self.batch.isLarge ? try commit() : []
        case .success(false):
            summary.duplicates += 1
            return []
        case .failure(let rejection):
            summary.refused += 1
            return [RefusedMessage(line: line, rejection: rejection)]
        }
    }

    /// Commits what is left.
    ///
    /// - Returns: The messages of the last batch that were refused, with their lines.
    public mutating func finish() throws(ChatError) -> [RefusedMessage] { try commit() }

    private mutating func commit() throws(ChatError) -> [RefusedMessage] {
        guard !batch.isEmpty else { return [] }
        var batch = ImportBatch()
        swap(&batch, &self.batch)
        var refused: [RefusedMessage] = []
        var duplicates = 0
        let answers: [Result<Receipt, Rejection>]
        do throws(ChatError) {
            answers = try store.execute(making: { models in
                if !batch.holds(in: models) { (refused, duplicates) = batch.stageAgain(in: models) }
                return batch.requests
            })
        } catch {
            // Whether the lines are in the journal is not known: they are not forgotten, and a later call does not tell of success.
            swap(&batch, &self.batch)
            throw error
        }
        summary.duplicates += duplicates
        for entry in batch.entries {
            // The first refusal: that of the post follows from it.
            let refusals = answers[entry.requests].lazy.compactMap { if case .failure(let rejection) = $0 { rejection } else { nil } }
            let isRefused = answers[entry.essential].contains { if case .failure = $0 { true } else { false } }
            if isRefused, let rejection = refusals.first {
                refused.append(RefusedMessage(line: entry.line.number, rejection: rejection))
            } else if case .success(let receipt) = answers[entry.essential.lowerBound], receipt.isDuplicate {
                // Another importer of the same history came first.
                summary.duplicates += 1
            } else if case .join = entry.line.content {
                summary.joins += 1
            }
        }
        summary.refused += refused.count
        for answer in answers {
            switch answer {
            case .success(let receipt): count(receipt, of: batch)
            // A user or thread may have been refused (a full disk does that): what is known comes from the store again.
            case .failure: batch.forget()
            }
        }
        batch.removeAll()
        swap(&batch, &self.batch)
        return refused.sorted { $0.line < $1.line }
    }

    private mutating func count(_ receipt: Receipt, of batch: ImportBatch) {
        if receipt.isDuplicate { return }
        for recorded in receipt.events {
            switch recorded.event.details {
            case .userRegistered(let details):
                summary.users += 1
                if let renamed = batch.renamed[details.user] { summary.renamed.append(renamed) }
                if let without = batch.withoutSubject[details.user] { summary.withoutSubject.append(without) }
            case .threadOpened: summary.threads += 1
            case .messagePosted: summary.messages += 1
            case .replyPosted: summary.replies += 1
            case .messageEdited, .replyEdited: summary.edits += 1
            default: break
            }
        }
    }
}

/// The result of an import, in numbers.
///
/// Encoded, `joins`, `edits`, `renamed` and `withoutSubject` are left out where there are none.
public struct ImportSummary: Hashable, Sendable {
    /// Messages that were posted.
    public var messages = 0
    /// Replies that were posted.
    public var replies = 0
    /// Lines that the store had already.
    public var duplicates = 0
    /// Lines that were refused.
    public var refused = 0
    /// Users who were registered.
    public var users = 0
    /// Threads that were opened.
    public var threads = 0
    /// Lines of joins that were recorded.
    public var joins = 0
    /// Edits that were recorded.
    public var edits = 0
    /// The users who were registered under another name than the source's, because that one was taken or is none.
    public var renamed: [RenamedUser] = []
    /// The users who were registered without the subject that the source gives, because another user has it.
    public var withoutSubject: [UserWithoutSubject] = []
}

/// A user of an import whose name is another here.
public struct RenamedUser: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserID
    /// The name in the source.
    public var name: String
    /// The username here.
    public var username: String
}

/// A user of an import whose subject another user has.
public struct UserWithoutSubject: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserID
    /// The username here.
    public var username: String
    /// The subject in the source.
    public var subject: String
}

extension ImportSummary: Codable {
    private enum CodingKeys: CodingKey {
        case messages, replies, duplicates, refused, users, threads, joins, edits, renamed, withoutSubject
    }

    /// Reads a summary; the fields that may be left out are empty then.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        messages = try container.decode(Int.self, forKey: .messages)
        replies = try container.decode(Int.self, forKey: .replies)
        duplicates = try container.decode(Int.self, forKey: .duplicates)
        refused = try container.decode(Int.self, forKey: .refused)
        users = try container.decode(Int.self, forKey: .users)
        threads = try container.decode(Int.self, forKey: .threads)
        joins = try container.decodeIfPresent(Int.self, forKey: .joins) ?? 0
        edits = try container.decodeIfPresent(Int.self, forKey: .edits) ?? 0
        renamed = try container.decodeIfPresent([RenamedUser].self, forKey: .renamed) ?? []
        withoutSubject = try container.decodeIfPresent([UserWithoutSubject].self, forKey: .withoutSubject) ?? []
    }

    /// Writes the summary.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(messages, forKey: .messages)
        try container.encode(replies, forKey: .replies)
        try container.encode(duplicates, forKey: .duplicates)
        try container.encode(refused, forKey: .refused)
        try container.encode(users, forKey: .users)
        try container.encode(threads, forKey: .threads)
        if joins > 0 { try container.encode(joins, forKey: .joins) }
        if edits > 0 { try container.encode(edits, forKey: .edits) }
        if !renamed.isEmpty { try container.encode(renamed, forKey: .renamed) }
        if !withoutSubject.isEmpty { try container.encode(withoutSubject, forKey: .withoutSubject) }
    }
}

/// A line of an import that a rule refused.
public struct RefusedMessage: Hashable, Sendable {
    /// Where it stands in the source.
    public var line: Int
    /// The rule.
    public var rejection: Rejection
}
