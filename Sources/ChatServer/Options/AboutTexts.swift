#if Server
    /// The texts of the operator of a site: terms, privacy and contact.
    ///
    /// The page shows them as plain text, and has no link to one that is nil.
    public struct AboutTexts: Hashable, Sendable {
        /// The terms of use.
        public var terms: String?
        /// What becomes of the data of people.
        public var privacy: String?
        /// Who runs the site, and how to reach them.
        public var contact: String?

        /// Creates texts.
        public init(terms: String? = nil, privacy: String? = nil, contact: String? = nil) {
            (self.terms, self.privacy, self.contact) = (terms, privacy, contact)
        }

        /// The largest number of bytes of a text in a directory.
        public static let maximumByteCount = 65_536

        /// The names of the texts, in the order of the page's links.
        public static let names = ["terms", "privacy", "contact"]

        /// The text with a name; nil if there is none.
        public subscript(name: String) -> String? {
            get { name == "terms" ? terms : name == "privacy" ? privacy : name == "contact" ? contact : nil }
            set {
                switch name {
                case "terms": terms = newValue
                case "privacy": privacy = newValue
                case "contact": contact = newValue
                default: break
                }
            }
        }
    }
#endif
