#if canImport(Darwin)

    internal import Darwin

    /// What Apple platforms do differently. Unsafe for the same reason as `SystemCalls+Unsafe.swift`.
    extension SystemCalls {
        /// `fsync` on Apple platforms leaves the bytes in the drive's cache; F_FULLFSYNC does not (fcntl(2)).
        ///
        /// A file system that cannot do it fails, and the journal stops rather than promise what the disk does not.
        static func sync(_ descriptor: Int32, _ path: String) throws(StorageError) {
            _ = try retrying(.sync, path) { unsafe fcntl(descriptor, F_FULLFSYNC) }
        }

        /// Reserves space, then extends the size over it; new bytes read as zeros.
        ///
        /// Where the file system cannot reserve, zeros are written.
        static func allocate(_ descriptor: Int32, _ range: Range<UInt64>, _ path: String) throws(StorageError) {
            guard let length = off_t(exactly: range.upperBound - range.lowerBound) else {
                throw StorageError(.full, .allocate, path: path, errno: EFBIG)
            }
            var request = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0, fst_length: length, fst_bytesalloc: 0)
            if unsafe fcntl(descriptor, F_PREALLOCATE, &request) != -1 {
                try truncate(descriptor, to: range.upperBound, path)
                return
            }
            let code = errno
            if code != ENOTSUP && code != EINVAL { throw failure(.allocate, path, code) }
            let zeros = [UInt8](repeating: 0, count: 65_536)
            var offset = range.lowerBound
            while offset < range.upperBound {
                let count = Int(min(UInt64(zeros.count), range.upperBound - offset))
                try zeros.withBytes(0..<count) { (bytes) throws(StorageError) in try write(descriptor, bytes, at: offset, path) }
                offset += UInt64(count)
            }
        }

        /// A lock of the open file description (flock(2)): a second open in this process is refused too.
        ///
        /// A few tries, a millisecond apart, because `isLocked` has to take the lock for an instant to ask.
        static func tryLock(_ descriptor: Int32, _ path: String) throws(StorageError) -> Bool {
            for attempt in 0..<20 {
                if attempt > 0 { usleep(1000) }
                if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
                if errno != EWOULDBLOCK && errno != EINTR { throw failure(.lock, path) }
            }
            return false
        }

        static func unlock(_ descriptor: Int32) {
            // Cannot fail on a descriptor that is open; closing it would release the lock anyway.
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
