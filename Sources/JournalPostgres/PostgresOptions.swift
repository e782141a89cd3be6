#if Postgres
    public import EventJournal

    /// The options for opening a log on PostgreSQL.
    public struct PostgresOptions: Sendable {
        /// Whether opening for writing creates the schema and the log if they do not exist.
        public var createIfMissing = true
        /// How long opening for writing waits while another writer has the log open.
        public var lockTimeout: Duration = .zero
        /// Whether opening for writing ends the connection of another writer instead of failing
        /// with `locked`.
        ///
        /// The log, the heads of the options and the server are checked before. An opening that
        /// cannot end the other writer within some 90 seconds still fails with `locked`. The
        /// other writer stops with `superseded` at its next append or heartbeat, however long it
        /// was paused.
        public var takesOver = false
        /// A head saved earlier, which the log must contain.
        public var expectedHead: JournalHead?
        /// The maximum wait for the answer to one statement.
        ///
        /// A server that does not answer in time is treated as lost. Statements with much data have
        /// a second more for each MiB.
        public var answerTimeout: Duration = .seconds(10)
        /// How long an append or a read tries to reach a server before it fails with `unreachable`.
        ///
        /// The time begins with the first statement without an answer, and the last attempt ends
        /// with it. An opening does not wait.
        public var outageTimeout: Duration = .seconds(60)
        /// The time after which a writer without appends compares the log with what it left.
        ///
        /// So a writer learns after this time and a fifth of it at most, and that of two answers,
        /// that another one has taken over, or that the log was set back. While no server can be
        /// reached it asks again, and after ``outageTimeout`` it stops with `unreachable`.
        public var heartbeatInterval: Duration = .seconds(5)
        /// Receives messages about lost and restored connections; nil to discard them.
        public var log: (@Sendable (LogMessage) -> Void)?

        /// Creates the default options.
        public init() {}
    }

    extension JournalError.Code {
        /// Another writer has taken over the log; this one can never append again.
        public static let superseded = JournalError.Code(rawValue: "superseded")
        /// The address of a log is not valid.
        public static let invalidAddress = JournalError.Code(rawValue: "invalidAddress")
    }
#endif
