#if Server
    /// Why a request is answered and not read on; the connection ends after the answer.
    enum HTTPError: Error, Hashable, Sendable {
        /// The bytes are no request by RFC 9112; the text says why.
        case malformed(String)
        /// A header that decides something is there twice.
        case repeated(SingleHeader)
        case targetTooLong
        case headersTooLarge
        /// A method or a transfer coding that the server does not have.
        case notImplemented
        case unknownVersion
        case bodyTooLarge
        /// The bodies of all requests together are too large.
        case busy

        var status: Int {
            switch self {
            case .malformed, .repeated: 400
            case .bodyTooLarge: 413
            case .targetTooLong: 414
            case .headersTooLarge: 431
            case .notImplemented: 501
            case .busy: 503
            case .unknownVersion: 505
            }
        }
    }
#endif
