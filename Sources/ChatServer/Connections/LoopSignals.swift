#if Server
    internal import Locking

    /// What other threads tell a loop.
    ///
    /// The poll is woken only while the loop waits in it: a busy loop looks here before it waits.
    final class LoopSignals: Sendable {
        struct Pending {
            /// The connections that have a response.
            var answered: [UInt64] = []
            /// The connections whose stream or socket has something to send.
            var ready: [UInt64] = []
            /// The sockets that may receive again.
            var resumed: [UInt64] = []
            var acceptsNoMore = false
            var isStopping = false
        }

        private struct State {
            var pending = Pending()
            /// Whether the loop has not taken what is pending.
            var hasNews = false
            var isWaiting = false
        }

        private let state = Lock(State())
        private let poller: Poller

        init(_ poller: Poller) { self.poller = poller }

        func answer(_ id: UInt64) { change { $0.answered.append(id) } }

        func wake(_ id: UInt64) { change { $0.ready.append(id) } }

        func resume(_ id: UInt64) { change { $0.resumed.append(id) } }

        /// Makes the loop accept no connection from now on.
        func acceptNoMore() { change { $0.acceptsNoMore = true } }

        func stop() { change { $0.isStopping = true } }

        private func change(_ body: (inout Pending) -> Void) {
            let wasWaiting = state.withLock { state in
                body(&state.pending)
                defer { (state.hasNews, state.isWaiting) = (true, false) }
                return state.isWaiting
            }
            if wasWaiting { poller.wake() }
        }

        // MARK: On the thread of the loop

        /// Whether nothing is pending, so that the loop may wait: from now on it is woken.
        func beginWaiting() -> Bool {
            state.withLock { state in
                state.isWaiting = !state.hasNews
                return state.isWaiting
            }
        }

        /// Returns what is pending, the connections once.
        func take() -> Pending {
            state.withLock { state in
                var rest = Pending()
                (rest.acceptsNoMore, rest.isStopping) = (state.pending.acceptsNoMore, state.pending.isStopping)
                swap(&rest, &state.pending)
                (state.hasNews, state.isWaiting) = (false, false)
                return rest
            }
        }
    }
#endif
