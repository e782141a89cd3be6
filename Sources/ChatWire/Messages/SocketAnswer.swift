public import ChatValues

/// The answer to the commands of a message, or the problem because of which none was executed.
public struct SocketAnswer: Sendable {
    /// The name of the member of the message that has the JSON.
    enum Member: String { case answer, answers, problem }

    let member: Member
    package let json: [UInt8]

    /// Creates the answer from the body of a response of `POST /v1/commands`, as another server
    /// gave it.
    ///
    /// - Parameters:
    ///   - json: The body.
    ///   - commands: The commands that it answers.
    ///   - isProblem: Whether its status is not 200.
    public init(json: [UInt8], to commands: ClientCommands, isProblem: Bool) {
        self.json = json
        member = isProblem ? .problem : commands.isBatch ? .answers : .answer
    }

    /// Creates the answer to commands that were not executed.
    public init(_ problem: Problem) { (member, json) = (.problem, Self.json(of: problem)) }

    /// Returns the JSON of a value; every value of an answer can be encoded.
    static func json(of value: some Encodable) -> [UInt8] {
        var json: [UInt8] = []
        // Only a number that is not finite cannot be encoded, and no value has one.
        do { try JSONLineEncoder(listLimit: .answer).encode(value, into: &json) } catch {
            preconditionFailure("the value encodes: \(error)")
        }
        return json
    }
}
