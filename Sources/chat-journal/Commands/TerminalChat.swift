import Chat
import ChatDomain

#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation
#endif

extension ToolCommand {
    static let chat = ToolCommand(
        spec: CommandSpec(
            "chat", "shows and writes the chat of a server, with a network or without",
            positionals: [CommandSpec.Positional("URL", "the address of the server, such as https://chat.example")],
            options: [
                CommandSpec.Option(
                    "email", .text("ADDRESS"), "the e-mail address to sign in with, if no session is kept"),
                CommandSpec.Option("password-file", .text("FILE"), "the password is the first line of FILE"),
                CommandSpec.Option(
                    "data", .text("DIR"),
                    "the directory of the session, the local copy and the outbox; default $XDG_STATE_HOME/chat-journal, or ~/.local/state/chat-journal"
                ),
                CommandSpec.Option("sign-up", .flag, "create an account, with the code of a mail"),
                CommandSpec.Option("sign-out", .flag, "end the session, and remove the local copy from this machine"),
                CommandSpec.Option(
                    "discard-outbox", .flag,
                    "with --sign-out: also if messages wait or were rejected, which are then lost"),
                CommandSpec.Option(
                    "start-over", .flag,
                    "make a new local copy, because the server has another journal or the copy is damaged; what waits is sent, as far as it can be read"
                ),
                CommandSpec.Option(
                    "lines", .flag,
                    "without a terminal: commands on standard input, changes of the outbox on standard output"),
            ],
            discussion: chatHelp)
    ) { arguments, output in
        #if Client || canImport(SQLite3)
            return try await TerminalChat(arguments).run()
        #else
            throw arguments.error("this build has no client: build it with 'swift build --traits Client'")
        #endif
    }
}

private let chatHelp = """
    The session is kept in the directory, one for each server. Without one, the e-mail address and the password are asked
    for at the terminal, or taken from --email and from --password-file or the variable CHATJOURNAL_PASSWORD.

    With --lines, each line of standard input is a command as 'run' takes it, whose acting user can be left out, or
    {"withdraw":ITEM}, which takes back a command that was not sent or was rejected. What waits from an earlier run is sent
    too. A line can also be a query, whose fields are the parameters of the HTTP API, or follow a thread:
      {"timeline":{"thread":THREAD,"limit":20,"before":POSITION}}  also "replies" of a "message", "threads", "inbox", ...
      {"follow":{"thread":THREAD}}, {"unfollow":{"thread":THREAD}} its messages, from now on, as they are new or change
      {"read":{"thread":THREAD}}                                   read, up to the last message that was written here
    Each line of standard output is one of:
      {"item":ITEM,"line":LINE,"state":"queued","command":{...}}   durable on this machine, with the ids that were made
      {"item":ITEM,"state":"sending"}
      {"item":ITEM,"state":"confirmed","receipt":{...}}            no receipt if the output was read too slowly
      {"item":ITEM,"state":"rejected","rejection":{"code":...,"message":...}}
      {"item":ITEM,"state":"withdrawn"}
      {"line":LINE,"error":{"code":...,"message":...}}             or "rejection": the line was not added, or has no answer
      {"line":LINE,"timeline":{"items":[...],...}}                 the answer to a query, under its name
      {"thread":THREAD,"new":true,"post":{...}}                    of a thread that is followed; without "new" it has
                                                                   changed, with "error" no more will come
      {"connection":"connecting", "connected", "waiting" or "stopped" [,"problem":TEXT] [,"seconds":NUMBER]}
    Ends when the input has ended and no command waits, or on SIGTERM or SIGINT. The exit status is 1 if a line was wrong, a
    command is left in the outbox, or the client has stopped.
    Needs a build with the package trait Client, on other systems than Apple's.
    """

#if Client || canImport(SQLite3)
    /// The copy of `chat` cannot be opened.
    private struct UnusableCopy: Error, CustomStringConvertible {
        let error: ClientError
        var description: String { "\(error)\(error.storage?.hint ?? "")" }
    }

    extension ClientError.Storage {
        /// The option that helps with a copy, as a sentence after another one; empty if none does.
        var hint: String {
            switch self {
            case .held, .full, .closed, .notWritable: ""
            case .unknownFormat, .damaged, .notReadable, .symbolicLink, .removed, .failed:
                " With --start-over a new copy takes its place, and what can be read of what waits is sent."
            }
        }
    }

    /// The parsed arguments of `chat`.
    private struct TerminalChat {
        let arguments: Arguments
        let folder: ChatFolder
        let accounts: ServerAccounts
        let tokens: FileTokenStore

        init(_ arguments: Arguments) throws {
            self.arguments = arguments
            let words = ["sign-up", "sign-out", "lines"].filter(arguments.hasFlag)
            if words.count > 1 { throw arguments.error("--\(words[0]) and --\(words[1]) exclude each other") }
            if arguments.hasFlag("start-over"), arguments.hasFlag("sign-out") {
                throw arguments.error("--start-over and --sign-out exclude each other")
            }
            if arguments.hasFlag("discard-outbox"), !arguments.hasFlag("sign-out") {
                throw arguments.error("--sign-out is missing")
            }
            guard let server = URL(string: arguments[positional: "URL"]) else {
                throw arguments.error("URL is not an address of a server")
            }
            do throws(ClientError) { accounts = try ServerAccounts(server) } catch {
                throw arguments.error("URL: \(error)")
            }
            folder = try ChatFolder(arguments[option: "data"], environment: ProcessInfo.processInfo.environment)
            tokens = try folder.tokens(of: server)
        }

        func run() async throws -> Bool {
            if arguments.hasFlag("sign-out") { return try await signOut() }
            let terminal = arguments.hasFlag("lines") ? nil : try screenTerminal()
            let session = try await session()
            let client = try open(session)
            let signals = Signals([SIGTERM, SIGINT, SIGHUP])
            do {
                let isClean: Bool
                if let terminal {
                    isClean = try await runScreen(client, session, terminal, signals)
                } else {
                    isClean = try await LinesMode(client: client).run(signals.arrivals)
                }
                signals.end()
                client.close()
                return isClean
            } catch {
                switch (error as? ClientStopped)?.reason {
                // The next start asks for the password. The copy and the outbox stay.
                case .signedOut:
                    client.close()
                    try tokens.remove()
                case .accountDeleted:
                    try client.removeCopy(discardsOutbox: true)
                    try tokens.remove()
                default: client.close()
                }
                throw error
            }
        }

        /// Opens the copy of a session's user, or with `--start-over` a new one in its place.
        private func open(_ session: ClientSession) throws -> ChatClient {
            do throws(ClientError) {
                guard arguments.hasFlag("start-over") else { return try ChatClient(session, directory: folder.path) }
                let (client, outbox) = try ChatClient.startingOver(session, directory: folder.path)
                StandardError.writeLine("\(ToolSpec.name): \(outbox)")
                return client
            } catch { throw UnusableCopy(error: error) }
        }

        /// The terminal on which a screen can be drawn.
        private func screenTerminal() throws -> Terminal {
            let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
            guard SystemIO.isTerminal(SystemIO.standardOutput), kind != "dumb", !kind.isEmpty, let terminal = Terminal()
            else {
                throw ArgumentError("this is no terminal with a screen: use --lines")
            }
            return terminal
        }

        private func runScreen(_ client: ChatClient, _ session: ClientSession, _ terminal: Terminal, _ signals: Signals)
            async throws
            -> Bool
        {
            // Any text but an empty one: https://no-color.org
            let hasColours = ProcessInfo.processInfo.environment["NO_COLOR"].map(\.isEmpty) ?? true
            let resizes = Signals([SIGWINCH])
            let end = try await ScreenMode(client: client, terminal: terminal, hasColours: hasColours) { [accounts] in
                try await accounts.signOut(session)
            }
            .run(signals.arrivals, resizes: resizes.arrivals)
            resizes.end()
            if end == .signOut {
                try client.removeCopy(discardsOutbox: true)
                try tokens.remove()
            } else if case .stopped(let reason) = client.connection, reason != .anotherHistory {
                // The screen has no room for the whole sentence.
                throw ClientStopped(reason: reason)
            }
            return true
        }

        private func session() async throws -> ClientSession {
            let signIn = SignIn(
                accounts: accounts, tokens: tokens, email: arguments[option: "email"],
                passwordFile: arguments[option: "password-file"],
                environment: ProcessInfo.processInfo.environment)
            return try await arguments.hasFlag("sign-up") ? signIn.signUp() : signIn.session()
        }

        /// Ends the session at the server, and removes the copy and the session from this machine.
        private func signOut() async throws -> Bool {
            if let session = try tokens.load() {
                try await removeCopy(of: session) { try await endSession(session) }
                try tokens.remove()
                return true
            }
            // The copies of sessions that have ended.
            let users = try ChatClient.usersWithCopy(of: accounts.server, directory: folder.path)
            guard !users.isEmpty else { throw ArgumentError("no session at this server is kept") }
            for user in users {
                let ended = ClientSession(
                    server: accounts.server, user: UserSummary(id: user), token: SessionToken(rawValue: ""))
                try await removeCopy(of: ended) {}
            }
            return true
        }

        /// Removes the copy of a session's user, also one that cannot be opened, unless messages wait
        /// that may not be lost.
        private func removeCopy(of session: ClientSession, before: () async throws -> Void) async throws {
            let client = try openedCopy(of: session)
            defer { client?.close() }
            if !arguments.hasFlag("discard-outbox"), let client {
                let loss = try client.outboxLoss()
                guard loss.isEmpty else {
                    throw ArgumentError("\(loss) Send or withdraw them, or use --discard-outbox.")
                }
            }
            try await before()
            client?.close()
            try ChatClient.removeCopy(of: session, directory: folder.path)
        }

        /// Opens the copy that is to be removed; of one that cannot be opened, what can be read.
        ///
        /// - Returns: Nil for one that cannot be opened, if messages may be lost.
        private func openedCopy(of session: ClientSession) throws -> ChatClient? {
            do throws(ClientError) { return try ChatClient(session, directory: folder.path) } catch {
                guard error.storage?.hint.isEmpty == false else { throw error }
                if arguments.hasFlag("discard-outbox") { return nil }
                StandardError.writeLine("\(ToolSpec.name): \(error)")
                let (client, outbox) = try ChatClient.startingOver(session, directory: folder.path)
                StandardError.writeLine("\(ToolSpec.name): \(outbox)")
                return client
            }
        }

        /// Ends the session at the server; without an answer of it, asks whether the session may
        /// stay there.
        private func endSession(_ session: ClientSession) async throws {
            do throws(ClientError) { try await accounts.signOut(session) } catch {
                var prompt = try Prompt(orUse: "sign out when the server can be reached. \(error.sentence)")
                try prompt.say("Signing out at the server has failed. \(error.sentence)")
                try prompt.say("The session there stays until it expires.")
                let answer = try prompt.ask("Remove the copy and the session from this machine? [y/n]")
                guard ["y", "Y"].contains(answer) else {
                    throw ArgumentError("You are still signed in, and everything is kept.")
                }
            }
        }
    }
#endif
