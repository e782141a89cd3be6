public import Chat
public import ChatDomain

/// The answer to one command of the input:
/// `{"line":1,"positions":[12,12],"events":[...],"duplicate":false}`,
/// `{"line":1,"rejection":{"code":...,"message":...}}`, or
/// `{"line":1,"error":{"code":...,"message":...}}`.
public struct CommandAnswer: Sendable {
    package enum Outcome: Sendable {
        case receipt(Receipt)
        case rejection(Rejection)
        /// The line is not a command.
        case error(LineError)
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

    /// Whether the command was accepted.
    public var isReceipt: Bool {
        if case .receipt = outcome { true } else { false }
    }
}

extension CommandAnswer: Encodable {
    private enum CodingKeys: CodingKey { case line, rejection, error }
    private enum ErrorKeys: CodingKey { case code, message }

    /// Encodes the line and the outcome.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(line, forKey: .line)
        switch outcome {
        case .receipt(let receipt): try receipt.encode(to: encoder)
        case .rejection(let rejection): try container.encode(rejection, forKey: .rejection)
        case .error(let error):
            var fields = container.nestedContainer(keyedBy: ErrorKeys.self, forKey: .error)
            try fields.encode(error.code.rawValue, forKey: .code)
            try fields.encode(error.description, forKey: .message)
        }
    }
}
