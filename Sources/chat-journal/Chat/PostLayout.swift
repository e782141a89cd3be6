#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatValues

    /// The lines of posts, and which of them fit.
    struct PostLayout {
        let list: PostList
        let rows: Int
        let width: Int

        /// A line with its place.
        struct Line {
            var index: Int
            var anchor: PostAnchor
            var line: StyledLine
        }

        init(_ list: PostList, rows: Int, width: Int) {
            (self.list, self.rows, self.width) = (list, max(0, rows), max(1, width))
        }

        /// The lines that are shown, down to the anchor; from the first post on, as many as fit.
        var visible: [Line] {
            guard rows > 0, let last = lastLine else { return [] }
            var lines = Array(block(last.index).prefix(last.line + 1).reversed())
            var index = last.index
            while lines.count < rows, index > 0 {
                index -= 1
                lines += block(index).reversed()
            }
            if lines.count >= rows { return lines.prefix(rows).reversed() }
            lines.reverse()
            lines += block(last.index).dropFirst(last.line + 1)
            index = last.index + 1
            while lines.count < rows, index < list.posts.count {
                lines += block(index)
                index += 1
            }
            return Array(lines.prefix(rows))
        }

        private var lastLine: (index: Int, line: Int)? {
            if let anchor = list.anchor, let index = list.posts.firstIndex(where: { $0.id == anchor.post }) {
                return (index, max(0, min(anchor.line, block(index).count - 1)))
            }
            return list.posts.isEmpty ? nil : (list.posts.count - 1, block(list.posts.count - 1).count - 1)
        }

        // MARK: Scrolling

        /// The anchor a page up; one line stays.
        var pageUp: PostAnchor? {
            guard let first = visible.first else { return list.anchor }
            if rows > 1 { return first.anchor }
            if first.anchor.line > 0 { return PostAnchor(post: first.anchor.post, line: first.anchor.line - 1) }
            return first.index > 0 ? block(first.index - 1).last?.anchor : first.anchor
        }

        /// The anchor a page down; nil for the end.
        var pageDown: PostAnchor? {
            guard let last = visible.last else { return nil }
            return anchor(from: last.index, last.anchor.line, plus: max(1, rows - 1))
        }

        /// The anchor at which a post is seen: the present one if it is seen whole.
        func anchor(showing id: PostID) -> PostAnchor? {
            guard let index = list.posts.firstIndex(where: { $0.id == id }) else { return list.anchor }
            let shown = visible.filter { $0.index == index }.map(\.anchor.line)
            let count = block(index).count
            if shown.count == min(count, rows) { return list.anchor }
            // Above the first line that is shown, or below the last one.
            if let first = visible.first, index <= first.index { return anchor(from: index, 0, plus: rows - 1) }
            return anchor(from: index, 0, plus: min(count, rows) - 1)
        }

        /// The anchor a number of lines after a line; nil for the end.
        private func anchor(from index: Int, _ line: Int, plus count: Int) -> PostAnchor? {
            var (index, line) = (index, line + count)
            while index < list.posts.count {
                let lines = block(index)
                if line < lines.count {
                    return index == list.posts.count - 1 && line == lines.count - 1 ? nil : lines[line].anchor
                }
                line -= lines.count
                index += 1
            }
            return nil
        }

        // MARK: Lines

        /// The lines of a post, with what divides it from the one before.
        private func block(_ index: Int) -> [Line] {
            let post = list.posts[index]
            var lines: [StyledLine] = []
            let day = list.clock.day(post.createdAt)
            if index == 0, list.hasEarlier { lines.append(divider("earlier messages: PageUp", .dim)) }
            if index == 0 || list.clock.day(list.posts[index - 1].createdAt) != day { lines.append(divider(day, .dim)) }
            if let unread = list.unreadFrom, post.position >= unread, !post.isPending,
                index == 0 || list.posts[index - 1].position < unread
            {
                lines.append(divider("unread", [.bold, .yellow]))
            }
            let isSelected = post.id == list.selected
            lines.append(head(post, isSelected: isSelected))
            let text = Self.text(of: post)
            var style: TextStyle = post.body == nil || post.isFromBlockedUser ? .dim : []
            if post.mentions.contains(list.user) { style.insert(.yellow) }
            let indent = width >= 8 ? "  " : ""
            for line in TextLayout.lines(of: text, width: width - indent.count) {
                lines.append(StyledLine(indent + line, style))
            }
            if let rejection = list.rejections[post.id] {
                let reason = "not sent: \(rejection.message) /retry, /edit or /withdraw"
                for line in TextLayout.lines(of: reason, width: width - indent.count) {
                    lines.append(StyledLine(indent + line, .red))
                }
            }
            if let foot = Self.foot(of: post) {
                lines.append(StyledLine(indent + TextLayout.line(of: foot, width: width - indent.count), .cyan))
            }
            if list.isReplies, index == 0 { lines.append(divider("replies", .dim)) }
            return lines.enumerated().map { Line(index: index, anchor: PostAnchor(post: post.id, line: $0), line: $1) }
        }

        private func divider(_ text: String, _ style: TextStyle) -> StyledLine {
            let shown = " \(text) "
            let side = max(0, (min(width, 60) - shown.displayWidth) / 2)
            return StyledLine(
                TextLayout.line(
                    of: String(repeating: "-", count: side) + shown + String(repeating: "-", count: side), width: width),
                style)
        }

        private func head(_ post: Post, isSelected: Bool) -> StyledLine {
            let isOwn = post.author.id == list.user
            var marks = [list.clock.time(post.createdAt)]
            if post.isPending { marks.append(list.rejections[post.id] == nil ? "waiting" : "rejected") }
            if post.editedAt != nil, post.body != nil { marks.append("edited") }
            let details = " " + marks.joined(separator: " · ")
            let mark = isSelected && width >= 8 ? "▶ " : ""
            let name = TextLayout.line(
                of: post.author.shownName, width: max(1, width - details.displayWidth - mark.displayWidth))
            let line = StyledLine(mark + name, isOwn ? [.bold, .green] : .bold)
            return width >= details.displayWidth + mark.displayWidth + 1 ? line + StyledLine(details, .dim) : line
        }

        private static func text(of post: Post) -> String {
            if post.isFromBlockedUser { return "(from a person whom you block)" }
            if post.isRetracted { return "(retracted)" }
            if post.isRemoved { return "(removed by a moderator)" }
            return post.body ?? "(not available)"
        }

        private static func foot(of post: Post) -> String? {
            var parts = post.reactions.map { "\($0.emoji) \($0.count)\($0.isMine ? "*" : "")" }
            if post.replyCount > 0 { parts.append(post.replyCount == 1 ? "1 reply" : "\(post.replyCount) replies") }
            return parts.isEmpty ? nil : parts.joined(separator: "  ")
        }
    }
#endif
