import ChatDomain

/// The commands of an import batch, and what they assume of the store.
struct ImportCommands {
    private(set) var requests: [CommandRequest] = []
    /// An upper bound of the encoded size of the commands' events, in bytes.
    private(set) var byteCount = 0
    var assumptions = ImportAssumptions()

    var count: Int { requests.count }

    mutating func append(_ command: ChatCommand, _ origin: EventOrigin) {
        let request = CommandRequest(command, origin: origin)
        byteCount += request.maximumByteCount
        requests.append(request)
    }
}
