import Chat
import ChatDomain
import ChatWire

extension ToolCommand {
    static let run = ToolCommand(
        spec: CommandSpec(
            "run", "executes commands, one JSON object a line, and prints one answer a line",
            positionals: [
                .journal, CommandSpec.Positional("FILE", "the commands; default standard input", isOptional: true),
            ],
            options: [
                .durability, .waitForLock, .takeOver, .head, .acceptRollback, .expectHead, .acceptClock,
                CommandSpec.Option(
                    "batch", .text("N"),
                    "up to N commands share a commit: 1 to 4096, default 1; fewer when no line is waiting, or at 4 MiB"
                ),
            ],
            discussion: commandHelp)
    ) { arguments, output in
        let batchSize = try arguments.integer("batch", in: 1...4_096) ?? 1
        var lines =
            try arguments[optional: "FILE"].map { path throws(ToolError) in try LineReader(path: path) }
            ?? .standardInput()
        let headFile = arguments[option: "head"].map { HeadFile(path: $0) }
        let store = try arguments.openForWriting(try arguments.headRequirement(headFile))
        let keeper = try headFile.map { file in
            try arguments.afterOpening {
                try HeadKeeper(store, file, durability: try arguments.journalOptions().durability) { error in
                    StandardError.writeLine(
                        "\(ToolSpec.name): the head is not kept: \(escapedForTerminal("\(error)"))")
                }
            }
        }
        var isClean = true
        while let batch = try CommandBatch(from: &lines, limit: batchSize) {
            for answer in try batch.execute(on: store) {
                try output.writeLine(json: answer)
                isClean = isClean && answer.isReceipt
            }
            try output.flush()
        }
        if let keeper { try keeper.close() } else { try store.close() }
        return isClean
    }
}

/// The forms of the commands and their answers.
private let commandHelp = """
    A line is an object whose key is the command, with "correlation" as an optional second key, and "once", an
    id that makes a command safe to send again that creates nothing. What is in brackets is optional. The store makes an id that is left out; a given id makes the line safe to send
    again. THREAD is an id or an outward code; other ids are UUIDs.
      {"registerUser":{["user":ID,] "username":TEXT [,"subject":TEXT]}}
      {"changeUsername":{"user":ID,"username":TEXT}}
      {"setPostcode":{"user":ID,"postcode":TEXT}}
      {"openThread":{["thread":ID,] "name":TEXT,"by":ID [,"policy":"open", "listed" or "inviteOnly"]
                     [,"history":"all" or "sinceJoining"]}}
      {"openDirect":{["thread":ID,] "by":ID,"with":[ID, ...]}}
      {"joinThread":{"user":ID,"thread":THREAD}}
      {"leaveThread":{"user":ID,"thread":THREAD}}
      {"postMessage":{["message":ID,] "thread":THREAD,"author":ID,"body":TEXT [,"mentions":[ID, ...]] [,"findMentions":BOOL]}}
      {"reply":{["reply":ID,] "message":ID,"author":ID,"body":TEXT [,"mentions":[ID, ...]] [,"findMentions":BOOL]}}
      {"edit":{["edit":ID,] "message" or "reply":ID,"by":ID,"body":TEXT [,"replaces":POSITION] [,"mentions":[ID, ...]] [,"findMentions":BOOL]}}
      {"retract":{"message" or "reply":ID,"by":ID}}
      {"markRead":{"user":ID,"thread":THREAD,"upTo":POSITION [,"seen":POSITION]}}
      {"markUnread":{"user":ID,"thread":THREAD,"from":POSITION [,"seen":POSITION]}}
      {"markInboxRead":{"user":ID,"upTo":POSITION}}
      {"setProfile":{"user":ID [,"about":TEXT or null]}}
      {"setNotifications":{"user":ID,"thread":THREAD,"level":"all", "mentions" or "none" [,"until":TIME or null]}}
      {"startSession":{"user":ID, ["session":ID,] "device":TEXT}}
      {"endSession":{"session":ID}}
      {"invite":{"thread":THREAD,"user":ID,"by":ID}}, likewise revokeInvitation
      {"acceptInvitation":{"thread":THREAD,"user":ID}}, likewise declineInvitation
      {"setRole":{"thread":THREAD,"user":ID,"role":"member", "moderator" or "owner","by":ID}}
      {"grantOperator":{"user":ID}}, likewise revokeOperator
      {"remove":{"message" or "reply":ID,"by":ID,"reason":TEXT}}, likewise report
      {"resolveReport":{"message" or "reply":ID,"by":ID}}
      {"mute":{"thread":THREAD,"user":ID,"by":ID,"reason":TEXT [,"until":TIME or null]}}, likewise ban
      {"unmute":{"thread":THREAD,"user":ID,"by":ID}}, likewise unban
      {"removeMember":{"thread":THREAD,"user":ID,"by":ID,"reason":TEXT}}
      {"pin":{"message":ID,"by":ID}}, likewise unpin
      {"react":{"message" or "reply":ID,"by":ID,"emoji":EMOJI or ":name:" [,"seen":POSITION]}}, likewise unreact
      {"lockThread":{"thread":THREAD,"by":ID}}, likewise unlockThread, closeThread
      {"setThreadPolicy":{"thread":THREAD,"policy":"open", "listed" or "inviteOnly" [,"history":...],"by":ID}}
      {"renameThread":{"thread":THREAD,"name":TEXT,"by":ID}}
      {"block":{"user":ID,"by":ID}}, likewise unblock
      {"custom":{["id":ID,] "kind":NAME,"thread":THREAD,"by":ID,"payload":JSON}}
    An answer is {"line":1,"positions":[12,12],"events":[...],"duplicate":false}, or
    {"line":1,"rejection":{"code":...,"message":...}}, or for a line that is not a command
    {"line":1,"error":{"code":...,"message":...}}. The exit status is 1 unless every line is accepted.
    """

/// Lines whose commands share one commit.
private struct CommandBatch {
    /// A batch ends with the line that reaches this number of bytes: it bounds memory and stays
    /// below the limit of a commit.
    private static let byteLimit = 4 << 20

    private var lines: [(number: Int, request: Result<CommandRequest, LineError>)] = []

    /// Reads lines up to a limit while one is waiting; nil at the end of the input.
    init?(from reader: inout LineReader, limit: Int) throws(ToolError) {
        var byteCount = 0
        while lines.count < limit, byteCount < Self.byteLimit, lines.isEmpty || reader.isLineWaiting,
            let line = try reader.next()
        {
            if case .bytes(let bytes) = line { byteCount += bytes.count }
            lines.append((reader.lineNumber, line.decode(CommandRequest.self)))
        }
        if lines.isEmpty { return nil }
    }

    /// Executes the commands of the lines, and answers each line.
    func execute(on store: ChatStore) throws(ChatError) -> [CommandAnswer] {
        let requests = lines.compactMap { line in try? line.request.get() }
        var answers = try store.executeBlocking(requests)[...]
        return lines.map { line in
            switch line.request {
            case .failure(let error): CommandAnswer(line: line.number, error)
            case .success:
                CommandAnswer(line: line.number, answers.removeFirst())
            }
        }
    }
}
