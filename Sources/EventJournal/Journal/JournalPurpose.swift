/// What a journal is opened for.
enum JournalPurpose: Hashable, Sendable {
    /// To be read and appended to.
    case use
    /// To be a copy of a journal, which only ``JournalCopy`` writes.
    case copy(of: JournalID)

    /// Whether the directory has a role while it is open.
    var hasRole: Bool { if case .copy = self { true } else { false } }

    /// The id that a new journal gets; nil for a random one.
    var id: JournalID? {
        switch self {
        case .use: nil
        case .copy(let id): id
        }
    }
}

extension JournalDirectory {
    var isNoCopy: JournalError {
        JournalError(.notEmpty, "The destination is a journal that is open for writing, not a copy.", path: path)
    }

    /// Throws if a role forbids the purpose of an opening for writing; marks a new copy.
    func checkRole(for purpose: JournalPurpose) throws(JournalError) {
        let found = try readRole()
        guard case .copy(let id) = purpose else {
            if let found { throw JournalError(found.role, path: path) }
            return
        }
        guard let found else {
            if try list().isJournal { throw isNoCopy }
            return try replaceRole(RoleFile(.copy, of: id))
        }
        guard found.journal == id else {
            throw JournalError(
                .headMismatch, "The destination is a copy of the journal \(found.journal), not of \(id).", path: path)
        }
        if found.role != .copy { try replaceRole(RoleFile(.copy, of: id)) }
    }
}
