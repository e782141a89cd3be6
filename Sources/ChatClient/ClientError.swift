#if Client || canImport(SQLite3)
    public import ChatDomain
    package import ChatValues
    package import Foundation
    package import LocalStorage

    /// Why a client could not do what it was told.
    ///
    /// The description begins with a stable code. It never has a token or a password.
    public enum ClientError: Error, Hashable, Sendable {
        /// A rule of the chat does not permit the command.
        case rejected(Rejection)
        /// The server has not carried out the request, for a reason that has no case of its own.
        case problem(ServerProblem)
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

    /// A request that the server has not carried out (RFC 9457).
    public struct ServerProblem: Error, Hashable, Sendable {
        /// The status of HTTP.
        public var status: Int
        /// The reason.
        public var code: Code
        /// A description for people; it may change between versions.
        public var detail: String
        /// The path of the wrong field in the request, such as `email`; nil if it is not one field.
        public var field: String?
        /// The number of the wrong command in a batch, from 1; nil if it is not one command.
        public var line: Int?
        /// The time after which the same request can succeed; nil if the server has given none.
        public var retryAfter: Duration?

        /// Creates a problem, for example in a test.
        public init(
            status: Int, code: Code, detail: String, field: String? = nil, line: Int? = nil, retryAfter: Duration? = nil
        ) {
            (self.status, self.code, self.detail) = (status, code, detail)
            (self.field, self.line, self.retryAfter) = (field, line, retryAfter)
        }

        /// A stable name of a reason; servers may have more than these.
        public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
            /// The stable text.
            public let rawValue: String

            /// Creates the code with a text.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The stable text.
            public var description: String { rawValue }

            /// The e-mail address or the password is wrong.
            public static let invalidCredentials = Code(rawValue: "invalidCredentials")
            /// The code of the mail is wrong, used up or too old.
            public static let invalidCode = Code(rawValue: "invalidCode")
            /// The text is no e-mail address.
            public static let invalidEmail = Code(rawValue: "invalidEmail")
            /// The password is too short or too long.
            public static let invalidPassword = Code(rawValue: "invalidPassword")
            /// The password is one of the most common ones.
            public static let commonPassword = Code(rawValue: "commonPassword")
            /// The username is not valid.
            public static let invalidUsername = Code(rawValue: "invalidUsername")
            /// Another user has this username; confirm again with the same code and another one.
            public static let usernameTaken = Code(rawValue: "usernameTaken")
            /// The label of the device is too long, or has control characters.
            public static let invalidDevice = Code(rawValue: "invalidDevice")
            /// The account is confirmed, but its username was taken: confirm again with another
            /// one.
            public static let notRegistered = Code(rawValue: "notRegistered")
            /// The resume token does not belong to the history of this journal.
            public static let invalidToken = Code(rawValue: "invalidToken")
            /// A bounded queue of the server is full.
            public static let busy = Code(rawValue: "busy")
            /// The server ends.
            public static let closing = Code(rawValue: "closing")
            /// The disk of the server is full; nothing was appended.
            public static let storageFull = Code(rawValue: "storageFull")
            /// The clock of the server cannot be believed; nothing was appended.
            public static let clockStepped = Code(rawValue: "clockStepped")
            /// The server that writes cannot be reached; it may have carried out the request.
            public static let writerUnavailable = Code(rawValue: "writerUnavailable")
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
            case .problem(let problem): problem.retryAfter
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

    extension ServerProblem: CustomStringConvertible {
        /// The code and the detail.
        public var description: String { "\(code): \(detail)" }
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
            let fields = try? JSONDecoder().decode(ProblemFields.self, from: body)
            let retryAfter = header ?? fields?.retryAfter.map { .seconds(max(0, Int32(clamping: $0))) }
            switch (status, fields?.code) {
            case (401, "notSignedIn"): return .signedOut
            case (401, "accountDeleted"): return .accountDeleted
            case (404, "notFound"): return .notFound
            // Also from a proxy.
            case (429, _): return .tooManyAttempts(retryAfter: retryAfter)
            // A proxy cannot reach the server.
            case (502...504, nil): return .unreachable("A proxy before the server answers with the status \(status).")
            case (_, let code?):
                return .problem(
                    ServerProblem(
                        status: status, code: ServerProblem.Code(rawValue: code),
                        detail: String((fields?.detail ?? "").prefix(4_096)),
                        field: fields?.field,
                        line: fields?.line, retryAfter: retryAfter))
            case (_, nil): return .answerInvalid("The answer has the status \(status) and no problem of a chat server.")
            }
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
            switch try decode(DecodedCommandAnswer.self).result {
            case .success(let receipt): return receipt
            case .failure(let rejection): throw .rejected(rejection)
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

    /// The answer to a command of a batch, or to a single one.
    package struct DecodedCommandAnswer: Decodable, Sendable {
        /// The number of the command in the batch, from 1.
        package let line: Int
        package let result: Result<Receipt, Rejection>

        private enum CodingKeys: CodingKey { case line, rejection }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            line = try container.decode(Int.self, forKey: .line)
            result =
                if let rejection = try container.decodeIfPresent(Rejection.self, forKey: .rejection) {
                    .failure(rejection)
                } else {
                    .success(try Receipt(from: decoder))
                }
        }
    }

    /// The members of a problem that the client reads.
    private struct ProblemFields: Decodable {
        let code: String
        let detail: String?
        let field: String?
        let line: Int?
        let retryAfter: Int?
    }
#endif
