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
        ///
        /// The duration is the wait that a proxy before the server has asked for; nil if none has.
        case unreachable(String, retryAfter: Duration? = nil)
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
        /// A file of this device cannot be read or written; nil if it is not known which one.
        case storage(Storage, file: String? = nil)
        /// The address of a server cannot be used; the text says why.
        case invalidAddress(String)
        /// The task was cancelled; the server may have carried out the request.
        case cancelled
        /// The server has not executed the command before the deadline of the call; the command
        /// stays in the outbox, and is sent.
        case deadlinePassed

        /// What is wrong with a file.
        public enum Storage: Hashable, Sendable {
            /// The file has another format, or belongs to another user or server.
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
            /// Another program has removed, renamed or replaced the file while it was open.
            case removed
            /// The system or the database has failed with this code.
            case failed(Int)
        }
    }

    extension ClientError {
        /// The rule that does not permit the command; nil for any other error.
        public var rejection: Rejection? { if case .rejected(let rejection) = self { rejection } else { nil } }

        /// What is wrong with a file; nil for any other error.
        public var storage: Storage? { if case .storage(let storage, _) = self { storage } else { nil } }

        /// Whether the same request can succeed later, without a change of what it asks for.
        package var isTransient: Bool {
            switch self {
            case .unreachable, .tooManyAttempts, .storage(.full, _): true
            case .problem(let problem): problem.retryAfter != nil || problem.status >= 500
            default: false
            }
        }

        /// The time after which the server allows the same request; nil if it has given none.
        public var retryAfter: Duration? {
            switch self {
            case .problem(let problem): problem.retryAfter.map { .seconds($0) }
            case .tooManyAttempts(let retryAfter), .unreachable(_, let retryAfter): retryAfter
            default: nil
            }
        }

        /// Returns the error with the file that it is about, if it has none.
        func about(_ file: String) -> ClientError {
            if case .storage(let storage, nil) = self { .storage(storage, file: file) } else { self }
        }
    }

    extension ClientError: CustomStringConvertible {
        /// The code and a sentence for people.
        public var description: String {
            switch self {
            case .rejected(let rejection): rejection.description
            case .problem(let problem): problem.description
            case .unreachable(let reason, _): "unreachable: \(reason)"
            case .signedOut: "signedOut: The session has ended. Sign in again."
            case .accountDeleted: "accountDeleted: The account was deleted."
            case .notFound: "notFound: There is nothing here that you can see."
            case .tooManyAttempts(let wait):
                "tooManyAttempts: Too many attempts. Try again \(wait.map { "in \($0.components.seconds) s" } ?? "later")."
            case .answerInvalid(let reason): "answerInvalid: \(reason)"
            case .answerTooLarge: "answerTooLarge: The answer of the server is too large."
            case .storage(let storage, let file): "storage: \(storage.sentence(of: file))"
            case .invalidAddress(let reason): "invalidAddress: \(reason)"
            case .cancelled: "cancelled: The request was cancelled."
            case .deadlinePassed:
                "deadlinePassed: The server has not answered in time. What was to be sent stays in the outbox."
            }
        }
    }

    extension ClientError.Storage {
        /// What is wrong with a file, and the way out.
        fileprivate func sentence(of file: String?) -> String {
            let (start, name) = (file ?? "The file", file ?? "the file")
            return switch self {
            case .unknownFormat:
                "\(start) is not one of this program's, or belongs to another user or server. Start over without it."
            case .damaged: "\(start) is damaged. Start over, which keeps what can be read, or remove it."
            case .held: "Another program holds \(name). Close it and try again."
            case .full: "The disk is full. Make room for \(name)."
            case .closed: "\(start) is closed already."
            case .notReadable: "\(start) cannot be read. Check its permissions, or start over without it."
            case .notWritable: "\(start) cannot be written. Check its permissions and its directory."
            case .symbolicLink: "\(start) is a symbolic link. Remove the link, or start over."
            case .removed:
                "\(start) was removed or replaced while it was in use. Start again: what waited in it is lost."
            case .failed(let code): "\(start) cannot be read or written (\(code)). Check it, or start over without it."
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
                case .moved: .storage(.removed)
                case .noAccess: .storage(.notReadable)
                case .readOnly: .storage(.notWritable)
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
            case (502...504, nil):
                return .unreachable(
                    "A proxy before the server answers with the status \(status).", retryAfter: retryAfter)
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
