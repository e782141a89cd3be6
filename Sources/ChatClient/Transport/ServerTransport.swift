#if Client || canImport(SQLite3)
    package import ChatValues
    internal import Foundation
    internal import HTTPTransfers
    internal import Locking

    /// The requests of a client over HTTP.
    ///
    /// Bodies are never received beyond their bound. The connections end with the transport and its
    /// streams. ``HTTPClient`` says what else is bounded.
    package final class ServerTransport: ClientTransport {
        /// The longest silence of a server that has a request.
        package static let requestTimeout = Duration.seconds(30)
        /// The longest time for a whole answer, however steadily it comes.
        package static let answerTime = Duration.seconds(300)
        /// The longest silence of a stream: three heartbeats of the server.
        package static let streamTimeout = Duration.seconds(45)
        /// The most bytes of the answer that refuses a stream: the beginning says why.
        private static let refusalLimit = 64 << 10

        private let address: ServerAddress
        private let client = HTTPClient()
        private let timeouts: (request: Duration, answer: Duration, stream: Duration)

        /// Creates a transport.
        ///
        /// - Parameters:
        ///   - address: The address of the server.
        ///   - requestTimeout: The longest silence of a server that has a request.
        ///   - answerTime: The longest time for a whole answer.
        ///   - streamTimeout: The longest silence of a stream.
        package init(
            _ address: ServerAddress, requestTimeout: Duration = ServerTransport.requestTimeout,
            answerTime: Duration = ServerTransport.answerTime, streamTimeout: Duration = ServerTransport.streamTimeout
        ) {
            self.address = address
            timeouts = (requestTimeout, answerTime, streamTimeout)
        }

        package func send(_ request: ClientRequest) async throws(TransportFailure) -> ClientAnswer {
            let made = try httpRequest(request, accepting: "application/json")
            do throws(TransferFailure) {
                let answer = try await client.send(
                    made, limit: request.answerLimit, silence: timeouts.request, deadline: timeouts.answer)
                return ClientAnswer(answer.head, body: answer.body)
            } catch { throw TransportFailure(error) }
        }

        package func openStream(after token: ResumeToken?, credentials: String) async throws(TransportFailure)
            -> any ClientStream
        {
            let target = "/v1/events" + (token.map { "?after=\($0)" } ?? "")
            let request = try httpRequest(
                ClientRequest("GET", target, credentials: credentials), accepting: "text/event-stream")
            let (head, body): (TransferHead, Data)
            do throws(TransferFailure) {
                let transfer = try await client.open(request, silence: timeouts.stream, deadline: timeouts.answer)
                if Self.isStream(transfer.head) { return EventStream(transfer) }
                (head, body) = (transfer.head, try await Self.beginning(of: transfer))
            } catch { throw TransportFailure(error) }
            throw .refused(ClientAnswer(head, body: body))
        }

        private static func isStream(_ head: TransferHead) -> Bool {
            head.status == 200 && head.headers["content-type"]?.lowercased().hasPrefix("text/event-stream") == true
        }

        private static func beginning(of transfer: HTTPTransfer) async throws(TransferFailure) -> Data {
            var body = Data()
            while body.count < refusalLimit, let piece = try await transfer.next() {
                body.append(piece.prefix(refusalLimit - body.count))
            }
            return body
        }

        private func httpRequest(_ request: ClientRequest, accepting type: String) throws(TransportFailure)
            -> TransferRequest
        {
            guard let url = address.url(of: request.target) else {
                throw .unreachable("The target of the request is not a URL.")
            }
            var made = TransferRequest(
                request.method, url, headers: [("Accept", type), ("User-Agent", "ChatJournal")], body: request.body)
            if let credentials = request.credentials { made.headers.append(("Authorization", "Bearer \(credentials)")) }
            if request.body != nil { made.headers.append(("Content-Type", "application/json")) }
            return made
        }
    }

    extension TransportFailure {
        fileprivate init(_ failure: TransferFailure) {
            self =
                switch failure {
                case .unreachable(let reason): .unreachable(reason)
                case .answerTooLarge: .answerTooLarge
                case .cancelled: .cancelled
                }
        }
    }

    extension ClientAnswer {
        /// The headers lack the cookie, which has the token.
        fileprivate init(_ head: TransferHead, body: Data) {
            self.init(status: head.status, headers: head.headers.filter { $0.key != "set-cookie" }, body: body)
        }
    }

    /// The events of a transfer, which ends when it is released.
    private final class EventStream: ClientStream {
        private struct State {
            var parser = EventStreamParser()
            var isCancelled = false
        }

        private let transfer: HTTPTransfer
        private let state = Lock(State())

        init(_ transfer: HTTPTransfer) { self.transfer = transfer }

        func next() async throws(TransportFailure) -> ServerSentEvent? {
            while true {
                if let event = try nextReceived() { return event }
                do throws(TransferFailure) {
                    guard let piece = try await transfer.next() else { return nil }
                    state.withLock { $0.parser.append(piece) }
                } catch { throw TransportFailure(error) }
            }
        }

        func nextReceived() throws(TransportFailure) -> ServerSentEvent? {
            let parsed = state.withLock { state -> Result<ServerSentEvent?, TransportFailure> in
                if state.isCancelled { return .failure(.cancelled) }
                do throws(TransportFailure) { return .success(try state.parser.nextEvent()) } catch {
                    return .failure(error)
                }
            }
            guard !Task.isCancelled else { throw .cancelled }
            do throws(TransportFailure) { return try parsed.get() } catch {
                transfer.cancel()
                throw error
            }
        }

        func cancel() {
            state.withLock { $0.isCancelled = true }
            transfer.cancel()
        }
    }
#endif
