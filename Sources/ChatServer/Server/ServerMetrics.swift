#if Server
    internal import ChatWire
    internal import EventJournal
    internal import Locking

    /// The counts and times of a server, for its host.
    final class ServerMetrics: Sendable {
        private struct Key: Hashable, Comparable {
            let route: String
            let status: Int

            static func < (first: Key, second: Key) -> Bool {
                (first.route, first.status) < (second.route, second.status)
            }
        }

        private struct State {
            var requests: [Key: UInt64] = [:]
            /// Microseconds.
            var durations = JournalStatistics.Histogram(powersOfTwo: 6...24)
            /// Milliseconds.
            var deliveries = JournalStatistics.Histogram(powersOfTwo: 0...16)
            var endedStreams: [EventStream.End: UInt64] = [:]
        }

        private let state = Lock(State())

        /// Counts a response; `route` is the pattern of a route, never a path.
        func count(route: String, status: Int, microseconds: UInt64) {
            state.withLock { state in
                state.requests[Key(route: route, status: status), default: 0] += 1
                state.durations.record(microseconds)
            }
        }

        /// Counts the delivery of a new event, from its recording to the connection's buffer.
        func countDelivery(milliseconds: UInt64) { state.withLock { $0.deliveries.record(milliseconds) } }

        func count(ended reason: EventStream.End) { state.withLock { $0.endedStreams[reason, default: 0] += 1 } }

        /// Writes the families of the server after those of the store.
        func text(
            continuing store: String, _ contact: LogContact?, connections: Int, streams: Int, waitingPasswords: Int,
            memoryBytes: Int,
            messageBytes: Int,
            refused: [UserLimits.Name: UInt64]
        ) -> String {
            let state = state.withLock { $0 }
            var text = OpenMetricsText(continuing: store, prefix: "chat_server")
            if let contact {
                let now = ContinuousClock.now
                text.gauge(
                    "log_age_seconds", "Time since the database last confirmed the end of the log.", unit: "seconds",
                    (now - contact.answeredAt).components.seconds)
                text.gauge(
                    "log_wait_seconds", "Time that the longest wait for the database has lasted.", unit: "seconds",
                    contact.waitingSince.map { (now - $0).components.seconds } ?? 0)
            }
            text.gauge("connections", "Open connections.", connections)
            text.gauge("streams", "Open streams of events.", streams)
            text.gauge("passwords_waiting", "Requests that wait to hash a password.", waitingPasswords)
            text.gauge("memory_bytes", "Bytes that clients make the server hold.", memoryBytes)
            text.gauge("socket_message_bytes", "Bytes of messages that WebSockets receive or carry out.", messageBytes)
            text.counter(
                "requests", "Responses by route and status.", by: ["route", "status"],
                state.requests.sorted { $0.key < $1.key }.map { ([$0.key.route, "\($0.key.status)"], $0.value) })
            text.counter(
                "limited", "Requests that a limit of their user has refused.", by: "limit",
                UserLimits.Name.allCases.map { ($0.rawValue, refused[$0, default: 0]) })
            text.counter(
                "streams_ended", "Streams that the server ended, by reason.", by: "reason",
                state.endedStreams.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 })
            text.histogram(
                "request_seconds", "Time from a complete request to its response.", unit: "seconds", state.durations,
                dividedBy: 1_000_000)
            text.histogram(
                "delivery_seconds", "Time from the recording of an event to its delivery to a stream.", unit: "seconds",
                state.deliveries,
                dividedBy: 1_000)
            return text.finished
        }
    }
#endif
