#if Server
    internal import ChatAccounts
    public import ChatWire

    extension Problem.Code {
        /// The request needs a session.
        public static let notSignedIn = Problem.Code(rawValue: "notSignedIn")
        /// The account of the session was deleted.
        public static let accountDeleted = Problem.Code(rawValue: "accountDeleted")
        /// The request comes from a page of another origin.
        public static let foreignOrigin = Problem.Code(rawValue: "foreignOrigin")
        /// The header `Host` does not name this server.
        public static let misdirectedRequest = Problem.Code(rawValue: "misdirectedRequest")
        /// The body is not `application/json`.
        public static let unsupportedMediaType = Problem.Code(rawValue: "unsupportedMediaType")
        /// The request is not one of HTTP/1.1, or its headers contradict one another.
        public static let invalidRequest = Problem.Code(rawValue: "invalidRequest")
        /// A header that decides something, such as `Cookie` or `Host`, is there twice.
        public static let invalidHeader = Problem.Code(rawValue: "invalidHeader")
        /// A bounded queue is full; the same request can succeed later.
        public static let busy = Problem.Code(rawValue: "busy")
        /// The user has used up a limit (``UserLimits``); the same request can succeed later.
        public static let tooManyRequests = Problem.Code(rawValue: "tooManyRequests")
        /// The server that writes, to which this server passes requests, cannot be reached.
        public static let writerUnavailable = Problem.Code(rawValue: "writerUnavailable")
        /// Another user has this username.
        public static let usernameTaken = Problem.Code(rawValue: "usernameTaken")
        /// A route of the host program has failed with an error that is no problem.
        public static let hostFailed = Problem.Code(rawValue: "hostFailed")
        /// The request is no handshake of a WebSocket.
        public static let upgradeRequired = Problem.Code(rawValue: "upgradeRequired")
    }

    extension Problem {
        static let notSignedIn = Problem(401, .notSignedIn, "This request needs a session. Sign in first.")
        static let accountDeleted = Problem(401, .accountDeleted, "The account of this session was deleted.")
        static let foreignOrigin = Problem(403, .foreignOrigin, "Pages of this origin cannot use this server.")
        static let misdirectedRequest = Problem(421, .misdirectedRequest, "The header Host does not name this server.")
        static let unsupportedMediaType = Problem(
            415, .unsupportedMediaType, "The body must have the type application/json.")
        static let tooLarge = Problem(413, .tooLarge, "The body is too large.")
        static let invalidRequest = Problem(400, .invalidRequest, "The headers of the request contradict one another.")
        static let busy = Problem(503, .busy, "Too many requests at this moment. Try again later.", retryAfter: 1)
        static let upgradeRequired = Problem(
            426, .upgradeRequired, "This path takes WebSocket handshakes of version 13 only.")
        static let writerUnavailable = Problem(
            503, .writerUnavailable,
            "The server that writes cannot be reached. Send the request again, with the same ids.", retryAfter: 1)
        static let hostFailed = Problem(500, .hostFailed, "The program of this server has failed to answer.")
        static let usernameTaken = Problem(
            409, .usernameTaken,
            "Another user has this username. Confirm again with the same code and another username.")

        /// The problem of any error of a route.
        init(serverError error: any Error) {
            if let error = error as? AccountError { self.init(error) } else { self.init(routeError: error) }
        }

        /// The problem of an error of the accounts; its code is the same.
        init(_ error: AccountError) {
            let code = Code(rawValue: error.code.rawValue)
            switch error.code {
            case .invalidCredentials: self.init(401, code, error.message)
            case .notRegistered: self.init(409, code, error.message)
            case .tooManyAttempts:
                let seconds = error.retryAfter.map { Int(clamping: ($0.components.seconds) + 1) } ?? 1
                self.init(429, code, error.message, retryAfter: seconds)
            // The text says whether a queue is full or another program holds the file.
            case .busy: self.init(503, .busy, error.message, retryAfter: 1)
            // The account was deleted while the request was carried out.
            case .unknownAccount: self.init(400, .init(rawValue: "invalidCode"), error.message, field: "code")
            case .storageFull: self.init(503, .storageFull, error.message, retryAfter: 30)
            case .invalidUsername: self.init(400, code, error.message, field: "username")
            case .invalidEmail: self.init(400, code, error.message, field: "email")
            case .invalidPassword, .commonPassword: self.init(400, code, error.message, field: "password")
            case .invalidDevice: self.init(400, code, error.message, field: "device")
            case .invalidCode: self.init(400, code, error.message, field: "code")
            default: self.init(500, .storage, "The accounts cannot be read or written.")
            }
        }
    }
#endif
