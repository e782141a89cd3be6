#if Postgres
    import EventJournal
    import Primitives
    import Testing

    @testable import JournalPostgres

    /// The state of a log in memory.
    @Suite struct LogStateTests {
        private func state() -> LogState {
            let id = JournalID(bits: 1)
            let head = JournalHead(journal: id, position: 0, chain: StoredRecord.chain(before: id))
            return LogState(head, address: "log")
        }

        private func draft() throws(JournalError) -> CommitDraft {
            var draft = CommitDraft()
            try [UInt8]([1]).withBytes { (kept) throws(JournalError) in
                try [UInt8]().withBytes { (erasable) throws(JournalError) in
                    try draft.append(kept: kept, erasable: erasable)
                }
            }
            return draft
        }

        /// In an outage a commit is in transit for a minute.
        @Test func nothingIsScheduledWhileACommitIsInTransit() throws {
            var state = state()
            let draft = try draft()
            _ = try state.append(draft, expecting: 0)
            let (isFirst, leads, commits) = (state.scheduleSend(), state.leadAsScheduledSend(), state.takeCommits())
            #expect(isFirst && leads)
            let sent = try #require(commits)
            let leadsAgain = state.leadAsScheduledSend()
            let early = state.scheduleAnnouncement(at: .now)
            #expect(!leadsAgain && early == nil)
            // The answer schedules the announcement.
            _ = state.finish(JournalHead(journal: state.last.journal, position: 1, chain: sent[0].chain), nil)
            let pause = state.scheduleAnnouncement(at: .now)
            #expect(pause == .milliseconds(1))
        }

        @Test func announcementsHavePausesAndTheLastOneIsMade() throws {
            var state = state()
            let draft = try draft()
            var now = ContinuousClock.now
            func confirm(_ position: Position) throws {
                _ = try state.append(draft, expecting: position - 1)
                _ = state.leadAsScheduledSend()
                let commits = state.takeCommits()
                let sent = try #require(commits)
                _ = state.finish(
                    JournalHead(journal: state.last.journal, position: position, chain: sent[0].chain), nil)
            }
            try confirm(1)
            #expect(state.isAnnouncementDue(at: now))
            state.didAnnounce(1, at: now)
            #expect(!state.isAnnouncementDue(at: now))
            now += .milliseconds(20)
            try confirm(2)
            #expect(!state.isAnnouncementDue(at: now))
            let (pause, again) = (state.scheduleAnnouncement(at: now), state.scheduleAnnouncement(at: now))
            #expect(pause == .milliseconds(30) && again == nil)
            now += .milliseconds(30)
            #expect(state.isAnnouncementDue(at: now))
            // The database did not get it: it is made later.
            state.didAnnounce(nil, at: now)
            state.endAnnouncementSchedule()
            let later = state.scheduleAnnouncement(at: now)
            #expect(!state.isAnnouncementDue(at: now) && later == .seconds(1))
            now += .seconds(1)
            #expect(state.isAnnouncementDue(at: now))
            state.didAnnounce(2, at: now)
            state.endAnnouncementSchedule()
            let end = state.scheduleAnnouncement(at: now + .seconds(1))
            #expect(end == nil)
        }

        @Test func closingLogRejectsAppends() throws {
            var state = state()
            let draft = try draft()
            _ = try state.append(draft, expecting: 0)
            let last = state.rejectAppends()
            #expect(last == 1)
            do throws(JournalError) {
                _ = try state.append(draft, expecting: 1)
                Issue.record("the append was accepted")
            } catch {
                #expect(error.code == .closed)
            }
            // What was appended is waited for.
            #expect(try !state.isDurable(1))
            let commits = state.takeCommits()
            #expect(commits?.count == 1)
        }
    }
#endif
