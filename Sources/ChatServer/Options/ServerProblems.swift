#if Server
    internal import ChatAccounts
    internal import ChatWire

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
            case .unknownAccount: self.init(400, .invalidCode, error.message, field: "code")
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
