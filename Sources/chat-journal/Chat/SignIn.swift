#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation

    /// Gets the session with which `chat` is started: the kept one, or a new one.
    struct SignIn {
        private static let passwordVariable = "CHATJOURNAL_PASSWORD"
        private static let secretLimit = 4_096

        let accounts: ServerAccounts
        let tokens: FileTokenStore
        /// The address of `--email`.
        let email: String?
        /// The file of `--password-file`.
        let passwordFile: String?
        let environment: [String: String]

        /// Returns the kept session, or signs in and keeps the session.
        func session() async throws -> ClientSession {
            if let kept = try tokens.load() { return kept }
            let given = try givenPassword()
            if let email, let given { return try await begin(email, given) }
            var prompt = try Prompt(orUse: "use --email, and --password-file or \(Self.passwordVariable)")
            let address = try email ?? prompt.ask("E-mail address")
            return try await begin(address, try given ?? prompt.ask("Password", isHidden: true))
        }

        /// Creates an account, confirms it with the code of a mail, and signs in.
        func signUp() async throws -> ClientSession {
            if try tokens.load() != nil {
                throw ArgumentError("a session at this server is kept: use --sign-out first, or another --data")
            }
            var prompt = try Prompt(orUse: "sign up at a terminal")
            let address = try email ?? prompt.ask("E-mail address")
            let username = try prompt.ask("Name")
            let password = try askForNewPassword(&prompt)
            try await accounts.signUp(username: username, email: address, password: password)
            try prompt.say("A mail with a code of six digits is on its way to \(address).")
            try await confirm(address, &prompt)
            return try await begin(address, password)
        }

        private func askForNewPassword(_ prompt: inout Prompt) throws -> String {
            if let given = try givenPassword() { return given }
            while true {
                let password = try prompt.ask("Password", isHidden: true)
                if try prompt.ask("Password again", isHidden: true) == password { return password }
                try prompt.say("The two passwords differ.")
            }
        }

        /// Asks for the code until it is right, and for another name if the name was taken
        /// meanwhile.
        private func confirm(_ address: String, _ prompt: inout Prompt) async throws {
            var username: String?
            var code = ""
            while true {
                if username == nil { code = try prompt.ask("Code (empty for another mail)") }
                do {
                    if code.isEmpty {
                        try await accounts.resendCode(email: address)
                        try prompt.say("Another mail is on its way.")
                        continue
                    }
                    try await accounts.confirm(email: address, code: code, username: username)
                    return
                } catch ClientError.problem(let problem)
                    where [.usernameTaken, .invalidUsername].contains(problem.code)
                {
                    try prompt.say(problem.detail)
                    username = try prompt.ask("Another name")
                } catch ClientError.problem(let problem) where problem.code == .invalidCode {
                    try prompt.say(problem.detail)
                    username = nil
                }
            }
        }

        private func begin(_ address: String, _ password: String) async throws -> ClientSession {
            let session = try await accounts.signIn(email: address, password: password, device: "terminal")
            try tokens.save(session)
            return session
        }

        /// The password of the file, or of the environment; nil if there is neither.
        private func givenPassword() throws -> String? {
            guard let passwordFile else { return environment[Self.passwordVariable] }
            let text = try TextFile.read(passwordFile, byteLimit: Self.secretLimit)
            guard let line = text.split(separator: "\n", omittingEmptySubsequences: false).first, !line.isEmpty else {
                throw ArgumentError("\(passwordFile): the first line of the file is to be the password")
            }
            return String(line)
        }
    }
#endif
