#if Server
    extension HTTPConnection {
        /// What a connection does, with all that belongs to it.
        enum Phase {
            /// Reads a head, or waits for its first byte, without a parser.
            case head(HTTPHeadParser?)
            /// The handler decides whether the body is read.
            case admission(PartialRequest, AnsweredRequest)
            case body(PartialRequest, AnsweredRequest)
            /// The handler responds.
            case handling(AnsweredRequest)
            /// The output has the rest of a response.
            case response(AnsweredRequest)
            case stream(Mailbox, AnsweredRequest)
            #if os(Linux)
                case socket(SocketPeer)
            #endif
            /// All is sent; the client gets time to read it, and what it sends is dropped.
            case lingering
            case over
        }

        /// A request whose body is not complete.
        ///
        /// A class: the content of a struct would be copied when it grows, because the phase has it
        /// too.
        final class PartialRequest {
            let head: HTTPHead
            let limit: Int
            var content: [UInt8] = []
            var chunks: ChunkDecoder?

            init(_ head: HTTPHead, limit: Int, _ chunks: ChunkDecoder? = nil) {
                (self.head, self.limit, self.chunks) = (head, limit, chunks)
            }

            var heldByteCount: Int { content.count + head.heldByteCount }
        }

        /// The request that is answered.
        struct AnsweredRequest {
            /// Nil for a request that cannot be read, or whose head alone is answered.
            var exchange: HTTPExchange?
            /// Whether the response has no body.
            let isToHead: Bool
            /// Whether a stream is sent in chunks.
            let isChunked: Bool
            /// Whether the connection ends after the response.
            var isLast: Bool
            /// The status of the response; 0 until it is known.
            var status = 0

            /// Ends the exchange.
            func complete() { exchange?.complete(status) }
        }
    }
#endif
