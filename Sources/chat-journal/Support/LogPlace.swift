import Chat
import EventJournal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if Postgres
    import JournalPostgres
#endif

/// What an argument JOURNAL names: the directory of a journal, or the address of a log on
/// PostgreSQL.
enum LogPlace: Hashable {
    case directory(String)
    /// A libpq URI with the name of the log after `#`.
    case database(String)

    init(_ argument: String) {
        // A shell that quotes a line of a file can add spaces, and a password must not be taken for
        // a path.
        let text = argument.drop { $0.isWhitespace }.lowercased()
        self =
            text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
            ? .database(argument) : .directory(argument)
    }

    /// The place without a password, the same for every form of a path.
    ///
    /// - Throws: `UsageError` in a build without PostgreSQL; `JournalError` for an address that is
    ///   not valid.
    var name: String {
        get throws {
            switch self {
            case .directory(let path): return URL(fileURLWithPath: path).standardizedFileURL.path
            case .database(let address):
                #if Postgres
                    return "\(try PostgresAddress(address))"
                #else
                    throw Self.noPostgresError
                #endif
            }
        }
    }

    /// Opens the log for reading.
    func openReadOnly() throws -> any ToolLog {
        switch self {
        case .directory(let path): return try Journal.openReadOnly(path)
        case .database(let address):
            #if Postgres
                return try PostgresLog.openReadOnly(address)
            #else
                throw Self.noPostgresError
            #endif
        }
    }

    /// Opens the log for writing.
    ///
    /// - Parameter takesOver: Whether to end another writer, which a database can do.
    func open(_ options: JournalOptions, takesOver: Bool = false) throws -> any ToolLog {
        switch self {
        case .directory(let path):
            if takesOver {
                throw UsageError("--take-over is for a log on PostgreSQL; end the process that has the journal open")
            }
            return try Journal.open(path, options: options)
        case .database(let address):
            if options.durability == .written {
                throw UsageError("a log on PostgreSQL is always synced: leave out --durability written")
            }
            #if Postgres
                var postgres = PostgresOptions(options)
                postgres.takesOver = takesOver
                return try PostgresLog.open(address, options: postgres)
            #else
                throw Self.noPostgresError
            #endif
        }
    }

    /// Opens a store for reading.
    func openStoreReadOnly() throws -> ChatStore {
        switch self {
        case .directory(let path): try ChatStore.openReadOnly(path)
        case .database: try ChatStore.openReadOnly(log: try openReadOnly())
        }
    }

    /// Opens a store for writing.
    func openStore(_ options: StoreOptions, takesOver: Bool = false) throws -> ChatStore {
        switch self {
        case .directory(let path) where !takesOver: return try ChatStore.open(path, options: options)
        case .directory, .database:
            if takesOver { try requireServable() }
            let log = try open(options.journal, takesOver: takesOver)
            do throws(ChatError) {
                return try ChatStore.open(log: log, options: options)
            } catch {
                // The first error is the one to report.
                try? log.close()
                if takesOver { TakeOver.reportFailure() }
                throw error
            }
        }
    }

    /// Reads the log, as an opening for writing does: what this program cannot read must not be taken
    /// from its writer.
    private func requireServable() throws {
        guard case .database = self else { return }
        let store: ChatStore
        do { store = try openStoreReadOnly() } catch let error as JournalError where error.code == .notFound {
            // There is no writer to end.
            return
        }
        defer { try? store.close() }
        if store.hasNewerEvents { throw ChatError.newerEvents }
    }

    /// Creates a copy of a log at this place, or continues one.
    func openCopy(of source: some StoredRecordLog) throws -> any CopyDestination {
        switch self {
        case .directory(let path): return try JournalCopy(path, of: source)
        case .database(let address):
            #if Postgres
                return try PostgresCopy(address, of: source)
            #else
                throw Self.noPostgresError
            #endif
        }
    }

    /// The error does not repeat the address, which may contain a password.
    static var noPostgresError: UsageError {
        UsageError("this build has no PostgreSQL: build it with 'swift build --traits Postgres'")
    }
}

/// What is said of a start that ends another writer.
enum TakeOver {
    /// Says that a start fails that has ended the writer of the log before.
    static func reportFailure() {
        StandardError.writeLine(
            "\(ToolSpec.name): takenOver: this start has taken over the log, so its former writer has ended, and fails now. "
                + "Nothing writes the log. Start a server for it again: either one will do, without --take-over")
    }
}

/// A log with the capabilities that the commands use.
typealias ToolLog = MovableLog & RefreshableLog & TreeLog

#if Postgres
    extension PostgresOptions {
        /// The options that logs of both kinds have.
        init(_ options: JournalOptions) {
            self.init()
            createIfMissing = options.createIfMissing
            expectedHead = options.expectedHead
            lockTimeout = options.lockTimeout
            log = options.log
        }
    }
#endif
