#if Client || canImport(SQLite3)
    internal import Foundation
    internal import LocalStorage
    internal import Locking

    /// Keeps the session of an app between its starts.
    ///
    /// `KeychainTokenStore` on Apple platforms, ``FileTokenStore`` elsewhere, or the app's own.
    public protocol TokenStore: Sendable {
        /// Returns the session that was saved; nil if there is none.
        func load() async throws(ClientError) -> ClientSession?
        /// Saves a session in place of the present one.
        func save(_ session: ClientSession) async throws(ClientError)
        /// Removes the session; none is no error.
        func remove() async throws(ClientError)
    }

    /// A store that ends with the process, for tests.
    public final class InMemoryTokenStore: TokenStore {
        private let session: Lock<ClientSession?>

        /// Creates a store.
        public init(_ session: ClientSession? = nil) { self.session = Lock(session) }

        /// Returns the session that was saved; nil if there is none.
        public func load() -> ClientSession? { session.withLock { $0 } }
        /// Saves a session in place of the present one.
        public func save(_ session: ClientSession) { self.session.withLock { $0 = session } }
        /// Removes the session; none is no error.
        public func remove() { session.withLock { $0 = nil } }
    }

    /// A store in a file that only its owner may read (mode 0600), replaced as a whole.
    public final class FileTokenStore: TokenStore {
        private static let sizeLimit = 64 << 10

        private let path: String
        /// One writer at a time.
        private let writing = Lock(())

        /// Creates a store in a file, whose directory exists.
        public init(path: String) { self.path = path }

        /// Returns the session that was saved; nil if there is none.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` `notReadable`, or `damaged` for a file with
        ///   something else.
        public func load() throws(ClientError) -> ClientSession? {
            guard let bytes = PrivateFile.read(path, limit: Self.sizeLimit) else {
                guard FileManager.default.fileExists(atPath: path) else { return nil }
                throw .storage(.notReadable, file: path)
            }
            do { return try JSONDecoder().decode(ClientSession.self, from: Data(bytes)) } catch {
                throw .storage(.damaged, file: path)
            }
        }

        /// Saves a session in place of the present one.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` `notWritable`; the file is as it was.
        public func save(_ session: ClientSession) throws(ClientError) {
            let bytes: [UInt8]
            do { bytes = try [UInt8](JSONEncoder().encode(session)) } catch { throw .storage(.notWritable, file: path) }
            try writing.withLock { _ throws(ClientError) in
                let new = path + ".new"
                // Left by a crash.
                PrivateFile.remove(new)
                guard PrivateFile.create(new, bytes) == .created else { throw .storage(.notWritable, file: path) }
                guard PrivateFile.move(new, to: path) else {
                    PrivateFile.remove(new)
                    throw .storage(.notWritable, file: path)
                }
            }
        }

        /// Removes the session; none is no error.
        ///
        /// - Throws: ``ClientError/storage(_:file:)`` `notWritable`.
        public func remove() throws(ClientError) {
            try writing.withLock { _ throws(ClientError) in
                PrivateFile.remove(path + ".new")
                if !PrivateFile.remove(path), FileManager.default.fileExists(atPath: path) {
                    throw .storage(.notWritable, file: path)
                }
            }
        }
    }
#endif
