#if Server
    // Unsafe, because zlib is a C library; the buffers live longer than the call.
    internal import CZlib

    /// Answers in fewer bytes: gzip (RFC 1952).
    enum Compression {
        enum Level: Int32 {
            /// For answers that are made once: a page of 60 messages is a tenth smaller than by the
            /// lowest level, for a fifth more time (18 kB in 0.42 ms).
            case fast = 4
            case best = 9
        }

        /// Smaller answers fit into a packet or two.
        static let minimumByteCount = 1_024

        /// Returns the compressed bytes; nil if they would not be fewer.
        static func gzip(_ bytes: [UInt8], _ level: Level) -> [UInt8]? {
            guard (minimumByteCount...Int(Int32.max)).contains(bytes.count) else { return nil }
            let compressed = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { target, count in
                count = unsafe bytes.withUnsafeBufferPointer { source in
                    unsafe CZlib_gzip(
                        source.baseAddress, source.count, target.baseAddress, target.count, level.rawValue)
                }
            }
            // A copy of the right size: an answer waits until its client reads it.
            return compressed.isEmpty ? nil : unsafe compressed.withUnsafeBufferPointer { unsafe Array($0) }
        }
    }

    extension HTTPHead {
        /// Whether the client takes gzip (RFC 9110, section 12.5.3).
        var acceptsGzip: Bool {
            func accepts(_ coding: String) -> Bool? {
                let elements = list("accept-encoding").map { $0.split(separator: ";").map(\.trimmingSpaces) }
                guard let element = elements.first(where: { $0.first?.lowercased() == coding }) else { return nil }
                guard let weight = element.dropFirst().first(where: { $0.lowercased().hasPrefix("q=") }) else {
                    return true
                }
                return (Double(weight.dropFirst(2)) ?? 0) > 0
            }
            return accepts("gzip") ?? accepts("*") ?? false
        }
    }

    extension HTTPResponse {
        /// The response in fewer bytes, if the client takes them.
        ///
        /// Not for answers about accounts: the length of a secret beside what a client has sent
        /// tells the secret (the attack BREACH of 2013).
        func compressed(for head: HTTPHead) -> HTTPResponse {
            guard status == 200, case .bytes(let bytes) = body, bytes.count >= Compression.minimumByteCount else {
                return self
            }
            var response = self
            response.headers.append(("Vary", "Accept-Encoding"))
            guard head.acceptsGzip, let compressed = Compression.gzip(bytes, .fast) else { return response }
            response.headers.append(("Content-Encoding", "gzip"))
            response.body = .bytes(compressed)
            return response
        }
    }
#endif
