#if Server
    // Unsafe, because the files are arrays of C, which live as long as the process.
    internal import CServerFiles
    internal import ChatWire
    internal import Primitives

    /// The files of the page and the description of the API, which are compiled into the program.
    struct StaticFiles: Sendable {
        private struct File: Sendable {
            let type: String
            let bytes: [UInt8]
            let compressed: [UInt8]?
            /// The strong validator of RFC 9110: it changes with the bytes.
            let tag: String
        }

        /// What a page of this server may do: load its own files, and speak with its own server.
        private static let contentPolicy =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
            + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

        private let files: [String: File]

        init() {
            var files: [String: File] = [:]
            for index in 0..<CServerFileCount {
                guard let file = unsafe CServerFile_at(index)?.pointee else { continue }
                let bytes = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
                let digest = SHA256.hash(bytes)
                let path = unsafe String(cString: file.path)
                files[path] = unsafe File(
                    type: String(cString: file.type), bytes: bytes, compressed: Compression.gzip(bytes, .best),
                    tag: "\"\(Hexadecimal.text(of: Array(digest.prefix(16))))\"")
            }
            self.files = files
        }

        /// Returns the response to a request for a file; nil if there is none at the path.
        func response(to head: HTTPHead) -> WireResponse? {
            let (path, method) = (String(head.target.prefix { $0 != "?" }), head.method)
            guard let file = files[path] else { return nil }
            guard method == "GET" || method == "HEAD" else { return WireResponse(allowing: ["GET"]) }
            let compressed = head.acceptsGzip ? file.compressed : nil
            // The compressed bytes have a validator of their own (RFC 9110, section 8.8.3.3).
            let tag = compressed == nil ? file.tag : "\(file.tag.dropLast())-gzip\""
            var headers = [
                ("ETag", tag), ("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding"), ("Content-Security-Policy", Self.contentPolicy),
            ]
            let tags = head.list("if-none-match")
            if tags.contains(tag) || tags.contains("W/\(tag)") || tags == ["*"] { return WireResponse(status: 304, headers: headers) }
            headers.append(("Content-Type", file.type))
            if compressed != nil { headers.append(("Content-Encoding", "gzip")) }
            return WireResponse(status: 200, headers: headers, body: .bytes(compressed ?? file.bytes))
        }
    }
#endif
