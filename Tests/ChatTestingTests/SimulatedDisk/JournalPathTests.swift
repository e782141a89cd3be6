import ChatTesting
import EventJournal
import Testing

/// A journal survives a power failure after a clean close, however its path is spelt.
@Suite struct JournalPathTests {
    /// Paths of a journal; the directory `data` exists and its name is durable.
    static let paths = [
        "J", "/J", "./J", "data/J", "data//J", "data/J/", "data/J//", "/data/./J", "data/../J", "../J",
        // A slash and a following combining mark form one `Character`.
        "\u{301}J", "/\u{301}J", "data/\u{301}J", "data/\u{20DD}", "data/\u{301}", "data//\u{301}J/", "/data/\u{FE0F}J",
        "data/\u{200D}J",
    ]

    private func disk() throws -> SimulatedDisk {
        let disk = SimulatedDisk()
        try disk.createDirectory("data")
        try disk.syncDirectory("/")
        return disk
    }

    private func options(_ disk: SimulatedDisk) -> JournalOptions {
        JournalOptions(storage: disk, entropy: SeededEntropy(seed: 17), slotSyncDelay: nil)
    }

    private func append(_ text: String, to journal: Journal) throws {
        var draft = CommitDraft()
        let bytes = Array(text.utf8)
        try draft.append(kept: unsafe bytes.span.bytes, erasable: unsafe bytes.span.bytes)
        _ = try journal.append(draft, expecting: journal.lastPosition)
    }

    /// Writes a journal, closes it and simulates a power failure.
    private func written(at path: String, on disk: SimulatedDisk) throws -> SimulatedDisk {
        let journal = try Journal.open(path, options: options(disk))
        try append("milk", to: journal)
        try journal.close()
        return disk.crash(.nothing)
    }

    @Test(arguments: paths) func closedJournalSurvivesPowerCut(path: String) throws {
        let disk = try written(at: path, on: disk())
        #expect(
            try Journal.openReadOnly(path, options: options(disk)).lastPosition == 1,
            "\(path.unicodeScalars.map(\.value))")
    }

    @Test(arguments: paths) func backupSurvivesPowerCut(path: String) throws {
        let disk = try disk()
        let journal = try Journal.open("source", options: options(disk))
        try append("milk", to: journal)
        try journal.synchronize()
        _ = try Journal.backup("source", to: path, options: BackupOptions(storage: disk, destinationStorage: disk))
        try journal.close()
        #expect(try Journal.openReadOnly(path, options: options(disk.crash(.nothing))).lastPosition == 1)
    }

    @Test(arguments: paths) func salvagedJournalSurvivesPowerCut(path: String) throws {
        let disk = try written(at: "source", on: disk())
        let options = RepairOptions(storage: disk, destinationStorage: disk, entropy: SeededEntropy(seed: 18))
        _ = try Journal.repair("source", to: path, options: options) { _, _ in [] }
        #expect(try Journal.openReadOnly(path, options: self.options(disk.crash(.nothing))).lastPosition == 1)
    }

    /// The name that must become durable differs from the last path component.
    @Test(arguments: ["new/.", "new/./", "new/.//./", "new/../new/."]) func pathEndingInDotSurvivesPowerCut(
        path: String
    ) throws {
        let disk = SimulatedDisk()
        try disk.createDirectory("new")
        let crashed = try written(at: path, on: disk)
        #expect(try Journal.openReadOnly("new", options: options(crashed)).lastPosition == 1)
    }

    @Test(arguments: ["/", "//", ".", "..", "./", "/.", "none/.."]) func journalAtRootIsHandled(path: String) throws {
        let disk = try written(at: path, on: SimulatedDisk())
        #expect(try Journal.openReadOnly("/", options: options(disk)).lastPosition == 1)
    }

    /// Canonically equivalent names are two files, and a combining mark at the start belongs to the
    /// name.
    @Test func namesAreComparedAsBytes() throws {
        let disk = SimulatedDisk()
        try disk.createDirectory("data")
        for name in ["\u{E9}", "e\u{301}", "\u{301}", "\u{301}a"] { _ = try disk.open("data/" + name, .create) }
        let names = try disk.list("data").map { Array($0.utf8) }
        #expect(
            names
                == ["e\u{301}", "\u{E9}", "\u{301}", "\u{301}a"].map { Array($0.utf8) }.sorted {
                    $0.lexicographicallyPrecedes($1)
                })
        #expect(try disk.list("/") == ["data"])
    }
}
