#if Server
    /// What the mails say of the site: its name, and where its page is.
    public struct AccountSite: Hashable, Sendable {
        /// The name.
        public let name: String
        /// The address of the page, without a slash at its end; nil for mails without links.
        public let url: String?

        /// Creates a site; nil for a name that is not one line of 1 to 64 characters with a visible
        /// one and no space at its ends, or an address that is not of the form
        /// `https://chat.example`.
        public init?(name: String, url: String? = nil) {
            let hidden: Set<Unicode.GeneralCategory> = [
                .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
            ]
            guard (1...64).contains(name.count), name.utf8.count <= 256,
                name.first?.isWhitespace == false, name.last?.isWhitespace == false,
                name.unicodeScalars.allSatisfy({ !hidden.contains($0.properties.generalCategory) }),
                name.unicodeScalars.contains(where: Self.isVisible)
            else { return nil }
            if let url {
                guard url.utf8.count <= 400, url.hasPrefix("https://") || url.hasPrefix("http://"),
                    url.last != "/", url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
                else { return nil }
            }
            (self.name, self.url) = (name, url)
        }

        private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
            // The empty pattern of Braille is a symbol.
            if scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}" {
                return false
            }
            return switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: false
            default: true
            }
        }
    }
#endif
