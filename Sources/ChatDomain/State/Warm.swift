import Columns

extension ChatState {
    /// Reads ahead what looking up the ids of some commands is going to read.
    package func warm(_ requests: Span<CommandRequest>) {
        var (users, messages): ([UserID], [UInt128]) = ([], [])
        var members: [(user: UserID, thread: ThreadID)] = []
        users.reserveCapacity(requests.count)
        members.reserveCapacity(requests.count)
        messages.reserveCapacity(requests.count)
        for index in requests.indices {
            switch requests[index].command {
            case .postMessage(let message, let thread, let author, _):
                members.append((author, thread))
                if let message { messages.append(message.bits) }
            case .joinThread(let user, let thread), .leaveThread(let user, let thread), .markRead(let user, let thread, _):
                members.append((user, thread))
            case .reply(_, let message, let author, _):
                users.append(author)
                messages.append(message.bits)
            case .edit(.message(let message), let author, _), .retract(.message(let message), let author):
                users.append(author)
                messages.append(message.bits)
            default: break
            }
        }
        let userIDs = users.map(\.bits) + members.map(\.user.bits)
        let threadIDs = members.map(\.thread.bits)
        numbering.users.prefetch(userIDs.span)
        numbering.threads.prefetch(threadIDs.span)
        dependents.memberships.prefetch(
            members.compactMap { member in
                guard let user = numbering.users.find(member.user), let thread = numbering.threads.find(member.thread) else { return nil }
                return (user, thread)
            })
        numbering.messages.prefetch(messages.span)
    }
}
