import ChatDomain
import Columns
import EventJournal

extension StoreModels {
    /// The SHA-256 digest of each component's state, by component name.
    ///
    /// The digests depend on the events alone. They are independent of hash seeds, reserved
    /// capacity, and of whether the state was replayed or loaded from a checkpoint.
    ///
    /// - Complexity: O(*n*) in the size of the state.
    package var digests: [String: [UInt8]] {
        var digests: [String: [UInt8]] = [:]
        for name in Self.componentNames {
            let sink = DigestSink()
            var writer = ColumnWriter(sink, isCanonical: true)
            write(component: name, to: &writer)
            writer.finish()
            digests[name] = sink.hasher.finalize()
        }
        return digests
    }
}

private final class DigestSink: ColumnSink {
    var hasher = SHA256()

    func write(_ block: [UInt8]) { hasher.update(block) }
}
