import Foundation

/// The most memory that this process has had.
///
/// Tests beside a test take memory too: it is known only to a process that runs nothing else.
/// `CHATJOURNAL_ALONE=1` says so.
package enum PeakMemory {
    /// The bytes; nil beside other tests, and where the system does not tell.
    package static var bytes: Int? {
        guard ProcessInfo.processInfo.environment["CHATJOURNAL_ALONE"] == "1" else { return nil }
        guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
    }
}
