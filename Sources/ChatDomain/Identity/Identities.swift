package import Columns

/// Every key that events have named, each with its dense index: ids, pairs of user and thread, fold keys and subjects.
///
/// An index is given in the order in which events first name the key, so the same events give the same indexes. The rules and the read models keep their
/// rows by index. What never changes of a post stands here too, because both need it.
package struct Identities: Equatable, Sendable {
    package internal(set) var users = DenseIndex<UserID>()
    package internal(set) var threads = DenseIndex<ThreadID>()
    package internal(set) var messages = IDTable()
    package internal(set) var replies = IDTable()
    package internal(set) var sessions = DenseIndex<SessionID>()
    /// The pairs of a user and a thread that a membership event has named.
    package internal(set) var memberships = PairIndex()
    /// The fold keys of usernames.
    package internal(set) var names = TextIndex()
    /// The subjects: the provider's name is opaque, so two spellings of one character are two subjects.
    package internal(set) var subjects = TextIndex()
    package internal(set) var messageFacts = PostFacts()
    package internal(set) var replyFacts = PostFacts()

    package init() {}

    /// Makes room for so many keys where there are none yet.
    package mutating func reserve(messages: Int, memberships: Int) {
        self.messages.reserve(messages)
        self.memberships.reserve(memberships)
    }

    /// A copy that is only written: without slots, so that the next key does not wait until they are copied.
    package func withoutSlots() -> Identities {
        var copy = self
        copy.users.removeSlots()
        copy.threads.removeSlots()
        copy.messages.removeSlots()
        copy.replies.removeSlots()
        copy.sessions.removeSlots()
        copy.memberships.removeSlots()
        copy.names.removeSlots()
        copy.subjects.removeSlots()
        return copy
    }
}

extension Identities {
    // Not generic, so that callers in other modules do not pay for looking up a layout.

    /// The index of a user whom any event has named.
    package func index(ofUser id: UserID) -> Int? { users.find(id) }

    /// The index of a thread that any event has named.
    package func index(ofThread id: ThreadID) -> Int? { threads.find(id) }

    /// The user with an index.
    package func userID(_ index: Int) -> UserID { users.id(index) }

    /// The thread with an index.
    package func threadID(_ index: Int) -> ThreadID { threads.id(index) }

    /// Completes the indexes of a batch: those that exist, or the next.
    ///
    /// One kind of key after another, each in its own part of memory: an index depends on the keys of its kind before it alone.
    ///
    /// - Complexity: O(1) on average for each event.
    package mutating func resolve(_ batch: inout EventBatch) {
        let start = batch.resolvedCount
        batch.resolvedCount = batch.count
        var lookUps = EventBatch.LookUps()
        swap(&lookUps, &batch.lookUps)
        resolveUsers(&batch, from: start, &lookUps)
        resolveThreads(&batch, from: start, &lookUps)
        resolveMessages(&batch, from: start, &lookUps)
        resolveReplies(&batch, from: start, &lookUps)
        resolveMemberships(&batch, from: start, &lookUps)
        swap(&lookUps, &batch.lookUps)
        let first = partition(batch.contents.count) { batch.contents[$0].row >= start }
        for entry in first..<batch.contents.count { resolve(&batch.contents[entry]) }
    }

    private mutating func resolveUsers(_ batch: inout EventBatch, from start: Int, _ lookUps: inout EventBatch.LookUps) {
        lookUps.removeAll()
        for row in start..<batch.count where batch.indexes[row].userEntry == 0 && batch.rows[row].namesUser {
            lookUps.add(batch.rows[row].user, row)
        }
        lookUps.makeRoom()
        users.insert(lookUps.ids, into: &lookUps.entries)
        for index in lookUps.rows.indices { batch.indexes[lookUps.rows[index]].userEntry = lookUps.entries[index] }
    }

    private mutating func resolveThreads(_ batch: inout EventBatch, from start: Int, _ lookUps: inout EventBatch.LookUps) {
        lookUps.removeAll()
        for row in start..<batch.count where batch.indexes[row].threadEntry == 0 && batch.rows[row].namesThread {
            lookUps.add(batch.rows[row].thread, row)
        }
        lookUps.makeRoom()
        threads.insert(lookUps.ids, into: &lookUps.entries)
        for index in lookUps.rows.indices { batch.indexes[lookUps.rows[index]].threadEntry = lookUps.entries[index] }
    }

    private mutating func resolveMessages(_ batch: inout EventBatch, from start: Int, _ lookUps: inout EventBatch.LookUps) {
        lookUps.removeAll()
        for row in start..<batch.count {
            switch batch.rows[row].kind {
            case .messagePosted: lookUps.add(batch.rows[row].post, row, inserts: true)
            case .replyPosted: if batch.indexes[row].messageEntry == 0 { lookUps.add(batch.rows[row].message, row) }
            case .messageEdited, .messageRetracted: if batch.indexes[row].postEntry == 0 { lookUps.add(batch.rows[row].post, row) }
            default: break
            }
        }
        lookUps.makeRoom()
        messages.lookUp(lookUps.ids, inserting: lookUps.inserts, into: &lookUps.entries)
        for index in lookUps.rows.indices {
            let (row, entry) = (lookUps.rows[index], lookUps.entries[index])
            guard batch.rows[row].kind != .replyPosted else {
                batch.indexes[row].messageEntry = entry
                continue
            }
            batch.indexes[row].postEntry = entry
            guard Int(entry) > messageFacts.count else { continue }
            batch.indexes[row].isNew = true
            messageFacts.append(
                at: batch.position(row), place: batch.indexes[row].thread, author: batch.indexes[row].user,
                isImported: batch.rows[row].isImported)
        }
    }

    /// Resolves replies, of which one to a message that no event has posted has no index, and sessions.
    private mutating func resolveReplies(_ batch: inout EventBatch, from start: Int, _ lookUps: inout EventBatch.LookUps) {
        lookUps.removeAll()
        for row in start..<batch.count {
            switch batch.rows[row].kind {
            case .replyPosted: if batch.indexes[row].messageEntry > 0 { lookUps.add(batch.rows[row].post, row, inserts: true) }
            case .replyEdited, .replyRetracted: lookUps.add(batch.rows[row].post, row)
            case .sessionStarted:
                let (session, isNew) = sessions.insert(SessionID(bits: batch.rows[row].post))
                (batch.indexes[row].postEntry, batch.indexes[row].isNew) = (EventIndexes.entry(session), isNew)
            case .sessionEnded: batch.indexes[row].postEntry = EventIndexes.entry(sessions.find(SessionID(bits: batch.rows[row].post)))
            default: break
            }
        }
        if lookUps.rows.isEmpty { return }
        lookUps.makeRoom()
        replies.lookUp(lookUps.ids, inserting: lookUps.inserts, into: &lookUps.entries)
        for index in lookUps.rows.indices {
            let (row, entry) = (lookUps.rows[index], lookUps.entries[index])
            batch.indexes[row].postEntry = entry
            if Int(entry) > replyFacts.count {
                batch.indexes[row].isNew = true
                replyFacts.append(
                    at: batch.position(row), place: batch.indexes[row].message, author: batch.indexes[row].user,
                    isImported: batch.rows[row].isImported)
            } else if entry > 0, batch.rows[row].kind != .replyPosted {
                batch.indexes[row].messageEntry = EventIndexes.entry(replyFacts.place(Int(entry) - 1))
            }
        }
    }

    /// Resolves the memberships of the events that change one, and those of the authors of messages that are posted or retracted.
    private mutating func resolveMemberships(_ batch: inout EventBatch, from start: Int, _ lookUps: inout EventBatch.LookUps) {
        lookUps.removeAll()
        for row in start..<batch.count {
            let indexes = batch.indexes[row]
            switch batch.rows[row].kind {
            case .threadJoined, .threadLeft, .threadRead: lookUps.addPair(indexes.userEntry, indexes.threadEntry, row, inserts: true)
            case .messagePosted: if indexes.membershipEntry == 0 { lookUps.addPair(indexes.userEntry, indexes.threadEntry, row) }
            case .messageRetracted:
                guard indexes.postEntry > 0 else { continue }
                let (author, thread) = (messageFacts.author(indexes.post), messageFacts.place(indexes.post))
                lookUps.addPair(EventIndexes.entry(author), EventIndexes.entry(thread), row)
            default: break
            }
        }
        if lookUps.rows.isEmpty { return }
        var count = memberships.count
        lookUps.makeRoom()
        memberships.lookUp(lookUps.pairs, inserting: lookUps.inserts, into: &lookUps.entries)
        for index in lookUps.rows.indices {
            let (row, entry) = (lookUps.rows[index], lookUps.entries[index])
            batch.indexes[row].membershipEntry = entry
            if Int(entry) > count {
                batch.indexes[row].isNew = true
                count += 1
            }
        }
    }

    private mutating func resolve(_ entry: inout EventBatch.IndexedContent) {
        if let username = entry.content.username { entry.name = EventIndexes.entry(names.insert(username.foldKey).index) }
        if let subject = entry.content.subject { entry.subject = EventIndexes.entry(subjects.insert(subject).index) }
    }
}

extension EventRow {
    fileprivate var namesUser: Bool { kind != nil && kind != .lost }

    fileprivate var namesThread: Bool { kind?.namesThread ?? false }
}
