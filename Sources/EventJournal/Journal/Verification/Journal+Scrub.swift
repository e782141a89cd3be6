internal import Dispatch
internal import Locking
import Primitives

extension Journal {
    /// The progress of scrubbing.
    public var scrubProgress: ScrubProgress { scrub.withLock { $0.progress } }

    /// Verifies the next sealed segment from the storage and reports its damage.
    ///
    /// Each call verifies one sealed segment, in order; after the last one, a new pass starts. A
    /// journal that is open for writing stores its progress in its directory, so that the next
    /// opening continues there.
    ///
    /// - Parameter report: Receives each finding, as in ``verify(_:)``. It must not scrub the journal: it
    ///   would wait for itself.
    /// - Returns: The bytes read; nil at the end of a pass.
    /// - Throws: `closed`.
    /// - Complexity: Reads one segment.
    public func scrubSegment(_ report: (JournalFinding) -> Void) throws(JournalError) -> UInt64? {
        let (isClosed, starts, active) = published.withLock { ($0.isClosed, $0.sealedStarts, SegmentStart($0.active.header)) }
        if isClosed { throw JournalError.closedJournal(at: directory.path) }
        return scrubbing.withLock { isProgressLoaded in
            if !isProgressLoaded, let noted = loadScrubProgress() { scrub.withLock { $0.progress = noted } }
            isProgressLoaded = true
            var progress = scrubProgress
            var bytes: UInt64?
            if let index = starts.firstIndex(where: { $0.position > progress.position }) {
                let next = index + 1 < starts.count ? starts[index + 1] : active
                bytes = Verifier.verifySealedSegment(of: id, from: starts[index], to: next, in: directory) { finding in
                    progress.findings &+= 1
                    report(finding)
                }
                progress.position = next.position - 1
            } else {
                progress.position = 0
                progress.passes &+= 1
            }
            storeScrubProgress(progress)
            scrub.withLock { [progress] in $0.progress = progress }
            return bytes
        }
    }

    /// Scrubs in the background until the journal is closed or released; further calls do nothing.
    ///
    /// - Parameters:
    ///   - options: The read rate and the pause between passes.
    ///   - report: Receives each finding, on a thread of the journal. ``scrubProgress`` counts the
    ///     findings as well.
    public func startScrubbing(
        _ options: ScrubOptions = ScrubOptions(), _ report: @escaping @Sendable (JournalFinding) -> Void
    ) {
        let isRunning = scrub.withLock { scrub in
            defer { scrub.isRunning = true }
            return scrub.isRunning
        }
        if isRunning { return }
        schedule(after: .zero, DispatchQueue(label: "EventJournal.scrub", qos: .utility), options, report)
    }

    private func schedule(
        after delay: Duration, _ queue: DispatchQueue, _ options: ScrubOptions, _ report: @escaping @Sendable (JournalFinding) -> Void
    ) {
        queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { [weak self] in
            guard let self else { return }
            do throws(JournalError) {
                let bytes = try scrubSegment(report)
                let rest = bytes.map { Duration.seconds(Double($0) / Double(max(options.bytesPerSecond, 1))) } ?? options.pause
                schedule(after: rest, queue, options, report)
            } catch {
                // The journal is closed, so scrubbing ends.
            }
        }
    }

    private func loadScrubProgress() -> ScrubProgress? {
        directory.note(JournalFileName.scrub, of: id).map { note in
            var progress = ScrubProgress()
            (progress.position, progress.passes) = (note.position, note.value)
            return progress
        }
    }

    private func storeScrubProgress(_ progress: ScrubProgress) {
        if isReadOnly { return }
        directory.tryToWrite(JournalNote(progress.position, progress.passes), JournalFileName.scrub, of: id)
    }
}

/// Options for scrubbing sealed segments in the background: ``Journal/startScrubbing(_:_:)``.
public struct ScrubOptions: Hashable, Sendable {
    /// The average read rate in bytes per second.
    ///
    /// Each segment is read at once, followed by a pause.
    public var bytesPerSecond: UInt64
    /// The pause between two passes.
    public var pause: Duration

    /// Creates options.
    ///
    /// The defaults are 16 MiB per second and one pass per day.
    public init(bytesPerSecond: UInt64 = 16 << 20, pause: Duration = .seconds(86_400)) {
        self.bytesPerSecond = bytesPerSecond
        self.pause = pause
    }
}
