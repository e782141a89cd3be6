#if Client || canImport(SQLite3)
    public import ChatDomain
    public import ChatValues
    package import Foundation
    package import LocalStorage

    /// Why a client could not do what it was told.
    ///
    /// The description begins with a stable code. It never has a token or a password.
    public enum ClientError: Error, Hashable, Sendable {
        /// A rule of the chat does not permit the command.
        case rejected(Rejection)
        /// The server has not carried out the request, for a reason that has no case of its own.
        case problem(Problem)
        /// The server cannot be reached or does not answer; it may have carried out the request.
        case unreachable(String)
        /// The session has ended, or there is none.
        case signedOut
        /// The account of the session was deleted, on this device or another one.
        case accountDeleted
        /// Nothing exists here, or the user may not see it.
        case notFound
        /// A limit of the account, the user or the network address is used up.
        ///
        /// The same request can succeed after the duration, which is nil if the server has given
        /// none.
        case tooManyAttempts(retryAfter: Duration?)
        /// The answer is not one of a chat server; the text says what is wrong.
        case answerInvalid(String)
        /// The answer is longer than its bound.
        case answerTooLarge
        /// A file of this device cannot be read or written.
        case storage(Storage)
        /// The address of a server cannot be used; the text says why.
        case invalidAddress(String)
        /// The task was cancelled; the server may have carried out the request.
        case cancelled

        /// What is wrong with a file.
        public enum Storage: Hashable, Sendable {
            /// The file has another format.
            case unknownFormat
            /// The content is damaged.
            case damaged
            /// Another program holds the file.
            case held
            /// The disk is full.
            case full
            /// The file is closed already.
            case closed
            /// The file cannot be opened or read.
            case notReadable
            /// The file cannot be written.
            case notWritable
            /// The path of the file is a symbolic link; one to a directory above it is followed.
            case symbolicLink
            /// The system or the database has failed with this code.
            case failed(Int)
        }
    }

    extension ClientError {
        /// The rule that does not permit the command; nil for any other error.
        public var rejection: Rejection? { if case .rejected(let rejection) = self { rejection } else { nil } }

        /// Whether the same request can succeed later, without a change of what it asks for.
        package var isTransient: Bool {
            switch self {
            case .unreachable, .tooManyAttempts: true
            case .problem(let problem): problem.retryAfter != nil || problem.status >= 500
            default: false
            }
        }

        /// The time after which the server allows the same request; nil if it has given none.
        public var retryAfter: Duration? {
            switch self {
            case .problem(let problem): problem.retryAfter.map { .seconds($0) }
            case .tooManyAttempts(let retryAfter): retryAfter
            default: nil
            }
        }
    }

    extension ClientError: CustomStringConvertible {
        /// The code and a sentence for people.
        public var description: String {
            switch self {
            case .rejected(let rejection): rejection.description
            case .problem(let problem): problem.description
            case .unreachable(let reason): "unreachable: \(reason)"
            case .signedOut: "signedOut: The session has ended. Sign in again."
            case .accountDeleted: "accountDeleted: The account was deleted."
            case .notFound: "notFound: There is nothing here that you can see."
            case .tooManyAttempts(let wait):
                "tooManyAttempts: Too many attempts. Try again \(wait.map { "in \($0.components.seconds) s" } ?? "later")."
            case .answerInvalid(let reason): "answerInvalid: \(reason)"
            case .answerTooLarge: "answerTooLarge: The answer of the server is too large."
            case .storage(let storage): "storage: \(storage.sentence)"
            case .invalidAddress(let reason): "invalidAddress: \(reason)"
            case .cancelled: "cancelled: The request was cancelled."
            }
        }
    }

    extension ClientError.Storage {
        fileprivate var sentence: String {
            switch self {
            case .unknownFormat: "The file is not one of this program's."
            case .damaged: "The file is damaged."
            case .held: "Another program holds the file. Close it and try again."
            case .full: "The disk is full."
            case .closed: "The file is closed already."
            case .notReadable: "The file cannot be read. Check its permissions."
            case .notWritable: "The file cannot be written. Check its permissions and its directory."
            case .symbolicLink: "The path of the file is a symbolic link. Name the file itself."
            case .failed(let code): "The file cannot be read or written (\(code))."
            }
        }
    }

    extension ClientError: DatabaseFailure {
        package init(_ error: DatabaseError) {
            self =
                switch error {
                case .notADatabase: .storage(.unknownFormat)
                case .damaged: .storage(.damaged)
                case .held: .storage(.held)
                case .full: .storage(.full)
                case .closed: .storage(.closed)
                case .symbolicLink: .storage(.symbolicLink)
                case .moved: .storage(.notWritable)
                case .other(let code): .storage(.failed(Int(code)))
                }
        }
    }

    // MARK: Answers

    extension ClientError {
        /// The error of a request without an answer.
        package init(_ failure: TransportFailure) {
            self =
                switch failure {
                case .unreachable(let reason): .unreachable(reason)
                case .answerTooLarge: .answerTooLarge
                case .cancelled: .cancelled
                case .refused(let answer): answer.error() ?? .answerInvalid("The answer is not a stream of events.")
                }
        }
    }

    extension ClientAnswer {
        /// The error that the answer means; nil for a status of success.
        ///
        /// - Parameter now: The time, for a `Retry-After` with a date.
        package func error(now: Date = Date()) -> ClientError? {
            switch status {
            case 200..<300: return nil
            case 300..<400: return .answerInvalid("The server redirects (status \(status)), which is not followed.")
            case 400..<600: break
            default: return .answerInvalid("The answer has the status \(status).")
            }
            let header = headers["retry-after"].flatMap { RetryAfter.parse($0, now: now) }
            let problem = try? JSONDecoder().decode(Problem.self, from: body)
            let retryAfter = header ?? problem?.retryAfter.map { .seconds(max(0, Int32(clamping: $0))) }
            switch (status, problem?.code) {
            case (401, .notSignedIn?): return .signedOut
            case (401, .accountDeleted?): return .accountDeleted
            case (404, .notFound?): return .notFound
            // Also from a proxy.
            case (429, _): return .tooManyAttempts(retryAfter: retryAfter)
            // A proxy cannot reach the server.
            case (502...504, nil): return .unreachable("A proxy before the server answers with the status \(status).")
            default: break
            }
            guard let problem else {
                return .answerInvalid("The answer has the status \(status) and no problem of a chat server.")
            }
            return .problem(
                Problem(
                    status, problem.code, String(problem.detail.prefix(4_096)), field: problem.field,
                    line: problem.line,
                    retryAfter: retryAfter.map { Int(($0 / .seconds(1)).rounded(.up)) }))
        }

        /// Throws the error that the answer means; returns for a status of success.
        package func check() throws(ClientError) {
            if let error = error() { throw error }
        }

        /// Decodes the body of an answer of success.
        package func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(ClientError) -> Value {
            try check()
            do { return try JSONDecoder().decode(type, from: body) } catch {
                throw .answerInvalid("The answer is not the JSON that was asked for\(Self.place(of: error)).")
            }
        }

        /// Decodes the answer to one command.
        package func receipt() throws(ClientError) -> Receipt {
            switch try decode(CommandAnswer.self).result {
            case .success(let receipt): return receipt
            case .failure(let rejection): throw .rejected(rejection)
            case nil: throw .answerInvalid("The server has not read the command that was sent.")
            }
        }

        /// The path of the wrong field, and nothing of what the field has: it can be a token.
        private static func place(of error: any Error) -> String {
            let context: DecodingError.Context? =
                switch error as? DecodingError {
                case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context): context
                case .keyNotFound(let key, let context):
                    .init(codingPath: context.codingPath + [key], debugDescription: "")
                default: nil
                }
            guard let path = context?.codingPath, !path.isEmpty else { return "" }
            return ": \(path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".").prefix(256))"
        }
    }
#endif
