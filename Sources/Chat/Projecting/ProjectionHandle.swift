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
///
/// A `CheckpointedProjection` keeps checkpoints next to the journal
/// (``ChatStore/project(_:checkpoints:)``).
public final class ProjectionHandle<Model: Projection>: Sendable {
    let store: ChatStore
    /// Loads and writes checkpoints; nil if the projection has none.
    let checkpoints: ProjectionCheckpoints<Model>?
    /// The error of every call, if another projection has the name of this one.
    private let conflict: ChatError?
    private let lockedReplay: Lock<Replay<Model>>

    init(_ store: ChatStore, _ checkpoints: ProjectionCheckpoints<Model>? = nil, conflict: ChatError? = nil) {
        self.store = store
        self.checkpoints = checkpoints
        self.conflict = conflict
        let epoch = store.erasedPositions.epoch
        lockedReplay = Lock(checkpoints?.latest(of: epoch) ?? Replay(of: epoch))
        if checkpoints != nil { store.checkpointer?.add(self) }
    }

    /// Queries the projection, and blocks the calling thread while events are applied;
    /// ``read(asOf:_:)`` suspends.
    ///
    /// - Parameters:
    ///   - point: Now, or an earlier position or time. A query as of now applies the events since
    ///     the last query. A query as of an earlier point replays a separate copy, from the nearest
    ///     checkpoint before it or the first event, and does not delay other queries.
    ///   - body: Receives the projection and its position.
    /// - Returns: The result of the closure.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` if the point lies beyond the
    ///   last durable position; ``ChatError/journal(_:)`` if the journal is closed, damaged or
    ///   cannot be read; ``ChatError/undecodable(position:_:)`` if a record cannot be decoded as an
    ///   event. After an error the projection stays before the failed event, and the next query
    ///   tries again. ``ChatError/journal(_:)`` with `outOfRange` if the store has a projection of
    ///   another type with the same `Projection.name` and checkpoints.
    /// - Complexity: O(*n*) in the new events, or in the events between the checkpoint and an
    ///   earlier point, plus the time to load the checkpoint and the time of the closure.
    public func readBlocking<Value: Sendable>(
        asOf point: AsOf = .now, _ body: (Model, Position) -> Value
    ) throws(ChatError) -> Value {
        let (position, isNow) = try store.query(point, as: .host) { _, view throws(ChatError) in
            (view.position, point == .now)
        }
        let replay = isNow ? try advanced(to: position) : try replayed(to: position)
        return body(replay.model, replay.position)
    }

    /// Queries the projection; suspends while events are applied.
    ///
    /// Otherwise the same as ``readBlocking(asOf:_:)``. Cancelling the task does not end the query.
    ///
    /// - Parameters:
    ///   - point: As for ``readBlocking(asOf:_:)``.
    ///   - body: Runs on a background thread.
    public func read<Value: Sendable>(
        asOf point: AsOf = .now, _ body: @escaping @Sendable (Model, Position) -> Value
    ) async throws(ChatError) -> Value {
        try await store.background.result(of: { () throws(ChatError) in try self.readBlocking(asOf: point, body) })
    }

    /// Rebuilds the projection from the first event, then replaces the current one.
    ///
    /// Queries are answered from the current projection until then. If checkpoints are written
    /// automatically, new ones at even distances replace all earlier ones.
    ///
    /// Blocks the calling thread; ``rebuild()`` suspends.
    ///
    /// - Throws: As ``readBlocking(asOf:_:)``; the current projection then stays. Also
    ///   ``ChatError/journal(_:)`` if a checkpoint cannot be written or removed.
    /// - Complexity: O(*n*) in the events of the journal, plus the time to encode the checkpoints.
    public func rebuildBlocking() throws(ChatError) {
        if let conflict { throw conflict }
        let end = store.applyDurableEvents()
        let checkpointed = checkpoints.flatMap { $0.isAutomatic ? $0 : nil }
        let positions = try checkpointed?.evenPositions(through: end) ?? []
        var beside = Replay<Model>(of: store.erasedPositions.epoch)
        for position in positions {
            try beside.advance(store.log, to: position)
            try checkpointed?.writeRebuilt(beside)
        }
        try beside.advance(store.log, to: end)
        try replaceCurrent(by: beside)
        try checkpointed?.removeAll(except: positions)
    }

    private func replaceCurrent(by rebuilt: Replay<Model>) throws(ChatError) {
        try lockedReplay.withLock { current throws(ChatError) in
            var replay = rebuilt
            // Content was erased since, and the next query replays the projection.
            if replay.epoch != store.erasedPositions.epoch { return }
            // Only the events since the start of the rebuild, so the lock is held briefly.
            try replay.advance(store.log, to: current.position)
            current = replay
        }
    }

    /// Rebuilds the projection from the first event; suspends meanwhile.
    ///
    /// Otherwise the same as ``rebuildBlocking()``. Cancelling the task does not end the rebuild.
    public func rebuild() async throws(ChatError) {
        try await store.background.result(of: { () throws(ChatError) in try self.rebuildBlocking() })
    }

    /// Returns the current projection after applying the events up to a position.
    private func advanced(to position: Position) throws(ChatError) -> Replay<Model> {
        if let conflict { throw conflict }
        // The caller's closure runs outside the lock, so that the next query does not wait and the
        // closure may query again.
        return try lockedReplay.withLock { replay throws(ChatError) in
            let epoch = store.erasedPositions.epoch
            // The state may have content that was erased since.
            if replay.epoch != epoch {
                replay = Replay(of: epoch)
                checkpoints?.forgetLatest()
            }
            try advance(&replay, to: position)
            return replay
        }
    }

    private func advance(_ replay: inout Replay<Model>, to end: Position) throws(ChatError) {
        guard let checkpoints else { return try replay.advance(store.log, to: end) }
        let start = replay.position
        while replay.position < end {
            try replay.advance(store.log, to: try checkpoints.nextPause(after: replay.position, before: end))
            checkpoints.beginIfDue(replay, replayed: replay.position < end ? 0 : end - start)
        }
    }

    /// Returns the projection as of an earlier position.
    private func replayed(to position: Position) throws(ChatError) -> Replay<Model> {
        if let conflict { throw conflict }
        let epoch = store.erasedPositions.epoch
        var replay = checkpoints?.nearest(to: position, of: epoch) ?? Replay(of: epoch)
        try replay.advance(store.log, to: position)
        return replay
    }

    /// The projection after the events that queries have applied.
    var current: Replay<Model> { lockedReplay.withLock { $0 } }
}

extension ProjectionHandle: ClosableProjection {
    func writeAtClose() { checkpoints?.writeAtClose(current) }
}

extension ProjectionHandle where Model: Equatable {
    /// Applies the new events, rebuilds the projection from the first event and compares the two.
    ///
    /// They differ if `apply` depends on anything except the events: a clock, randomness, or the
    /// order of a dictionary.
    ///
    /// - Returns: Whether both are equal at the position of the current one.
    /// - Throws: As ``readBlocking(asOf:_:)``.
    /// - Complexity: O(*n*) in the events of the journal.
    public func isReproducible() throws(ChatError) -> Bool {
        while true {
            // Not the current state, which may have content that was erased since the last query.
            let kept = try advanced(to: try store.query(.now, as: .host) { _, view throws(ChatError) in view.position })
            var rebuilt = Replay<Model>(of: kept.epoch)
            try rebuilt.advance(store.log, to: kept.position)
            // An erasure meanwhile concerns one of the two only.
            if kept.epoch == store.erasedPositions.epoch { return rebuilt.model == kept.model }
        }
    }
}

extension ProjectionHandle where Model: CheckpointedProjection {
    /// Writes a checkpoint of the current projection and waits until it is durable.
    ///
    /// Applications rarely need this call, because a projection writes checkpoints by itself
    /// (``CheckpointOptions``). The store must be open for writing. The call blocks the calling
    /// thread but no command.
    ///
    /// - Returns: The position of the checkpoint.
    /// - Throws: ``ChatError/journal(_:)`` with `readOnly` if the store is open for reading only,
    ///   or if its log is not a `CheckpointLog`; with `outOfRange` if the name is not a valid
    ///   checkpoint name, or the state cannot be encoded; with `closed`; with `conflict` if content
    ///   was erased meanwhile; or if the checkpoint cannot be written. Also the errors of
    ///   ``read(asOf:_:)``.
    /// - Complexity: The time to encode the state.
    @discardableResult
    public func writeCheckpoint() throws(ChatError) -> Position {
        if let conflict { throw conflict }
        guard let checkpoints, !store.log.isReadOnly else {
            throw .journal(
                JournalError(.readOnly, "The store is open for reading only, or its log keeps no checkpoints."))
        }
        let epoch = store.erasedPositions.epoch
        let replay = try readBlocking { model, position in Replay(model, at: position, of: epoch) }
        try checkpoints.write(replay)
        return replay.position
    }
}

/// A projection and the position up to which it has applied the events.
struct Replay<Model: Projection>: Sendable {
    private(set) var model: Model
    private(set) var position: Position
    /// ``ErasedPositions/epoch`` before the first event was read.
    let epoch: UInt64

    init(_ model: Model = Model(), at position: Position = 0, of epoch: UInt64) {
        self.model = model
        self.position = position
        self.epoch = epoch
    }

    /// Applies the events of a log up to a position.
    mutating func advance(_ log: any CommitLog, to end: Position) throws(ChatError) {
        guard position < end else { return }
        try ChatStore.forEachDecodedEvent(log, position + 1...end, contents: Model.contents) { event, position in
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
    public func project<Model: Projection>(_ model: Model.Type) -> ProjectionHandle<Model> { ProjectionHandle(self) }

    /// Creates a custom projection over this store, which starts from its latest usable checkpoint.
    ///
    /// The checkpoints are written as the store's options require
    /// (``project(_:checkpoints:)``); if those are nil, only by
    /// ``ProjectionHandle/writeCheckpoint()``.
    public func project<Model: CheckpointedProjection>(_ model: Model.Type) -> ProjectionHandle<Model> {
        project(model, checkpoints: checkpointer?.options ?? .loadingOnly)
    }

    /// Creates a custom projection over this store, which starts from its latest usable checkpoint.
    ///
    /// A checkpoint is ignored if it is damaged, or belongs to another journal, another history or
    /// another `Projection.version`. An earlier one is then used, or the projection is
    /// replayed from the first event.
    ///
    /// Keep the result: a checkpoint that has not begun is abandoned with it.
    ///
    /// Queries as of now write checkpoints in the background when they are due. While one is being
    /// written, memory can hold the state twice. A store that is open for reading only uses
    /// checkpoints and writes none; a log that is not a `CheckpointLog` has none. The close of the
    /// store waits for a query in progress and for its checkpoint.
    ///
    /// - Parameters:
    ///   - model: The type of the projection.
    ///   - options: When checkpoints are written, and how many are kept.
    public func project<Model: CheckpointedProjection>(
        _ model: Model.Type, checkpoints options: CheckpointOptions
    ) -> ProjectionHandle<Model> {
        guard let checkpointer, let log = log as? any CheckpointLog else { return ProjectionHandle(self) }
        if let conflict = checkpointer.conflict(of: model) { return ProjectionHandle(self, conflict: conflict) }
        return ProjectionHandle(
            self,
            ProjectionCheckpoints(
                options, log, checkpointer, encode: { try $0.encodedState() }, decode: { try Model(encodedState: $0) }))
    }
}
