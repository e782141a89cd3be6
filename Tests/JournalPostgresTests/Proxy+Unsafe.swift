#if Postgres
    // Unsafe: socket addresses and buffers of the C library.
    import Foundation
    import Locking

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// A relay between clients and a server that can cut connections at a byte.
    final class Proxy: Sendable {
        /// Where the next cut happens.
        enum Cut: Sendable {
            /// The server gets this number of further bytes, and the client no answer.
            case request(Int)
            /// The server gets everything, and the client this number of further bytes.
            case answer(Int)
        }

        let port: Int
        private let listener: Int32
        private let serverPort: Int
        private let state = Lock<(cut: Cut?, count: Int)>((nil, 0))

        init(to serverPort: Int) throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.address(0)
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = unsafe withUnsafeMutablePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    var size = size
                    let isBound = unsafe bind(listener, address, size) == 0
                    return unsafe isBound && listen(listener, 64) == 0 && getsockname(listener, address, &size) == 0
                }
            }
            guard status else { throw POSIXError(.EADDRINUSE) }
            port = Int(UInt16(bigEndian: address.sin_port))
            (self.listener, self.serverPort) = (listener, serverPort)
            Thread.detachNewThread { [listener, weak self] in
                while case let client = accept(listener, nil, nil), client >= 0 {
                    guard let self else { return }
                    self.relay(client)
                }
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        /// The number of connections that were cut.
        var cutCount: Int { state.withLock { $0.count } }

        func cut(_ cut: Cut) { state.withLock { $0.cut = cut } }

        private func relay(_ client: Int32) {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.address(serverPort)
            let isConnected = unsafe withUnsafePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    unsafe connect(server, address, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else {
                close(server)
                close(client)
                return
            }
            let open = Lock(2)
            for (from, to, isRequest) in [(client, server, true), (server, client, false)] {
                Thread.detachNewThread {
                    self.copy(from, to, isRequest: isRequest)
                    // An end of one direction ends the other.
                    shutdown(client, Int32(SHUT_RDWR))
                    shutdown(server, Int32(SHUT_WR))
                    if !isRequest || self.state.withLock({ $0.cut == nil }) { shutdown(server, Int32(SHUT_RDWR)) }
                    let isLast = open.withLock { open in
                        open -= 1
                        return open == 0
                    }
                    if isLast {
                        close(client)
                        close(server)
                    }
                }
            }
        }

        private func copy(_ from: Int32, _ to: Int32, isRequest: Bool) {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = unsafe read(from, &buffer, buffer.count)
                guard count > 0 else { return }
                let allowed = state.withLock { state -> Int in
                    switch state.cut {
                    case .request(let rest)? where isRequest, .answer(let rest)? where !isRequest:
                        if count < rest {
                            state.cut = isRequest ? .request(rest - count) : .answer(rest - count)
                            return count
                        }
                        state.cut = nil
                        state.count += 1
                        return -rest - 1
                    default: return count
                    }
                }
                var sent = 0
                let end = allowed < 0 ? -allowed - 1 : allowed
                while sent < end {
                    let written = unsafe buffer[sent..<end].withUnsafeBytes {
                        unsafe send(to, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard written > 0 else { return }
                    sent += written
                }
                if allowed < 0 { return }
            }
        }

        private static func address(_ port: Int) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return address
        }
    }
#endif
