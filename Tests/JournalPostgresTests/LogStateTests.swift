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
            return LogState(head, address: "log", PostgresOptions().entropy)
        }

        private func draft() throws(JournalError) -> CommitDraft {
            var draft = CommitDraft()
            try [UInt8]([1]).withBytes { (kept) throws(JournalError) in
                try [UInt8]().withBytes { (erasable) throws(JournalError) in try draft.append(kept: kept, erasable: erasable) }
            }
            return draft
        }

        /// In an outage a commit is in transit for a minute.
        @Test func tickDoesNotRepeatWhileACommitIsInTransit() throws {
            var state = state()
            let draft = try draft()
            _ = try state.append(draft, expecting: 0)
            let (due, leads, commits) = (state.scheduleTick(), state.lead(), state.takeCommits())
            #expect(due == 0 && leads)
            let sent = try #require(commits)
            guard case .nothing = state.tick(since: 0) else {
                Issue.record("the tick is repeated")
                return
            }
            // The answer schedules the next one, which announces the end.
            _ = state.finish(JournalHead(journal: state.last.journal, position: 1, chain: sent[0].chain), nil)
            let next = state.scheduleTick()
            #expect(next == 1)
            guard case .announce(1) = state.tick(since: 1) else {
                Issue.record("the end is not announced")
                return
            }
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
