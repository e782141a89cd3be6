#if canImport(Darwin)

    internal import Darwin
    import Primitives

    /// The system calls that differ on Apple platforms.
    ///
    /// Unsafe for the same reason as `SystemCalls+Unsafe.swift`.
    extension SystemCalls {
        /// Syncs a file to the device with F_FULLFSYNC (fcntl(2)).
        ///
        /// `fsync` on Apple platforms leaves bytes in the drive's cache. A file system without
        /// F_FULLFSYNC fails, and the journal stops: it cannot keep its promise of durability.
        static func sync(_ descriptor: Int32, _ path: String) throws(StorageError) {
            _ = try retrying(.sync, path) { unsafe fcntl(descriptor, F_FULLFSYNC) }
        }

        /// Reserves space and extends the file's size over it.
        ///
        /// New bytes read as zeros.
        ///
        /// On a file system that cannot reserve space, it writes zeros.
        static func allocate(_ descriptor: Int32, _ range: Range<UInt64>, _ path: String) throws(StorageError) {
            guard let length = off_t(exactly: range.upperBound - range.lowerBound) else {
                throw StorageError(.full, .allocate, path: path, errno: EFBIG)
            }
            var request = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: length,
                fst_bytesalloc: 0)
            if unsafe fcntl(descriptor, F_PREALLOCATE, &request) != -1 {
                try truncate(descriptor, to: range.upperBound, path)
                return
            }
            let code = errno
            if code != ENOTSUP && code != EINVAL { throw failure(.allocate, path, code) }
            try writeZeros(descriptor, range, path)
        }

        /// Acquires a lock of the open file description (flock(2)).
        ///
        /// A second open in this process cannot acquire the lock either. It retries every
        /// millisecond, because `isLocked` holds the lock for a moment to test it.
        static func tryLock(_ descriptor: Int32, _ path: String) throws(StorageError) -> Bool {
            for attempt in 0..<20 {
                if attempt > 0 { usleep(1000) }
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
                if errno != EWOULDBLOCK && errno != EINTR { throw failure(.lock, path) }
            }
            return false
        }

        static func unlock(_ descriptor: Int32) {
            // Cannot fail on an open descriptor; closing the descriptor would release the lock as
            // well.
            _ = flock(descriptor, LOCK_UN)
        }

        static func isLocked(_ descriptor: Int32, _ path: String) throws(StorageError) -> Bool {
            while flock(descriptor, LOCK_SH | LOCK_NB) != 0 {
                if errno == EWOULDBLOCK { return true }
                if errno != EINTR { throw failure(.lock, path) }
            }
            unlock(descriptor)
            return false
        }

        static func fillWithEntropy(_ bytes: inout MutableRawSpan) {
            unsafe bytes.withUnsafeMutableBytes { buffer in unsafe arc4random_buf(buffer.baseAddress, buffer.count) }
        }
    }

#endif
