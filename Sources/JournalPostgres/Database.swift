#if Postgres
    import EventJournal
    import Foundation
    import Locking

    /// The servers of an address: makes connections, and runs reads on whichever server answers.
    final class Database: Sendable {
        let address: PostgresAddress
        let options: PostgresOptions
        let contact = ServerContact()
        private let idle = Lock<[DatabaseConnection]>([])
        /// Counts the attempts to connect, each of which begins with another host.
        private let attempts = Lock(0)
        /// The number of idle connections kept.
        private static let maximumIdleCount = 8

        init(_ address: PostgresAddress, _ options: PostgresOptions) {
            (self.address, self.options) = (address, options)
        }

        /// Connects to the server that accepts writes.
        ///
        /// - Parameter limit: As ``DatabaseConnection/limit``.
        func connectForWriting(until limit: ContinuousClock.Instant? = nil) throws(DatabaseError)
            -> DatabaseConnection
        {
            let connection = try DatabaseConnection(
                nextParameters(), isForWriting: true, options.answerTimeout, until: limit)
            try prepare(connection)
            return connection
        }

        /// Sets what a log relies on, whatever the address, the database and the role say.
        private func prepare(_ connection: DatabaseConnection) throws(DatabaseError) {
            try connection.run(
                // A reader commits, too: the statement `barrier`. `remote_apply` is stronger than
                // `on`. Each statement finds its rows by an index. A plan for the values at hand
                // would follow the statistics of the tables, which a new log does not have yet.
                """
                SELECT set_config('synchronous_commit',
                  CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false);
                SET client_min_messages = warning; SET statement_timeout = 0; SET lock_timeout = 0;
                SET log_parameter_max_length_on_error = 0;
                SET idle_in_transaction_session_timeout = 0; SET idle_session_timeout = 0;
                SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off;
                SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 10000
                """)
        }

        /// Connects to the server that accepts writes, or else to any.
        func connectForReading(until limit: ContinuousClock.Instant? = nil) throws(DatabaseError)
            -> DatabaseConnection
        {
            let parameters = nextParameters()
            let connection: DatabaseConnection
            do throws(DatabaseError) {
                connection = try DatabaseConnection(
                    parameters, isForWriting: true, options.answerTimeout, until: limit)
            } catch {
                connection = try DatabaseConnection(
                    parameters, isForWriting: false, options.answerTimeout, until: limit)
            }
            try prepare(connection)
            return connection
        }

        private func nextParameters() -> [String: String] {
            address.parameters(
                rotatedBy: attempts.withLock { attempts in
                    attempts &+= 1
                    return attempts & 0xFFFF
                })
        }

        /// Runs a read, again on another connection if one is lost.
        ///
        /// - Parameter body: Throws a ``DatabaseError`` without a state to be called again on
        ///   another connection.
        /// - Throws: `unreachable` if no server answers in time; otherwise as ``error(_:)`` says.
        @discardableResult
        func reading<Result>(_ body: (DatabaseConnection) throws(DatabaseError) -> Result) throws(JournalError)
            -> Result
        {
            let end = ContinuousClock.now + options.outageTimeout
            let wait = contact.beginWait()
            defer { contact.endWait(wait) }
            var pause = Backoff()
            while true {
                do throws(DatabaseError) {
                    let connection: DatabaseConnection
                    if let known = idle.withLock({ $0.popLast() }) {
                        connection = known
                    } else {
                        connection = try connectForReading(until: end)
                    }
                    connection.limit = end
                    connection.didReceiveRow = { [contact] in contact.continueWait(wait) }
                    let result: Result
                    do throws(DatabaseError) { result = try body(connection) } catch {
                        // Only the leader can tell that the tables were removed.
                        if error.isOfMissingTable { try connection.requireLeader() }
                        throw error
                    }
                    (connection.limit, connection.didReceiveRow) = (nil, nil)
                    if connection.isOpen, !connection.shouldRetryLeader {
                        idle.withLock { if $0.count < Self.maximumIdleCount { $0.append(connection) } }
                    }
                    return result
                } catch {
                    if let finding = error.finding { throw finding }
                    // What was lost once is lost on every connection to that server.
                    close()
                    guard error.isTransient, .now < end else { throw self.error(error) }
                    pause.wait(until: end)
                }
            }
        }

        /// Closes the idle connections.
        func close() { idle.withLock { $0.removeAll() } }

        /// The journal error of a database's.
        func error(_ error: DatabaseError) -> JournalError {
            if let finding = error.finding { return finding }
            if error.isTransient {
                return JournalError(
                    .unreachable, "No server could be used; the last reason: \(error.message).", path: "\(address)")
            }
            let code: JournalError.Code =
                switch error.state {
                case "XX001", "XX002": .damaged
                case "42501": .accessDenied
                case _ where error.isOfMissingTable: .notFound
                default: .ioFailed
                }
            return JournalError(code, "The server reports \(error.state): \(error.message).", path: "\(address)")
        }

        /// Logs a message for the host.
        func report(_ level: LogMessage.Level, _ text: String) {
            options.log?(LogMessage(level, text, metadata: ["path": "\(address)"]))
        }
    }

    extension DatabaseError {
        /// A new or restarted standby may be older than the log.
        static var standbyLacksLog: DatabaseError { DatabaseError("the standby does not have the log yet") }

        fileprivate var isOfMissingTable: Bool { state == "42P01" || state == "3F000" }

        /// Whether another attempt, perhaps on another server, can succeed.
        ///
        /// The connection was lost, the statement was cancelled, or the server is starting, ending
        /// or a standby, or lacks resources.
        var isTransient: Bool {
            if finding != nil { return false }
            // 57P04: the database was dropped.
            return !hasSQLState || state == "25006" || state == "40001" || state == "40P01" || state == "55P03"
                || ["08", "53", "57"].contains(state.prefix(2)) && state != "57P04"
        }
    }

    /// The pauses between attempts: 50 ms, then twice as long each time, at most 2 s.
    struct Backoff {
        private(set) var next = Duration.milliseconds(50)

        /// Waits, but not beyond a moment.
        mutating func wait(until limit: ContinuousClock.Instant? = nil) {
            let pause = limit.map { max(.zero, min(next, $0 - .now)) } ?? next
            Thread.sleep(forTimeInterval: pause / .seconds(1))
            next = min(next * 2, .seconds(2))
        }
    }
#endif
