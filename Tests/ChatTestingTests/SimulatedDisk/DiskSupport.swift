import ChatTesting
import EventJournal

/// The storage protocol with arrays instead of spans, and without explicit opens.
extension JournalStorage {
    func write(_ bytes: [UInt8], at offset: UInt64 = 0, to path: String) throws {
        // Integers have no padding, which is what makes `bytes` unsafe for other elements.
        try existing(path).write(unsafe bytes.span.bytes, at: offset)
    }

    func write(_ byte: UInt8, sectors: Range<Int>, to path: String) throws {
        try write([UInt8](repeating: byte, count: 512 * sectors.count), at: UInt64(512 * sectors.lowerBound), to: path)
    }

    func sync(_ path: String) throws { try existing(path).sync() }

    func truncate(_ path: String, to size: UInt64) throws { try existing(path).truncate(to: size) }

    /// The content of a file, or nil if the file does not exist.
    func bytes(of path: String) throws -> [UInt8]? {
        guard try kind(of: path) != nil else { return nil }
        let file = try open(path, .read)
        var bytes = [UInt8](repeating: 0xEE, count: Int(try file.size()))
        var span = bytes.mutableSpan
        var target = unsafe span.mutableBytes
        let count = try file.read(into: &target, at: 0)
        guard count == bytes.count else { throw Surprise("\(count) of \(bytes.count) bytes were read of \(path)") }
        return bytes
    }

    /// The first byte of each sector of a file, or nil if the file does not exist.
    func sectors(of path: String) throws -> [UInt8]? {
        try bytes(of: path).map { bytes in stride(from: 0, to: bytes.count, by: 512).map { bytes[$0] } }
    }

    /// Opens an existing file or creates it.
    func existing(_ path: String) throws -> any StorageFile {
        try kind(of: path) == nil ? open(path, .create) : open(path, .readWrite)
    }
}

extension SimulatedDisk {
    /// A disk with one file of the given sectors, all durable.
    static func with(_ path: String, sectors bytes: [UInt8], seed: UInt64 = 1, tearsSectors: Bool = false) throws
        -> SimulatedDisk
    {
        let disk = SimulatedDisk(seed: seed, tearsSectors: tearsSectors)
        try disk.write(bytes.flatMap { [UInt8](repeating: $0, count: 512) }, to: path)
        return disk.crash(.everything)
    }

    /// The file in each state that a crash can leave, as the first bytes of its sectors; nil if it
    /// is missing.
    func outcomes(of path: String) throws -> Set<[UInt8]?> {
        var found: Set<[UInt8]?> = []
        try forEachOutcome { found.insert(try $0.sectors(of: path)) }
        return found
    }

    /// Calls the closure with each state that a crash can leave.
    func forEachOutcome(_ body: (SimulatedDisk) throws -> Void) throws {
        let radices = pendingChoices.map(\.alternativeCount)
        var picks = radices.map { _ in 0 }
        while true {
            try body(crash(.picks(picks)))
            guard let place = picks.indices.first(where: { picks[$0] + 1 < radices[$0] }) else { return }
            for index in 0..<place { picks[index] = 0 }
            picks[place] += 1
        }
    }
}

/// A failed check.
struct Surprise: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}

/// Returns the storage error that the work throws, or nil.
func storageError(_ work: () throws -> Void) throws -> StorageError? {
    do { try work() } catch let error as StorageError { return error }
    return nil
}
