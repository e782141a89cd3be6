public import ChatDomain
import EventJournal
import Locking
public import Projections

/// A custom projection over a store: replayed once, then kept current.
///
/// Create one with `ChatStore.project(_:)`. Every query can be answered as of any position or
/// time. By default it is answered as of the last durable position at the time of the call, so a
/// caller sees every command it has a receipt for. Memory holds only the projection; new events are
/// read from the journal by the next query. Can be used from any number of tasks and threads at
/// once.
public final class ProjectionHandle<Model: Projection>: Sendable {
    let store: ChatStore
    /// Returns the initial state of a replay.
    private let start: @Sendable () -> Replay<Model>
    private let current: Lock<Replay<Model>>

    init(_ store: ChatStore, from start: @escaping @Sendable () -> Replay<Model>) {
        self.store = store
        self.start = start
        current = Lock(start())
    }

    /// Queries the projection.
    ///
    /// - Parameters:
    ///   - moment: Now, or an earlier position or time. A query as of now applies the events since
    ///     the last query. A query as of an earlier moment replays a separate copy, from the
    ///     checkpoint or the first event, and does not delay other queries.
    ///   - body: Receives the projection and its position.
    /// - Returns: The result of the closure.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` if the moment lies beyond the
    ///   last durable position; ``ChatError/journal(_:)`` if the journal is closed, damaged or
    ///   cannot be read; ``ChatError/undecodable(position:_:)`` if a record cannot be decoded as an
    ///   event. After an error the projection stays before the failed event, and the next query
    ///   tries again.
    /// - Complexity: O(*n*) in the new events, or in the events up to an earlier moment, plus the
    ///   time of the closure.
    public func read<Value: Sendable>(asOf moment: AsOf = .now, _ body: (Model, Position) -> Value) throws(ChatError) -> Value {
        let (position, isNow) = try store.query(moment) { _, view throws(ChatError) in (view.position, moment == .now) }
        if isNow {
            let result: Result<Replay<Model>, ChatError> = current.withLock { replay in
                do throws(ChatError) {
                    try replay.advance(store.log, to: position)
                    return .success(replay)
                } catch {
                    return .failure(error)
                }
            }
            // Outside the lock, so that the next query does not wait and the closure may query
            // again.
            let replay = try result.get()
            return body(replay.model, replay.position)
        }
        let checkpoint = start()
        var replay = checkpoint.position <= position ? checkpoint : Replay<Model>()
        try replay.advance(store.log, to: position)
        return body(replay.model, position)
    }

    /// Rebuilds the projection from the first event, then replaces the present one.
    ///
    /// Queries are answered from the present projection until then.
    ///
    /// - Throws: As ``read(asOf:_:)``; the present projection then stays.
    /// - Complexity: O(*n*) in the events of the journal.
    public func rebuild() throws(ChatError) {
        let beside = try rebuilt(to: store.shownPosition)
        let result: Result<Void, ChatError> = current.withLock { current in
            var replay = beside
            do throws(ChatError) {
                // Only the events since the start of the rebuild, so the lock is held briefly.
                try replay.advance(store.log, to: current.position)
                current = replay
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    fileprivate func rebuilt(to position: Position) throws(ChatError) -> Replay<Model> {
        var replay = Replay<Model>()
        try replay.advance(store.log, to: position)
        return replay
    }

    var present: Replay<Model> { current.withLock { $0 } }
}

extension ProjectionHandle where Model: Equatable {
    /// Rebuilds the projection from the first event and compares it with the present one.
    ///
    /// They differ if `apply` depends on anything except the events: a clock, randomness, or the
    /// order of a dictionary.
    ///
    /// - Returns: Whether both are equal at the position of the present one.
    /// - Throws: As ``read(asOf:_:)``.
    /// - Complexity: O(*n*) in the events of the journal.
    public func isReproducible() throws(ChatError) -> Bool {
        let kept = present
        return try rebuilt(to: kept.position).model == kept.model
    }
}

/// A projection and the position up to which it has applied the events.
struct Replay<Model: Projection>: Sendable {
    private(set) var model: Model
    private(set) var position: Position

    init(_ model: Model = Model(), at position: Position = 0) {
        self.model = model
        self.position = position
    }

    /// Applies the events of a log up to a position.
    mutating func advance(_ log: any CommitLog, to end: Position) throws(ChatError) {
        guard position < end else { return }
        try ChatStore.read(log, position + 1...end, contents: Model.contents) { event, position in
            model.apply(event, at: position)
            self.position = position
            return true
        }
    }
}

extension ChatStore {
    /// Creates a custom projection over this store.
    ///
    /// The first query replays the projection. Keep the result: each call creates another
    /// projection.
    public func project<Model: Projection>(_ model: Model.Type) -> ProjectionHandle<Model> { ProjectionHandle(self) { Replay() } }

    /// Creates a custom projection over this store, starting from its checkpoint, if one is usable.
    ///
    /// Checkpoints are written by ``ProjectionHandle/writeCheckpoint()``. A checkpoint is ignored
    /// if it is damaged, or belongs to another journal, another history or another
    /// `Projection.version`; the projection is then replayed from the first event.
    public func project<Model: Projection & Codable>(_ model: Model.Type) -> ProjectionHandle<Model> {
        ProjectionHandle(self) { [log] in (log as? any CheckpointLog).flatMap { Replay(checkpointOf: $0) } ?? Replay() }
    }
}

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ProjectionHandle where Model: Codable {
    /// Writes a checkpoint of the present projection next to the journal, to shorten the next
    /// replay.
    ///
    /// The state is written as JSON. The store must be open for writing. Each
    /// `Projection.name` has one checkpoint.
    ///
    /// - Returns: The position of the checkpoint.
    /// - Throws: ``ChatError/journal(_:)`` with `readOnly` if the store is open for reading only,
    ///   or on a log other than a `Journal`; with `outOfRange` if the name is not a valid
    ///   checkpoint name; or if the checkpoint cannot be written. Also the errors of
    ///   ``read(asOf:_:)``.
    /// - Complexity: The time to encode the state; commands do not wait for it.
    @discardableResult
    public func writeCheckpoint() throws(ChatError) -> Position {
        guard let log = store.log as? any CheckpointLog, let checkpointer = store.checkpointer, !log.isReadOnly else {
            throw .journal(JournalError(.readOnly, "The store is open for reading only, or its log is not a journal."))
        }
        guard Model.name != ReadModels.name else {
            throw .journal(JournalError(.outOfRange, "The name '\(Model.name)' is reserved for the store's own checkpoint."))
        }
        var position: Position = 0
        // The query runs inside the turn as well, so that a later checkpoint never has an earlier
        // position.
        try checkpointer.inTurn { () throws(ChatError) in
            let replay = try read { model, position in Replay(model, at: position) }
            position = replay.position
            try replay.write(to: log)
        }
        return position
    }

    fileprivate static var section: String { "json" }
}

extension Replay where Model: Codable {
    fileprivate func write(to log: any CheckpointLog) throws(ChatError) {
        let bytes: [UInt8]
        do { bytes = Array(try JSONEncoder().encode(model)) } catch {
            throw .journal(JournalError(.outOfRange, "The projection '\(Model.name)' cannot be encoded: \(error)"))
        }
        try wrapping { () throws(JournalError) in
            let file = try log.beginCheckpoint(
                Model.name, version: Model.version, at: position, sections: [ProjectionHandle<Model>.section])
            file.beginSection()
            for start in stride(from: 0, to: bytes.count, by: CheckpointHeader.blockByteCount) {
                file.write(Array(bytes[start..<min(start + CheckpointHeader.blockByteCount, bytes.count)]))
            }
            _ = try file.finish()
        }
    }

    /// Reads a checkpoint; nil if none is usable.
    ///
    /// An unusable checkpoint is ignored, not an error.
    init?(checkpointOf log: any CheckpointLog) {
        guard let reader = try? log.checkpoint(Model.name, version: Model.version),
            let section = reader.section(ProjectionHandle<Model>.section), reader.header.position <= log.durablePosition
        else { return nil }
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: CheckpointHeader.blockByteCount + 64)
        while true {
            guard let count = try? section.read(into: &block) else { return nil }
            if count == 0 { break }
            bytes += block[..<count]
        }
        guard let model = try? JSONDecoder().decode(Model.self, from: Data(bytes)) else { return nil }
        self.init(model, at: reader.header.position)
    }
}
