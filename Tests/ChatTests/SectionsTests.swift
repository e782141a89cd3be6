import ChatDomain
import EventJournal
import Locking
import TestSupport
import Testing

@testable import Chat

/// Long queries run in several sections, and commands may run between the sections.
///
/// The answer is as of the first section.
@Suite(.serialized) struct SectionsTests {
    private final class Count: Sendable {
        let value = Lock(0)
    }

    private static let count = Repetitions.few(520, of: 1_100)
    /// The number of sections that read one row for each user, of 512 rows each.
    private static let sections = count / 512 + 1
    private let ann = UserID(bits: 1)
    private let code: OutwardCode
    private let store: ChatStore

    /// Creates many users of one outward code.
    ///
    /// The first user is a member of many threads, and leaves and rejoins one of them many times.
    init() throws {
        store = try StoreFixture().open()
        code = try #require(OutwardCode("SW1A"))
        var requests: [CommandRequest] = []
        for user in 1...Self.count {
            requests.append(CommandRequest(.registerUser(id: UserID(bits: UInt128(user)), username: "user\(user)")))
            requests.append(CommandRequest(.setPostcode(postcode: "SW1A 1AA", by: UserID(bits: UInt128(user)))))
            // An imported thread has no owner, so that its opener can leave it.
            requests.append(
                CommandRequest(
                    .openThread(id: thread(user), name: "Garden", by: ann), origin: .imported(sentAt: nil)))
        }
        for _ in 0..<40 {
            requests.append(CommandRequest(.leaveThread(thread: thread(1), by: ann)))
            requests.append(CommandRequest(.joinThread(thread: thread(1), by: ann)))
        }
        for answer in try store.executeBlocking(requests) { _ = try answer.get() }
    }

    private func thread(_ number: Int) -> ThreadID { ThreadID(bits: UInt128(1_000_000 + number)) }

    /// Expects a query to ignore commands that change its answer between its sections.
    ///
    /// - Parameter least: The minimum number of sections.
    /// - Returns: The answer after the commands.
    @discardableResult
    private func expectSections<Answer: Equatable>(
        _ least: Int, _ location: SourceLocation = #_sourceLocation, _ question: () throws -> Answer
    ) throws -> Answer {
        let before = try question()
        let head = store.head.position
        let sections = Count()
        let interruption: @Sendable () -> Void = {
            let number = sections.value.withLock { count in
                count += 1
                return count
            }
            _ = try? store.executeBlocking(
                .leaveThread(thread: ThreadID(code), by: UserID(bits: UInt128(Self.count - number))))
            _ = try? store.executeBlocking(.postMessage(thread: thread(number + 1), body: "Beans?", by: ann))
            _ = try? store.executeBlocking(
                .changeUsername(username: "other\(head)", by: UserID(bits: UInt128(number + 1))))
            _ = try? store.executeBlocking(.leaveThread(thread: thread(number), by: ann))
            _ = try? store.executeBlocking(.openThread(name: "Garden", by: ann))
        }
        store.readSide.willBeginSection.withLock { $0 = interruption }
        let answer = try question()
        store.readSide.willBeginSection.withLock { $0 = nil }
        #expect(answer == before, sourceLocation: location)
        #expect(sections.value.withLock { $0 } >= least, sourceLocation: location)
        #expect(store.head.position >= head + 3, sourceLocation: location)
        let after = try question()
        #expect(after != before, "the commands change the answer", sourceLocation: location)
        return after
    }

    @Test func members() throws {
        try expectSections(2 * Self.sections) { try store.reader(as: .host).members(of: ThreadID(code)) }
    }

    @Test func readers() throws { try expectSections(2 * Self.sections) { try store.readers(of: ThreadID(code)) } }

    @Test func residents() throws {
        try expectSections(2 * Self.sections) { try store.reader(as: .host).residents(of: code) }
    }

    @Test func user() throws {
        try expectSections(Self.sections + Self.count / 16) { try store.reader(as: .host).user(ann) }
    }

    @Test func threadsOfViewer() throws {
        try expectSections(Self.sections + 1) { try store.reader(as: .user(ann)).threads() }
    }

    @Test func allThreads() throws { try expectSections(Self.sections + 1) { try store.reader(as: .host).threads() } }

    @Test func threadsOfName() throws {
        try expectSections(Self.sections) { try store.reader(as: .user(ann)).threadIDs(named: "Garden") }
    }

    @Test func people() throws {
        try expectSections(Self.sections + 2) { try store.reader(as: .user(UserID(bits: 3))).people(page: .all) }
    }

    @Test func person() throws {
        try expectSections(2 * Self.sections) { try store.reader(as: .user(ann)).person(ann, threads: .all) }
    }

    @Test func access() throws { try expectSections(10) { try store.reader(as: .host).access(of: ann) } }

    /// An operator gains every thread, also without being a member.
    @Test func accessOfOperator() throws {
        let eve = UserID(bits: UInt128(Self.count + 1))
        try store.executeBlocking(.registerUser(id: eve, username: "Eve"))
        // A run of 32 changes ends before a grant.
        for _ in 0..<17 {
            try store.executeBlocking(.grantOperator(user: eve))
            try store.executeBlocking(.revokeOperator(user: eve))
        }
        try store.executeBlocking(.grantOperator(user: eve))
        let access = try expectSections(9) { try store.reader(as: .host).access(of: eve) }
        #expect(
            access.count(where: { $0.to == nil })
                == (try store.reader(as: .host).threads(page: .latest(.max)).count))
        #expect(access.count(where: { $0.thread == thread(1) }) == 18)
    }

    /// A query that has begun completes; the next one is rejected.
    @Test func closeBetweenSectionsWaitsForQuery() throws {
        store.readSide.willBeginSection.withLock { $0 = { [store] in try? store.close() } }
        let members = try store.reader(as: .host).members(of: ThreadID(code))
        store.readSide.willBeginSection.withLock { $0 = nil }
        #expect(members.count == Self.count)
        expectError("closed") { _ = try store.reader(as: .host).members(of: ThreadID(code)) }
    }
}
