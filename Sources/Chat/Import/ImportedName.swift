import ChatDomain

/// A name of another chat: who it is, and the usernames that it may get here.
struct ImportedName {
    /// The name in the source, without the white space around it.
    let text: String
    /// The key by which nicknames are one person.
    let foldKey: String
    /// The first username to try.
    let username: Username

    /// Makes a name, or nothing of what no version has taken for one.
    ///
    /// Scalars that earlier versions took and that are refused now are left out of the username and not of the key, so that the user is the one whom an earlier version imported.
    init?(_ text: String) {
        guard let former = Username(former: text), let fallback = Self.fallback else { return nil }
        self.text = former.text
        foldKey = former.foldKey
        username = Username(former.text) ?? Self.fitted(NameText.withoutInvisibleScalars(former.text), suffix: "") ?? fallback
    }

    private static let fallback = Username("imported")

    /// The username with a suffix, `~2` or higher, shortened where both together would exceed the bounds of a username.
    func username(suffix number: Int) -> Username? { Self.fitted(username.text, suffix: "~\(number)") }

    private static func fitted(_ text: String, suffix: String) -> Username? {
        var text = text
        while true {
            if let username = Username(text + suffix) { return username }
            if text.isEmpty { return nil }
            // By characters, but one character can be longer than a name.
            if text.count > 1 { text.removeLast() } else { text.unicodeScalars.removeLast() }
        }
    }
}

extension ThreadName {
    /// Makes the name of the thread of a channel, or nothing of what no version has taken for one; what is refused now is left out as in ``ImportedName``.
    init?(imported channel: String) {
        guard let former = ThreadName(former: channel) else { return nil }
        let visible = NameText.withoutInvisibleScalars(former.text)
        // What is left can be the outward code of another thread, or nothing.
        let candidates = [former.text, visible, OutwardCode(visible) == nil ? "imported" : visible + "~2"]
        guard let name = candidates.lazy.compactMap({ ThreadName($0) }).first else { return nil }
        self = name
    }
}
