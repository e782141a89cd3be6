#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatValues
    import Foundation
    import TestSupport
    import Testing

    @testable import chat_journal

    /// The lines of a screen.
    @Suite struct ScreenLayoutTests {
        static let me = UserSummary(id: UserID(bits: 1), username: "Ann")
        static let other = UserSummary(id: UserID(bits: 2), username: "Ben")

        static func post(_ number: UInt64, _ body: String?, by author: UserSummary = other, at time: Int64 = 0) -> Post
        {
            let message = MessageID(bits: UInt128(number))
            return Post(
                id: .message(message), position: number, thread: ThreadID(bits: 9), message: message, author: author,
                body: body,
                createdAt: Timestamp(millisecondsSince1970: time), isRetracted: false, replyCount: 0)
        }

        static func list(_ posts: [Post]) throws -> PostList {
            var list = PostList(posts: posts, user: me.id)
            list.clock = LocalClock(try #require(TimeZone(secondsFromGMT: 0)))
            return list
        }

        private func lines(_ list: PostList, rows: Int, width: Int = 30) -> [String] {
            PostLayout(list, rows: rows, width: width).visible.map {
                $0.line.text.trimmingPrefix { $0 == " " }.description
            }
        }

        @Test func whatAPostShows() throws {
            var posts = [
                Self.post(1, "one"), Self.post(2, nil, at: 86_400_000), Self.post(3, "three @Ann", at: 86_460_000),
            ]
            posts[1].isRetracted = true
            (posts[2].replyCount, posts[2].reactions) = (2, [PostReaction(emoji: "👍", count: 3, isMine: true)])
            posts[2].editedAt = posts[2].createdAt
            posts.append(Self.post(.firstPending, "four", by: Self.me, at: 86_460_000))
            posts.append(Self.post(.firstPending + 1, "", by: Self.me, at: 86_460_000))
            var list = try Self.list(posts)
            list.unreadFrom = 3
            list.rejections = [posts[4].id: Rejection(.invalidBody, "Too short.")]
            #expect(
                lines(list, rows: 30, width: 60) == [
                    "---------------------- Thu 1 Jan 1970 ----------------------", "Ben 00:00", "one",
                    "---------------------- Fri 2 Jan 1970 ----------------------", "Ben 00:00", "(retracted)",
                    "-------------------------- unread --------------------------", "Ben 00:01 · edited", "three @Ann",
                    "👍 3*  2 replies",
                    "Ann 00:01 · waiting", "four", "Ann 00:01 · rejected", "",
                    "not sent: Too short. /retry, /edit or /withdraw",
                ])
        }

        /// Page up and down reach every line, and end where they began.
        @Test(arguments: [1, 2, 3, 7]) func scrolling(rows: Int) throws {
            var list = try Self.list(
                (1...20).map { Self.post($0, Array(repeating: "line", count: Int($0) % 5 + 1).joined(separator: "\n")) }
            )
            let all = Set(PostLayout(list, rows: 1_000, width: 30).visible.map(\.anchor))
            var seen: Set<PostAnchor> = []
            for _ in 0..<200 {
                let layout = PostLayout(list, rows: rows, width: 30)
                #expect(layout.visible.count == rows)
                seen.formUnion(layout.visible.map(\.anchor))
                list.anchor = layout.pageUp
            }
            #expect(seen == all)
            seen = []
            for _ in 0..<200 {
                let layout = PostLayout(list, rows: rows, width: 30)
                seen.formUnion(layout.visible.map(\.anchor))
                list.anchor = layout.pageDown
            }
            #expect(seen == all && list.anchor == nil)
        }

        @Test func aSelectedPostIsSeen() throws {
            var list = try Self.list((1...20).map { Self.post($0, "line\nline") })
            for number in [20, 5, 6, 19, 1, 20] as [UInt64] {
                let id = Self.post(number, nil).id
                list.selected = id
                list.anchor = PostLayout(list, rows: 6, width: 30).anchor(showing: id)
                let shown = PostLayout(list, rows: 6, width: 30).visible
                #expect(shown.count == 6 && shown.filter { $0.anchor.post == id }.count >= 3, "\(number)")
            }
        }

        /// Any state at any size: as many lines as rows, none wider than the screen, and a cursor
        /// in it.
        @Test(arguments: 0..<UInt64(Repetitions.few(200, of: 10_000)))
        func anySize(number: UInt64) throws {
            var random = SplitMix64(seed: Repetitions.seed &+ number)
            let size = Terminal.Size(
                rows: Int.random(in: 1...12, using: &random), columns: Int.random(in: 1...40, using: &random))
            var state = ScreenState()
            state.title = HostileText.text(&random)
            state.status = HostileText.text(&random)
            state.hint = HostileText.text(&random)
            state.editor.set(HostileText.text(&random))
            if Bool.random(using: &random) { state.question = HostileText.text(&random) }
            var author = Self.other
            author.username = HostileText.text(&random)
            let posts = (0..<UInt64.random(in: 0...6, using: &random)).map {
                Self.post($0, HostileText.text(&random), by: author)
            }
            if Bool.random(using: &random) {
                var list = try Self.list(posts)
                (list.selected, list.empty) = (posts.randomElement(using: &random)?.id, HostileText.text(&random))
                list.anchor = list.selected.map { PostAnchor(post: $0, line: Int.random(in: 0...9, using: &random)) }
                state.content = .posts(list)
            } else {
                let rows = posts.map { ScreenContent.ListRow(text: $0.body ?? "", detail: HostileText.text(&random)) }
                state.content = .list(
                    rows, selected: Int.random(in: 0...6, using: &random), empty: HostileText.text(&random))
            }
            let frame = ScreenFrame(state, size)
            #expect(frame.lines.count == size.rows, "seed \(Repetitions.seed), number \(number)")
            for line in frame.lines {
                #expect(
                    line.text.displayWidth <= size.columns, "seed \(Repetitions.seed), number \(number): \(line.text)")
            }
            if let cursor = frame.cursor {
                #expect(cursor.row == size.rows - 1 && (0..<size.columns).contains(cursor.column))
            }
            // Without colours there is none.
            let colour = /\u{1b}\[[0-9;]*3[0-9]/
            #expect(frame.lines.filter { $0.rendered(hasColours: false).contains(colour) }.isEmpty)
        }
    }
#endif
