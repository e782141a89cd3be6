#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import LocalStorage
    internal import Locking

    /// The file of a copy, used by one thread at a time; its errors name it.
    final class CopyFile: Sendable {
        typealias File = Database<ClientError>

        let path: String
        private let file: Lock<File>

        /// Opens a file, or makes it, and has writes look whether it still has its name.
        init(_ path: String, owner: String) throws(ClientError) {
            self.path = path
            do throws(ClientError) {
                guard PrivateFile.create(path, []) != .failed, PrivateFile.restrict(path) else {
                    throw .storage(.notWritable)
                }
                let file = try File(path)
                try LocalCopy.prepare(file, owner: owner)
                file.watchFile(path)
                self.file = Lock(file)
            } catch { throw error.about(path) }
        }

        func withLock<Value, Failure: Error>(
            _ body: (inout sending File) throws(Failure) -> sending Value
        ) throws(Failure) -> sending Value {
            do throws(Failure) { return try file.withLock(body) } catch {
                throw (error as? ClientError)?.about(path) as? Failure ?? error
            }
        }

        func close() { file.withLock { $0.close() } }

        // MARK: The names of a copy

        /// Takes the lock of a copy.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` with `held` while a copy has it.
        static func lock(_ path: String) throws(ClientError) -> FileLock {
            let name = path + ".lock"
            if PrivateFile.isLink(name) { throw .storage(.symbolicLink, file: name) }
            guard PrivateFile.create(name, []) != .failed, PrivateFile.restrict(name) else {
                throw .storage(.notWritable, file: name)
            }
            guard let lock = PrivateFile.lock(name) else { throw .storage(.held, file: path) }
            return lock
        }

        /// Takes the lock of a copy whose files are removed or replaced, also if the file of the
        /// lock is something else.
        private static func lockForReplacing(_ path: String) throws(ClientError) -> FileLock {
            do throws(ClientError) { return try lock(path) } catch {
                guard error.storage != .held else { throw error }
                PrivateFile.remove(path + ".lock")
                return try lock(path)
            }
        }

        /// Removes all files of a copy, also one that cannot be opened or was set aside.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` with `held` if the copy is open, and with
        ///   `notWritable` for a file that is still there.
        static func remove(_ path: String) throws(ClientError) {
            // Without a directory there is no copy.
            guard PrivateFile.isDirectory(directory(of: path)) else { return }
            let lock = try lockForReplacing(path)
            defer { withExtendedLifetime(lock) {} }
            for name in [path, path + newSuffix, path + formerSuffix] + setAside(of: path) {
                removeDatabase(name)
                // A directory is none of this program's files.
                guard !PrivateFile.exists(name) || PrivateFile.isDirectory(name) else {
                    throw .storage(.notWritable, file: name)
                }
            }
            PrivateFile.remove(path + ".lock")
        }

        private static func removeDatabase(_ path: String) {
            for suffix in ["", "-wal", "-shm"] { PrivateFile.remove(path + suffix) }
        }

        private static func directory(of path: String) -> String {
            path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        }

        // MARK: Starting over

        /// The ends of the names of the file that replaces a copy, and of the one that it replaces.
        private static let (newSuffix, formerSuffix) = (".new", ".former")

        /// Makes a new copy in place of one, which can be damaged or something else, with what waits
        /// in it.
        ///
        /// If the process ends before the call returns, the copy is the former one or the new one,
        /// from the next opening on.
        ///
        /// - Returns: The lock of the copy, and what became of the outbox.
        static func startOver(_ path: String, owner: String, of user: UserID) throws(ClientError) -> (
            FileLock, StartingOver
        ) {
            let lock = try lockForReplacing(path)
            endStartingOver(path)
            let new = path + newSuffix
            removeDatabase(new)
            var result = StartingOver()
            do throws(ClientError) {
                let file = try CopyFile(new, owner: owner)
                defer { file.close() }
                if PrivateFile.exists(path) {
                    result = try file.withLock { file throws(ClientError) in
                        try file.durably { () throws(ClientError) in
                            try file.takeOutbox(of: path, owner: owner, of: user)
                        }
                    }
                }
            } catch {
                removeDatabase(new)
                throw error
            }
            if result.isReadable {
                try replace(path)
            } else if PrivateFile.exists(path) {
                result.setAside = try setAside(path)
                guard PrivateFile.move(new, to: path) else { throw .storage(.notWritable, file: path) }
            } else if !PrivateFile.move(new, to: path) {
                throw .storage(.notWritable, file: path)
            }
            return (lock, result)
        }

        /// Puts the new file in the place of the former one.
        ///
        /// The log first: the new file would otherwise be read with it.
        private static func replace(_ path: String) throws(ClientError) {
            let former = path + formerSuffix
            PrivateFile.remove(path + "-shm")
            for suffix in ["-wal", ""] where PrivateFile.exists(path + suffix) {
                guard PrivateFile.move(path + suffix, to: former + suffix) else {
                    throw .storage(.notWritable, file: path)
                }
            }
            guard PrivateFile.move(path + newSuffix, to: path) else { throw .storage(.notWritable, file: path) }
            removeDatabase(former)
        }

        /// Ends what ``startOver(_:owner:of:)`` has begun in a process that has ended: what it has
        /// begun to replace is replaced.
        static func endStartingOver(_ path: String) {
            let former = path + formerSuffix
            guard PrivateFile.exists(former) || PrivateFile.exists(former + "-wal") else { return }
            // If it fails, the next opening does it.
            if PrivateFile.exists(path + newSuffix) { try? replace(path) } else { removeDatabase(former) }
        }

        /// The names of files that were set aside.
        private static func setAside(of path: String) -> [String] {
            (1...mostSetAside).map { "\(path).\($0)" }.filter(PrivateFile.exists)
        }

        private static let mostSetAside = 100

        /// Gives a file that is not a copy another name, and returns that.
        private static func setAside(_ path: String) throws(ClientError) -> String {
            let free = (1...mostSetAside).first { !PrivateFile.exists("\(path).\($0)") } ?? mostSetAside
            let name = "\(path).\(free)"
            PrivateFile.remove(path + "-shm")
            for suffix in ["-wal", ""] where PrivateFile.exists(path + suffix) {
                guard PrivateFile.move(path + suffix, to: name + suffix) else {
                    throw .storage(.notWritable, file: path)
                }
            }
            return name
        }
    }
#endif
