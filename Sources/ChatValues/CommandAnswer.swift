public import ChatDomain

/// The answer to one command of the input:
/// `{"line":1,"positions":[12,12],"events":[...],"duplicate":false}`,
/// `{"line":1,"rejection":{"code":...,"message":...}}`, or
/// `{"line":1,"error":{"code":...,"message":...}}`.
///
/// The answer to a batch is an array of them.
public struct CommandAnswer: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case receipt(Receipt)
        case rejection(Rejection)
        /// The line is not a command. A server answers such a body with a ``Problem``.
        case error(code: String, message: String)
    }

    /// The number of the command in the input, from 1.
    public let line: Int
    package let outcome: Outcome

    package init(line: Int, outcome: Outcome) {
        self.line = line
        self.outcome = outcome
    }

    /// Creates the answer to a decided command.
    public init(line: Int, _ result: Result<Receipt, Rejection>) {
        self.line = line
        switch result {
        case .success(let receipt): outcome = .receipt(receipt)
        case .failure(let rejection): outcome = .rejection(rejection)
        }
    }

    /// What was decided; nil if the line is not a command.
    public var result: Result<Receipt, Rejection>? {
        switch outcome {
        case .receipt(let receipt): .success(receipt)
        case .rejection(let rejection): .failure(rejection)
        case .error: nil
        }
    }

    /// Whether the command was accepted.
    public var isReceipt: Bool {
        if case .receipt = outcome { true } else { false }
    }
}

extension CommandAnswer: Codable {
    private enum CodingKeys: CodingKey { case line, rejection, error }
    private enum ErrorKeys: CodingKey { case code, message }

    /// Encodes the line and the outcome.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(line, forKey: .line)
        switch outcome {
        case .receipt(let receipt): try receipt.encode(to: encoder)
        case .rejection(let rejection): try container.encode(rejection, forKey: .rejection)
        case .error(let code, let message):
            var fields = container.nestedContainer(keyedBy: ErrorKeys.self, forKey: .error)
            try fields.encode(code, forKey: .code)
            try fields.encode(message, forKey: .message)
        }
    }

    /// Decodes the form that `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        line = try container.decode(Int.self, forKey: .line)
        if let rejection = try container.decodeIfPresent(Rejection.self, forKey: .rejection) {
            outcome = .rejection(rejection)
        } else if container.contains(.error) {
            let fields = try container.nestedContainer(keyedBy: ErrorKeys.self, forKey: .error)
            outcome = .error(
                code: try fields.decode(String.self, forKey: .code),
                message: try fields.decode(String.self, forKey: .message))
        } else {
            outcome = .receipt(try Receipt(from: decoder))
        }
    }
}
