import ChatDomain

/// The commands of an import batch, and what they assume of the store.
struct ImportCommands {
    private(set) var requests: [CommandRequest] = []
    /// An upper bound of the encoded size of the commands' events, in bytes.
    private(set) var byteCount = 0
    var assumptions = ImportAssumptions()

    var count: Int { requests.count }

    /// - Parameter found: The users whom the text of the command names.
    mutating func append(_ command: ChatCommand, _ origin: EventOrigin, found: [UserID] = []) {
        var request = CommandRequest(command, origin: origin)
        if !found.isEmpty { request.command.foundMentions = found[...] }
        byteCount += request.maximumByteCount
        requests.append(request)
    }
}
