// Unsafe, because system calls take the addresses of structures; each is on the frame of the call.
internal import Foundation
internal import Locking

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// A server on loopback that answers each connection with whatever bytes a test wants.
package final class HostileServer: Sendable {
    package struct Failure: Error { package let call: String, code: Int32 }

    package let port: UInt16
    private let listener: Int32
    private let accepted = Lock(0)
    private let requests = Lock([String]())

    /// Starts a server; the closure has a thread of its own for each connection.
    ///
    /// - Parameter answer: Is called with the connection when the head of a request has arrived.
    package init(_ answer: @escaping @Sendable (Connection) -> Void) throws {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let listener = socket(AF_INET, stream, 0)
        guard listener >= 0 else { throw Failure(call: "socket", code: errno) }
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                guard unsafe bind(listener, $0, size) == 0, listen(listener, 64) == 0 else { return Int32(-1) }
                return unsafe getsockname(listener, $0, &size)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard status == 0 else { throw Failure(call: "listen", code: errno) }
        Thread.detachNewThread { [weak self, listener] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    #if !canImport(Darwin)
                        _ = close(listener)
                    #endif
                    return
                }
                guard let self else {
                    _ = close(descriptor)
                    continue
                }
                self.accepted.withLock { $0 += 1 }
                let connection = Connection(descriptor)
                Thread.detachNewThread { [weak self] in
                    guard let head = connection.readHead() else { return }
                    self?.requests.withLock { $0.append(head) }
                    answer(connection)
                }
            }
        }
    }

    /// Starts a server that answers with the bytes and ends the connection.
    package convenience init(_ bytes: [UInt8]) throws {
        try self.init { $0.write(bytes) }
    }

    package convenience init(_ text: String) throws { try self.init(Array(text.utf8)) }

    deinit {
        // Ends the wait of the thread, which then closes the listener: another server can get the
        // number of a descriptor as soon as it is closed. Darwin does not shut a listener down.
        _ = shutdown(listener, Connection.both)
        #if canImport(Darwin)
            _ = close(listener)
        #endif
    }

    package var connectionCount: Int { accepted.withLock { $0 } }
    /// The heads of the requests so far.
    package var heads: [String] { requests.withLock { $0 } }
    package var url: String { "http://127.0.0.1:\(port)" }

    /// One connection, closed when it is released.
    package final class Connection: Sendable {
        #if canImport(Darwin)
            private static let noSignal: Int32 = 0
            fileprivate static let both = SHUT_RDWR
        #else
            private static let noSignal = Int32(MSG_NOSIGNAL)
            fileprivate static let both = Int32(SHUT_RDWR)
        #endif

        private let descriptor: Int32
        private let sent = Lock(0)

        fileprivate init(_ descriptor: Int32) {
            self.descriptor = descriptor
            #if canImport(Darwin)
                var noSignal: Int32 = 1
                _ = unsafe setsockopt(
                    descriptor, SOL_SOCKET, SO_NOSIGPIPE, &noSignal, socklen_t(MemoryLayout<Int32>.size))
            #endif
        }

        deinit { _ = close(descriptor) }

        package var sentCount: Int { sent.withLock { $0 } }

        /// Reads the head of a request; nil at the end of the connection.
        package func readHead() -> String? {
            var head: [UInt8] = []
            while !String(decoding: head, as: UTF8.self).contains("\r\n\r\n") {
                guard let more = read() else { return nil }
                head += more
            }
            return String(decoding: head, as: UTF8.self)
        }

        /// Reads what arrives; nil at the end.
        package func read() -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 16_384)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(descriptor, $0.baseAddress, $0.count, 0) }
            return count > 0 ? Array(buffer.prefix(count)) : nil
        }

        /// Waits until the client ends the connection.
        package func waitForEnd() { while read() != nil {} }

        /// Writes all bytes; false if the client has ended the connection.
        @discardableResult package func write(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe send(descriptor, $0.baseAddress, $0.count, Self.noSignal)
                }
                guard count > 0 else { return false }
                sent.withLock { $0 += count }
                rest = rest.dropFirst(count)
            }
            return true
        }

        @discardableResult package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        /// Writes the bytes again and again, until the client ends the connection or so many bytes
        /// are written.
        package func write(repeating bytes: [UInt8], atMost limit: Int = .max) {
            while sentCount < limit, write(bytes) {}
        }
    }
}
