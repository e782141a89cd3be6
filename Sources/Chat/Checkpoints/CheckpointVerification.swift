import ChatDomain
import EventJournal
import Projections

/// What a checkpoint says the read models were, to be compared with a rebuild from the first event.
///
/// Digests, so that a verification does not hold the read models twice.
struct CheckpointVerification {
    private let position: Position
    private let digests: [String: [UInt8]]

    /// Reads the checkpoint of a journal; nil when there is none that an opening would use: one that is damaged or stale is no fault of the journal.
    init?(_ journal: Journal) {
        guard let models = try? ReadModels(checkpointOf: journal) else { return nil }
        position = models.position
        digests = models.digests
    }

    /// Whether a rebuild has come to the checkpoint's position.
    func isDue(_ position: Position) -> Bool { position == self.position }

    /// The components in which the checkpoint and a rebuild up to its position differ.
    ///
    /// - Complexity: O(*n*) in the read models.
    func findings(_ rebuilt: ReadModels) -> [Verification.Finding] {
        let rebuiltDigests = rebuilt.digests
        return ReadModels.componentNames.filter { rebuiltDigests[$0] != digests[$0] }.map { component in
            Verification.Finding(
                positions: [min(1, position), position], problem: "checkpointDiffers",
                message:
                    "the checkpoint '\(ReadModels.name)' at position \(position) and a rebuild differ in \(component): they parted at one of these "
                    + "positions; remove the file, and the next opening replays")
        }
    }
}
