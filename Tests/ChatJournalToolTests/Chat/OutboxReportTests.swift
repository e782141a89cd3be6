#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatValues
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatClient
    @testable import chat_journal

    /// What the lines say of an outbox.
    @Suite struct OutboxReportTests {
        static let user = UserID(bits: 1)
        static let rejection = Rejection(.unknownThread, "No such thread.")

        static func item(_ id: OutboxItem.ID, _ state: OutboxItem.State = .queued) -> OutboxItem {
            OutboxItem(
                id: id,
                request: CommandRequest(.postMessage(thread: ThreadID(bits: 2), body: "text \(id)", by: user)),
                writtenAt: Timestamp(millisecondsSince1970: 0), state: state, wasSent: false)
        }

        /// Tells a report of the whole outbox.
        static func reconcile(_ report: inout OutboxReport, _ items: [OutboxItem]) -> [OutboxLine] {
            items.compactMap { report.apply($0) } + report.end(allBut: Set(items.map(\.id)))
        }

        @Test func everyChangeIsSaidOnce() {
            var report = OutboxReport()
            let item = Self.item(1)
            #expect(report.apply(.queued(item), line: 7) == OutboxLine(1, .queued(item.request), line: 7))
            #expect(report.apply(.queued(item)) == nil)
            #expect(report.apply(.sending(item)) == OutboxLine(1, .sending))
            #expect(Self.reconcile(&report, [item]).isEmpty && !report.isDrained)
            #expect(report.apply(.confirmed(item, Receipt())) == OutboxLine(1, .confirmed(Receipt())))
            #expect(report.apply(.confirmed(item, Receipt())) == nil)
            #expect(report.apply(.sending(item)) == nil && report.isEmpty)
        }

        @Test func missedChangesAreSaidAfterwards() {
            var report = OutboxReport()
            for id in 1...3 { _ = report.apply(.queued(Self.item(Int64(id)))) }
            let lines = Self.reconcile(&report, [Self.item(2, .rejected(Self.rejection)), Self.item(3), Self.item(4)])
            #expect(
                lines == [
                    OutboxLine(2, .rejected(Self.rejection)), OutboxLine(4, .queued(Self.item(4).request)),
                    OutboxLine(1, .confirmed(nil)),
                ])
            #expect(!report.isDrained)
        }

        @Test func aRejectedCommandIsLeftUntilItIsWithdrawn() {
            var report = OutboxReport()
            let item = Self.item(1, .rejected(Self.rejection))
            #expect(Self.reconcile(&report, [item]) == [OutboxLine(1, .rejected(Self.rejection))])
            #expect(report.isDrained && !report.isEmpty)
            #expect(report.apply(.withdrawn(item)) == OutboxLine(1, .withdrawn) && report.isEmpty)
        }

        @Test func whatWasWithdrawnIsNotConfirmedAfterMissedChanges() {
            var report = OutboxReport()
            for id in 1...3 { _ = report.apply(.queued(Self.item(Int64(id)))) }
            #expect(report.withdraw(2) == OutboxLine(2, .withdrawn))
            #expect(Self.reconcile(&report, [Self.item(3)]) == [OutboxLine(1, .confirmed(nil))])
        }

        @Test func earlierChangesOfAWithdrawnCommandAreNotSaid() {
            var report = OutboxReport()
            let item = Self.item(1)
            _ = report.apply(.queued(item), line: 1)
            _ = report.withdraw(1)
            for change in [
                OutboxChange.queued(item), .sending(item), .rejected(item, Self.rejection), .withdrawn(item),
            ] {
                #expect(report.apply(change) == nil && report.isEmpty)
            }
        }

        @Test func whatWasRejectedIsLostToo() {
            let mark = OutboxItem(
                id: 3, request: CommandRequest(.markInboxRead(upTo: 1, by: Self.user)),
                writtenAt: Timestamp(millisecondsSince1970: 0),
                state: .queued, wasSent: false)
            var loss = OutboxLoss()
            loss.add(mark)
            #expect(loss.isEmpty)
            for item in [Self.item(1), Self.item(2, .rejected(Self.rejection)), mark] { loss.add(item) }
            #expect(!loss.isEmpty && loss.description == "1 waiting and 1 rejected are lost.")
        }

        @Test func aFolderIsOfItsOwnerOnly() throws {
            let directory = try TemporaryDirectory()
            let path = directory.path + "/a/data"
            _ = try ChatFolder(path, environment: [:])
            let files = FileManager.default
            #expect(try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
            _ = try ChatFolder(path + "/", environment: [:])
            for mode in [0o755, 0o770, 0o701] {
                try files.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
                #expect(throws: ArgumentError.self) { _ = try ChatFolder(path, environment: [:]) }
            }
            #expect(throws: ArgumentError.self) { _ = try ChatFolder(CommandLine.arguments[0], environment: [:]) }
        }

        @Test func aFolderFollowsTheStateHome() {
            #expect(ChatFolder.defaultPath(["XDG_STATE_HOME": "/state", "HOME": "/home/a"]) == "/state/chat-journal")
            #expect(
                ChatFolder.defaultPath(["XDG_STATE_HOME": "state", "HOME": "/home/a"])
                    == "/home/a/.local/state/chat-journal")
            #expect(ChatFolder.defaultPath([:]) == nil)
        }
    }
#endif
