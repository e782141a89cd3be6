import Columns

/// What the state adds up to, for whoever compares it with a read model.
extension ChatState {
    /// How many messages each thread has, by the thread's number.
    package var messageCounts: [Int] {
        (0..<messages.count).reduce(into: [Int](repeating: 0, count: threads.count)) { $0[messages.place($1)] += 1 }
    }

    /// How many replies that are not retracted each message has, by the message's number.
    package var replyCounts: [Int] {
        (0..<replies.count).reduce(into: [Int](repeating: 0, count: messages.count)) {
            if !replies.isRetracted($1) { $0[replies.place($1)] += 1 }
        }
    }
}
