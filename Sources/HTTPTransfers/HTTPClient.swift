#if Client || canImport(Darwin)
    package import Foundation

    /// Requests over HTTP/1.1 and TLS, with bounds for everything that a server can send.
    ///
    /// `URLSession` carries them on Apple platforms, libcurl elsewhere: the `URLSession` of
    /// swift-corelibs-foundation ends the process if a connection is cut in the head of an answer
    /// ("Transfer completed, but there's no response"), keeps the body of a redirect without bound,
    /// and sends a request again that is suspended and resumed.
    ///
    /// Redirects are not followed. Nothing is kept but idle connections: no cookies, no cache, no
    /// credentials. Certificates are checked. Proxies are those of the system: with libcurl, of the
    /// environment (`https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`), except to this machine.
    /// A request that changes something is never sent twice.
    package final class HTTPClient: Sendable {
        /// The longest time for a whole answer, or for the head of a stream, however steadily it
        /// comes.
        package static let answerTime = Duration.seconds(300)

        private let connections = Connections()

        package init() {}

        /// Ends all transfers and connections; there are no others afterwards.
        package func stop() { connections.stop() }

        /// Sends a request and returns the whole answer, whatever its status.
        ///
        /// - Parameters:
        ///   - request: The request.
        ///   - limit: The most bytes of the body, decompressed.
        ///   - silence: The longest time without a byte.
        ///   - deadline: The longest time for the answer.
        package func send(
            _ request: TransferRequest, limit: Int, silence: Duration, deadline: Duration = answerTime
        ) async throws(TransferFailure) -> TransferAnswer {
            let receiver = Receiver(.whole(limit: limit))
            try begin(request, silence, receiver)
            defer { receiver.fail(.cancelled) }
            return try await receiver.within(deadline, "The answer has not ended") { receiver in await receiver.answer()
            }
        }

        /// Sends a request and returns when the head of the answer has arrived.
        ///
        /// The body is read as fast as it is taken, and never decompressed.
        ///
        /// - Parameters:
        ///   - request: The request.
        ///   - silence: The longest time without a byte while bytes are awaited.
        ///   - deadline: The longest time for the head.
        package func open(
            _ request: TransferRequest, silence: Duration, deadline: Duration = answerTime
        ) async throws(TransferFailure) -> HTTPTransfer {
            let receiver = Receiver(.pieces)
            try begin(request, silence, receiver)
            do throws(TransferFailure) {
                let head = try await receiver.within(deadline, "The answer has not begun") { receiver in
                    await receiver.head()
                }
                return HTTPTransfer(receiver, self, head)
            } catch {
                receiver.fail(.cancelled)
                throw error
            }
        }

        private func begin(_ request: TransferRequest, _ silence: Duration, _ receiver: Receiver)
            throws(TransferFailure)
        {
            guard !Task.isCancelled else { throw .cancelled }
            guard request.isWellFormed else {
                throw .unreachable("The request has a character that HTTP does not allow.")
            }
            try connections.start(request, silence: silence, receiver)
        }
    }

    /// An answer that is read in pieces; it ends when it is cancelled or released.
    package final class HTTPTransfer: Sendable {
        package let head: TransferHead
        private let receiver: Receiver
        /// Keeps the connections.
        private let client: HTTPClient

        init(_ receiver: Receiver, _ client: HTTPClient, _ head: TransferHead) {
            (self.receiver, self.client, self.head) = (receiver, client, head)
        }

        deinit { cancel() }

        /// Waits for the next bytes of the body; nil at its end.
        ///
        /// One task at a time.
        package func next() async throws(TransferFailure) -> Data? { try await receiver.next().get() }

        package func cancel() { receiver.fail(.cancelled) }
    }
#endif
