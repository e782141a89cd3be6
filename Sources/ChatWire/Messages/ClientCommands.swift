public import ChatDomain
public import ChatValues

/// The commands of one request of a client, checked against the user of the session.
///
/// Decodes all of them or none: a malformed or forbidden command of a batch is a problem with its
/// number, and no command is executed. `CommandForm` in ChatDomain has the fields of each command
/// and who may send it.
public struct ClientCommands: Sendable {
    /// The largest number of commands in a batch.
    public static let maximumCount = 1_000

    /// The commands, in order.
    public let requests: [CommandRequest]
    /// Whether the body is an array.
    public let isBatch: Bool
    /// The JSON text that was decoded.
    public let body: [UInt8]

    /// Decodes a command object, or an array of them.
    ///
    /// The acting field (`author`, `by` or `user`) may be left out.
    ///
    /// - Parameters:
    ///   - body: The JSON text, whose size the caller bounds.
    ///   - actor: The user of the session.
    /// - Throws: `Problem` with the code of the JSON error, `tooLarge` for more than
    ///   ``maximumCount`` commands, `anotherUser` or `commandNotAllowed`.
    public init(_ body: [UInt8], actor: UserID) throws(Problem) {
        self.body = body
        let elements: [Range<Int>]?
        do throws(JSONScanError) {
            // The scanner needs valid UTF-8; `decodeLine` reports where it is not.
            elements =
                (try? UTF8Span(validating: body.span)) == nil
                ? nil : try JSONScanner.elements(of: body, limit: Self.maximumCount)
        } catch {
            if error.problem == .tooMany {
                throw Problem(413, .tooLarge, "A batch has at most \(Self.maximumCount) commands.")
            }
            throw Problem(LineError(error), line: error.element.map { $0 + 1 })
        }
        guard let elements else {
            (requests, isBatch) = ([try Self.request(body, actor, line: nil)], false)
            return
        }
        guard !elements.isEmpty else { throw Problem(LineError(.invalidValue, "a batch has at least one command")) }
        var requests: [CommandRequest] = []
        requests.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            requests.append(try Self.request(Array(body[element]), actor, line: index + 1))
        }
        (self.requests, isBatch) = (requests, true)
    }

    private static func request(_ text: [UInt8], _ actor: UserID, line: Int?) throws(Problem) -> CommandRequest {
        let request: CommandRequest
        do throws(LineError) {
            request = try decodeLine(CommandRequest.self, from: text, actor: actor)
        } catch {
            throw Problem(error, line: line)
        }
        guard request.command.kind.form.sender == .client else {
            throw Problem(403, .commandNotAllowed, "Clients cannot send this command.", line: line)
        }
        if let named = request.command.actor, named != actor {
            throw Problem(
                403, .anotherUser, "The acting user of this command is not the user of the session.", line: line)
        }
        return request
    }
}
