#if Client || canImport(SQLite3)
    public import ChatClient
    internal import Foundation

    /// A sentence for the user, with a stable code: what went wrong, or what was done.
    public struct Feedback: Hashable, Sendable {
        /// The stable code, which is the key of a translation.
        public let code: String
        /// The sentence in English.
        public let sentence: String

        /// Creates feedback.
        public init(code: String, _ sentence: String) { (self.code, self.sentence) = (code, sentence) }

        /// Creates The feedback of a failure.
        public init(failure: any ChatFailure) { self.init(code: failure.code, failure.sentence) }

        /// Creates the feedback of a error; nil for a cancellation, which the user has caused.
        public init?(_ error: any Error) {
            switch error {
            case ClientError.cancelled, is CancellationError: return nil
            case let failure as any ChatFailure: self.init(failure: failure)
            default: self.init(code: "unknown", "\(error)")
            }
        }

        /// Creates The feedback of a rejection.
        public init(_ rejection: Rejection) { self.init(code: rejection.code.rawValue, rejection.message) }

        /// The sentence in the language of the app: from the table `Feedback`, where the code is the
        /// key.
        public var text: String { Bundle.main.localizedString(forKey: code, value: sentence, table: "Feedback") }
    }
#endif
