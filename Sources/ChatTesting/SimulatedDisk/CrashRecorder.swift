internal import Locking

/// Records the crash points of a workload, each with a copy of the model.
///
/// The model is what the workload has started, and what was acknowledged. A ``CrashExplorer``
/// copies it before every operation of the disk. Update the model immediately before an action
/// starts and immediately after it was acknowledged.
public final class CrashRecorder<Model: Sendable>: Sendable {
    private struct State: Sendable {
        var model: Model
        var crashPoints: [CrashPoint<Model>] = []
    }

    private let state: Lock<State>

    /// Creates a recorder without an explorer, to run a workload separately.
    public init(_ model: Model) {
        state = Lock(State(model: model))
    }

    /// The current model.
    public var model: Model { state.withLock { $0.model } }

    /// Changes the model.
    public func update(_ change: (inout Model) -> Void) {
        state.withLock { change(&$0.model) }
    }

    /// The recorded crash points, in order.
    var crashPoints: [CrashPoint<Model>] { state.withLock { $0.crashPoints } }

    /// Records the crash point before an operation.
    ///
    /// If the disk has not changed since the last crash point, the new one replaces it.
    func recordCrashPoint(_ operation: Int, _ image: DiskImage) {
        state.withLock { state in
            if state.crashPoints.last?.image.changeCount == image.changeCount { state.crashPoints.removeLast() }
            state.crashPoints.append(CrashPoint(operation: operation, image: image, model: state.model))
        }
    }
}

/// A point at which the power can fail: before an operation, or after the last one.
struct CrashPoint<Model: Sendable>: Sendable {
    var operation: Int
    var image: DiskImage
    var model: Model
}
