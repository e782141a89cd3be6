#if Server
    // What the loop asks a connection.
    extension HTTPConnection {
        /// The longest times of the phases.
        private enum Limit {
            static let idle = Duration.seconds(60)
            /// While others wait to be accepted.
            static let idleOfMany = Duration.seconds(5)
            /// While new ones need their places: clients send a request with its body when they have
            /// connected.
            static let shortestIdle = Duration.milliseconds(10)
            /// From the first byte of a head to its last one.
            static let head = Duration.seconds(10)
            static let body = Duration.seconds(30)
            /// In which a client reads 64 KiB of a response, or the rest.
            static let unread = Duration.seconds(60)
            static let lingering = Duration.seconds(10)
        }

        /// The memory that the end of the connection gives back at once; nil for none.
        var endableMemory: HeldMemory? {
            #if os(Linux)
                if let socket { return socket.messages.byteCount > 0 ? socket.messages : nil }
            #endif
            return held
        }

        /// The time at which the head, the body or the message began that holds memory.
        var heldSince: ContinuousClock.Instant {
            #if os(Linux)
                if let socket { return socket.messageBegan }
            #endif
            return since
        }

        /// Whether bytes of the client are read.
        var wantsInput: Bool {
            guard !hasInputEnded else { return false }
            switch phase {
            // Of requests that were sent at once the first ones are answered before more is read.
            case .head(let parser): return parser != nil || input.isEmpty
            case .body, .lingering, .stream: return true
            default: return false
            }
        }

        /// Whether the connection has bytes to go on with: messages of a WebSocket, or requests that
        /// were sent at once with those that are answered.
        var hasInputLeft: Bool {
            #if os(Linux)
                if let socket { return socket.hasInput }
            #endif
            guard output.isEmpty, !input.isEmpty else { return false }
            switch phase {
            case .head(let parser): return parser == nil
            case .response: return true
            default: return false
            }
        }

        /// The bytes that are received at once: small chunks take as much time as many bytes.
        var receiveByteCount: Int {
            if case .body(let request, _) = phase, request.chunks != nil {
                2 << 10
            } else {
                ConnectionLoop.receiveByteCount
            }
        }

        #if os(Linux)
            /// The WebSocket that the connection has become.
            var socket: SocketPeer? { if case .socket(let socket) = phase { socket } else { nil } }
        #endif

        var isSocket: Bool {
            #if os(Linux)
                socket != nil
            #else
                false
            #endif
        }

        /// Whether nothing more is sent or read.
        var isOver: Bool {
            if case .over = phase { return true }
            #if os(Linux)
                if output.isEmpty, let socket { return socket.isOver }
            #endif
            return false
        }

        /// What the poll reports from now on.
        func wantedInterest(isTurnOver: Bool) -> Interest {
            var reads = interest.reads || wantsInput
            #if os(Linux)
                // Of a WebSocket that is not read, the poll would report the bytes again and again.
                if let socket { reads = socket.wantsInput }
            #endif
            return Interest(reads: reads, writes: !output.isEmpty || isTurnOver)
        }

        /// Whether the request has begun and its response is not sent.
        var hasExchange: Bool {
            switch phase {
            case .admission, .body, .handling, .response, .stream: true
            default: false
            }
        }

        /// Whether the connection may end for a new one, because nothing of a request has come for a
        /// while and all is sent.
        var mayEndForAnother: Bool {
            guard output.isEmpty, context.now - since >= Limit.shortestIdle else { return false }
            switch phase {
            case .head(let parser): return parser == nil && input.isEmpty
            case .lingering: return true
            default: return false
            }
        }

        /// Whether the connection is past the time that it may take for what it does.
        var isLate: Bool {
            let limit: Duration
            switch phase {
            case .head(let parser):
                limit = parser != nil ? Limit.head : context.isFull ? Limit.idleOfMany : Limit.idle
            case .body: limit = Limit.body
            case .lingering: limit = Limit.lingering
            default:
                if output.isEmpty { return false }
                limit = Limit.unread
            }
            return context.now - since > limit
        }
    }
#endif
