import Foundation
import Locking
import TestSupport
import Testing

@testable import EventJournal

/// Several writers compete for one journal; exactly one gets it.
@Suite struct WriterContestTests {
    /// The directory appears between the check and its creation.
    ///
    /// The lock of the other writer decides, not the directory.
    @Test func concurrentlyCreatedDirectoryIsUsed() throws {
        let storage = FaultyStorage(MemoryStorage())
        storage.fail { call in
            guard call.operation == .createDirectory else { return nil }
            do throws(StorageError) { try storage.base.createDirectory(call.path) } catch { return error }
            return nil
        }
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        try journal.append([Entry("a", "b")])
        try journal.close()
        #expect(
            try Journal.openReadOnly("journal", options: JournalOptions(storage: storage.base)).entries() == [
                Entry("a", "b")
            ])
    }

    @Test func concurrentlyCreatedFileIsNotADirectory() throws {
        let storage = FaultyStorage(MemoryStorage())
        storage.fail { call in
            guard call.operation == .createDirectory else { return nil }
            storage.base.setContents([1], of: call.path)
            return nil
        }
        #expect(journalError { _ = try Journal.open("journal", options: JournalOptions(storage: storage)) } != nil)
        #expect(storage.base.allContents() == ["journal": [1]])
    }

    /// Threads of one process open the same journal, new or existing, at the same time.
    @Test func exactlyOneThreadOpensJournal() throws {
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
        /// A child process inherits no descriptor of the journal.
        ///
        /// A release without a close, as in a crash, releases the lock while the child still runs.
        @Test func childProcessDoesNotHoldLock() throws {
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

        /// Starts a program with all descriptors that are not close-on-exec.
        ///
        /// Foundation's `Process` closes the others itself.
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
