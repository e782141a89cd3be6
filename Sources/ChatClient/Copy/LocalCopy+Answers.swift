#if Client || canImport(SQLite3)
    internal import ChatDomain
    package import ChatValues
    internal import Foundation
    internal import LocalStorage
    internal import Locking

    // The answers of the server that the copy keeps whole.
    extension LocalCopy {
        /// Returns the latest answer of a query, with the commands that wait, and whether it is out
        /// of date.
        package func answer<Query: KeptQuery>(_ query: Query) throws(ClientError) -> (
            value: Query.Kept, isStale: Bool
        )? {
            try file.withLock { file throws(ClientError) in
                guard let row = try file.run("SELECT value, stale FROM answers WHERE key = ?", .text(query.key)).first
                else { return nil }
                guard case .blob(let bytes) = row[0] else { throw .storage(.damaged) }
                let kept = try file.showing(try File.decode(Query.Kept.self, bytes), of: query, user)
                return (kept, row[1] != .integer(0))
            }
        }

        /// Keeps an answer of the server.
        ///
        /// - Parameters:
        ///   - value: The answer.
        ///   - query: What was asked for.
        ///   - position: The position that the answer is at least as new as.
        ///   - updates: The updates since the request was sent, which the answer may lack.
        package func keep<Query: KeptQuery>(
            _ value: Query.Kept, of query: Query, asOf position: Position, then updates: [FollowedUpdate]
        ) throws(ClientError) -> CopyChanges {
            let answer = KeptAnswer(query)
            return try change { file, changes throws(ClientError) in
                var value = value
                for update in updates { if let change = ContentChange(update, of: user) { value.apply(change) } }
                let hasToken = try file.token != nil
                let isStale = !hasToken || updates.contains { answer.isOutdated(by: $0) }
                // What this answer lacks leaves the file with the one of before.
                if let former = try file.run("SELECT value FROM answers WHERE key = ?", .text(answer.key)).first {
                    guard case .blob(let bytes) = former[0] else { throw .storage(.damaged) }
                    let words = try File.decode(Query.Kept.self, bytes).words
                    if !words.isSubset(of: value.words) { changes.takesContent = true }
                }
                try file.run(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", .text(answer.key),
                    .blob(try File.encode(value)), .integer(isStale ? 1 : 0))
                try file.know(.text(answer.key), asOf: position)
                changes.answers = [answer]
                // What waits is shown with the name, also if no page has shown it.
                if let own = value as? UserDetails, own.id == user {
                    try file.learnOwnName(UserSummary(id: user, username: own.username), &changes)
                }
            }
        }

        /// Forgets an answer that the server refuses.
        package func forget(_ answer: KeptAnswer) throws(ClientError) -> CopyChanges {
            try change { file, changes throws(ClientError) in
                try file.run("DELETE FROM answers WHERE key = ?", .text(answer.key))
                changes.takesContent = true
            }
        }

        /// The answers that are out of date.
        package var staleAnswers: [KeptAnswer] {
            get throws(ClientError) {
                try file.withLock { file throws(ClientError) in
                    try file.run("SELECT key FROM answers WHERE stale > 0").compactMap {
                        if case .text(let key) = $0[0] { KeptAnswer(key: key) } else { nil }
                    }
                }
            }
        }

        /// Whether the answer to a query is kept.
        func has(_ query: some KeptQuery) throws(ClientError) -> Bool {
            try file.withLock { file throws(ClientError) in
                try !file.run("SELECT 1 FROM answers WHERE key = ?", .text(query.key)).isEmpty
            }
        }
    }
#endif
