// Unsafe, because it hands addresses to C: each that of an array that outlives the call.
import CFloor

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Events as bytes, one after another: what a floor frames and a journal appends.
struct PackedEvents: Sendable {
    /// What every event has before its body: type, time, thread, message and author.
    static let fixedByteCount = 57
    private var bytes: [UInt8] = []
    /// Where each event ends.
    private var ends: [Int] = []

    var count: Int { ends.count }
    var byteCount: Int { bytes.count }

    /// Adds a message, in the form of the other stores' benchmarks.
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

    /// Lends the two parts of an event: the fixed one and the body.
    @inline(__always)
    func withEvent<Failure: Error>(_ index: Int, _ body: (_ fixed: RawSpan, _ text: RawSpan) throws(Failure) -> Void) throws(Failure) {
        let start = index == 0 ? 0 : ends[index - 1]
        let all = unsafe bytes.span.bytes
        try body(all.extracting(start..<start + Self.fixedByteCount), all.extracting(start + Self.fixedByteCount..<ends[index]))
    }
}

/// A file that is written as plainly as can be.
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

    /// Appends events from many threads, each durable before the thread's next; returns the rate.
    func appendConcurrently(_ events: PackedEvents, count: Int, callers: Int, seconds: Double) throws -> Double {
        let rate = unsafe events.withAddresses { bytes, ends in
            unsafe floor_concurrent(log, bytes, ends, count, callers, seconds)
        }
        guard rate >= 0 else { throw UsageError("the floor's file could not be written") }
        return rate
    }
}

extension PackedEvents {
    /// Lends the addresses; events are never without one.
    fileprivate func withAddresses<Result>(_ body: (UnsafePointer<UInt8>, UnsafePointer<Int>) -> Result) -> Result {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe ends.withUnsafeBufferPointer { ends in
                guard let first = bytes.baseAddress, let firstEnd = ends.baseAddress else { preconditionFailure("there are no events") }
                return unsafe body(first, firstEnd)
            }
        }
    }
}

/// Waits until what was written before is on the device, so that it does not take the next one's time.
func settleDisk() { sync() }
