#if Postgres
    // Unsafe: the address of a connection of libpq is handed from the thread that makes it to the one
    // that waits for it.
    internal import CPostgreSQL
    internal import Dispatch
    internal import Foundation
    internal import Locking

    extension DatabaseConnection {
        /// Connects to the first server of the parameters that answers; nil if none has by a moment.
        ///
        /// libpq waits for each address of each server in turn, and cannot be told to stop. With a
        /// limit it waits on a thread of its own, which ends what comes too late.
        static func connect(_ parameters: [String: String], until limit: ContinuousClock.Instant?) -> OpaquePointer? {
            guard let limit else { return unsafe connect(parameters) }
            let handover = Handover()
            Thread.detachNewThread { unsafe handover.give(Self.connect(parameters)) }
            return unsafe handover.take(until: limit)
        }

        private static func connect(_ parameters: [String: String]) -> OpaquePointer? {
            let keywords = parameters.keys.sorted()
            let values = keywords.map { parameters[$0] ?? "" }
            return unsafe withStrings(keywords) { keywords in
                unsafe withStrings(values) { values in unsafe PQconnectdbParams(keywords, values, 0) }
            }
        }
    }

    /// A connection on its way from the thread that makes it to the one that waits for it.
    private final class Handover: Sendable {
        private enum State {
            case expected
            /// The address of the connection.
            case given(Int)
            case abandoned
        }

        private let state = Lock(State.expected)
        private let isGiven = DispatchSemaphore(value: 0)

        func give(_ connection: OpaquePointer?) {
            let address = Int(bitPattern: connection)
            let isAbandoned = state.withLock { state in
                if case .abandoned = state { return true }
                state = .given(address)
                return false
            }
            if isAbandoned { unsafe PQfinish(connection) } else { isGiven.signal() }
        }

        /// Waits for the connection; nil if it has not come by the limit.
        func take(until limit: ContinuousClock.Instant) -> OpaquePointer? {
            let rest = max(.zero, limit - .now) / .seconds(1)
            _ = isGiven.wait(timeout: .now() + rest)
            let address = state.withLock { state in
                defer { state = .abandoned }
                return if case .given(let address) = state { address } else { 0 }
            }
            return unsafe OpaquePointer(bitPattern: address)
        }
    }
#endif
