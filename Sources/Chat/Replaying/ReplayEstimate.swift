import ChatDomain
import EventJournal

/// A sampled estimate of the numbers of messages and memberships that a replay will add.
///
/// Replay reserves capacity for them to avoid rehashing. The estimate affects only performance.
struct ReplayEstimate {
    /// The number of events per sample.
    private static let sampleLength = 16
    private static let sampleCount = 64
    /// The maximum estimate, which protects against a corrupt journal length.
    private static let maximumEstimate = 1 << 24

    private(set) var messages = 0
    private(set) var memberships = 0

    /// Samples events along the positions.
    ///
    /// At most 16,384 positions get no estimate: reading the samples would cost more than
    /// rehashing.
    ///
    /// Read errors are ignored, because the replay will meet the same error.
    init(_ log: any CommitLog, _ positions: ClosedRange<Position>) {
        let count = Int(clamping: positions.upperBound - positions.lowerBound)
        guard count > 16 * Self.sampleLength * Self.sampleCount else { return }
        var kinds: [EventKind: Int] = [:]
        var sampled = 0
        for sample in 0..<Self.sampleCount {
            let first = positions.lowerBound + Position(count / Self.sampleCount * sample)
            do throws(JournalError) {
                try log.forEachRecord(in: first...first + Position(Self.sampleLength) - 1) { _, _, kept, _ in
                    guard let kind = (try? EventRow(kept: kept))?.kind else { return false }
                    kinds[kind, default: 0] += 1
                    sampled += 1
                    return true
                }
            } catch {
                continue
            }
        }
        guard sampled > 0 else { return }
        let estimate = { (kind: EventKind) in min(count / sampled * (kinds[kind] ?? 0), Self.maximumEstimate) }
        messages = estimate(.messagePosted)
        memberships = estimate(.threadJoined)
    }
}
