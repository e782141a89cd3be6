#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation

    /// The directory of the sessions and local copies of `chat`, which only its owner may read.
    struct ChatFolder {
        let path: String

        /// Opens the directory, or creates it.
        ///
        /// - Parameters:
        ///   - path: The path; nil for `$XDG_STATE_HOME/chat-journal` or `~/.local/state/chat-journal`.
        ///   - environment: The variables of the process.
        /// - Throws: `ArgumentError`.
        init(_ path: String?, environment: [String: String]) throws(ArgumentError) {
            guard let path = path ?? Self.defaultPath(environment) else {
                throw ArgumentError("no directory for the chat: set HOME, or use --data DIR")
            }
            self.path = path
            let files = FileManager.default
            if files.fileExists(atPath: path) { return }
            do {
                try files.createDirectory(atPath: path, withIntermediateDirectories: true)
                try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
            } catch { throw ArgumentError("cannot create \(escapedForTerminal(path)): use --data DIR") }
        }

        /// The path without `--data`; nil without a home.
        static func defaultPath(_ environment: [String: String]) -> String? {
            // A relative path is to be ignored (XDG Base Directory Specification).
            if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") { return state + "/chat-journal" }
            guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
            return home + "/.local/state/chat-journal"
        }

        /// Returns the store of the session at a server.
        func tokens(of server: URL) throws(ClientError) -> FileTokenStore {
            FileTokenStore(path: "\(path)/\(try ServerAddress(server, allowsPlainText: false).fileName).session")
        }
    }
#endif
