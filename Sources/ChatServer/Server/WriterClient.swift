#if Server
    internal import ChatDomain
    internal import ChatWire
    internal import Foundation
    internal import HTTPTransfers
    internal import Locking

    /// The server that writes, as a server that only reads uses it.
    ///
    /// It has the accounts and executes the commands. Everything that this server sends to it has
    /// passed its own ``HeadCheck``.
    final class WriterClient: Sendable {
        private static let lookupTimeout = Duration.seconds(5)
        /// A password can wait for its turn to be hashed.
        private static let requestTimeout = Duration.seconds(60)
        /// The most bytes of the body of a response.
        private static let responseLimit = 32 << 20
        /// The headers of a response that are passed on.
        private static let passedHeaders = ["Content-Type", "Set-Cookie", "Retry-After", "Allow", "Resume-Token"]

        private let origin: WebOrigin
        /// The value of `Host` if the client's is not that of an origin of the pages.
        private let host: String
        private let http = HTTPClient()
        private let known = Lock(KnownSessions())

        /// Creates a client.
        ///
        /// - Parameters:
        ///   - origin: The scheme, host and port of the writer.
        ///   - pages: The origins of the pages, which the writer knows too.
        init(_ origin: WebOrigin, pages: [WebOrigin]) {
            (self.origin, host) = (origin, pages.first?.authority ?? origin.authority)
        }

        /// Ends the connections.
        func stop() { http.stop() }

        // MARK: Requests

        /// Sends a request to the writer and returns its response.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - target: The path and the query, beginning with a slash.
        ///   - body: The JSON of the body; empty for none.
        ///   - token: The token of the client's session; nil for none.
        ///   - host: The value of `Host`; nil for that of the first origin of the pages.
        ///   - client: The address of the client, which counts for the writer's limits.
        ///   - timeout: The time without a byte after which the writer counts as unreachable.
        /// - Throws: `writerUnavailable` if there is no response, or one that is not the writer's;
        ///   the writer may have carried out the request.
        func send(
            _ method: String, _ target: String, body: [UInt8] = [], token: String?, host: String? = nil,
            client: String? = nil,
            timeout: Duration = requestTimeout
        ) async throws(Problem) -> WireResponse {
            guard let url = URL(string: "\(origin)\(target)", encodingInvalidCharacters: false) else {
                throw .invalidRequest
            }
            var request = TransferRequest(method, url, headers: [("Host", host ?? self.host)])
            if let token { request.headers.append(("Authorization", "Bearer \(token)")) }
            if let client { request.headers.append(("X-Forwarded-For", client)) }
            if !body.isEmpty {
                request.body = Data(body)
                request.headers.append(("Content-Type", "application/json"))
            }
            let answer: TransferAnswer
            do { answer = try await http.send(request, limit: Self.responseLimit, silence: timeout) } catch {
                throw .writerUnavailable
            }
            // The page of a proxy between the servers is no answer to a client.
            let type = answer.head.headers["content-type"]?.split(separator: ";").first.map(String.init)
            guard answer.body.isEmpty || type == "application/json" || type == Problem.contentType else {
                throw .writerUnavailable
            }
            let headers = Self.passedHeaders.compactMap { name in
                answer.head.headers[name.lowercased()].map { (name, $0) }
            }
            return WireResponse(status: answer.head.status, headers: headers, body: .bytes([UInt8](answer.body)))
        }

        // MARK: Sessions

        /// Forgets the sessions of a user, or all of them: some may have ended.
        func forgetSessions(of user: UserID?) {
            known.withLock { known in
                if let user { known.forget(of: user) } else { known.forgetAll() }
            }
        }

        private struct Me: Decodable { let id: UserID }

        private struct Refusal: Decodable { let code: String }

        private func askForUser(ofToken token: String) async throws(Problem) -> UserID? {
            let response = try await send("GET", "/v1/me", token: token, timeout: Self.lookupTimeout)
            guard case .bytes(let content) = response.body else { throw .writerUnavailable }
            switch response.status {
            case 200:
                do { return try JSONDecoder().decode(Me.self, from: Data(content)).id } catch {
                    throw .writerUnavailable
                }
            case 401: return nil
            default: throw .writerUnavailable
            }
        }
    }

    extension WriterClient: SessionSource {
        func user(ofToken token: String) async throws -> UserID? {
            guard Self.isToken(token) else { return nil }
            let now = ContinuousClock.now
            let (user, generation) = known.withLock { known in
                (known.user(ofToken: token, confirmedWithin: KnownSessions.freshness, of: now), known.generation)
            }
            if let user { return user }
            do throws(Problem) {
                let user = try await askForUser(ofToken: token)
                known.withLock { $0.note(user, ofToken: token, generation: generation, at: now) }
                return user
            } catch {
                let former = known.withLock { $0.user(ofToken: token, confirmedWithin: KnownSessions.grace, of: now) }
                if let former { return former }
                throw error
            }
        }

        func isOfDeletedAccount(token: String) async throws -> Bool {
            guard Self.isToken(token) else { return false }
            let response = try await send("GET", "/v1/me", token: token, timeout: Self.lookupTimeout)
            guard response.status == 401, case .bytes(let content) = response.body else { return false }
            let refusal = try JSONDecoder().decode(Refusal.self, from: Data(content))
            return refusal.code == Problem.Code.accountDeleted.rawValue
        }

        func validity(of token: String) async -> SessionValidity {
            do { return try await user(ofToken: token) != nil ? .valid : .ended } catch { return .unknown }
        }

        /// Whether a text has the form of a token: 32 bytes in base64url.
        ///
        /// Anything else is not worth a question.
        private static func isToken(_ text: String) -> Bool {
            text.utf8.count == 43 && text.utf8.allSatisfy(isBase64URL)
        }

        private static func isBase64URL(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
#endif
