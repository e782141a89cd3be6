#if Client || canImport(Darwin)
    package import Foundation

    /// A request to a server.
    package struct TransferRequest: Sendable {
        package var method: String
        /// The URL, of the scheme http or https.
        package var url: URL
        package var headers: [(name: String, value: String)]
        /// The body; nil for none.
        package var body: Data?

        package init(_ method: String, _ url: URL, headers: [(name: String, value: String)] = [], body: Data? = nil) {
            (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        }

        /// Whether no method, name or value can end its line early.
        var isWellFormed: Bool {
            func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }
            return !method.isEmpty && method.utf8.allSatisfy(isVisible)
                && headers.allSatisfy { header in
                    !header.name.isEmpty && header.name.utf8.allSatisfy { isVisible($0) && $0 != UInt8(ascii: ":") }
                        && header.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
                }
        }
    }

    /// The status and the headers of an answer.
    package struct TransferHead: Hashable, Sendable {
        package var status: Int
        /// The headers, with names in lower case; the values of a repeated header are joined by
        /// commas.
        package var headers: [String: String]
    }

    /// A whole answer.
    package struct TransferAnswer: Hashable, Sendable {
        package var head: TransferHead
        package var body: Data
    }

    /// Why there is no answer, or no more of it.
    package enum TransferFailure: Error, Hashable, Sendable {
        /// The server cannot be reached, or the connection broke; the request may have been carried
        /// out.
        case unreachable(String)
        /// The head or the body exceeds its bound.
        case answerTooLarge
        case cancelled
    }
#endif
