#if Server
    internal import Locking

    /// One request and its response, between the handler and the connection.
    final class HTTPExchange: Sendable {
        private struct State {
            var hasResponded = false
            /// The response that the connection has not taken.
            var response: HTTPResponse?
            /// Who pays for the body, until the connection reads it.
            var payer: Client?
            /// Whether the connection has asked in vain: a response that is there when it asks needs no
            /// wake-up, which would be one more turn for each request.
            var isAwaited = false
            var isComplete = false
            var status = 0
            var whenComplete: (@Sendable (_ status: Int) -> Void)?
            /// The memory of the request and its answer.
            var held: [HeldMemory] = []
        }

        private let state = Lock(State())
        private let wake: @Sendable () -> Void

        /// Creates an exchange; the function makes the connection take the response.
        init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

        /// Sets a function that is called when the exchange ends, with the status of the response
        /// or 0.
        ///
        /// It is called at once if the exchange has ended already.
        func setCompletion(_ body: @escaping @Sendable (_ status: Int) -> Void) {
            let endedStatus = state.withLock { state -> Int? in
                if state.isComplete { return state.status }
                state.whenComplete = body
                return nil
            }
            if let endedStatus { body(endedStatus) }
        }

        /// Holds memory until the exchange ends.
        func hold(_ memory: HeldMemory) {
            state.withLock { state in if !state.isComplete { state.held.append(memory) } }
        }

        /// Whether the connection has ended.
        var hasEnded: Bool { state.withLock { $0.isComplete } }

        /// Sends the response; only the first call has an effect.
        func respond(_ response: HTTPResponse) {
            let (isAccepted, wakes) = state.withLock { state in
                guard !state.hasResponded, !state.isComplete else { return (false, false) }
                defer { state.isAwaited = false }
                (state.hasResponded, state.response) = (true, response)
                return (true, state.isAwaited)
            }
            if wakes { wake() }
            if !isAccepted { response.abandon() }
        }

        /// Lets the body be read.
        func admit(_ payer: Client) {
            let wakes = state.withLock { state in
                defer { state.isAwaited = false }
                state.payer = payer
                return state.isAwaited
            }
            if wakes { wake() }
        }

        // MARK: On the thread of the loop

        /// Returns who pays for the body, once it may be read.
        func takePayer() -> Client? {
            state.withLock { state in
                if state.payer == nil { state.isAwaited = true }
                return state.payer.take()
            }
        }

        /// Returns the response once it is decided.
        func takeResponse() -> HTTPResponse? {
            state.withLock { state in
                if state.response == nil { state.isAwaited = true }
                return state.response.take()
            }
        }

        /// Ends the exchange; the status is 0 if the connection ended before the response.
        func complete(_ status: Int) {
            let (response, completion) = state.withLock { state in
                defer {
                    (state.isComplete, state.status, state.response, state.whenComplete) = (true, status, nil, nil)
                    state.held = []
                }
                return (state.response, state.whenComplete)
            }
            response?.abandon()
            completion?(status)
        }
    }

    extension HTTPResponse {
        /// Ends the stream of a response that no connection takes.
        fileprivate func abandon() {
            if case .stream(let mailbox) = body { mailbox.close() }
        }
    }
#endif
