/// How many there are of those things that there may be many of.
package struct StateSizes: Sendable {
    package var memberships = 0
    package var messages = 0
    package var replies = 0

    package init(memberships: Int = 0, messages: Int = 0, replies: Int = 0) {
        (self.memberships, self.messages, self.replies) = (memberships, messages, replies)
    }
}
