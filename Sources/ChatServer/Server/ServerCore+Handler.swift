#if Server
    internal import ChatWire
    internal import Locking

    extension ServerCore: HTTPHandler {
        func check(_ head: HTTPHead) -> HTTPResponse? {
            headCheck.problem(of: head).map(rejection)
        }

        func bodyLimit(of head: HTTPHead) -> Int { headCheck.bodyLimit(of: head) }

        func response(to error: HTTPError) -> HTTPResponse { rejection(Problem(error)) }

        func rejection(_ problem: Problem) -> HTTPResponse {
            metrics.count(route: "rejected", status: problem.status, microseconds: 0)
            return HTTPResponse(WireResponse(problem)).withStandardHeaders
        }

        func admit(_ head: HTTPHead, _ exchange: HTTPExchange) {
            pending.withLock { $0 += 1 }
            Task(executorPreference: executor(of: likelyClient(of: head))) { await self.decideBody(of: head, exchange) }
        }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            if request.head.isHealthCheck { return respondToHealthCheck(request, exchange) }
            // Before the task runs, so that the server waits for it when it closes.
            let client = likelyClient(of: request.head)
            let byteCount =
                ServerMemory.request + request.head.heldByteCount + (request.held == nil ? request.body.count : 0)
            guard let held = memory.hold(byteCount, by: client) else { return exchange.respond(rejection(.busy)) }
            exchange.hold(held)
            if let body = request.held { exchange.hold(body) }
            pending.withLock { $0 += 1 }
            Task(executorPreference: executor(of: client)) { await self.respond(to: request, of: client, exchange) }
        }
    }

    extension HTTPResponse {
        /// Creates the response of a route, which is no stream.
        init(_ response: WireResponse) {
            guard case .bytes(let bytes) = response.body else {
                preconditionFailure("a stream is opened with its exchange")
            }
            self.init(status: response.status, headers: response.headers, body: .bytes(bytes))
        }

        /// The response with the headers that every response has.
        var withStandardHeaders: HTTPResponse {
            var response = self
            if !headers.contains(where: { $0.name == "Cache-Control" }) {
                response.headers.append(("Cache-Control", "no-store"))
            }
            response.headers += [
                ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                ("Cross-Origin-Resource-Policy", "same-origin"),
            ]
            if status == 401 { response.headers.append(("WWW-Authenticate", "Bearer")) }
            if status == 426 {
                response.headers += [
                    ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                ]
            }
            return response
        }
    }
#endif
