import ChatDomain

@testable import ChatWire

/// Checks the invariants of the parsing of a client's request: its target and its body.
///
/// The first byte of the input is the length of the target in bytes; the body follows it.
enum RequestHarness {
    /// A violated invariant.
    struct Violation: Error {
        var message: String
    }

    private static let actor = UserID(bits: 0x0189_0a5d_ac96_774b_bcce_b302_0990_0001)

    /// Checks one input.
    ///
    /// - Returns: Whether the target and the body were both accepted.
    @discardableResult
    static func check(_ input: [UInt8]) throws -> Bool {
        let rest = input.dropFirst()
        let target = rest.prefix(Int(input.first ?? 0))
        return try checkTarget(String(decoding: target, as: UTF8.self))
            && checkBody(Array(rest.dropFirst(target.count)))
    }

    private static func checkTarget(_ target: String) throws -> Bool {
        let request: WireRequest
        do throws(Problem) {
            request = try WireRequest(method: "GET", target: target)
        } catch {
            try checkProblem(error, statuses: [400, 404])
            return false
        }
        let texts = request.path + request.query.flatMap { [$0.name, $0.value] }
        for text in texts {
            try require(
                text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
                "a control character in \(target)")
        }
        // Encoded in the strictest way, the parts are the same again.
        let again =
            "/" + request.path.map(encoded).joined(separator: "/") + "?"
            + request.query.map { encoded($0.name) + "=" + encoded($0.value) }.joined(separator: "&")
        do {
            let copy = try WireRequest(method: "GET", target: again)
            try require(copy.path == request.path, "the path of \(target) is another one after its encoding")
            try require(copy.query.map(\.name) == request.query.map(\.name), "the names of \(target) are other ones")
            try require(copy.query.map(\.value) == request.query.map(\.value), "the values of \(target) are other ones")
        } catch let problem as Problem {
            throw Violation(message: "\(again) is rejected: \(problem.detail)")
        }
        do {
            try request.requireParameters(["limit", "before", "after"])
            if let limit = try request.number("limit", in: 1...200) {
                try require((1...200).contains(limit), "a limit of \(limit)")
            }
            _ = try request.number("before", in: 0...UInt64.max)
        } catch let problem as Problem {
            try checkProblem(problem, statuses: [400])
        }
        _ = Router(ChatRoutes.routes).match(method: "GET", path: request.path)
        return true
    }

    private static func checkBody(_ body: [UInt8]) throws -> Bool {
        let commands: ClientCommands
        do throws(Problem) {
            commands = try ClientCommands(body, actor: actor)
        } catch {
            try checkProblem(error, statuses: [400, 403, 413])
            return false
        }
        try check(commands, actor: actor)
        return true
    }

    /// Checks commands that were accepted from a user.
    static func check(_ commands: ClientCommands, actor: UserID) throws {
        try require(
            (1...ClientCommands.maximumCount).contains(commands.requests.count), "\(commands.requests.count) commands")
        try require(commands.isBatch || commands.requests.count == 1, "several commands that are no batch")
        for request in commands.requests {
            switch request.command.kind {
            case .registerUser, .grantOperator, .revokeOperator:
                throw Violation(message: "a forbidden command: \(request)")
            default: try require(request.command.actor ?? actor == actor, "a command of another user: \(request)")
            }
            try require(request.origin == .native, "an import: \(request)")
            var line: [UInt8] = []
            try JSONLineEncoder().encode(request, into: &line)
            do {
                try require(
                    try ClientCommands(line, actor: actor).requests == [request],
                    "another command after its JSON: \(request)")
            } catch let problem as Problem {
                throw Violation(message: "the JSON of \(request) is rejected: \(problem.detail)")
            }
        }
    }

    private static func checkProblem(_ problem: Problem, statuses: Set<Int>) throws {
        try require(statuses.contains(problem.status), "the status \(problem.status)")
        try require(
            !problem.detail.isEmpty && problem.detail.unicodeScalars.count < 1_000, "the detail is \(problem.detail)")
        try require(
            problem.line.map { (1...ClientCommands.maximumCount).contains($0) } ?? true, "the line \(problem.line ?? 0)"
        )
        _ = WireResponse(problem)
    }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw Violation(message: message()) }
    }
}
