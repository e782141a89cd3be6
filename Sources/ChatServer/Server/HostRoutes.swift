#if Server
    internal import Chat
    internal import ChatWire

    extension ServerExtensions {
        /// Returns the server's own routes and those of the host program.
        ///
        /// - Throws: `invalidRoute` for a path that is not valid, or that takes requests of another
        ///   route.
        func routes(
            addedTo own: [Route<ServerCore.Handler>], _ limits: UsedLimits, _ log: ServerLog
        ) throws(ServerError) -> [Route<ServerCore.Handler>] {
            var all = own
            let added = routes.map { route in
                let handler = ServerCore.Handler.chat(route.handler(limits, log))
                return (Route(route.method.rawValue, route.path, handler), route.hasValidPath, "GET /v1/polls/{poll}")
            }
            let addedSockets = sockets.map { socket in
                let route = Route("GET", socket.path, takesEveryMethod: true, ServerCore.Handler.hostSocket(socket))
                return (route, socket.hasValidPath, "GET /chat")
            }
            for (added, isValid, example) in added + addedSockets {
                guard isValid else {
                    throw ServerError(.invalidRoute, "\(added.name) is no route such as \(example).")
                }
                if let other = all.first(where: added.overlaps) {
                    throw ServerError(.invalidRoute, "The route \(added.name) takes requests of \(other.name).")
                }
                all.append(added)
            }
            return all
        }
    }

    extension HostSocket {
        /// Whether every segment of the path is a text that names no file of the server.
        fileprivate var hasValidPath: Bool {
            path.hasPrefix("/") && path != "/healthz" && !path.contains(".")
                && path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).allSatisfy {
                    !$0.isEmpty && !$0.contains("{") && !$0.contains("}")
                }
        }
    }

    extension HostRoute {
        /// Whether the path begins with `/v1/`, and every segment is a text or a name in braces.
        fileprivate var hasValidPath: Bool {
            let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(2)
            let names = segments.filter { $0.hasPrefix("{") }
            return path.hasPrefix("/v1/") && Set(names).count == names.count
                && segments.allSatisfy { segment in
                    let text =
                        segment.hasPrefix("{") && segment.hasSuffix("}") ? segment.dropFirst().dropLast() : segment
                    return !text.isEmpty && !text.contains("{") && !text.contains("}")
                }
        }

        /// The handler that counts a request which changes something as a command.
        fileprivate func handler(_ limits: UsedLimits, _ log: ServerLog) -> ChatRoutes.Handler {
            { context in
                if method != .get { try limits.use([(.commands, 1)], by: context.user) }
                do {
                    return try await respond(
                        HostRequest(user: context.user, request: context.request, parameters: context.parameters))
                } catch let error where error is Problem || error is ChatError || error is CancellationError {
                    throw error
                } catch {
                    log.write("requestFailed", ("route", "\(method.rawValue) \(path)"), ("error", "\(type(of: error))"))
                    throw Problem.hostFailed
                }
            }
        }
    }
#endif
