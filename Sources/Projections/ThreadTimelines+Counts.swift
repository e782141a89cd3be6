extension ThreadTimelines {
    /// How many threads there are.
    public var threadCount: Int { threads.count }

    /// How many messages there are, the retracted ones too.
    public var messageCount: Int { messages.count }

    /// How many replies there are, the retracted ones too.
    public var replyCount: Int { replies.count }
}
