#if Client || canImport(SQLite3)
    import Dispatch
    import Foundation

    /// Waits for signals.
    final class Signals {
        /// An element for each signal, for one task; until ``end()``.
        let arrivals: AsyncStream<Void>
        private let continuation: AsyncStream<Void>.Continuation
        private let sources: [any DispatchSourceSignal]

        init(_ numbers: [Int32]) {
            let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
            (arrivals, self.continuation) = (stream, continuation)
            sources = numbers.compactMap { number in
                // `nohup` ignores SIGHUP, so that the server outlives its terminal.
                if SystemIO.ignore(signal: number), number == SIGHUP { return nil }
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.yield() }
                source.resume()
                return source
            }
        }

        /// Stops waiting; the signals are ignored from now on.
        func end() {
            for source in sources { source.cancel() }
            continuation.finish()
        }

        /// Waits for a signal, or until a condition holds, which is asked for every second.
        func first(or condition: @escaping @Sendable () -> Bool) async {
            let timer = DispatchSource.makeTimerSource(queue: .global())
            timer.schedule(deadline: .now() + 1, repeating: 1)
            timer.setEventHandler { [continuation] in if condition() { continuation.yield() } }
            timer.resume()
            defer { timer.cancel() }
            var iterator = arrivals.makeAsyncIterator()
            await iterator.next()
        }
    }
#endif
