import Chat
import EventJournal

/// The file in which `run` and `serve` keep the last head of the log, so that the next start
/// notices a log that was set back.
struct HeadFile: Sendable {
    let path: String

    /// Returns the head; nil if there is no file.
    ///
    /// - Throws: `RollbackError` for a file with other content, `ArgumentError` for a link, which a
    ///   write would replace, `ToolError`.
    func read() throws -> JournalHead? {
        if try FileStorage().isLink(path) { throw ArgumentError(symbolicLink: path) }
        let text: String
        do {
            text = try TextFile.read(path, byteLimit: 200, isRegular: true)
        } catch let error as ToolError where error.code == .fileNotFound {
            return nil
        } catch is ArgumentError {
            // Too long, or no text.
            throw RollbackError(unreadable: path)
        }
        guard text.last == "\n", let head = JournalHead(String(text.dropLast())) else {
            throw RollbackError(unreadable: path)
        }
        return head
    }

    /// Throws unless the head can be replaced.
    func requireWritable() throws {
        let new = path + ".new"
        SystemIO.removeIncomplete(new)
        try TextFile.create(new, with: "")
        SystemIO.removeIncomplete(new)
    }

    /// Replaces the head, durably: after a crash the file has the former or the new one.
    func write(_ head: JournalHead) throws {
        let new = path + ".new"
        // Left by a process that was killed.
        SystemIO.removeIncomplete(new)
        try TextFile.create(new, with: "\(head)\n")
        let storage = FileStorage()
        try storage.rename(new, to: path)
        try storage.syncDirectory(StoragePath.parent(of: path))
    }
}

/// The heads that a log must contain to be opened for writing.
struct HeadRequirement: Sendable {
    /// The file of `--head`; nil if no head is kept.
    let file: HeadFile?
    /// Whether the head in the file need not be in the log.
    let acceptsRollback: Bool
    /// The head of `--expect`.
    let expected: JournalHead?

    /// Opens a store whose log contains the heads.
    ///
    /// - Parameter open: Opens the store with the given options.
    /// - Throws: `RollbackError`, and what `read()` and the closure throw.
    func open(_ options: JournalOptions, _ open: (JournalOptions) throws -> ChatStore) throws -> ChatStore {
        let first = try keptHead() ?? expected.map { Required(head: $0, place: "--expect") }
        var options = options
        if let first {
            // The log is then compared before it is changed, and not created.
            options.expectedHead = first.head
            options.createIfMissing = false
        }
        let store: ChatStore
        do {
            store = try open(options)
        } catch let error as ChatError {
            guard let first, case .journal(let cause) = error, cause.isMissingHead else { throw error }
            throw RollbackError(first, cause.message)
        } catch let error as JournalError {
            guard let first, error.isMissingHead else { throw error }
            throw RollbackError(first, error.message)
        }
        do {
            // The opening may have waited for another writer, which has kept a later head.
            if let kept = try keptHead() { try kept.check(store) }
            if let expected { try Required(head: expected, place: "--expect").check(store) }
        } catch {
            // The first error is the one to report.
            try? store.close()
            throw error
        }
        return store
    }

    private func keptHead() throws -> Required? {
        guard let file, !acceptsRollback else { return nil }
        return try file.read().map { Required(head: $0, place: file.path) }
    }

    /// A head, with the file or the option that has it.
    fileprivate struct Required {
        let head: JournalHead
        let place: String

        func check(_ store: ChatStore) throws {
            do throws(ChatError) {
                try store.requireContained(head)
            } catch {
                switch error {
                case .foreignToken, .futureToken, .rolledBackToken:
                    throw RollbackError(self, "The log ends before it, or differs there.")
                default: throw error
                }
            }
        }
    }
}

/// The log does not contain a head that it had: it is older, another one, or has another history.
struct RollbackError: Error, CustomStringConvertible {
    /// `EX_DATAERR` of `sysexits.h`: another start cannot succeed.
    static let exitStatus: Int32 = 65

    let description: String

    /// Without its head, nothing tells whether the log was set back.
    fileprivate init(unreadable path: String) {
        description = "rolledBack: \(escapedForTerminal(path)) is no file with a head; --accept-rollback replaces it"
    }

    fileprivate init(_ required: HeadRequirement.Required, _ cause: String) {
        let isOption = required.place == "--expect"
        description =
            "rolledBack: the log does not contain position \(required.head.position) of \(escapedForTerminal(required.place)). \(cause) "
            + (isOption
                ? ""
                : "Events that were answered are missing. Find the newer log, or go on without them with --accept-rollback.")
    }
}

extension JournalError {
    /// Whether a log could not be opened because it has not the head that was expected.
    fileprivate var isMissingHead: Bool { code == .headMismatch || code == .notFound }
}

extension CommandSpec.Option {
    static let head = CommandSpec.Option(
        "head", .text("FILE"),
        "keep the last synced head in FILE, and end with status 65 if the log does not contain the head in it")
    static let acceptRollback = CommandSpec.Option(
        "accept-rollback", .flag, "go on with a log that lacks the kept head")
    static let expectHead = CommandSpec.Option(
        "expect", .text("HEAD"), "a token printed by head, which the log must contain")
}

extension Arguments {
    /// The heads of `--expect` and of a file.
    ///
    /// - Parameter file: The file of `--head`, or the one that is used without this option.
    func headRequirement(_ file: HeadFile?) throws(UsageError) -> HeadRequirement {
        let acceptsRollback = hasFlag("accept-rollback")
        guard file != nil || !acceptsRollback else { throw error("--accept-rollback needs --head FILE") }
        var expected: JournalHead?
        if let text = self[option: "expect"] {
            guard let head = JournalHead(text) else { throw error("--expect takes a token printed by 'head'") }
            expected = head
        }
        return HeadRequirement(file: file, acceptsRollback: acceptsRollback, expected: expected)
    }
}
