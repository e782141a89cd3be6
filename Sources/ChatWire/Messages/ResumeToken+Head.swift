package import ChatValues

extension ResumeToken {
    /// Creates the token of everything up to a head.
    package init(_ head: JournalHead) {
        guard let token = ResumeToken(position: head.position, head: head) else {
            preconditionFailure("a head is not before itself")
        }
        self = token
    }
}
