/// An object on the main actor that displays a source.
@MainActor protocol LiveView: AnyObject {
    associatedtype Value: Sendable
    associatedtype Change: Sendable
    var state: LoadState<Value> { get set }
    /// The number of calls of ``followSource()``: only the latest one says that the updates ended.
    var followCount: UInt64 { get set }
    /// Loads the source.
    func load() async throws(LiveFailure) -> LiveLoad<Value, Change>
    /// Applies a change to the value.
    func apply(_ change: Change, to value: inout Value)
    /// Notes that a change was applied to the value.
    func didApply(_ change: Change)
    /// Notes that the whole value was loaded.
    ///
    /// - Parameter hasEarlier: Whether earlier entries precede it.
    func didLoad(hasEarlier: Bool)
    /// Loads entries after those of the value, if changes have left too few.
    func refill() async throws(LiveFailure)
}

extension LiveView {
    func didApply(_ change: Change) {}
    func didLoad(hasEarlier: Bool) {}
    func refill() async throws(LiveFailure) {}

    /// Loads the source and keeps it current until cancellation, the end of the source, or an
    /// error.
    func followSource() async {
        followCount += 1
        let follow = followCount
        do throws(LiveFailure) {
            var mayKeep = true
            while !Task.isCancelled, let reload = try await followUntilReload(mayKeep: mayKeep) {
                mayKeep = reload == .outdated
            }
        } catch {
            // Neither a cancelled task nor an ended source is an error of the view.
            if !Task.isCancelled, !error.isEnd { return fail(with: error.error) }
        }
        if follow == followCount { state = .ended(last: state.value) }
    }

    /// Loads the source and keeps it current.
    ///
    /// - Parameter mayKeep: Whether the value may be kept if it cannot be loaded.
    /// - Returns: Why the source must be loaded again; nil at cancellation or the end of the
    ///   source.
    private func followUntilReload(mayKeep: Bool) async throws(LiveFailure) -> LiveReload? {
        state = state.value.map(LoadState.updating) ?? .loading
        let loaded: LiveLoad<Value, Change>
        do throws(LiveFailure) { loaded = try await load() } catch {
            if !mayKeep { state = .loading }
            throw error
        }
        state = .loaded(loaded.value)
        didLoad(hasEarlier: loaded.hasEarlier)
        var effects = loaded.effects
        while let effect = try await effects.next() {
            switch effect {
            case .change(let change):
                apply(change)
                try await refill()
            case .reload(let reload): return reload
            }
        }
        return nil
    }

    func fail(with error: any ChatFailure) {
        // A viewer who is refused must not keep seeing the value.
        state = .failed(error, last: error.isRefusal ? nil : state.value)
    }

    /// Applies a change to the current value, which may have been reloaded since the change was
    /// read.
    private func apply(_ change: Change) {
        guard var value = state.value else { return }
        apply(change, to: &value)
        didApply(change)
        if case .updating = state { state = .updating(value) } else { state = .loaded(value) }
    }
}
