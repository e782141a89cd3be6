#if Client || canImport(SQLite3)
    package import ChatValues
    package import Foundation

    /// What carries the requests of a client to its server: HTTP, or a simulation in a test.
    package protocol ClientTransport: Sendable {
        /// Sends a request and returns the whole answer, whatever its status.
        ///
        /// - Throws: ``TransportFailure`` without an answer.
        func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer

        /// Opens `GET /v1/events` after a token, or from now on.
        ///
        /// Elements are read only as fast as they are taken: there is no unbounded buffer between
        /// the socket and the caller.
        func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure)
            -> any ClientStream
    }

    /// One stream of Server-Sent Events; it ends when it is cancelled or released.
    package protocol ClientStream: Sendable {
        /// Returns the next event; nil if the server has ended the stream.
        func next() async throws(TransportFailure) -> ServerSentEvent?
        /// Returns the next event of what was received with those before; nil if more has to arrive.
        func nextReceived() throws(TransportFailure) -> ServerSentEvent?
        func cancel()
    }

    /// A request to the server.
    package struct ClientRequest: Hashable, Sendable {
        package var method: String
        /// The path with the encoded query, from `/v1/`.
        package var target: String
        /// The token of the session; nil for a request without one.
        package var credentials: String?
        /// The body, of `application/json`; nil for none.
        package var body: Data?
        /// The most bytes of the body of the answer; a longer one is
        /// ``TransportFailure/answerTooLarge``.
        package var answerLimit = 32 << 20

        package init(_ method: String, _ target: String, credentials: String? = nil, body: Data? = nil) {
            (self.method, self.target, self.credentials, self.body) = (method, target, credentials, body)
        }
    }

    /// An answer of the server.
    package struct ClientAnswer: Hashable, Sendable {
        package var status: Int
        /// The headers, with names in lower case.
        package var headers: [String: String]
        package var body: Data

        package init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }
    }

    /// An event of a stream (WHATWG HTML, 9.2); a comment, which is a heartbeat, has no data.
    package struct ServerSentEvent: Hashable, Sendable {
        /// The name; `message` if the server gave none.
        package var name: String
        /// The last id that the stream has given so far.
        package var id: String?
        /// The data; nil for an id alone or a heartbeat.
        package var data: String?

        package init(name: String = "message", id: String? = nil, data: String? = nil) {
            (self.name, self.id, self.data) = (name, id, data)
        }
    }

    /// Why there is no answer.
    package enum TransportFailure: Error, Hashable, Sendable {
        /// The server cannot be reached, or the connection broke; the request may have been carried
        /// out.
        case unreachable(String)
        /// An answer, a line or an event exceeds its bound.
        case answerTooLarge
        /// The stream refused its opening with this answer.
        case refused(ClientAnswer)
        case cancelled
    }
#endif
