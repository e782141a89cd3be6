import EventJournal
import TestSupport
import Testing

#if Postgres
    import JournalPostgres
#endif

/// Where a test of the store has its log.
enum LogPlace: Sendable {
    /// A journal in memory.
    case memory
    #if Postgres
        /// A new log on the server of the test run.
        case postgres
    #endif

    /// Opens a new log.
    ///
    /// - Parameter options: The options of the journal; a log in a database has none of them.
    func open(_ options: JournalOptions) throws -> any ErasableLog {
        switch self {
        case .memory: return try Journal.open("journal", options: options)
        #if Postgres
            case .postgres: return try PostgresLog.open(try Self.newAddress())
        #endif
        }
    }

    #if Postgres
        /// The address of a log that no other test has.
        static func newAddress() throws -> String { try #require(try PostgresServer.shared.get()).newAddress() }
    #endif
}
