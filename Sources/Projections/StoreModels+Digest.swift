import ChatDomain
import Columns
import EventJournal

extension StoreModels {
    /// The SHA-256 of each component's state, by its name.
    ///
    /// It depends on the events alone: not on hash seeds, nor on how much room was made, nor on whether the state was replayed or read from a checkpoint.
    ///
    /// - Complexity: O(*n*) in the state: several seconds for ten million messages.
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
