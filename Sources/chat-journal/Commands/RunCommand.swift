import Chat
import ChatDomain

extension Command {
    static let run = Command(
        spec: CommandSpec(
            "run", "executes commands, one JSON object a line, and prints one answer a line",
            positionals: [.journal, CommandSpec.Positional("FILE", "the commands; standard input unless given", isOptional: true)],
            options: [
                .durability, .waitForLock,
                CommandSpec.Option(
                    "batch", .text("N"),
                    "up to N commands (1 unless given, 4096 at most) share one commit; a batch ends early when no line is waiting, and at 4 MiB"
                ),
            ],
            discussion: """
                A line is an object whose key is the command, with "correlation" as an optional second key. An id in brackets may be left out, and
                the store makes it; given, it makes the line safe to send again. THREAD is an id or an outward code; other ids are UUIDs.
                  {"registerUser":{["user":ID,] "username":TEXT [,"subject":TEXT]}}
                  {"changeUsername":{"user":ID,"username":TEXT}}
                  {"setPostcode":{"user":ID,"postcode":TEXT}}
                  {"openThread":{["thread":ID,] "name":TEXT,"by":ID}}
                  {"joinThread":{"user":ID,"thread":THREAD}}
                  {"leaveThread":{"user":ID,"thread":THREAD}}
                  {"postMessage":{["message":ID,] "thread":THREAD,"author":ID,"body":TEXT}}
                  {"reply":{["reply":ID,] "message":ID,"author":ID,"body":TEXT}}
                  {"edit":{"message" or "reply":ID,"by":ID,"body":TEXT}}
                  {"retract":{"message" or "reply":ID,"by":ID}}
                  {"markRead":{"user":ID,"thread":THREAD,"upTo":POSITION}}
                  {"startSession":{"user":ID, ["session":ID,] "device":TEXT}}
                  {"endSession":{"session":ID}}
                An answer is {"line":1,"positions":[12,12],"events":[...],"duplicate":false}, or {"line":1,"rejection":{"code":...,"message":...}},
                or for a line that is no command {"line":1,"error":{"code":...,"message":...}}. The exit status is 1 if any line was not accepted.
                """)
    ) { arguments, output in
        let batchSize = try arguments.integer("batch", in: 1...4_096) ?? 1
        var lines = try arguments[optional: "FILE"].map { path throws(ToolError) in try LineReader(path: path) } ?? .standardInput()
        let store = try arguments.openToWrite()
        var isClean = true
        while let batch = try CommandBatch(from: &lines, limit: batchSize) {
            for answer in try batch.execute(on: store) {
                try output.writeLine(json: answer)
                isClean = isClean && answer.isReceipt
            }
            try output.flush()
        }
        try store.close()
        return isClean
    }
}

/// Lines that are decided as one commit.
private struct CommandBatch {
    /// A batch ends with the line that reaches so many bytes, whatever its number of lines: it stays far below what a commit can hold, and memory bounded.
    private static let byteLimit = 4 << 20

    private var lines: [(number: Int, request: Result<CommandRequest, LineError>)] = []

    /// Takes lines up to a limit, as long as one is waiting; nil at the end of the input.
    init?(from reader: inout LineReader, limit: Int) throws(ToolError) {
        var byteCount = 0
        while lines.count < limit, byteCount < Self.byteLimit, lines.isEmpty || reader.isLineWaiting, let line = try reader.next() {
            if case .bytes(let bytes) = line { byteCount += bytes.count }
            lines.append((reader.lineNumber, line.decode(CommandRequest.self)))
        }
        if lines.isEmpty { return nil }
    }

    /// Executes the commands among the lines, and answers each line.
    func execute(on store: ChatStore) throws(ChatError) -> [RunAnswer] {
        let requests = lines.compactMap { line in try? line.request.get() }
        var answers = try store.execute(requests)[...]
        return lines.map { line in
            switch line.request {
            case .failure(let error): RunAnswer(line: line.number, outcome: .error(error))
            case .success:
                switch answers.removeFirst() {
                case .success(let receipt): RunAnswer(line: line.number, outcome: .receipt(receipt))
                case .failure(let rejection): RunAnswer(line: line.number, outcome: .rejection(rejection))
                }
            }
        }
    }
}

/// The answer to a line of input, as it is printed.
struct RunAnswer: Encodable {
    enum Outcome {
        case receipt(Receipt)
        case rejection(Rejection)
        case error(LineError)
    }
    let line: Int
    let outcome: Outcome

    var isReceipt: Bool {
        if case .receipt = outcome { true } else { false }
    }

    private enum CodingKeys: CodingKey { case line, rejection, error }
    private enum ErrorKeys: CodingKey { case code, message }

    func encode(to encoder: any Encoder) throws {
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
