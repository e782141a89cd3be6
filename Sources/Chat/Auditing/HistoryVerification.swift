import ChatDomain
import EventJournal
import Projections

/// Checks consecutive records of a journal, a batch at a time: that each is an event, and that the events are a history that the rules allow.
///
/// Memory beside the models is one batch without the texts of posts.
struct HistoryVerification {
    /// Amortises waiting for memory.
    static let batchCount = 1_024

    private(set) var findings: [VerificationReport.Finding] = []
    private var models = StoreModels()
    private var checkpoint: CheckpointVerification?
    private let isDeep: Bool
    private var areAllEvents = true
    private var batch = EventBatch(from: 1, capacity: batchCount)
    /// The faults of texts in the batch, in order: bodies are not part of it.
    private var textFaults: [(row: Int, fault: HistoryFault)] = []

    /// The position of the last event that has been checked.
    var position: Position { models.position }
    /// How many events are known to be lost.
    var lostEvents: Int { models.rules.lostEvents }

    /// Makes a verification from the first record on.
    ///
    /// - Parameters:
    ///   - checkpoint: What to compare the models with at its position.
    ///   - isDeep: Whether to apply the events to the read models, too.
    ///   - estimate: What to make room for.
    init(checkpoint: CheckpointVerification?, isDeep: Bool, _ estimate: ReplayEstimate) {
        self.checkpoint = checkpoint
        self.isDeep = isDeep
        models.models.identities.reserve(messages: estimate.messages, memberships: estimate.memberships)
    }

    /// Adds the next record.
    mutating func add(_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) {
        do throws(EventDecodingError) {
            let event = try ChatEvent(kept: kept, erasable: state == .whole ? erasable : nil)
            if let fault = event.textFault { textFaults.append((batch.count, fault)) }
            batch.append(event.row, event.content)
        } catch {
            check()
            add("undecodable", "the record is no event: \(error)", at: position)
            areAllEvents = false
            batch.removeAll(from: position + 1)
        }
        if batch.count == Self.batchCount || position == checkpoint?.position { check() }
    }

    /// Checks the last events, and compares the models at the end.
    mutating func finish(_ journal: Journal) {
        check()
        findings += checkpoint?.findings(journal, models) ?? []
        if isDeep { findings += DeepVerification(models).findings() }
    }

    /// Checks the records that have been added.
    mutating func check() {
        var found: [(row: Int, fault: HistoryFault)] = []
        models.rules.audit(&batch, &models.models.identities) { row, faults in found += faults.map { (row, $0) } }
        // Of one event, the text's fault is the last.
        for (row, fault) in (found + textFaults).sorted(by: { $0.row < $1.row }) {
            add(fault.problem.rawValue, fault.message, at: batch.position(row))
        }
        if isDeep { models.models.views.apply(batch, 0..<batch.count) }
        if areAllEvents, batch.count > 0, batch.last == checkpoint?.position { checkpoint?.compare(models) }
        batch.removeAll(from: batch.last + 1)
        textFaults.removeAll()
    }

    private mutating func add(_ problem: String, _ message: String, at position: Position) {
        findings.append(VerificationReport.Finding(positions: [position, position], problem: problem, message: message))
    }
}
