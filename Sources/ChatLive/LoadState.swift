/// The loading state of a value that a screen displays.
public enum LoadState<Value: Sendable>: Sendable {
    /// No value has been loaded yet.
    case loading
    /// The value is loaded and kept current.
    case loaded(Value)
    /// The value may be out of date; a newer one, or more of it, is being read.
    case updating(Value)
    /// The value is no longer kept current, because its updates were ended: the task was cancelled,
    /// or the store or client is closed.
    ///
    /// `last` is the last value; nil if nothing was loaded.
    case ended(last: Value?)
    /// The value is no longer kept current, because of this error.
    ///
    /// `last` is the last value; nil if nothing was loaded, or if the viewer may no longer read it.
    case failed(any ChatFailure, last: Value?)

    /// The value to display, if any.
    public var value: Value? {
        switch self {
        case .loading: nil
        case .loaded(let value), .updating(let value): value
        case .ended(let last), .failed(_, let last): last
        }
    }

    /// The error that ended the updates.
    public var error: (any ChatFailure)? { if case .failed(let error, _) = self { error } else { nil } }
}
