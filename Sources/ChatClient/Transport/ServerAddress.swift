#if Client || canImport(SQLite3)
    package import Foundation

    /// The checked address of a server, to which targets are appended.
    package struct ServerAddress: Hashable, Sendable {
        /// The address without a slash at its end.
        package let text: String

        /// Checks the URL of a server: https, or http to this machine.
        ///
        /// - Parameters:
        ///   - url: The scheme, host and port, and the path if the server is below one.
        ///   - allowsPlainText: Whether http is allowed to any host. Passwords and tokens can then
        ///     be read on the way.
        /// - Throws: ``ClientError/invalidAddress(_:)``.
        package init(_ url: URL, allowsPlainText: Bool) throws(ClientError) {
            guard let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let host = parts.host,
                !host.isEmpty
            else {
                throw .invalidAddress("The address needs a scheme and a host, such as https://chat.example.org.")
            }
            guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
                throw .invalidAddress("The address has a scheme, a host, a port and a path, and nothing else.")
            }
            switch parts.scheme?.lowercased() {
            case "https": break
            case "http" where allowsPlainText || Self.isLoopback(host): break
            case "http": throw .invalidAddress("Use https: with http, passwords can be read on the way to the server.")
            default: throw .invalidAddress("The address begins with https://.")
            }
            guard let text = parts.string else { throw .invalidAddress("The address is not a URL.") }
            self.text = Self.withoutSlash(text)
        }

        /// The text of the address of a URL that was checked before.
        static func text(of url: URL) -> String { withoutSlash(url.absoluteString) }

        private static func withoutSlash(_ text: String) -> String {
            String(text[..<(text.lastIndex { $0 != "/" }.map(text.index(after:)) ?? text.startIndex)])
        }

        /// The address as the beginning of a file's name, which no other address has.
        package var fileName: String { text.utf8.map(Self.encoded).joined() }

        private static func encoded(_ byte: UInt8) -> String {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "."):
                String(UnicodeScalar(byte))
            default: "-" + String(byte, radix: 16)
            }
        }

        /// Returns the URL of a target, such as `/v1/threads?limit=10`; nil if the target is not
        /// encoded.
        package func url(of target: String) -> URL? {
            guard target.hasPrefix("/") else { return nil }
            return URL(string: text + target, encodingInvalidCharacters: false)
        }

        private static func isLoopback(_ host: String) -> Bool {
            if ["localhost", "::1", "[::1]"].contains(host.lowercased()) { return true }
            // Not a name such as 127.0.0.1.example.org.
            let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
            return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
        }
    }
#endif
