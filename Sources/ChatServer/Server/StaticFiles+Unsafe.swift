#if Server
    // Unsafe, because the files are arrays of C, which live as long as the process.
    internal import CServerFiles
    internal import ChatWire
    internal import Primitives

    /// The files of the page, which are compiled into the program, and the description of the API, of
    /// which the part by hand is.
    ///
    /// The page loads its modules and its style in few files, whose names change with their
    /// content. The single modules have paths as well, for the tests.
    struct StaticFiles: Sendable {
        private struct File: Sendable {
            let type: String
            let bytes: [UInt8]
            let compressed: [UInt8]?
            /// The strong validator of RFC 9110: it changes with the bytes.
            let tag: String
            /// Whether the path changes with the bytes, so that a client keeps the file.
            let isImmutable: Bool

            init(_ bytes: [UInt8], type: String, isImmutable: Bool = false) {
                (self.type, self.bytes, self.isImmutable) = (type, bytes, isImmutable)
                compressed = Compression.gzip(bytes, .best)
                tag = "\"\(StaticFiles.digest(of: bytes))\""
            }
        }

        /// What a page of this server may do: load its own files, and speak with its own server.
        private static let contentPolicy =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; worker-src 'self'; "
            + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

        private let files: [String: File]

        /// - Parameters:
        ///   - siteName: The name of the site; nil for that of the file of the page.
        ///   - about: The texts that the page links.
        init(siteName: String? = nil, about: AboutTexts = AboutTexts()) {
            var sources = Self.compiled
            if let (type, bytes) = sources["/"] { sources["/"] = (type, Self.page(bytes, siteName, about)) }
            sources[Self.documentPath]?.bytes = Self.document
            if let type = sources["/app.js"]?.type {
                sources[PrintedTables.path] = (type, Array(PrintedTables.module.utf8))
            }
            var files = sources.mapValues { File($0.bytes, type: $0.type) }
            do throws(PageBundleError) {
                let texts = sources.mapValues { String(decoding: $0.bytes, as: UTF8.self) }
                let page = try PageFiles(texts) { Self.digest(of: Array($0.utf8)) }
                for (path, text) in page.named {
                    guard let type = sources[path.hasSuffix(".css") ? "/style.css" : "/app.js"]?.type else { continue }
                    files[path] = File(Array(text.utf8), type: type, isImmutable: true)
                }
                for (path, text) in page.changed {
                    guard let type = sources[path]?.type else { continue }
                    files[path] = File(Array(text.utf8), type: type)
                }
            } catch {
                preconditionFailure("The page that is compiled in cannot be joined: \(error)")
            }
            for name in AboutTexts.names {
                if let text = about[name] {
                    files["/about/\(name)"] = File(Array(text.utf8), type: "text/plain; charset=utf-8")
                }
            }
            self.files = files
        }

        private static let documentPath = "/v1/openapi.json"

        /// The OpenAPI document, which is made once in a process.
        static let document: [UInt8] = {
            do {
                return Array(try OpenAPIDocument.completed(compiled[documentPath]?.bytes ?? []).lines.utf8)
            } catch {
                preconditionFailure("The part of the OpenAPI document that is compiled in cannot be read: \(error)")
            }
        }()

        /// The files as they are compiled in, by path.
        private static var compiled: [String: (type: String, bytes: [UInt8])] {
            var files: [String: (type: String, bytes: [UInt8])] = [:]
            for index in 0..<CServerFileCount {
                guard let file = unsafe CServerFile_at(index)?.pointee else { continue }
                let bytes = unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
                unsafe files[String(cString: file.path)] = unsafe (String(cString: file.type), bytes)
            }
            return files
        }

        /// Returns the HTML of the page with the name of the site, and the names of the texts of
        /// its operator.
        private static func page(_ bytes: [UInt8], _ siteName: String?, _ about: AboutTexts) -> [UInt8] {
            var html = String(decoding: bytes, as: UTF8.self)
            let names = AboutTexts.names.filter { about[$0] != nil }.joined(separator: " ")
            html = html.replacing(
                "<meta name=\"about\" content=\"\">", with: "<meta name=\"about\" content=\"\(names)\">")
            if let siteName { html = html.replacing(ServerOptions.defaultSiteName, with: escaped(siteName)) }
            return Array(html.utf8)
        }

        private static func escaped(_ text: String) -> String {
            text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing(
                "\"", with: "&quot;")
        }

        private static func digest(of bytes: [UInt8]) -> String {
            Hexadecimal.text(of: Array(SHA256.hash(bytes).prefix(16)))
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
                ("ETag", tag), ("Cache-Control", file.isImmutable ? "public, max-age=31536000, immutable" : "no-cache"),
                ("Vary", "Accept-Encoding"), ("Content-Security-Policy", Self.contentPolicy),
            ]
            let tags = head.list("if-none-match")
            if tags.contains(tag) || tags.contains("W/\(tag)") || tags == ["*"] {
                return WireResponse(status: 304, headers: headers)
            }
            headers.append(("Content-Type", file.type))
            if compressed != nil { headers.append(("Content-Encoding", "gzip")) }
            return WireResponse(status: 200, headers: headers, body: .bytes(compressed ?? file.bytes))
        }
    }

    extension ChatServer {
        /// The OpenAPI document, which every server has at `/v1/openapi.json`.
        package static var openAPIDocument: [UInt8] { StaticFiles.document }
    }
#endif
