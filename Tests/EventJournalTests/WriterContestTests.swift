import Foundation
import Locking
import TestSupport
import Testing

@testable import EventJournal

/// Who gets the journal when several want to write it.
@Suite struct WriterContestTests {
    /// The directory appears between the look at it and its making: the other writer's lock decides, not the directory.
    @Test func aDirectoryThatAnotherWriterMakesMeanwhileIsTaken() throws {
        let storage = FaultyStorage(MemoryStorage())
        storage.fail { call in
            guard call.operation == .createDirectory else { return nil }
            do throws(StorageError) { try storage.base.createDirectory(call.path) } catch { return error }
            return nil
        }
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        try journal.append([Entry("a", "b")])
        try journal.close()
        #expect(try Journal.openReadOnly("journal", options: JournalOptions(storage: storage.base)).entries() == [Entry("a", "b")])
    }

    @Test func aFileThatAppearsMeanwhileIsNotTakenForADirectory() throws {
        let storage = FaultyStorage(MemoryStorage())
        storage.fail { call in
            guard call.operation == .createDirectory else { return nil }
            storage.base.setContents([1], of: call.path)
            return nil
        }
        #expect(journalError { _ = try Journal.open("journal", options: JournalOptions(storage: storage)) } != nil)
        #expect(storage.base.allContents() == ["journal": [1]])
    }

    /// Threads of one process that open one journal, new or not, at once.
    @Test func oneOfManyThreadsGetsTheJournal() throws {
        let folder = try TemporaryDirectory()
        for round in 0..<60 {
            let path = folder.file("journal \(round / 2)")
            let outcomes = Lock<(journals: [Journal], errors: [JournalError])>(([], []))
            DispatchQueue.concurrentPerform(iterations: 3) { _ in
                do throws(JournalError) {
                    let journal = try Journal.open(path)
                    outcomes.withLock { $0.journals.append(journal) }
                } catch {
                    outcomes.withLock { $0.errors.append(error) }
                }
            }
            let (journals, errors) = outcomes.withLock { ($0.journals, $0.errors) }
            #expect(journals.count == 1)
            #expect(errors.map(\.code) == [.locked, .locked])
            try journals.first?.append([Entry("round", "\(round)")])
            try journals.first?.close()
            #expect(try Journal.openReadOnly(path).entries().last == Entry("round", "\(round)"))
        }
    }

    #if os(Linux)
        /// A program that this process starts has nothing of the journal: when the journal is let go of without a close, as in a crash, the lock
        /// goes with it, while the program still runs.
        @Test func aStartedProgramDoesNotHoldTheLock() throws {
            let folder = try TemporaryDirectory()
            let path = folder.file("journal")
            var program: pid_t = 0
            do {
                let journal = try Journal.open(path)
                try journal.append([Entry("a", "b")])
                program = try start("/bin/sleep", "60")
                let held = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(program)/fd").compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(program)/fd/\($0)")
                }
                #expect(held.allSatisfy { !$0.hasPrefix(path) }, "\(held)")
                withExtendedLifetime(journal) {}
            }
            defer {
                kill(program, SIGKILL)
                waitpid(program, nil, 0)
            }
            #expect(kill(program, 0) == 0)
            let next = try Journal.open(path)
            #expect(try next.entries() == [Entry("a", "b")])
            try next.close()
        }

        /// Starts a program with everything that is not closed on exec; Foundation's `Process` would close the rest itself.
        private func start(_ path: String, _ argument: String) throws -> pid_t {
            var program: pid_t = 0
            let words = unsafe [strdup(path), strdup(argument)]
            defer { unsafe words.forEach { unsafe free($0) } }
            let status = unsafe posix_spawn(&program, path, nil, nil, words + [nil], nil)
            try #require(status == 0)
            return program
        }
    #endif
}
