import MerkleLog
import Primitives

/// The heights of the subtrees whose hashes the tree file stores.
package struct TreeLayout: Hashable, Sendable {
    /// The height of the stored subtrees: 8 for the hashes of 256 records each.
    package let subtreeHeight: Int
    /// The height of the tree of a page's records: 16 for 65,536 records.
    package let pageHeight: Int

    /// Creates a layout; tests use smaller heights than those of the format.
    ///
    /// - Precondition: 1 <= `subtreeHeight` <= `pageHeight` <= 24.
    package init(subtreeHeight: Int = 8, pageHeight: Int = 16) {
        precondition(1 <= subtreeHeight && subtreeHeight <= pageHeight && pageHeight <= 24)
        (self.subtreeHeight, self.pageHeight) = (subtreeHeight, pageHeight)
    }

    package var recordsPerSubtree: Position { 1 << Position(subtreeHeight) }
    package var recordsPerPage: Position { 1 << Position(pageHeight) }
    var hashesPerPage: Int { 1 << (pageHeight - subtreeHeight) }
    /// The bytes of a page: its hashes, the position and the chain value of its head, and a CRC.
    package var pageSize: Int { hashesPerPage * MerkleHash.byteCount + 20 }

    func offset(ofPage index: Int) -> UInt64 { UInt64(TreeFile.headerSize) + UInt64(index) * UInt64(pageSize) }
}

/// A page of the tree file: the hashes of consecutive subtrees, and the head at which a journal has
/// all of their records.
struct TreePage {
    var hashes: [MerkleHash]
    var head: JournalHead

    /// Returns the page's bytes.
    ///
    /// - Parameter previous: The CRC of the page before it, or of the header. The pages of a file
    ///   are thereby of one history: after a power failure, a page that was written earlier does
    ///   not follow another one.
    func encoded(after previous: UInt32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: hashes.count * MerkleHash.byteCount + 20)
        for (index, hash) in hashes.enumerated() { hash.store(in: &bytes, at: index * MerkleHash.byteCount) }
        let end = hashes.count * MerkleHash.byteCount
        bytes.store(head.position, at: end)
        bytes.store(head.chain, at: end + 8)
        bytes.store(Self.checksum(of: bytes, after: previous), at: end + 16)
        return bytes
    }

    /// Decodes the page with an index, or returns nil if the bytes are not that page.
    init?(_ bytes: [UInt8], _ index: Int, of journal: JournalID, _ layout: TreeLayout, after previous: UInt32) {
        let end = layout.hashesPerPage * MerkleHash.byteCount
        guard Self.checksum(of: bytes, after: previous) == Self.storedChecksum(of: bytes) else { return nil }
        (hashes, head) = bytes.withBytes { span in
            (
                (0..<layout.hashesPerPage).map { MerkleHash(span, at: $0 * MerkleHash.byteCount) },
                JournalHead(journal: journal, position: span.integer(at: end), chain: span.integer(at: end + 8))
            )
        }
        guard head.position >= Position(index + 1) << Position(layout.pageHeight) else { return nil }
    }

    init(hashes: [MerkleHash], head: JournalHead) { (self.hashes, self.head) = (hashes, head) }

    static func storedChecksum(of bytes: [UInt8]) -> UInt32 { bytes.withBytes { $0.integer(at: bytes.count - 4) } }

    static func checksum(of bytes: [UInt8], after previous: UInt32) -> UInt32 {
        let seed = CRC32C.checksum(of: previous, continuing: 0)
        return bytes.withBytes(0..<bytes.count - 4) { CRC32C.checksum(of: $0, continuing: seed) }
    }
}

/// The file with the hashes of a journal's tree.
///
/// The records contain everything that this file contains. An absent, stale, torn or damaged one is
/// built again. Format.md has the layout.
struct TreeFile {
    static let headerSize = 32
    /// "CJTRE", then CR LF and control-Z, which a transfer as text would change.
    static let magic: [UInt8] = [0x43, 0x4A, 0x54, 0x52, 0x45, 0x0D, 0x0A, 0x1A]
    static let version: UInt16 = 1

    let directory: JournalDirectory
    let journal: JournalID
    let layout: TreeLayout
    /// The number of pages that are known to be right.
    private(set) var pageCount = 0
    /// The CRC of the last of these pages, or of the header.
    private var checksum: UInt32
    /// The file, if it was written since it was last opened and ends after these pages.
    private var file: (any StorageFile)?

    init(_ directory: JournalDirectory, _ journal: JournalID, _ layout: TreeLayout) {
        (self.directory, self.journal, self.layout) = (directory, journal, layout)
        checksum = TreePage.storedChecksum(of: Self.header(journal, layout))
    }

    var path: String { directory.file(JournalFileName.tree) }

    static func header(_ journal: JournalID, _ layout: TreeLayout) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: headerSize)
        bytes.storeBytes(magic, 0..<8, at: 0)
        bytes.store(version, at: 8)
        bytes.store(UInt8(layout.subtreeHeight), at: 10)
        bytes.store(UInt8(layout.pageHeight), at: 11)
        bytes.store(journal.bits.byteSwapped, at: 12)
        bytes.store(bytes.withBytes(0..<28) { CRC32C.checksum(of: $0) }, at: 28)
        return bytes
    }

    /// Reads the pages up to a position, or to the first one that is not valid.
    ///
    /// The journal must then contain the head of the last one: ``keep(_:)``. A file that cannot be
    /// read has no pages; the records contain the same.
    func pages(through last: Position) -> [TreePage] {
        guard let file = try? directory.storage.open(path, .read) else { return [] }
        let expected = Self.header(journal, layout)
        var header = expected
        guard (try? file.fill(&header, 0..<Self.headerSize, from: 0)) == true, header == expected else { return [] }
        var pages: [TreePage] = []
        var (bytes, checksum) = ([UInt8](repeating: 0, count: layout.pageSize), TreePage.storedChecksum(of: header))
        // The journal bounds the number of pages, whatever the size of the file is.
        while pages.count < last >> Position(layout.pageHeight) {
            guard (try? file.fill(&bytes, 0..<bytes.count, from: layout.offset(ofPage: pages.count))) == true,
                let page = TreePage(bytes, pages.count, of: journal, layout, after: checksum),
                page.head.position <= last
            else { break }
            pages.append(page)
            checksum = TreePage.storedChecksum(of: bytes)
        }
        return pages
    }

    /// Continues the file after pages that the journal contains; what follows them is overwritten.
    mutating func keep(_ pages: [TreePage]) {
        pageCount = pages.count
        for page in pages { checksum = TreePage.storedChecksum(of: page.encoded(after: checksum)) }
    }

    /// Writes the next page, and syncs it.
    ///
    /// So a power failure can tear the last page only, and not the first one, which is complete
    /// before the file has its name. After an error, a repeated call writes the page again.
    mutating func append(_ page: TreePage) throws(JournalError) {
        let bytes = page.encoded(after: checksum)
        let opened = file
        // Set again after the sync only: what a failed write has left is then removed.
        file = nil
        if pageCount == 0 {
            file = try directory.createTemporaryFile(JournalFileName.tree, Self.header(journal, layout) + bytes)
                .publish()
        } else {
            let offset = layout.offset(ofPage: pageCount)
            file = try convertingStorageErrors { () throws(StorageError) in
                let file = if let opened { opened } else { try openForWriting() }
                try bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: offset) }
                try file.sync()
                return file
            }
        }
        pageCount += 1
        checksum = TreePage.storedChecksum(of: bytes)
    }

    /// Opens the file, removes what follows the pages, and syncs the last one: a killed writer may
    /// not have done it.
    private func openForWriting() throws(StorageError) -> any StorageFile {
        let file = try directory.storage.open(path, .readWrite)
        try file.truncate(to: layout.offset(ofPage: pageCount))
        try file.sync()
        return file
    }
}
