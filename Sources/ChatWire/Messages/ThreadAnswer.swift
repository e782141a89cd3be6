import Chat

/// The answer about one thread: an object of the tool's `threads --json`, and what is the viewer's.
struct ThreadAnswer: Encodable {
    struct Me: Encodable {
        let standing: ThreadStanding
    }

    let thread: ThreadSummary
    let me: Me

    private enum CodingKeys: CodingKey { case me }

    /// Encodes the fields of the thread, and `me`.
    func encode(to encoder: any Encoder) throws {
        try thread.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(me, forKey: .me)
    }
}
