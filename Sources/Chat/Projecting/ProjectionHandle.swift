public import ChatDomain
import EventJournal
import Locking
public import Projections

/// A projection of one's own over a store: replayed once, then kept current, and asked as of any moment.
///
/// Make one with ``ChatStore/project(_:)``. Every question is answered as of the last durable position at the time of the call, so a caller finds what they have been
/// told is done. Nothing is kept in memory but the projection: what is new is read from the journal when somebody asks. May be used from any number of tasks and
/// threads at once.
public final class ProjectionHandle<Model: Projection>: Sendable {
    let store: ChatStore
    /// Gives what a replay begins with.
    private let start: @Sendable () -> Replay<Model>
    private let current: Lock<Replay<Model>>

    init(_ store: ChatStore, from start: @escaping @Sendable () -> Replay<Model>) {
        self.store = store
        self.start = start
        current = Lock(start())
    }

    /// Asks the projection.
    ///
    /// - Parameters:
    ///   - moment: Now, or any earlier position or time. Now costs what has come since the last question; an earlier moment costs a replay from the checkpoint or the first event, apart
    ///     from the projection that is kept, so that others need not wait.
    ///   - body: Is lent the projection, and the position as of which it is.
    /// - Returns: What the closure returns.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` if the moment lies beyond the last durable position; ``ChatError/journal(_:)`` if the journal is closed,
    ///   damaged or cannot be read, ``ChatError/undecodable(position:_:)`` if a record is no event: the projection then stands before it, and the next
    ///   question tries again.
    /// - Complexity: O(*n*) in the events that are new, or up to the moment, and what the closure takes.
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
            // Outside the lock, so that whoever asks next need not wait, and the closure may ask again.
            let replay = try result.get()
            return body(replay.model, replay.position)
        }
        let checkpoint = start()
        var replay = checkpoint.position <= position ? checkpoint : Replay<Model>()
        try replay.advance(store.log, to: position)
        return body(replay.model, position)
    }

    /// Builds the projection once more from the first event, beside the one that is asked meanwhile, and puts it in that one's place when it has caught up.
    ///
    /// - Throws: As ``read(asOf:_:)``; the former one then stays.
    /// - Complexity: O(*n*) in the events of the journal.
    public func rebuild() throws(ChatError) {
        let beside = try rebuilt(to: store.shownPosition)
        let result: Result<Void, ChatError> = current.withLock { current in
            var replay = beside
            do throws(ChatError) {
                // What has come meanwhile is little.
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
    /// Builds the projection once more from the first event and compares it with the one that is kept.
    ///
    /// They differ if `apply` depends on anything but the events: a clock, randomness, the order of a dictionary.
    ///
    /// - Returns: Whether they are equal at the position as of which the kept one is.
    /// - Throws: As ``read(asOf:_:)``.
    /// - Complexity: O(*n*) in the events of the journal.
    public func isReproducible() throws(ChatError) -> Bool {
        let kept = present
        return try rebuilt(to: kept.position).model == kept.model
    }
}

/// A projection and how far it has come.
struct Replay<Model: Projection>: Sendable {
    private(set) var model: Model
    private(set) var position: Position

    init(_ model: Model = Model(), at position: Position = 0) {
        self.model = model
        self.position = position
    }

    /// Takes in the events of a log up to a position.
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
    /// Keeps a projection of one's own over this store.
    ///
    /// The projection is replayed when it is asked first. Keep the result: each call makes another one.
    public func project<Model: Projection>(_ model: Model.Type) -> ProjectionHandle<Model> { ProjectionHandle(self) { Replay() } }

    /// Keeps a projection of one's own over this store, and begins with its checkpoint, if there is one that fits.
    ///
    /// A checkpoint is written by ``ProjectionHandle/writeCheckpoint()``. One that is damaged, of another journal, of another history or of another
    /// ``Projections/Projection/version``, is ignored, and the projection is replayed.
    public func project<Model: Projection & Codable>(_ model: Model.Type) -> ProjectionHandle<Model> {
        ProjectionHandle(self) { [journal] in journal.flatMap { Replay(checkpointOf: $0) } ?? Replay() }
    }
}

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ProjectionHandle where Model: Codable {
    /// Writes a checkpoint of the projection as it is now beside the journal, so that it need not be replayed from the first event next time.
    ///
    /// The state is written as JSON. A journal that was open for writing only may be written to, and there is one checkpoint for each
    /// ``Projections/Projection/name``.
    ///
    /// - Returns: The position of the checkpoint.
    /// - Throws: ``ChatError/journal(_:)`` with `readOnly` if the store is open for reading only or on a log that is no journal, with `outOfRange` if the name cannot be
    ///   that of a checkpoint, or if it cannot be written; what ``read(asOf:_:)`` throws.
    /// - Complexity: What encoding the state takes; no command waits for it.
    @discardableResult
    public func writeCheckpoint() throws(ChatError) -> Position {
        guard let journal = store.journal, let checkpointer = store.checkpointer, !journal.isReadOnly else {
            throw .journal(JournalError(.readOnly, "The store is open for reading only, or not on a journal."))
        }
        guard Model.name != ReadModels.name else {
            throw .journal(JournalError(.outOfRange, "The name '\(Model.name)' is that of the store's own checkpoint."))
        }
        var position: Position = 0
        // Asked in its turn as well, so that a later checkpoint is never of an earlier moment.
        try checkpointer.inTurn { () throws(ChatError) in
            let replay = try read { model, position in Replay(model, at: position) }
            position = replay.position
            try replay.write(to: journal)
        }
        return position
    }

    fileprivate static var section: String { "json" }
}

extension Replay where Model: Codable {
    fileprivate func write(to journal: Journal) throws(ChatError) {
        let bytes: [UInt8]
        do { bytes = Array(try JSONEncoder().encode(model)) } catch {
            throw .journal(JournalError(.outOfRange, "The projection '\(Model.name)' cannot be encoded: \(error)"))
        }
        try wrapping { () throws(JournalError) in
            let file = try journal.beginCheckpoint(
                Model.name, version: Model.version, at: position, sections: [ProjectionHandle<Model>.section])
            file.beginSection()
            for start in stride(from: 0, to: bytes.count, by: CheckpointHeader.blockByteCount) {
                file.write(Array(bytes[start..<min(start + CheckpointHeader.blockByteCount, bytes.count)]))
            }
            _ = try file.finish()
        }
    }

    /// Reads a checkpoint, nil if there is none that fits: it is ignored, never trusted, never fatal.
    init?(checkpointOf journal: Journal) {
        guard let reader = try? journal.checkpoint(Model.name, version: Model.version),
            let section = reader.section(ProjectionHandle<Model>.section), reader.header.position <= journal.durablePosition
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
