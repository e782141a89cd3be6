import Chat
import ChatDomain
import ChatWire
import EventJournal
import Foundation
import Projections
import TestSupport
import Testing

@testable import chat_journal

/// With `--viewer` the tool prints the library's answer to that viewer, for every kind of event.
///
/// `VisibilityProperties` tests the library against the table of `WhoIsShownWhat.md`.
@Suite struct ViewerTests {
    private struct World {
        let folder: ToolProcess.Folder
        let path: String
        let store: ChatStore
        let events: [RecordedEvent]

        init() throws {
            folder = try ToolProcess.Folder()
            path = try GoldenCase.copy(of: "history", to: folder)
            store = try ChatStore.openReadOnly(path)
            var events: [RecordedEvent] = []
            try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in
                events.append(event)
            }
            self.events = events
        }

        var users: [UserID] { Array(Set(events.compactMap(\.event.user))).sorted() }
        var threads: [ThreadID] { Array(Set(events.compactMap(\.event.thread))).sorted() }

        /// Runs a command as a viewer.
        func run(_ viewer: UserID, _ command: String, _ arguments: String...) throws -> ToolProcess.Outcome {
            try ToolProcess.run([command, path] + arguments + ["--viewer", "\(viewer)", "--json"])
        }
    }

    /// The lines, or the code of the viewer's rejection.
    private func expected<Value: Encodable>(_ body: () throws(ChatError) -> [Value]) throws -> (
        lines: [String], code: String?
    ) {
        do throws(ChatError) {
            return (try lines(try body()), nil)
        } catch {
            guard case .rejected(let rejection) = error else { throw error }
            return ([], rejection.code.rawValue)
        }
    }

    private func lines<Value: Encodable>(_ values: [Value]) throws(ChatError) -> [String] {
        values.map { value in
            do { return try JSONLineEncoder().string(value) } catch { return "\(error)" }
        }
    }

    private func check(
        _ outcome: ToolProcess.Outcome, _ expected: (lines: [String], code: String?), _ comment: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.lines == expected.lines, "\(comment)", sourceLocation: sourceLocation)
        #expect(outcome.status == (expected.code == nil ? 0 : 1), "\(comment)", sourceLocation: sourceLocation)
        if let code = expected.code {
            #expect(
                outcome.error.hasPrefix("chat-journal: \(code): "), "\(comment): \(outcome.error)",
                sourceLocation: sourceLocation)
        }
    }

    @Test func everyCommandAnswersTheViewerAsTheLibraryDoes() throws {
        let world = try World()
        let store = world.store
        let all = PageRequest.latest(.max)
        for viewer in Repetitions.oneIn(4, of: world.users.indices).map({ world.users[$0] }) {
            var events: [RecordedEvent] = []
            try store.forEachEvent(matching: EventFilter(as: .user(viewer))) { event, _ in
                events.append(event)
            }
            check(try world.run(viewer, "events"), (try lines(events), nil), "events of \(viewer)")
            check(
                try world.run(viewer, "threads"),
                try expected { () throws(ChatError) in try store.reader(as: .user(viewer)).threads(page: all).entries },
                "threads"
            )
            check(
                try world.run(viewer, "user", "\(viewer)"),
                try expected { () throws(ChatError) in [try store.reader(as: .user(viewer)).user(viewer)] }, "user")
            check(
                try world.run(viewer, "access", "\(viewer)"),
                try expected { () throws(ChatError) in try store.reader(as: .user(viewer)).access(of: viewer) },
                "access")
            check(try world.run(viewer, "activity"), ([], "notAllowed"), "activity")
            for thread in world.threads {
                let asOf = Position(world.events.count * 2 / 3)
                check(
                    try world.run(viewer, "timeline", "\(thread)", "--limit", "1000", "--as-of", "\(asOf)"),
                    try expected { () throws(ChatError) in
                        try store.reader(as: .user(viewer), asOf: .position(asOf)).timeline(thread, page: all).entries
                    },
                    "timeline of \(thread) for \(viewer) as of \(asOf)")
                check(
                    try world.run(viewer, "members", "\(thread)"),
                    try expected { () throws(ChatError) in
                        try store.reader(as: .user(viewer)).members(of: thread).entries
                    },
                    "members of \(thread)")
                check(try world.run(viewer, "readers", "\(thread)"), ([], "notAllowed"), "readers")
                if let code = thread.outwardCode {
                    check(
                        try world.run(viewer, "residents", "\(code)"),
                        try expected { () throws(ChatError) in
                            try store.reader(as: .user(viewer)).residents(of: code).entries
                        },
                        "residents of \(code)"
                    )
                }
            }
        }
        for other in world.users.dropFirst() {
            check(try world.run(world.users[0], "user", "\(other)"), ([], "notAllowed"), "user")
            check(try world.run(world.users[0], "access", "\(other)"), ([], "notAllowed"), "access")
        }
        // Whether a user exists is not shown either.
        check(try world.run(world.users[0], "user", "Nobody of this name"), ([], "notAllowed"), "user")
    }

    @Test func messagesAndRepliesHaveTheirHistory() throws {
        let world = try World()
        let store = world.store
        for event in Repetitions.oneIn(6, of: world.events.indices).map({ world.events[$0] }) {
            let (post, id): (PostID, String)
            switch (event.event.kind, event.event.shape) {
            case (.messagePosted, .message(_, _, let itsMessage, _)):
                (post, id) = (.message(itsMessage), "\(itsMessage)")
            case (.replyPosted, .reply(_, _, _, let itsReply, _)): (post, id) = (.reply(itsReply), "\(itsReply)")
            default: continue
            }
            let operators = try ToolProcess.run(["message", world.path, id, "--json"])
            check(
                operators, try expected { () throws(ChatError) in [try store.reader(as: .host).details(of: post)] },
                "message \(id)")
            #expect(operators.output.contains(#""position":\#(event.position),"id":"\#(id)""#))
            let viewer = try #require(event.event.user == world.users[0] ? world.users[1] : world.users[0])
            check(
                try world.run(viewer, "message", id),
                try expected { () throws(ChatError) in [try store.reader(as: .user(viewer)).details(of: post)] },
                "message \(id) for \(viewer)")
            #expect(try ToolProcess.run(["message", world.path, id]).status == 0)
        }
        let unknown = try ToolProcess.run(["message", world.path, "0190a000-0000-7000-8000-00000000ffff"])
        #expect(unknown.status == 1 && unknown.error.hasPrefix("chat-journal: unknownMessage: "))
        #expect(try ToolProcess.run(["message", world.path, "milk"]).status == 64)
    }

    @Test func namesAreCaselessAndOnlyAmongTheViewersThreads() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        let (ann, bob) = ("0a000000-0000-0000-0000-000000000001", "0a000000-0000-0000-0000-000000000002")
        let (first, second) = ("0190a000-0000-7000-8000-00000000e001", "0190a000-0000-7000-8000-00000000e002")
        let outcome = try ToolProcess.run(
            ["run", journal],
            input: """
                {"registerUser":{"user":"\(ann)","username":"Ann"}}
                {"registerUser":{"user":"\(bob)","username":"Bob"}}
                {"openThread":{"thread":"\(first)","name":"Soup","by":"\(ann)"}}
                {"openThread":{"thread":"\(second)","name":"Soup","by":"\(bob)"}}
                {"openThread":{"name":"Dogs","by":"\(ann)"}}
                {"openThread":{"name":"dogs","by":"\(bob)"}}

                """)
        #expect(outcome.status == 0, "\(outcome.error)\(outcome.output)")
        func members(_ name: String, _ options: String...) throws -> ToolProcess.Outcome {
            try ToolProcess.run(["members", journal, name, "--json"] + options)
        }
        let ambiguous = try members("soup")
        #expect(ambiguous.status == 1 && ambiguous.error.contains(first) && ambiguous.error.contains(second))
        // For a viewer another user's thread does not exist, nor does its id.
        #expect(try members("soup", "--viewer", "Ann").output.contains(ann))
        #expect(try members("SOUP", "--viewer", "Bob").output.contains(bob))
        // An exact match comes first, then a caseless one.
        #expect(try members("Dogs").output.contains(ann) && members("dogs").output.contains(bob))
        #expect(try members("DOGS", "--viewer", "Ann").output.contains(ann))
        let hidden = try members("dogs", "--viewer", "Ann")
        #expect(hidden.output.contains(ann), "of two spellings a viewer finds the one that they may read")
        let nothing = try members("Cats", "--viewer", "Ann")
        #expect(
            nothing.status == 1 && nothing.error.hasPrefix("chat-journal: unknownThread: ")
                && !nothing.error.contains("0190a000"))
    }

    /// Only the operator may ask who is registered; a filter must not reveal it.
    @Test func userFilterDoesNotRevealWhoIsRegistered() throws {
        let folder = try ToolProcess.Folder()
        let journal = folder.path + "/journal"
        let ids = [
            "0a000000-0000-0000-0000-000000000001", "0a000000-0000-0000-0000-000000000002",
            "0a000000-0000-0000-0000-000000000003",
        ]
        let outcome = try ToolProcess.run(
            ["run", journal],
            input: """
                {"registerUser":{"user":"\(ids[0])","username":"Ann"}}
                {"registerUser":{"user":"\(ids[1])","username":"Bob"}}

                """)
        #expect(outcome.status == 0, "\(outcome.error)\(outcome.output)")
        for (known, unknown) in [("Bob", "Carol"), (ids[1], ids[2])] {
            let asked = try [known, unknown].map {
                try ToolProcess.run(["events", journal, "--viewer", "Ann", "--user", $0, "--json"])
            }
            #expect(
                asked.map(\.status) == [0, 0] && asked.map(\.output) == ["", ""] && asked.map(\.error) == ["", ""])
        }
        #expect(
            try ToolProcess.run(["events", journal, "--viewer", "Ann", "--user", "Ann", "--json"]).lines.count == 1)
        #expect(
            try ToolProcess.run(["events", journal, "--user", "Carol"]).error.hasPrefix("chat-journal: unknownUser: "))
    }
}
