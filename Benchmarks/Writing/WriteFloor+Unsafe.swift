// Unsafe, because it passes addresses of arrays to C; each array outlives the call.
import CFloor

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Events as consecutive bytes, for a floor and for a journal.
struct PackedEvents: Sendable {
    /// The number of bytes before the body: type, time, thread, message and author.
    static let fixedByteCount = 57
    private var bytes: [UInt8] = []
    /// The end offset of each event.
    private var ends: [Int] = []

    var count: Int { ends.count }
    var byteCount: Int { bytes.count }

    /// Appends a message, in the same form as in the benchmarks of other stores.
    mutating func append(thread: UInt128, message: UInt128, author: UInt128, time: UInt64, body: String) {
        bytes.append(1)
        append(time)
        append(thread)
        append(message)
        append(author)
        bytes.append(contentsOf: body.utf8)
        ends.append(bytes.count)
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        for index in 0..<number.bitWidth / 8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    mutating func reserve(_ count: Int) {
        bytes.reserveCapacity(count * 160)
        ends.reserveCapacity(count)
    }

    /// Calls a closure with the fixed part and the body of an event.
    @inline(__always)
    func withEvent<Failure: Error>(_ index: Int, _ body: (_ fixed: RawSpan, _ text: RawSpan) throws(Failure) -> Void)
        throws(Failure)
    {
        let start = index == 0 ? 0 : ends[index - 1]
        let all = unsafe bytes.span.bytes
        try body(
            all.extracting(start..<start + Self.fixedByteCount),
            all.extracting(start + Self.fixedByteCount..<ends[index]))
    }
}

/// The floor of writing; see `CFloor.h`.
@safe final class WriteFloor {
    private let log: OpaquePointer

    init(_ path: String, preallocated: Bool) throws {
        guard let log = unsafe floor_open(path, preallocated) else { throw UsageError("cannot open \(path)") }
        unsafe self.log = log
    }

    deinit { unsafe floor_close(log) }

    /// Appends events in one write.
    func append(_ events: PackedEvents, _ range: Range<Int>, durable: Bool) throws {
        let isDone = unsafe events.withAddresses { bytes, ends in
            unsafe floor_append(log, bytes, ends, range.lowerBound, range.count, durable)
        }
        if !isDone { throw UsageError("the floor's file could not be written") }
    }

    /// Appends events from many threads; each waits until its event is durable.
    ///
    /// - Returns: The events per second.
    func appendConcurrently(_ events: PackedEvents, count: Int, callers: Int, seconds: Double) throws -> Double {
        let rate = unsafe events.withAddresses { bytes, ends in
            unsafe floor_concurrent(log, bytes, ends, count, callers, seconds)
        }
        guard rate >= 0 else { throw UsageError("the floor's file could not be written") }
        return rate
    }
}

extension PackedEvents {
    /// Calls a closure with the addresses of the bytes and of the ends.
    ///
    /// - Precondition: There is at least one event.
    fileprivate func withAddresses<Result>(_ body: (UnsafePointer<UInt8>, UnsafePointer<Int>) -> Result) -> Result {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe ends.withUnsafeBufferPointer { ends in
                guard let first = bytes.baseAddress, let firstEnd = ends.baseAddress else {
                    preconditionFailure("there are no events")
                }
                return unsafe body(first, firstEnd)
            }
        }
    }
}

/// Waits until all earlier writes are on the device, so that they do not slow the next measurement.
func settleDisk() { sync() }
