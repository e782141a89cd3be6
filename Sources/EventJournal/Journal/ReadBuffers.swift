internal import Locking

/// Buffers that reads leave for the next ones: a random read takes less time than making a buffer for it.
final class ReadBuffers: Sendable {
    /// Up to this size a buffer counts as small.
    private static let small = 64 << 10

    private struct Idle {
        var small: [[UInt8]] = []
        var large: [[UInt8]] = []
    }

    private let idle = Lock(Idle())

    func take(_ count: Int) -> [UInt8] {
        let buffer = idle.withLock { idle in count <= Self.small ? idle.small.popLast() : idle.large.popLast() }
        if let buffer, buffer.count >= count { return buffer }
        return [UInt8](repeating: 0, count: max(count, 8 << 10))
    }

    func give(_ buffer: [UInt8]) {
        idle.withLock { idle in
            if buffer.count <= Self.small {
                if idle.small.count < 16 { idle.small.append(buffer) }
            } else if idle.large.count < 2 {
                idle.large.append(buffer)
            }
        }
    }
}
