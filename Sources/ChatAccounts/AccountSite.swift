#if Server
    /// What the mails say of the site: its name, and where its page is.
    public struct AccountSite: Hashable, Sendable {
        /// The name.
        public let name: String
        /// The address of the page, without a slash at its end; nil for mails without links.
        public let url: String?

        /// Creates a site; nil for a name that is not one line of 1 to 64 visible characters, or an address that
        /// is not of the form `https://chat.example`.
        public init?(name: String, url: String? = nil) {
            let hidden: Set<Unicode.GeneralCategory> = [.control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned]
            guard (1...64).contains(name.count), name.utf8.count <= 256, name.first != " ", name.last != " ",
                name.unicodeScalars.allSatisfy({ !hidden.contains($0.properties.generalCategory) })
            else { return nil }
            if let url {
                guard url.utf8.count <= 400, url.hasPrefix("https://") || url.hasPrefix("http://"),
                    url.last != "/", url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                else { return nil }
            }
            (self.name, self.url) = (name, url)
        }
    }
#endif
