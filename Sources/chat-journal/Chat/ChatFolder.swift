#if Client || canImport(SQLite3)
    import ChatClient
    import EventJournal
    import Foundation

    /// The directory of the sessions and local copies of `chat`, which only its owner may read.
    struct ChatFolder {
        let path: String

        /// Opens the directory, or creates it.
        ///
        /// - Parameters:
        ///   - path: The path; nil for `$XDG_STATE_HOME/chat-journal` or
        ///     `~/.local/state/chat-journal`.
        ///   - environment: The variables of the process.
        /// - Throws: `ArgumentError`.
        init(_ path: String?, environment: [String: String]) throws(ArgumentError) {
            guard let path = path ?? Self.defaultPath(environment) else {
                throw ArgumentError("no directory for the chat: set HOME, or use --data DIR")
            }
            self.path = path
            let files = FileManager.default
            let shown = escapedForTerminal(path)
            // A link has the mode of what it leads to.
            let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
            guard let found = try? files.attributesOfItem(atPath: url.path) else {
                do {
                    try files.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                    // Of mode 0700 from the start.
                    try FileStorage().createDirectory(url.path)
                } catch { throw ArgumentError("cannot create \(shown): use --data DIR") }
                return
            }
            guard found[.type] as? FileAttributeType == .typeDirectory else {
                throw ArgumentError("\(shown) is no directory: use --data DIR")
            }
            guard let mode = found[.posixPermissions] as? Int, mode & 0o077 == 0 else {
                throw ArgumentError("other users can read \(shown): use 'chmod 700', or --data DIR")
            }
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
