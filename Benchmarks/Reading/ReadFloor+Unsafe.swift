// The floors of reading: plain system calls and the checksum instruction. Unsafe, because it calls
// the C library directly.
import CHashing
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An open file that a floor reads.
@safe final class RawFile {
    private let descriptor: Int32
    let size: Int
    private let buffer: UnsafeMutableRawPointer
    static let chunk = 1 << 20

    init(_ path: String) throws {
        descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { throw UsageError("cannot open \(path)") }
        size = Int(lseek(descriptor, 0, SEEK_END))
        unsafe buffer = UnsafeMutableRawPointer.allocate(byteCount: Self.chunk, alignment: 4_096)
    }

    deinit {
        close(descriptor)
        unsafe buffer.deallocate()
    }

    /// Reads the whole file in pieces of 1 MiB, and computes its checksum if `summing`.
    func scan(summing: Bool) -> UInt32 {
        var sum: UInt32 = 0
        var offset = 0
        while offset < size {
            let count = unsafe pread(descriptor, buffer, Self.chunk, off_t(offset))
            guard count > 0 else { break }
            if summing { sum = unsafe chatjournal_crc32c(sum, buffer, count) }
            offset += count
        }
        return sum
    }

    /// Reads the whole file into new memory, as a program does that keeps the bytes.
    func readIntoFreshMemory() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, size), alignment: 4_096)
        defer { unsafe memory.deallocate() }
        var offset = 0
        while offset < size {
            let count = unsafe pread(descriptor, memory + offset, min(Self.chunk, size - offset), off_t(offset))
            guard count > 0 else { break }
            offset += count
        }
    }

    /// Reads bytes at an offset; returns their count.
    func read(_ count: Int, at offset: Int) -> Int {
        unsafe pread(descriptor, buffer, min(count, Self.chunk), off_t(max(0, offset)))
    }
}

/// A file that is mapped into memory.
@safe final class MappedFile {
    private let start: UnsafeMutableRawPointer
    let size: Int

    init(_ path: String) throws {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { throw UsageError("cannot open \(path)") }
        defer { close(descriptor) }
        size = Int(lseek(descriptor, 0, SEEK_END))
        guard size > 0, let start = unsafe mmap(nil, size, PROT_READ, MAP_SHARED, descriptor, 0),
            unsafe start != MAP_FAILED
        else {
            throw UsageError("cannot map \(path)")
        }
        unsafe self.start = start
    }

    deinit { unsafe munmap(start, size) }

    /// Returns the checksum of bytes at an offset.
    func sum(_ count: Int, at offset: Int) -> UInt32 {
        let offset = min(max(0, offset), size)
        return unsafe chatjournal_crc32c(0, start + offset, min(count, size - offset))
    }
}
