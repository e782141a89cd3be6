#if Server
    /// The token of a session in a request, and the cookie that carries it.
    ///
    /// The attributes of the cookie follow RFC 6265bis: `__Host-` binds it to the host over TLS.
    enum SessionCredentials {
        private static let secureName = "__Host-chat-session"
        private static let plainName = "chat-session"
        /// The time after which the browser forgets the cookie: the absolute lifetime of a session.
        private static let lifetime = Duration.seconds(30 * 86_400)

        /// Returns the token of `Authorization: Bearer`, or else that of the cookie; nil if there
        /// is none.
        static func token(in head: HTTPHead, isSecure: Bool) -> String? {
            if let authorization = head[.authorization] {
                let parts = authorization.split(separator: " ", maxSplits: 1)
                guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
                return parts[1].trimmingSpaces
            }
            let name = isSecure ? secureName : plainName
            for pair in (head[.cookie] ?? "").split(separator: ";") {
                let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if sides.count == 2, sides[0].trimmingSpaces == name { return sides[1].trimmingSpaces }
            }
            return nil
        }

        /// The value of `Set-Cookie` that stores a token; nil removes it.
        static func cookie(_ token: String?, isSecure: Bool) -> String {
            let age = token == nil ? 0 : lifetime.components.seconds
            return
                "\(isSecure ? secureName : plainName)=\(token ?? ""); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : "")
        }
    }
#endif
