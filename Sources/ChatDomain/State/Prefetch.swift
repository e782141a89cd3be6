import Columns

extension Identities {
    /// Reads what deciding some commands is going to read, so that one does not wait for memory after the other.
    package func prefetch(_ requests: Span<CommandRequest>) {
        var (users, messages): ([UInt128], [UInt128]) = ([], [])
        var members: [(user: UserID, thread: ThreadID)] = []
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
                users.append(author.bits)
                messages.append(message.bits)
            case .edit(.message(let message), let author, _), .retract(.message(let message), let author):
                users.append(author.bits)
                messages.append(message.bits)
            default: break
            }
        }
        users += members.map(\.user.bits)
        let threads = members.map(\.thread.bits)
        self.users.prefetch(users.span)
        self.threads.prefetch(threads.span)
        memberships.prefetch(
            members.compactMap { member in
                guard let user = self.users.find(member.user), let thread = self.threads.find(member.thread) else { return nil }
                return (user, thread)
            })
        self.messages.prefetch(messages.span)
    }
}
