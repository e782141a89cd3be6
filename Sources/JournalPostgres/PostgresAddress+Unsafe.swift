#if Postgres
    // Unsafe: libpq parses the address and returns C strings, which this file copies and frees.
    internal import CPostgreSQL
    public import EventJournal

    /// The address of a log: a libpq connection URI with the name of the log after `#`.
    ///
    ///     postgres://chat@db1,db2,db3/community#main
    ///
    /// The name consists of 1 to 63 ASCII letters, digits, `-` and `_`; without one it is `main`. A
    /// password must not stand in the address, where other users of the machine could read it:
    /// libpq takes it from `PGPASSWORD`, `~/.pgpass` or a service file.
    public struct PostgresAddress: Hashable, Sendable, CustomStringConvertible {
        /// The name of the log.
        public let log: String
        /// The parameters of the connection that the address names, without those of the
        /// environment.
        let parameters: [String: String]

        /// Whether a text is meant as such an address: it begins with `postgres://` or
        /// `postgresql://`.
        ///
        /// Ignores case and leading spaces, which ``init(_:)`` rejects, so that such a text is not
        /// taken for the directory of a journal.
        public static func isAddress(_ text: String) -> Bool {
            let start = text.drop { $0.isWhitespace }.prefix(13).lowercased()
            return start.hasPrefix("postgres://") || start.hasPrefix("postgresql://")
        }

        /// Parses an address.
        ///
        /// - Throws: `invalidAddress` if it is not a URI that libpq accepts, if it contains a
        ///   password, or if the name of the log is not valid. The error does not repeat the text.
        public init(_ text: String) throws(JournalError) {
            let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            log = parts.count == 2 ? String(parts[1]) : "main"
            let isName = { (byte: UInt8) in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
            guard (1...63).contains(log.utf8.count), log.utf8.allSatisfy(isName) else {
                throw JournalError(
                    .invalidAddress,
                    "The name of the log after '#' must have 1 to 63 letters, digits, '-' and '_' of ASCII.")
            }
            guard Self.isAddress(text), let parsed = Self.parse(String(parts[0])) else {
                throw JournalError(
                    .invalidAddress,
                    "The address is not a connection URI such as postgres://user@host1,host2/database#name.")
            }
            guard parsed["password"] == nil, parsed["sslpassword"] == nil else {
                throw JournalError(
                    .invalidAddress,
                    "The address must not contain a password. Set PGPASSWORD, or use ~/.pgpass or a service file.")
            }
            // A password with a slash or an at sign that is not percent-encoded would be taken for
            // a part of a host or of the database's name, which messages repeat.
            let isOdd = ["host", "hostaddr", "port", "dbname"].contains { key in
                parsed[key].map { $0.contains("@") || key == "port" && !$0.allSatisfy { $0.isNumber || $0 == "," } }
                    ?? false
            }
            guard !isOdd else {
                throw JournalError(
                    .invalidAddress, "The hosts, the ports or the database of the address are not valid.")
            }
            parameters = parsed
        }

        /// The address without user and options, for messages.
        public var description: String {
            let hosts = (parameters["host"] ?? parameters["hostaddr"] ?? "").split(
                separator: ",", omittingEmptySubsequences: false)
            let ports = (parameters["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
            let places = hosts.enumerated().map { index, host in
                let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
                return port.isEmpty ? String(host) : "\(host):\(port)"
            }
            return "postgres://\(places.joined(separator: ","))/\(parameters["dbname"] ?? "")#\(log)"
        }

        /// Returns the parameters with the lists of hosts, addresses and ports rotated, so that the
        /// attempts of a client begin with different servers.
        func parameters(rotatedBy count: Int) -> [String: String] {
            var rotated = parameters
            for key in ["host", "hostaddr", "port"] {
                guard let list = parameters[key]?.split(separator: ",", omittingEmptySubsequences: false),
                    list.count > 1
                else { continue }
                let shift = count % list.count
                rotated[key] = (list[shift...] + list[..<shift]).joined(separator: ",")
            }
            return rotated
        }

        private static func parse(_ uri: String) -> [String: String]? {
            guard !uri.utf8.contains(0) else { return nil }
            var message: UnsafeMutablePointer<CChar>?
            guard let options = unsafe PQconninfoParse(uri, &message) else {
                // The message may repeat a part of the address.
                unsafe PQfreemem(message)
                return nil
            }
            defer { unsafe PQconninfoFree(options) }
            var parsed: [String: String] = [:]
            var index = 0
            while let keyword = unsafe options[index].keyword {
                if let value = unsafe options[index].val {
                    unsafe parsed[String(cString: keyword)] = unsafe String(cString: value)
                }
                index += 1
            }
            return parsed
        }
    }
#endif
