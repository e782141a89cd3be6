#if Server
    // Unsafe, because system calls take the addresses of structures; each is on the frame of the
    // call.
    import Locking

    #if canImport(Darwin)
        import Darwin
    #elseif canImport(Musl)
        import Musl
    #else
        import Glibc
    #endif

    /// A connection to a port of this machine, whose calls block.
    final class RawSocket: Sendable {
        struct Failure: Error { let call: String, code: Int32 }

        #if canImport(Darwin)
            private static let noSignal: Int32 = 0
        #else
            private static let noSignal = Int32(MSG_NOSIGNAL)
        #endif

        private let descriptor: Int32
        private let isOpen = Lock(true)

        /// Connects; a small receive buffer makes the system keep little for a client that does not
        /// read.
        init(port: UInt16, receiveBuffer: Int32? = nil) throws {
            #if canImport(Glibc)
                let stream = Int32(SOCK_STREAM.rawValue)
            #else
                let stream = SOCK_STREAM
            #endif
            descriptor = socket(AF_INET, stream, 0)
            guard descriptor >= 0 else { throw Failure(call: "socket", code: errno) }
            // A server that does not answer fails a test, and does not hang it.
            var limit = timeval(tv_sec: 300, tv_usec: 0)
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            if var receiveBuffer {
                _ = unsafe setsockopt(
                    descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
            }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let status = unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            // The object exists here, so its end closes the descriptor.
            guard status == 0 else { throw Failure(call: "connect", code: errno) }
        }

        deinit { close() }

        /// Writes all bytes.
        func write(_ bytes: [UInt8]) throws {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe send(descriptor, $0.baseAddress, $0.count, Self.noSignal)
                }
                guard count > 0 else { throw Failure(call: "send", code: errno) }
                rest = rest.dropFirst(count)
            }
        }

        /// Reads what has arrived; empty at the end of the connection, also of one that was reset.
        func read() throws -> [UInt8] {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count < 0, errno != ECONNRESET { throw Failure(call: "recv", code: errno) }
            return Array(buffer.prefix(max(count, 0)))
        }

        /// Tells the other end that nothing more is written; what it sends can still be read.
        func endWriting() {
            #if canImport(Darwin)
                _ = Darwin.shutdown(descriptor, SHUT_WR)
            #elseif canImport(Musl)
                _ = Musl.shutdown(descriptor, SHUT_WR)
            #else
                _ = Glibc.shutdown(descriptor, Int32(SHUT_WR))
            #endif
        }

        /// Ends the connection; with a reset, what waits in either direction is dropped.
        func close(reset: Bool = false) {
            let wasOpen = isOpen.withLock { isOpen in
                defer { isOpen = false }
                return isOpen
            }
            guard wasOpen else { return }
            if reset {
                var option = linger(l_onoff: 1, l_linger: 0)
                _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
            }
            Self.closeDescriptor(descriptor)
        }

        private static func closeDescriptor(_ descriptor: Int32) {
            #if canImport(Darwin)
                _ = Darwin.close(descriptor)
            #elseif canImport(Musl)
                _ = Musl.close(descriptor)
            #else
                _ = Glibc.close(descriptor)
            #endif
        }
    }
#endif
