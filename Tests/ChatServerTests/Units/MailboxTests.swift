#if Server
    import ChatDomain
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatServer

    /// The bytes between the task that writes a stream and the thread that sends it.
    @Suite struct MailboxTests {
        private func read(_ mailbox: Mailbox, limit: Int = 1 << 20) -> [UInt8]? {
            if case .bytes(let bytes) = mailbox.read(limit: limit, joinsMessages: true) { bytes } else { nil }
        }

        private func isWaiting(_ mailbox: Mailbox) -> Bool {
            if case .wait = mailbox.read(limit: 1) { true } else { false }
        }

        private func isAtEnd(_ mailbox: Mailbox) -> Bool {
            if case .end = mailbox.read(limit: 1) { true } else { false }
        }

        @Test func bytesArriveInOrder() async throws {
            let mailbox = Mailbox()
            for block in ["one", "two", ""] { try await mailbox.write(Array(block.utf8)) }
            mailbox.post(Array("three".utf8))
            mailbox.end(Array("four".utf8))
            #expect(read(mailbox, limit: 4) == Array("onet".utf8))
            #expect(read(mailbox, limit: 1) == Array("w".utf8))
            #expect(read(mailbox) == Array("othreefour".utf8))
            #expect(isAtEnd(mailbox))
            #expect(isAtEnd(mailbox))
        }

        @Test func nothingIsWrittenAfterTheEnd() async throws {
            for close in [{ $0.end() }, { $0.close() }] as [@Sendable (Mailbox) -> Void] {
                let mailbox = Mailbox()
                close(mailbox)
                await #expect(throws: Mailbox.Ended.self) { try await mailbox.write([1]) }
                mailbox.post([2])
                mailbox.end([3])
                #expect(isAtEnd(mailbox))
            }
        }

        @Test func endIsOnce() async throws {
            let mailbox = Mailbox()
            #expect(mailbox.end([1]))
            #expect(!mailbox.end([2]))
            #expect(read(mailbox) == [1])
            #expect(isAtEnd(mailbox))
            let closed = Mailbox()
            closed.close()
            #expect(!closed.end([1]))
        }

        @Test func closeDropsWhatWaits() async throws {
            let mailbox = Mailbox()
            try await mailbox.write([1, 2, 3])
            mailbox.close()
            #expect(isAtEnd(mailbox))
        }

        /// A writer suspends when the capacity is reached, and continues when the reader has made
        /// room.
        @Test func fullMailboxSuspendsItsWriter() async throws {
            let mailbox = Mailbox()
            let block = [UInt8](repeating: 7, count: 1_000)
            let written = Lock(0)
            let writer = Task {
                for _ in 0..<200 {
                    try await mailbox.write(block)
                    written.withLock { $0 += 1 }
                }
            }
            while mailbox.idleTimes().writerWaits == nil, written.withLock({ $0 }) < 200 { await Task.yield() }
            let full = written.withLock { $0 }
            #expect(full * 1_000 >= Mailbox.capacity && (full - 1) * 1_000 < Mailbox.capacity)
            // There is no room for what does not wait.
            mailbox.post([9])
            var read = 0
            while read < 200_000 {
                if let bytes = self.read(mailbox, limit: 4_096) {
                    #expect(bytes.allSatisfy { $0 == 7 })
                    read += bytes.count
                    #expect(written.withLock { $0 } * 1_000 - read <= Mailbox.capacity + 1_000)
                } else {
                    await Task.yield()
                }
            }
            try await writer.value
            #expect(mailbox.idleTimes().writerWaits == nil)
            #expect(isWaiting(mailbox))
        }

        /// A client that makes no room is late, whether or not a writer waits.
        @Test func refusedBytesCountAsWaiting() {
            let mailbox = Mailbox()
            while mailbox.post([UInt8](repeating: 0, count: 1_000)) {}
            #expect(mailbox.idleTimes().writerWaits != nil)
            _ = mailbox.read()
            #expect(mailbox.idleTimes().writerWaits == nil && mailbox.post([0]))
        }

        /// What waits, and what was read and is not sent, is memory of the client; without any, a
        /// writer waits until there is some.
        @Test func bytesAreMemoryOfTheClient() async throws {
            var budget = ClientBudget()
            (budget.userMaximum, budget.userMinimum) = (3 * ServerMemory.mailboxStep, 0)
            let (memory, ann) = (ClientMemory(budget), Client.user(UserID(bits: 1)))
            let mailbox = Mailbox(HeldMemory(memory, ann))
            // What belongs to the mailbox anyway.
            #expect(mailbox.post([UInt8](repeating: 1, count: ServerMemory.mailbox)) && memory.byteCount == 0)
            #expect(mailbox.post([2]) && memory.byteCount == ServerMemory.mailboxStep)
            #expect(!mailbox.post([UInt8](repeating: 3, count: 3 * ServerMemory.mailboxStep)))
            #expect(mailbox.idleTimes().writerWaits != nil)
            // Until the next read, what was read may wait to be sent.
            #expect(read(mailbox)?.count == ServerMemory.mailbox + 1 && memory.byteCount == ServerMemory.mailboxStep)
            guard case .wait = mailbox.read(afterSending: false) else { throw Mailbox.Ended() }
            #expect(memory.byteCount == ServerMemory.mailboxStep)
            #expect(isWaiting(mailbox) && memory.byteCount == 0)
            let other = try #require(memory.hold(2 * ServerMemory.mailboxStep, by: ann))
            let writer = Task { try await mailbox.write([UInt8](repeating: 4, count: 2 * ServerMemory.mailboxStep)) }
            while mailbox.idleTimes().writerWaits == nil { await Task.yield() }
            mailbox.retry()
            #expect(isWaiting(mailbox) && memory.byteCount == 2 * ServerMemory.mailboxStep)
            other.set(0)
            while mailbox.idleTimes().writerWaits != nil {
                mailbox.retry()
                await Task.yield()
            }
            try await writer.value
            #expect(memory.byteCount > 0)
            mailbox.close()
            #expect(memory.byteCount == 0)
        }

        @Test(arguments: [true, false]) func endWakesASuspendedWriter(closes: Bool) async throws {
            let mailbox = Mailbox()
            try await mailbox.write([UInt8](repeating: 0, count: Mailbox.capacity))
            let writer = Task { try await mailbox.write([1]) }
            while mailbox.idleTimes().writerWaits == nil { await Task.yield() }
            if closes { mailbox.close() } else { mailbox.end([2]) }
            await #expect(throws: Mailbox.Ended.self) { try await writer.value }
            #expect(read(mailbox)?.last == (closes ? nil : 2))
        }

        /// What waits for room does not follow the end of its session.
        @Test func cancelledWriterAppendsNothing() async throws {
            let mailbox = Mailbox()
            try await mailbox.write([UInt8](repeating: 0, count: Mailbox.capacity))
            let writer = Task { try await mailbox.write([1]) }
            while mailbox.idleTimes().writerWaits == nil { await Task.yield() }
            writer.cancel()
            _ = read(mailbox)
            await #expect(throws: Mailbox.Ended.self) { try await writer.value }
            #expect(isWaiting(mailbox))
        }

        /// The reader is woken once for each wait, after it, and by everything that it can read.
        @Test func waitingReaderIsWokenOnce() async throws {
            let mailbox = Mailbox()
            let wakes = Lock(0)
            mailbox.setWake { wakes.withLock { $0 += 1 } }
            try await mailbox.write([1])
            #expect(wakes.withLock { $0 } == 0)
            _ = read(mailbox)
            #expect(isWaiting(mailbox))
            try await mailbox.write([2])
            try await mailbox.write([3])
            #expect(wakes.withLock { $0 } == 1)
            _ = read(mailbox)
            #expect(isWaiting(mailbox))
            mailbox.post([4])
            #expect(wakes.withLock { $0 } == 2)
            _ = read(mailbox)
            #expect(isWaiting(mailbox))
            mailbox.end()
            mailbox.close()
            #expect(wakes.withLock { $0 } == 3)
        }

        /// A connection that is gone is never resumed.
        @Test func closedMailboxDoesNotWake() {
            let mailbox = Mailbox()
            let wakes = Lock(0)
            mailbox.setWake { wakes.withLock { $0 += 1 } }
            #expect(isWaiting(mailbox))
            mailbox.close()
            mailbox.end([1])
            #expect(wakes.withLock { $0 } == 0)
        }

        /// A task writes and a thread reads, as fast as they can: every byte arrives, in order, and
        /// each wait has one wake-up.
        @Test func noWakeUpIsLost() async throws {
            var random = SplitMix64(seed: Repetitions.seed)
            for _ in 0..<Repetitions.few(20, of: 100) {
                let mailbox = Mailbox()
                let (waits, wakes) = (Box(0), Box(0))
                let semaphore = DispatchSemaphore(value: 0)
                mailbox.setWake {
                    wakes.withLock { $0 += 1 }
                    semaphore.signal()
                }
                let sizes = (0..<2_000).map { _ in Int.random(in: 0...200, using: &random) }
                let (limit, joins) = (Int.random(in: 1...8_192, using: &random), Bool.random(using: &random))
                async let reading = Threads.run { () -> [UInt8] in
                    var all: [UInt8] = []
                    while true {
                        switch mailbox.read(limit: limit, joinsMessages: joins) {
                        case .bytes(let bytes): all += bytes
                        case .wait:
                            waits.withLock { $0 += 1 }
                            semaphore.wait()
                        case .end: return all
                        }
                    }
                }
                var expected: [UInt8] = []
                for (index, size) in sizes.enumerated() {
                    let block = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: size)
                    expected += block
                    try await mailbox.write(block)
                }
                mailbox.end([255])
                #expect(await reading == expected + [255])
                #expect(waits.withLock { $0 } == wakes.withLock { $0 })
            }
        }

        /// Ends from several threads meet a writer and a reader: neither hangs, and no continuation
        /// is resumed twice, which would trap.
        @Test func endsFromSeveralThreads() async throws {
            for round in 0..<Repetitions.few(100, of: 1_000) {
                let mailbox = Mailbox()
                let writer = Task {
                    do { while true { try await mailbox.write([UInt8](repeating: 1, count: 30_000)) } } catch is Mailbox
                        .Ended
                    {}
                }
                async let first = Threads.run { mailbox.end([2]) }
                async let second = Threads.run { mailbox.end([3]) }
                async let third: Void = Threads.run {
                    if round % 2 == 0 { mailbox.close() } else { _ = mailbox.read(limit: 40_000) }
                }
                let ends = await [first, second]
                await third
                try await writer.value
                #expect(ends.filter { $0 }.count <= 1)
            }
        }
    }
#endif
