import ChatDomain
import EventJournal

/// The counts of keys that the events of a log are going to make, estimated by a sample: a replay makes room for them at once, which spares growing.
///
/// Nothing follows from it but how often a table grows.
struct ReplayEstimate {
    /// How many events are read at each place.
    private static let run = 16
    private static let places = 64
    /// Room is made for no more, whatever a journal says of its length.
    private static let most = 1 << 24

    private(set) var messages = 0
    private(set) var memberships = 0

    /// Reads some events at places all along the positions; a log that is not much longer than the sample is not worth one.
    ///
    /// Nothing is reported where it cannot be read: the replay is going to come to the same place.
    init(_ log: any CommitLog, _ positions: ClosedRange<Position>) {
        let count = Int(clamping: positions.upperBound - positions.lowerBound)
        guard count > 16 * Self.run * Self.places else { return }
        var kinds: [EventKind: Int] = [:]
        var sampled = 0
        for place in 0..<Self.places {
            let first = positions.lowerBound + Position(count / Self.places * place)
            do throws(JournalError) {
                try log.forEachRecord(in: first...first + Position(Self.run) - 1) { _, _, kept, _ in
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
        let estimate = { (kind: EventKind) in min(count / sampled * (kinds[kind] ?? 0), Self.most) }
        messages = estimate(.messagePosted)
        memberships = estimate(.threadJoined)
    }
}
