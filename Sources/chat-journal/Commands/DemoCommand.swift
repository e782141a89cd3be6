import Chat
import ChatDomain
import EventJournal

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ToolCommand {
    static let demo = ToolCommand(
        spec: CommandSpec(
            "demo", "runs a short conversation of neighbours on a new journal, from the first command to a check",
            positionals: [
                CommandSpec.Positional(
                    "DIR", "the directory of the new journal; default a temporary directory, which is removed",
                    isOptional: true)
            ],
            discussion: "The conversation is fixed; its ids and times are new in each run.")
    ) { arguments, output in
        let directory =
            arguments[optional: "DIR"]
            ?? FileManager.default.temporaryDirectory.appending(path: "chat-journal-demo-\(UUID())").path
        let isKept = arguments[optional: "DIR"] != nil
        let isEmpty =
            try !FileManager.default.fileExists(atPath: directory)
            || FileManager.default.contentsOfDirectory(atPath: directory).isEmpty
        guard isEmpty else { throw ArgumentError("demo needs a new or empty directory: '\(directory)' has files") }
        let isSound: Bool
        do {
            isSound = try await Demo(directory: directory).run(&output)
            if !isKept { try FileManager.default.removeItem(atPath: directory) }
        } catch {
            if !isKept { try? FileManager.default.removeItem(atPath: directory) }
            throw error
        }
        let place = escapedForTerminal(directory)
        try output.writeLine(
            isKept
                ? "The journal is in \(place). Try '\(ToolSpec.name) user \(place) Ben' or '\(ToolSpec.name) --help'."
                : "The temporary journal is removed. '\(ToolSpec.name) demo DIR' keeps it in DIR.")
        return isSound
    }
}

/// A short conversation of neighbours: every step calls the store as any program would.
private struct Demo {
    let directory: String
    private let store: ChatStore
    private let code: OutwardCode

    init(directory: String) throws {
        guard let code = OutwardCode("SW1A") else { preconditionFailure("SW1A is an outward code") }
        self.code = code
        self.directory = directory
        store = try ChatStore.open(directory)
    }

    private var thread: ThreadID { ThreadID(code) }

    /// Runs all steps; returns whether the journal is sound at the end.
    func run(_ output: inout BufferedOutput) async throws -> Bool {
        try begin(
            "1. Ann and Ben live in SW1A, Cleo does not: residents join the thread of their outward code.", &output)
        var steps = Table([.init("POSITIONS", .right), .init("COMMAND"), .init("EVENTS")])
        for name in ["Ann", "Ben", "Cleo"] { try execute("register \(name)", .registerUser(username: name), &steps) }
        let (ann, ben, cleo) = (try user("Ann"), try user("Ben"), try user("Cleo"))
        for (user, name, postcode) in [(ann, "Ann", "SW1A 1AA"), (ben, "Ben", "SW1A 2AA"), (cleo, "Cleo", "M1 1AE")] {
            try execute(
                "set the postcode of \(name) to \(postcode)", .setPostcode(postcode: postcode, by: user), &steps)
        }
        let question = "Could someone pick up milk? I am isolating."
        try execute("Ann posts in SW1A", .postMessage(thread: thread, body: question, by: ann), &steps)
        let (posted, message) = (store.head.position, try lastMessage())
        try execute("Ben replies", .reply(to: message, body: "On my way. Oat or cow?", by: ben), &steps)
        try execute(
            "Ann edits her message", .edit(.message(message), body: "Could someone pick up oat milk?", by: ann), &steps)
        try execute("Cleo posts in SW1A", .postMessage(thread: thread, body: "Hello?", by: cleo), &steps)
        try output.write(steps.render())

        try begin("2. The timeline of SW1A, as Ben sees it.", &output)
        try output.show(
            timeline: try store.reader(as: .user(ben)).timeline(thread).entries, to: .user(ben), asJSON: false)
        try output.writeLine("\nThe replies to the message:\n")
        try output.show(
            replies: try store.reader(as: .user(ben)).replies(to: message).entries, to: .user(ben), asJSON: false)

        try begin("3. The same timeline as of position \(posted), before the edit.", &output)
        try output.show(
            timeline: try store.reader(as: .host, asOf: .position(posted)).timeline(thread).entries, to: .host,
            asJSON: false)

        try begin("4. Live: one task follows the events while another one posts.", &output)
        try output.flush()
        try await follow([(ben, "Oat milk it is."), (ann, "Thank you!"), (ben, "It is at your door.")])

        try begin("5. The check of the whole journal.", &output)
        try store.close()
        let report = try ChatStore.verify(directory, deep: true)
        try output.writeLine(
            report.findings.isEmpty
                ? "sound up to position \(report.position)"
                : "\(report.findings.count) findings; see '\(ToolSpec.name) verify'")
        try output.writeLine()
        return report.findings.isEmpty
    }

    private func begin(_ title: String, _ output: inout BufferedOutput) throws {
        if title.first != "1" { try output.writeLine() }
        try output.writeLine(title)
        try output.writeLine()
    }

    /// Executes a command and adds its answer to the table.
    private func execute(_ words: String, _ command: ChatCommand, _ steps: inout Table) throws {
        switch try store.executeBlocking([CommandRequest(command)])[0] {
        case .success(let receipt):
            guard let positions = receipt.positions else { return }
            let (first, last) = (positions.lowerBound, positions.upperBound)
            let kinds = receipt.events.map { $0.kind?.name ?? "unknown" }
            steps.append([first == last ? "\(first)" : "\(first)...\(last)", words, kinds.joined(separator: ", ")])
        case .failure(let rejection):
            steps.append(["-", words, "rejected: \(rejection.code.rawValue): \(rejection.message)"])
        }
    }

    private func user(_ name: String) throws -> UserID { try store.findUser(name, asOf: .now) }

    private func lastMessage() throws -> MessageID {
        guard let message = try store.reader(as: .host).timeline(thread).last else {
            throw ArgumentError("SW1A has no message")
        }
        return message.message
    }

    /// Prints each post as it arrives at a follower; the posts come from another task.
    private func follow(_ posts: [(author: UserID, body: String)]) async throws {
        let events = store.events(after: store.head.position, matching: EventFilter(as: .host))
        try await withThrowingTaskGroup { tasks in
            tasks.addTask {
                var output = BufferedOutput()
                var remaining = posts.count
                for try await event in events {
                    try output.write(event.recorded, asJSON: false)
                    try output.flush()
                    remaining -= 1
                    if remaining == 0 { break }
                }
            }
            tasks.addTask {
                for post in posts {
                    _ = try await store.execute(.postMessage(thread: thread, body: post.body, by: post.author))
                }
            }
            // An error of one task cancels the other one.
            while try await tasks.next() != nil {}
        }
    }
}
