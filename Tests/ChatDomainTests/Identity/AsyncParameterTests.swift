import ChatDomain
import EventJournal
import Foundation
import Testing

/// Swift up to 6.3 miscompiles `async` functions that take or return values aligned to 16 bytes
/// (swiftlang/swift issues 91204 and 89842), so no public value may be aligned so.
@Suite struct AsyncParameterTests {
    @Test func publicValuesAreAlignedToEightBytes() {
        #expect(MemoryLayout<UserID>.alignment <= 8)
        #expect(MemoryLayout<ThreadID>.alignment <= 8)
        #expect(MemoryLayout<MessageID>.alignment <= 8)
        #expect(MemoryLayout<ReplyID>.alignment <= 8)
        #expect(MemoryLayout<SessionID>.alignment <= 8)
        #expect(MemoryLayout<JournalID>.alignment <= 8)
        #expect(MemoryLayout<JournalHead>.alignment <= 8)
        #expect(MemoryLayout<ChatCommand>.alignment <= 8)
        #expect(MemoryLayout<RecordedEvent>.alignment <= 8)
    }

    /// With ids of one `UInt128` this crashes most runs of a debug build, often after the test.
    @Test func asyncFunctionsReceiveAndReturnIDs() async throws {
        for number in UInt128(1)...20 {
            await suspend()
            let thread = ThreadID(bits: number << 64 | ~number)
            let (user, journal, position) = await echo("first", "second", thread, Position(number))
            #expect(user.bits == thread.bits && journal.bits == thread.bits && position == Position(number))
        }
    }

    private func echo(
        _ first: String, _ second: String, _ thread: ThreadID, _ position: Position
    ) async -> (UserID, JournalID, Position) {
        await suspend()
        return (UserID(bits: thread.bits), JournalID(bits: thread.bits), position)
    }

    /// Suspends the task until another thread resumes it.
    private func suspend() async {
        await withCheckedContinuation { continuation in Thread.detachNewThread { continuation.resume() } }
    }
}
