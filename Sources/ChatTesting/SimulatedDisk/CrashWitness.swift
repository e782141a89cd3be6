internal import Locking

/// What a workload of a ``CrashExplorer`` has to say about itself: what it has begun, and what it was promised.
///
/// The explorer takes a copy before every operation of the disk, so that it knows for every crash what had been promised by then. Change it
/// the moment before something begins and the moment after it was acknowledged.
public final class CrashWitness<Model: Sendable>: Sendable {
    private struct State: Sendable {
        var model: Model
        var moments: [CrashMoment<Model>] = []
    }

    private let state: Lock<State>

    /// Makes a witness outside of an explorer, for running work by itself.
    public init(_ model: Model) {
        state = Lock(State(model: model))
    }

    /// The model as it is now.
    public var model: Model { state.withLock { $0.model } }

    /// Changes the model.
    public func update(_ change: (inout Model) -> Void) {
        state.withLock { change(&$0.model) }
    }

    /// The moments noted so far, in order.
    var moments: [CrashMoment<Model>] { state.withLock { $0.moments } }

    /// Notes the moment before an operation; where the disk has not changed since the last one, what was promised by now counts.
    func note(_ operation: Int, _ image: DiskImage) {
        state.withLock { state in
            if state.moments.last?.image.changeCount == image.changeCount { state.moments.removeLast() }
            state.moments.append(CrashMoment(operation: operation, image: image, model: state.model))
        }
    }
}

/// A moment at which the power may be cut: before an operation, or after the last.
struct CrashMoment<Model: Sendable>: Sendable {
    var operation: Int
    var image: DiskImage
    var model: Model
}
