/// What the state adds up to, for whoever compares it with a read model.
extension ChatState {
    /// How many messages each thread has, by the thread's number.
    package var messageCounts: [Int] {
        messages.reduce(into: [Int](repeating: 0, count: threads.count)) { $0[Int($1.place)] += 1 }
    }

    /// How many replies that are not retracted each message has, by the message's number.
    package var replyCounts: [Int] {
        replies.reduce(into: [Int](repeating: 0, count: messages.count)) { if !$1.isRetracted { $0[Int($1.place)] += 1 } }
    }
}
