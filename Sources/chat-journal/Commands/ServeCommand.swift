import Chat

#if Server
    import ChatAccounts
    import ChatServer
    import EventJournal
    import Foundation
    import TutorialChat
#endif

extension ToolCommand {
    static let serve = ToolCommand(
        spec: CommandSpec(
            "serve", "serves the journal over HTTP, with accounts", positionals: [.journal],
            options: [
                CommandSpec.Option("accounts", .text("FILE"), "the file of the accounts; created if it does not exist"),
                CommandSpec.Option(
                    "listen", .text("ADDRESS:PORT"), "the address to listen on; port 0 lets the system choose one"),
                CommandSpec.Option(
                    "mail", .text("DIR|COMMAND"),
                    "an existing directory for mails as files *.eml, or a program with arguments, run for each mail without a shell"
                ),
                CommandSpec.Option(
                    "writer", .text("URL"),
                    "serve queries and live events only, from a journal that another server writes; requests about accounts, and commands, go to that server"
                ),
                CommandSpec.Option("mail-from", .text("ADDRESS"), "the sender of the mails; default chat@localhost"),
                CommandSpec.Option(
                    "site-name", .text("NAME"), "the name of the site on the page and in mails"),
                CommandSpec.Option(
                    "about", .text("DIR"),
                    "a directory with the operator's terms.txt, privacy.txt and contact.txt, which the page links"),
                CommandSpec.Option(
                    "origin", .list("URL"),
                    "the origin of the pages, such as https://chat.example; required beyond loopback"),
                CommandSpec.Option("trust-proxy", .list("ADDRESS"), "believe X-Forwarded-For of this proxy"),
                CommandSpec.Option(
                    "operator", .list("ADDRESS"),
                    "make the account with this confirmed e-mail address an operator, now or when it is confirmed; revokes nothing if left out later"
                ),
                CommandSpec.Option("metrics", .text("ADDRESS:PORT"), "serve metrics there, on loopback"),
                CommandSpec.Option(
                    "tutorial-chat", .text("THREAD"),
                    "serve the chat of the SwiftUI tutorials at /chat, in a thread with this name"),
                CommandSpec.Option(
                    "tutorial-chat-public", .flag, "serve it beyond loopback too, although it has no accounts"),
                CommandSpec.Option(
                    "limit", .list("NAME=NUMBER"),
                    "what one user may do: commands, threads, invitations or sanctions a second, milliseconds of queries a second, streams at once"
                ),
                CommandSpec.Option(
                    "log", .choice(["problems", "requests"]), "log only problems (the default), or every request"),
                .durability, .waitForLock, .takeOver,
                CommandSpec.Option(
                    "head", .text("FILE"),
                    "keep the last synced head in FILE; default the file of the accounts with .head at its end"),
                .acceptRollback, .expectHead, .acceptClock,
            ],
            discussion: """
                Prints its URL when it accepts connections, and ends on SIGTERM, SIGINT or SIGHUP, after the requests in
                progress. Logs JSON lines to standard error. A mail command gets the mail, with the address in its
                header To, on standard input. TLS is left to a proxy.
                With --writer, the journal is opened for reading, and --accounts and --mail are not needed: the
                server at that URL has them. It must run with the same --origin, and with --trust-proxy and the
                address of this server.
                Mails have a link to the first --origin. Each text of --about has 64 KiB at most, in UTF-8; there is no link
                to one that is missing. They are read at the start.
                The journal must contain the head that was kept in the file of --head, so that a log that was set back
                is noticed: otherwise the command ends with status 65.
                Ends with status 75 if the journal stops: after a failed write, or when another writer has taken
                it over, or when it has moved, was set back or was removed.
                Needs a build with the package trait Server.
                """)
    ) { arguments, output in
        #if Server
            try await Serving(arguments).run(&output)
            return true
        #else
            throw arguments.error("this build has no server: build it with 'swift build --traits Server'")
        #endif
    }
}

#if Server
    /// The parsed arguments of `serve`.
    private struct Serving {
        /// What the server does itself.
        enum Role {
            case writer(
                accounts: String, head: HeadRequirement, sender: any MailSender, from: EmailAddress, site: AccountSite)
            case reader(of: WebOrigin)
        }

        let arguments: Arguments
        let options: ServerOptions
        let role: Role

        init(_ arguments: Arguments) throws(UsageError) {
            self.arguments = arguments
            role = try Self.role(arguments)
            options = try Self.options(arguments)
            if case .reader(let writer) = role, writer.isSecure, options.origins.isEmpty {
                throw arguments.error(
                    "--origin is missing: a server whose writer is reached over https needs the origin of its pages")
            }
        }

        private static func role(_ arguments: Arguments) throws(UsageError) -> Role {
            if let text = arguments[option: "writer"] {
                guard let writer = WebOrigin(text) else {
                    throw arguments.error(
                        "--writer takes a scheme and a host, such as https://writer.chat.example, not '\(escapedForTerminal(text))'"
                    )
                }
                guard writer.isSecure || writer.isLoopback else {
                    throw arguments.error("--writer beyond loopback takes an https URL, because tokens are sent to it")
                }
                for option in [
                    "accounts", "mail", "mail-from", "tutorial-chat", "durability", "wait-for-lock", "head", "expect",
                ]
                where arguments[option: option] != nil {
                    throw arguments.error("--\(option) belongs to the server that writes, not to one with --writer")
                }
                if !arguments[list: "operator"].isEmpty {
                    throw arguments.error("--operator belongs to the server that writes, not to one with --writer")
                }
                for flag in ["tutorial-chat-public", "take-over", "accept-rollback", "accept-clock"]
                where arguments.hasFlag(flag) {
                    throw arguments.error("--\(flag) belongs to the server that writes, not to one with --writer")
                }
                return .reader(of: writer)
            }
            guard let accounts = arguments[option: "accounts"] else {
                throw arguments.error("--accounts is missing: the file of the accounts")
            }
            guard let mail = arguments[option: "mail"] else {
                throw arguments.error(
                    "--mail is missing: a directory or a command, because sign-up needs a code by mail")
            }
            guard let from = EmailAddress(arguments[option: "mail-from"] ?? "chat@localhost") else {
                throw arguments.error("--mail-from takes an e-mail address")
            }
            let head = try arguments.headRequirement(HeadFile(path: arguments[option: "head"] ?? accounts + ".head"))
            return .writer(
                accounts: accounts, head: head, sender: try sender(mail, arguments), from: from,
                site: try site(arguments))
        }

        private static func options(_ arguments: Arguments) throws(UsageError) -> ServerOptions {
            func address(_ option: String) throws(UsageError) -> ListenAddress? {
                guard let text = arguments[option: option] else { return nil }
                guard let address = ListenAddress(text) else {
                    throw arguments.error(
                        "--\(option) takes an address and a port, such as 127.0.0.1:8080 or [::1]:8080")
                }
                return address
            }
            guard let listen = try address("listen") else {
                throw arguments.error("--listen is missing: an address and a port, such as 127.0.0.1:8080")
            }
            var options = ServerOptions(listen: listen)
            for text in arguments[list: "origin"] {
                guard let origin = WebOrigin(text) else {
                    throw arguments.error(
                        "--origin takes a scheme and a host, such as https://chat.example, not '\(escapedForTerminal(text))'"
                    )
                }
                options.origins.append(origin)
            }
            for text in arguments[list: "trust-proxy"] {
                guard let proxy = ClientAddress(text: text) else {
                    throw arguments.error(
                        "--trust-proxy takes an address such as 127.0.0.1, not '\(escapedForTerminal(text))'")
                }
                options.trustedProxies.append(proxy)
            }
            for text in arguments[list: "operator"] {
                guard let address = EmailAddress(text) else {
                    throw arguments.error("--operator takes an e-mail address, not '\(escapedForTerminal(text))'")
                }
                options.operators.append(address)
            }
            if !listen.isLoopback, options.origins.isEmpty {
                throw arguments.error("--origin is missing: a server beyond loopback needs the origin of its pages")
            }
            if arguments[option: "site-name"] != nil { options.siteName = try site(arguments).name }
            if let directory = arguments[option: "about"] { options.about = try aboutTexts(directory, arguments) }
            options.metrics = try address("metrics")
            if options.metrics?.isLoopback == false { throw arguments.error("--metrics takes an address on loopback") }

            let isTutorialPublic = arguments.hasFlag("tutorial-chat-public")
            if arguments[option: "tutorial-chat"] == nil, isTutorialPublic {
                throw arguments.error("--tutorial-chat is missing")
            }
            if arguments[option: "tutorial-chat"] != nil, !listen.isLoopback, !isTutorialPublic {
                throw arguments.error(
                    "--tutorial-chat beyond loopback needs --tutorial-chat-public, because it has no accounts")
            }
            for text in arguments[list: "limit"] {
                let parts = text.split(separator: "=", omittingEmptySubsequences: false)
                guard parts.count == 2, let name = UserLimits.Name(rawValue: String(parts[0])),
                    let number = Int(parts[1]),
                    (1...1_000_000).contains(number)
                else {
                    let names = UserLimits.Name.allCases.map(\.rawValue).joined(separator: ", ")
                    throw arguments.error(
                        "--limit takes one of \(names) and a number from 1 to 1000000, such as commands=5, not '\(escapedForTerminal(text))'"
                    )
                }
                options.userLimits[name] = number
            }
            options.logsRequests = arguments[option: "log"] == "requests"
            options.log = { StandardError.writeLineIfReady($0) }
            return options
        }

        private static func site(_ arguments: Arguments) throws(UsageError) -> AccountSite {
            var url = arguments[list: "origin"].first.flatMap { WebOrigin($0)?.description }
            // With port 0 the address of the page is not known yet.
            let listen = arguments[option: "listen"].flatMap { ListenAddress($0) }
            if url == nil, let listen, listen.port != 0 { url = "http://\(listen)" }
            guard
                let site = AccountSite(name: arguments[option: "site-name"] ?? ServerOptions.defaultSiteName, url: url)
            else {
                throw arguments.error("--site-name takes one line of 1 to 64 visible characters")
            }
            return site
        }

        /// Reads the texts of the operator.
        private static func aboutTexts(_ directory: String, _ arguments: Arguments) throws(UsageError) -> AboutTexts {
            var texts = AboutTexts()
            // Without attributes it is no directory.
            let target = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path
            let attributes = try? FileManager.default.attributesOfItem(atPath: target)
            guard attributes?[.type] as? FileAttributeType == .typeDirectory else {
                throw arguments.error("--about takes an existing directory")
            }
            for name in AboutTexts.names {
                let path = "\(directory)/\(name).txt"
                // A link without a target is an entry, whose error is reported.
                guard (try? FileManager.default.attributesOfItem(atPath: path)) != nil else { continue }
                do {
                    texts[name] = try TextFile.read(path, byteLimit: AboutTexts.maximumByteCount, isRegular: true)
                } catch { throw arguments.error("--about: \(error)") }
            }
            return texts
        }

        private static func sender(_ text: String, _ arguments: Arguments) throws(UsageError) -> any MailSender {
            let path = URL(fileURLWithPath: text).resolvingSymlinksInPath().path
            // Without attributes it is no directory; the check below reports the rest.
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            if attributes?[.type] as? FileAttributeType == .typeDirectory { return MailDirectory(path: path) }
            let words = text.split(separator: " ").map(String.init)
            guard let program = words.first, program.contains("/"),
                FileManager.default.isExecutableFile(atPath: program)
            else {
                throw arguments.error("--mail takes an existing directory, or the path of a program with its arguments")
            }
            return MailCommand(program: program, arguments: Array(words.dropFirst()))
        }

        func run(_ output: inout BufferedOutput) async throws {
            let signals = Signals([SIGTERM, SIGINT, SIGHUP])
            // A server that is taken over must not end for one that cannot start. Without it, a start
            // waits for the journal of another server, which has these until it ends.
            let takesOver = arguments.hasFlag("take-over")
            let early = try takesOver ? prepare() : nil
            let (store, closeStore) = try open()
            var (failure, isServing) = (JournalError?.none, false)
            do {
                let prepared = try early ?? prepare()
                let server = try await start(store, prepared)
                let accounts = prepared.accounts
                isServing = true
                // A reader leaves it to the server that writes.
                if case .writer = role { store.startScrubbing(Self.scrubOptions, Self.writeFinding) }
                try output.writeLine(server.url)
                try output.flush()
                await signals.first { server.failure != nil }
                await server.close()
                failure = server.failure
                // What stopped the journal may have met the accounts too; it is the error to
                // report.
                if failure == nil { try accounts?.close() } else { try? accounts?.close() }
            } catch {
                // The first error is the one to report.
                try? closeStore()
                if takesOver, !isServing { TakeOver.reportFailure() }
                throw error
            }
            // The journal has stopped. A service manager starts the process again.
            if let failure {
                // Closing reports the same failure.
                try? closeStore()
                throw StoppedWhileServing(description: failure.description)
            }
            try closeStore()
        }

        /// Opens the store; a writer's keeps its head.
        private func open() throws -> (store: ChatStore, close: () throws -> Void) {
            switch role {
            case .reader:
                let store = try arguments.openReadOnly()
                return (store, store.close)
            case .writer(_, let head, _, _, _):
                let store = try arguments.openForWriting(messageHandler: Self.writeMessage, head)
                guard let file = head.file else { return (store, store.close) }
                let keeper = try arguments.afterOpening {
                    try HeadKeeper(store, file, durability: try arguments.journalOptions().durability) { error in
                        Self.writeLine(["event": "headNotKept", "text": "\(error)"])
                    }
                }
                return (store, keeper.close)
            }
        }

        /// What a server needs besides the journal; a reader has no accounts.
        private struct Prepared {
            var accounts: AccountStore?
            var listeners: ServerListeners
        }

        private func prepare() throws -> Prepared {
            // The limit of descriptors is raised with the server.
            var prepared = Prepared(listeners: try ServerListeners(options))
            if case .writer(let path, _, let sender, let from, let site) = role {
                var accountOptions = AccountOptions()
                accountOptions.site = site
                accountOptions.mailFailed = { Self.writeLine(["event": "mailFailed", "code": "\($0.code)"]) }
                let accounts = try AccountStore(path: path, mailer: sender, from: from, options: accountOptions)
                try ChatServer.hold(accounts)
                prepared.accounts = accounts
            }
            return prepared
        }

        private func start(_ store: ChatStore, _ prepared: Prepared) async throws -> ChatServer {
            if case .reader(let writer) = role {
                return try await ChatServer(
                    readOnly: store, writer: writer, options: options, listeners: prepared.listeners)
            }
            guard let accounts = prepared.accounts else { preconditionFailure("a writer has accounts") }
            var extensions = ServerExtensions()
            if let thread = arguments[option: "tutorial-chat"] {
                let chat = try await TutorialChat(store, thread: thread)
                extensions.sockets = [chat.socket(isPublic: arguments.hasFlag("tutorial-chat-public"))]
            }
            return try await ChatServer(
                store: store, accounts: accounts, options: options, extensions: extensions,
                listeners: prepared.listeners)
        }

        /// Each week, at most 16 MiB of the segments a second on average.
        private static let scrubOptions = ScrubOptions(bytesPerSecond: 16 << 20, pause: .seconds(7 * 86_400))

        private static func writeFinding(_ finding: JournalFinding) {
            writeLine(["event": "scrubFinding", "problem": finding.problem, "text": finding.description])
        }

        private static func writeMessage(_ message: LogMessage) {
            writeLine(["event": "journal", "level": message.level.rawValue, "text": message.text])
        }

        /// Writes a line of JSON to standard error.
        private static func writeLine(_ fields: [String: String]) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            // Texts can always be encoded.
            guard let line = try? encoder.encode(fields) else { return }
            StandardError.writeLineIfReady(String(decoding: line, as: UTF8.self))
        }
    }
#endif
