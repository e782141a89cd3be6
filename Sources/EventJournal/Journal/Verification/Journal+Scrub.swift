internal import Dispatch
internal import Locking
import Primitives

extension Journal {
    /// The progress of scrubbing.
    public var scrubProgress: ScrubProgress { scrub.withLock { $0.progress } }

    /// Verifies the next sealed segment from the storage and reports its damage.
    ///
    /// Each call verifies one sealed segment, in order; after the last one, a new pass starts. A
    /// journal that is open for writing stores its progress, and the time and the result of the
    /// last pass, in its directory, so that the next opening continues there.
    ///
    /// - Parameter report: Receives each finding, as in ``verify(_:)``. It must not scrub the
    ///   journal: it would wait for itself.
    /// - Returns: The bytes read; nil at the end of a pass.
    /// - Throws: `closed`.
    /// - Complexity: Reads one segment.
    public func scrubSegment(_ report: (JournalFinding) -> Void) throws(JournalError) -> UInt64? {
        let (isClosed, starts, active) = published.withLock {
            ($0.isClosed, $0.sealedStarts, SegmentStart($0.active.header))
        }
        if isClosed { throw JournalError.closedJournal(at: directory.path) }
        return scrubbing.withLock { isProgressLoaded in
            loadScrubProgress(&isProgressLoaded)
            var progress = scrubProgress
            var bytes: UInt64?
            if let index = starts.firstIndex(where: { $0.position > progress.position }) {
                let next = index + 1 < starts.count ? starts[index + 1] : active
                bytes = Verifier.verifySealedSegment(of: id, from: starts[index], to: next, in: directory) { finding in
                    progress.findings &+= 1
                    progress.passFindings &+= 1
                    report(finding)
                }
                progress.position = next.position - 1
            } else {
                progress.position = 0
                progress.passes &+= 1
                progress.lastPass = ScrubProgress.Pass(
                    endedAt: SystemCalls.millisecondsSince1970(), findings: progress.passFindings)
                progress.passFindings = 0
            }
            storeScrubProgress(progress)
            scrub.withLock { [progress] in $0.progress = progress }
            return bytes
        }
    }

    /// Scrubs in the background until the journal is closed or released; further calls do nothing.
    ///
    /// Continues the pass that the last opening has begun. After a whole pass, the next one begins
    /// when the pause since its end is over, also if the journal was closed in between.
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
        scrubbing.withLock { loadScrubProgress(&$0) }
        let delay = scrubProgress.delay(pause: options.pause, at: SystemCalls.millisecondsSince1970())
        schedule(after: delay, DispatchQueue(label: "EventJournal.scrub", qos: .utility), options, report)
    }

    private func schedule(
        after delay: Duration, _ queue: DispatchQueue, _ options: ScrubOptions,
        _ report: @escaping @Sendable (JournalFinding) -> Void
    ) {
        queue.asyncAfter(deadline: .now() + delay.dispatchInterval) { [weak self] in
            guard let self else { return }
            do throws(JournalError) {
                let bytes = try scrubSegment(report)
                let rest =
                    bytes.map { Duration.seconds(Double($0) / Double(max(options.bytesPerSecond, 1))) } ?? options.pause
                schedule(after: rest, queue, options, report)
            } catch {
                // The journal is closed, so scrubbing ends.
            }
        }
    }

    /// Loads the stored progress, unless it was loaded before.
    private func loadScrubProgress(_ isLoaded: inout Bool) {
        if !isLoaded, let stored = ScrubNote.read(in: directory, of: id) { scrub.withLock { $0.progress = stored } }
        isLoaded = true
    }

    private func storeScrubProgress(_ progress: ScrubProgress) {
        if !isReadOnly { directory.tryToWrite(ScrubNote.encoded(progress, id), JournalFileName.scrub) }
    }
}

extension ScrubProgress {
    /// The time until the next segment is due.
    ///
    /// - Parameter now: In milliseconds since 1970. If the clock was set back, a whole pause
    ///   begins.
    func delay(pause: Duration, at now: UInt64) -> Duration {
        guard position == 0, let lastPass else { return .zero }
        guard now >= lastPass.endedAt else { return pause }
        return max(.zero, pause - .milliseconds(Int64(clamping: now - lastPass.endedAt)))
    }
}

/// The file `scrub`, which the journal can do without.
///
/// It is not synced, and an absent, stale or damaged one is ignored. Format.md has the layout.
enum ScrubNote {
    static let size = 56

    static func encoded(_ progress: ScrubProgress, _ journal: JournalID) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: size)
        bytes.store(journal.bits.byteSwapped, at: 0)
        bytes.store(progress.position, at: 16)
        bytes.store(progress.passes, at: 24)
        bytes.store(progress.lastPass?.endedAt ?? 0, at: 32)
        bytes.store(UInt32(clamping: progress.passFindings), at: 40)
        bytes.store(UInt32(clamping: progress.lastPass?.findings ?? 0), at: 44)
        bytes.store(bytes.withBytes(0..<52) { CRC32C.checksum(of: $0) }, at: 52)
        return bytes
    }

    /// Reads the file; nil if it is absent, unreadable or not of this journal.
    static func read(in directory: JournalDirectory, of journal: JournalID) -> ScrubProgress? {
        guard let bytes = directory.noteBytes(JournalFileName.scrub, count: size) else { return nil }
        return bytes.withBytes { span in
            guard CRC32C.checksum(of: span.extracting(0..<52)) == span.integer(at: 52, as: UInt32.self),
                span.integer(at: 0, as: UInt128.self).byteSwapped == journal.bits
            else { return nil }
            var progress = ScrubProgress()
            (progress.position, progress.passes) = (span.integer(at: 16), span.integer(at: 24))
            progress.passFindings = UInt64(span.integer(at: 40, as: UInt32.self))
            let endedAt: UInt64 = span.integer(at: 32)
            if endedAt > 0 {
                progress.lastPass = ScrubProgress.Pass(
                    endedAt: endedAt, findings: UInt64(span.integer(at: 44, as: UInt32.self)))
            }
            return progress
        }
    }
}

/// Options for scrubbing sealed segments in the background: ``Journal/startScrubbing(_:_:)``.
public struct ScrubOptions: Hashable, Sendable {
    /// The average read rate in bytes per second.
    ///
    /// Each segment is read at once, followed by a pause.
    public var bytesPerSecond: UInt64
    /// The pause between the end of a pass and the next one, across openings.
    public var pause: Duration

    /// Creates options.
    ///
    /// The defaults are 16 MiB per second and one pass per day.
    public init(bytesPerSecond: UInt64 = 16 << 20, pause: Duration = .seconds(86_400)) {
        self.bytesPerSecond = bytesPerSecond
        self.pause = pause
    }
}
