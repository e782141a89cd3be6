import Primitives

/// What a journal's directory is for.
package enum JournalRole: Hashable, Sendable {
    /// An unfinished copy of a journal, which opens for reading only.
    case copy
    /// A journal whose history goes on at another place; it opens for reading only.
    case moved(to: String)
}

extension JournalError {
    /// The error of opening a journal with a role for writing.
    init(_ role: JournalRole, path: String) {
        switch role {
        case .copy:
            self.init(.copy, "An unfinished copy: complete it (`copy --finish`), or open it for reading.", path: path)
        case .moved(let place):
            self.init(
                .moved, "The journal has moved to \(place). This copy stays readable and accepts no commits.",
                path: path)
        }
    }
}

/// The small file that states a role; a journal without one is open for writing.
///
/// Format.md has the layout.
struct RoleFile: Equatable {
    /// "CJROL", then CR LF and control-Z, which a transfer as text would change.
    static let magic: [UInt8] = [0x43, 0x4A, 0x52, 0x4F, 0x4C, 0x0D, 0x0A, 0x1A]
    static let version: UInt16 = 1
    static let headerSize = 32
    /// The maximum number of bytes of the name of a place.
    static let maximumNameLength = 4_096

    var role: JournalRole
    var journal: JournalID

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.headerSize)
        var place: [UInt8] = []
        if case .moved(let name) = role { place = Array(name.utf8) }
        bytes.storeBytes(Self.magic, 0..<8, at: 0)
        bytes.store(Self.version, at: 8)
        bytes[10] = role == .copy ? 1 : 2
        bytes.store(journal.bits.byteSwapped, at: 12)
        bytes.store(UInt32(place.count), at: 28)
        bytes += place
        bytes.append(bytesOf: bytes.withBytes { CRC32C.checksum(of: $0) }.littleEndian)
        return bytes
    }

    enum Problem: Error {
        case invalid
        case newerVersion(UInt16)
    }

    init(decoding bytes: [UInt8]) throws(Problem) {
        let end = bytes.count - 4
        guard end >= Self.headerSize, Array(bytes[..<8]) == Self.magic,
            bytes.withBytes({ CRC32C.checksum(of: $0.extracting(0..<end)) == $0.integer(at: end) })
        else { throw .invalid }
        let version: UInt16 = bytes.withBytes { $0.integer(at: 8) }
        guard version <= Self.version else { throw .newerVersion(version) }
        let length: UInt32 = bytes.withBytes { $0.integer(at: 28) }
        guard version == Self.version, bytes[11] == 0, Int(length) == end - Self.headerSize,
            let place = String(validating: bytes[Self.headerSize..<end], as: UTF8.self)
        else { throw .invalid }
        switch bytes[10] {
        case 1 where place.isEmpty: role = .copy
        case 2: role = .moved(to: place)
        default: throw .invalid
        }
        journal = JournalID(bits: bytes.withBytes { $0.integer(at: 12, as: UInt128.self) }.byteSwapped)
    }

    init(_ role: JournalRole, of journal: JournalID) { (self.role, self.journal) = (role, journal) }
}

extension JournalDirectory {
    /// Reads the directory's role; nil for a journal that is open for writing.
    ///
    /// - Throws: `damaged` for other content. Such a directory must not be written, because its
    ///   history may go on elsewhere.
    func readRole() throws(JournalError) -> RoleFile? {
        let path = file(JournalFileName.role)
        guard let file = try openIfPresent(JournalFileName.role) else { return nil }
        let bytes = try convertingStorageErrors { () throws(StorageError) -> [UInt8] in
            let limit = UInt64(RoleFile.headerSize + RoleFile.maximumNameLength + 4)
            var bytes = [UInt8](repeating: 0, count: Int(min(try file.size(), limit + 1)))
            return try file.fill(&bytes, 0..<bytes.count, from: 0) ? bytes : []
        }
        do throws(RoleFile.Problem) {
            return try RoleFile(decoding: bytes)
        } catch {
            if case .newerVersion(let version) = error {
                throw JournalError(
                    .newerVersion, "The file 'role' has version \(version), which is newer than this library.",
                    path: path)
            }
            throw JournalError(
                .damaged,
                "The file 'role' is damaged, so it is unknown whether the journal has moved to another place.",
                path: path)
        }
    }

    /// Replaces the directory's role durably.
    func replaceRole(_ role: RoleFile) throws(JournalError) {
        _ = try createTemporaryFile(JournalFileName.role, role.encoded()).publish()
    }

    /// Removes the directory's role durably, so that the journal is open for writing.
    func removeRole() throws(JournalError) {
        try convertingStorageErrors { () throws(StorageError) in
            if try storage.kind(of: file(JournalFileName.role)) != nil {
                try storage.remove(file(JournalFileName.role))
            }
            try storage.syncDirectory(path)
        }
    }
}

extension Journal {
    /// Returns the role of a directory; nil for a journal that is open for writing.
    ///
    /// - Throws: `damaged` if the file with the role is damaged, and the errors of the storage.
    package static func role(of directory: String, on storage: any JournalStorage = FileStorage()) throws(JournalError)
        -> JournalRole?
    {
        try JournalDirectory(directory, storage).readRole()?.role
    }
}
