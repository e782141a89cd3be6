#if Server
    // Unsafe, because system calls take the addresses of structures; each is on the frame of the
    // call.
    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif

    /// Opens listening sockets.
    enum ListeningSocket {
        /// Takes an address.
        ///
        /// Connections are refused until ``startListening(_:at:)``.
        ///
        /// - Returns: The descriptor, and the address with the port that the system chose.
        /// - Throws: `cannotListen`, for example if another program has the port.
        static func reserve(_ address: ListenAddress) throws(ServerError) -> (socket: Int32, address: ListenAddress) {
            var hints = unsafe addrinfo()
            unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
            #if canImport(Glibc)
                let stream = Int32(SOCK_STREAM.rawValue)
            #else
                let stream = SOCK_STREAM
            #endif
            unsafe hints.ai_socktype = stream
            var found: UnsafeMutablePointer<addrinfo>?
            guard unsafe getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let info = unsafe found
            else {
                throw ServerError(.cannotListen, "\(address) is not an address of this machine.")
            }
            defer { unsafe freeaddrinfo(info) }
            let descriptor = unsafe socket(info.pointee.ai_family, stream, 0)
            guard descriptor >= 0 else { throw failure(address) }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
            var isOn: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            // A server that starts again must not wait for the connections of the former one.
            _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, size)
            if unsafe info.pointee.ai_family == AF_INET6 {
                _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &isOn, size)
            }
            guard unsafe bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0,
                let port = port(of: descriptor)
            else {
                let error = failure(address)
                close(descriptor)
                throw error
            }
            return (descriptor, ListenAddress(host: address.host, port: port, isLoopback: address.isLoopback))
        }

        /// Listens on an address that was taken.
        ///
        /// - Throws: `cannotListen` if another program listens there, which had the port free for
        ///   both.
        static func startListening(_ socket: Int32, at address: ListenAddress) throws(ServerError) {
            guard listen(socket, 1_024) == 0 else { throw failure(address) }
        }

        /// Closes a descriptor that no daemon has.
        static func close(_ socket: Int32) {
            #if canImport(Darwin)
                _ = Darwin.close(socket)
            #elseif canImport(Musl)
                _ = Musl.close(socket)
            #else
                _ = Glibc.close(socket)
            #endif
        }

        private static func failure(_ address: ListenAddress) -> ServerError {
            let reason = unsafe strerror(errno).map { unsafe String(cString: $0) } ?? "unknown error"
            return ServerError(.cannotListen, "Cannot listen on \(address): \(reason).")
        }

        private static func port(of descriptor: Int32) -> UInt16? {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            return unsafe withUnsafeMutableBytes(of: &storage) { bytes -> UInt16? in
                guard let base = bytes.baseAddress else { return nil }
                guard unsafe getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length) == 0 else {
                    return nil
                }
                // The port has the same place in the addresses of IPv4 and IPv6, in network order.
                return unsafe UInt16(bytes[2]) << 8 | UInt16(bytes[3])
            }
        }

        /// Raises the limit of open descriptors to the highest one that the system allows.
        ///
        /// - Returns: The limit.
        static func raiseDescriptorLimit() -> Int {
            var limit = rlimit()
            #if canImport(Glibc)
                let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
            #else
                let resource = RLIMIT_NOFILE
            #endif
            guard unsafe getrlimit(resource, &limit) == 0 else { return 256 }
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if unsafe setrlimit(resource, &raised) == 0 { limit = raised }
            return Int(clamping: limit.rlim_cur)
        }
    }
#endif
