internal import Dispatch
internal import Locking

/// Blocks of the operating system's random bytes, drawn before they are asked for.
///
/// The kernel takes 60 to 90 ns for the salt of one record, a third of what appending it takes in all: where many records are written one after another, another
/// processor draws for the next ones meanwhile. Whoever writes little hardly draws more than it uses: twice as much is drawn ahead each time that everything has
/// been used up.
final class EntropyReservoir: Sendable {
    static let blockSize = 4096
    /// So many blocks are ready at most, for some 4,096 records.
    private static let most = 16

    private struct State {
        var ready: [[UInt8]] = []
        /// How many blocks are to be ready.
        var wanted = 1
        var isDrawing = false
    }

    private let state = Lock(State())

    /// The number of blocks that are ready.
    var readyCount: Int { state.withLock { $0.ready.count } }

    private let process = ForkMark.current

    /// Fills a span with bytes that no other caller gets: a block that is ready, or fresh ones.
    ///
    /// In a fork of the process that made the reservoir they are always fresh ones: what is ready is ready in the parent as well, and the lock and the queue may have been
    /// in use by threads that the child does not have.
    func fill(_ bytes: inout MutableRawSpan) {
        guard bytes.byteCount == Self.blockSize, ForkMark.current == process else { return SystemCalls.fillWithEntropy(&bytes) }
        let (block, draws) = state.withLock { state -> ([UInt8]?, Bool) in
            let block = state.ready.popLast()
            if block == nil { state.wanted = min(2 * state.wanted, Self.most) }
            let draws = !state.isDrawing && state.ready.count <= state.wanted / 2
            if draws { state.isDrawing = true }
            return (block, draws)
        }
        if draws { DispatchQueue.global(qos: .userInitiated).async { self.draw() } }
        if let block { block.withBytes(0..<Self.blockSize) { bytes.copy($0, to: 0) } } else { SystemCalls.fillWithEntropy(&bytes) }
    }

    /// Draws blocks until there are enough.
    private func draw() {
        var drawn: [UInt8]?
        while true {
            let goesOn = state.withLock { state in
                if let drawn { state.ready.append(drawn) }
                state.isDrawing = state.ready.count < state.wanted
                return state.isDrawing
            }
            if !goesOn { return }
            var block = [UInt8](repeating: 0, count: Self.blockSize)
            block.withMutableBytes(0..<Self.blockSize) { SystemCalls.fillWithEntropy(&$0) }
            drawn = block
        }
    }
}
