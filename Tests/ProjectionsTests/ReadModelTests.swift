import ChatDomain
import ChatTesting
import Testing

@testable import Projections

/// A random history by the rules.
private func history(seed: UInt64, commands: Int) -> [RecordedEvent] {
    var generator = CommandGenerator(seed: seed)
    var state = ChatState()
    var events: [RecordedEvent] = []
    var time: Int64 = 1_584_921_600_000
    for number in 0..<commands {
        time += 1_000
        guard
            case .append(let decided)? = try? state.decide(
                generator.nextRequest(), at: Timestamp(millisecondsSince1970: time), freshID: UInt128(number))
        else { continue }
        for event in decided {
            events.append(RecordedEvent(position: state.head + 1, event: event))
            state.evolve(event, at: state.head + 1)
        }
    }
    return events
}

private func models(of events: some Sequence<RecordedEvent>) -> ReadModels {
    var models = ReadModels()
    for recorded in events { models.apply(recorded.event, at: recorded.position) }
    return models
}

@Suite struct ReadModelTests {
    @Test(arguments: Seeds.seeds(12)) func incrementalViewsEqualTheNaiveModelAtManyPositions(seed: UInt64) {
        let events = history(seed: seed, commands: 400)
        var models = ReadModels()
        for (index, recorded) in events.enumerated() {
            models.apply(recorded.event, at: recorded.position)
            if index % 67 == 0 || index == events.count - 1 { expectEqual(models, NaiveViews(events: Array(events[...index]))) }
        }
        #expect(events.count > 100)
    }

    private func expectEqual(_ models: ReadModels, _ naive: NaiveViews) {
        let everything = Page(limit: .max)
        #expect(Set(models.timelines.threads(everything).map(\.id)) == Set(naive.threads))
        #expect(models.timelines.threads(everything).map(\.lastPosition).isSorted)
        for thread in naive.threads {
            let messages = naive.messages(of: thread)
            let shown = models.timelines.messages(of: thread, everything).map {
                NaiveViews.Message(
                    id: $0.id, position: $0.position, author: $0.author, editPosition: $0.editPosition, isRetracted: $0.isRetracted,
                    replyCount: $0.replyCount)
            }
            #expect(shown == messages)
            for message in messages {
                let replies = models.timelines.replies(to: message.id, everything).map {
                    NaiveViews.Reply(
                        id: $0.id, position: $0.position, author: $0.author, editPosition: $0.editPosition, isRetracted: $0.isRetracted)
                }
                #expect(replies == naive.replies(to: message.id))
                #expect(models.timelines.thread(of: message.id) == thread)
            }
            let record = models.timelines.thread(thread)
            #expect(record?.lastPosition == naive.lastPosition(of: thread))
            #expect(record?.messageCount == messages.count)
            let members = naive.members(of: thread)
            #expect(models.membership.members(of: thread).map(\.user) == members.map(\.user))
            #expect(models.membership.members(of: thread).map(\.since) == members.map(\.since))
            #expect(models.membership.memberCount(of: thread) == members.count)
            for user in naive.users {
                #expect(models.mayRead(user, thread) == members.contains { $0.user == user })
                #expect(models.unreadCount(of: user, in: thread) == naive.unread(user, in: thread))
                #expect(models.users.readUpTo(user, in: thread) == naive.readUpTo(user, in: thread))
            }
            if let code = thread.outwardCode {
                let residents = naive.residents(of: code)
                #expect(models.membership.residents(of: code).map(\.user) == residents.map(\.user))
                #expect(models.membership.residents(of: code).map(\.since) == residents.map(\.since))
                #expect(models.membership.residents(of: code).map(\.postcode) == residents.map(\.postcode))
            }
        }
        for user in naive.users {
            let name = naive.username(user)
            #expect(models.users.profile(user)?.username?.text == name)
            #expect(name.flatMap { models.users.user(named: $0) } == user)
        }
    }

    @Test(arguments: Seeds.seeds(8)) func aRebuildFromDecodedRecordsEqualsTheLiveModels(seed: UInt64) throws {
        let events = history(seed: seed, commands: 600)
        var encoder = EventEncoder()
        var rebuilt = ReadModels()
        for recorded in events {
            encoder.encode(recorded.event)
            let event = unsafe try Event(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes, contents: .indexed)
            rebuilt.apply(event, at: recorded.position)
        }
        #expect(rebuilt == models(of: events))
    }

    @Test(arguments: Seeds.seeds(4)) func walkingAThreadByPagesGivesEachMessageOnceInBothDirections(seed: UInt64) {
        let models = models(of: history(seed: seed, commands: 600))
        for thread in models.timelines.threads(Page(limit: .max)).map(\.id) {
            let all = models.timelines.messages(of: thread, Page(limit: .max))
            for limit in [1, 3, 50] {
                var forward: [PostRecord<MessageID>] = []
                var page = models.timelines.messages(of: thread, Page(limit: limit, after: 0))
                while let last = page.last {
                    forward += page
                    page = models.timelines.messages(of: thread, Page(limit: limit, after: last.position))
                }
                var backward: [PostRecord<MessageID>] = []
                page = models.timelines.messages(of: thread, Page(limit: limit))
                while let first = page.first {
                    backward = page + backward
                    page = models.timelines.messages(of: thread, Page(limit: limit, before: first.position))
                }
                #expect(forward == all)
                #expect(backward == all)
            }
        }
    }

    @Test(arguments: Seeds.seeds(4)) func everythingCopesWithErasedContent(seed: UInt64) {
        let events = history(seed: seed, commands: 400)
        var erased = ReadModels()
        for recorded in events {
            var event = recorded.event
            if event.content != .none { event.content = .erased }
            event.correlation = nil
            erased.apply(event, at: recorded.position)
        }
        let whole = models(of: events)
        for thread in whole.timelines.threads(Page(limit: .max)) {
            #expect(
                erased.timelines.messages(of: thread.id, Page(limit: .max)) == whole.timelines.messages(of: thread.id, Page(limit: .max)))
            #expect(erased.membership.members(of: thread.id).map(\.user) == whole.membership.members(of: thread.id).map(\.user))
            #expect(erased.timelines.thread(thread.id)?.name == thread.id.outwardCode?.description)
        }
    }
}

@Suite struct PageTests {
    private let positions: [Position] = [2, 3, 5, 8, 13, 21]

    private func page(_ page: Page) -> [Position] { Array(positions[page.indices(count: positions.count) { positions[$0] }]) }

    @Test func theLatestAreShownWithoutBounds() {
        #expect(page(Page(limit: 2)) == [13, 21])
        #expect(page(Page()) == positions)
        #expect(page(Page(limit: 0)) == [])
        #expect(page(Page(limit: -1)) == [])
    }

    @Test func boundsAreExclusive() {
        #expect(page(Page(limit: 2, before: 13)) == [5, 8])
        #expect(page(Page(limit: 2, after: 3)) == [5, 8])
        #expect(page(Page(limit: 9, before: 13, after: 3)) == [5, 8])
        #expect(page(Page(limit: 1, before: 21, after: 3)) == [5])
        #expect(page(Page(before: 2)) == [])
        #expect(page(Page(after: 21)) == [])
        #expect(page(Page(before: 3, after: 8)) == [])
        #expect(page(Page(limit: .max, before: .max, after: 0)) == positions)
    }
}

extension Array where Element: Comparable {
    fileprivate var isSorted: Bool { zip(self, dropFirst()).allSatisfy { $0 <= $1 } }
}
