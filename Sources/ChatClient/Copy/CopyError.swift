#if Client || canImport(SQLite3)
    package import LocalStorage

    /// Why the file of a copy cannot be used.
    package enum CopyError: Hashable, Sendable {
        case storage(DatabaseError)
        /// The file cannot be created.
        case notWritable
        /// The file belongs to another user or another server.
        case anotherOwner
        /// A newer version has written the file.
        case newerVersion
        /// A row does not decode.
        case damaged
        /// The answer is not what the server may send: nothing of it was kept.
        case invalidAnswer(String)
    }

    extension CopyError: DatabaseFailure {
        package init(_ error: DatabaseError) { self = .storage(error) }
    }

    extension ClientError {
        init(_ error: CopyError) {
            self =
                switch error {
                case .storage(let error): ClientError(error)
                case .notWritable: .storage(.notWritable)
                case .anotherOwner, .newerVersion: .storage(.unknownFormat)
                case .damaged: .storage(.damaged)
                case .invalidAnswer(let text): .answerInvalid(text)
                }
        }
    }

    extension LocalCopy {
        /// Uses the copy, and says its errors in those of the client.
        func checked<Value>(_ body: (LocalCopy) throws(CopyError) -> Value) throws(ClientError) -> Value {
            do throws(CopyError) { return try body(self) } catch { throw ClientError(error) }
        }
    }
#endif
