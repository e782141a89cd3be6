internal import Primitives

/// The stored records of one commit that is copied.
struct CopiedCommit {
    private(set) var bytes: [UInt8] = []
    private(set) var layouts: [RecordLayout] = []

    var count: Int { layouts.count }
    /// The length of the commit in bytes.
    var byteCount: Int { CommitHeader.size + bytes.count }

    mutating func add(_ record: RawSpan, _ layout: RecordLayout) {
        record.append(to: &bytes)
        layouts.append(layout)
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        layouts.removeAll(keepingCapacity: true)
    }
}

extension Journal {
    /// Appends a commit of another log with its records as they are.
    func append(_ commit: CopiedCommit) throws(JournalError) {
        if commit.count == 0 { return }
        let byteCount = UInt64(commit.byteCount)
        while true {
            let isAppended = try updateState { (state) throws(JournalError) -> Bool in
                try state.checkWritable()
                guard state.hasRoom(byteCount, segmentSize) else { return false }
                try state.allocate(byteCount, segmentSize)
                try state.append(commit)
                return true
            }
            if isAppended { return }
            try rotate(for: byteCount)
        }
    }
}

extension JournalState {
    /// Appends a commit of another log to the last segment, with its records as they are.
    ///
    /// The commit stays in memory until many can be written at once.
    mutating func append(_ commit: CopiedCommit) throws(JournalError) {
        var start = 0
        for layout in commit.layouts {
            commit.bytes.withBytes(start..<start + layout.length) { pending.add($0, layout, after: lastChain) }
            start += layout.length
        }
        pending.finishCommit(behind: &active, &lastChain, synced: syncedPosition)
        lastPosition = active.lastPosition
        if pending.byteCount > Self.maximumPendingByteCount { try writePending() }
        metrics.recordAppend(records: UInt32(commit.count), bytes: commit.byteCount)
    }
}
