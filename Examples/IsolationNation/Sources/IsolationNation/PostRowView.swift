#if canImport(SwiftUI)
    import ChatClient
    import Foundation
    import IsolationNationModel
    import SwiftUI

    /// A post: its author, text and reactions, and whether the server has it.
    struct PostRowView: View {
        /// The reactions of the menu; each reaction that a post has is a button below it.
        private static let offered = ["👍", "❤️", "😂", "😮", "😢", "🙏"]

        let posts: PostsModel
        let row: PostRow
        @Binding var edited: PostRow?
        @State private var isReporting = false
        @State private var reason = ""

        var body: some View {
            VStack(alignment: .leading, spacing: 4) {
                HStack {
                    Text(row.post.author.username ?? "…").font(.subheadline.bold())
                    Text(row.post.createdAt.date, style: .time).font(.caption).foregroundStyle(.secondary)
                    if row.post.editedAt != nil { Text("edited").font(.caption).foregroundStyle(.secondary) }
                    if row.isWaiting {
                        Image(systemName: "clock").foregroundStyle(.secondary).accessibilityLabel(
                            "Waits for the server")
                    }
                }
                PostTextView(text: row.post.shownText)
                if !row.post.reactions.isEmpty { reactions }
                if let reason = row.rejection { rejected(reason) }
                if !row.id.isReply, !row.post.isPending, let thread = row.post.thread {
                    NavigationLink(value: RepliesLink(message: row.post.message, thread: thread)) {
                        Text("\(row.post.replyCount) replies").font(.caption)
                    }
                }
            }
            .contextMenu { menu }
            .alert("Report to the moderators", isPresented: $isReporting) {
                TextField("Reason", text: $reason)
                Button("Report") { Task { await posts.report(row, reason: reason) } }
                Button("Cancel", role: .cancel) {}
            }
        }

        private var reactions: some View {
            HStack {
                ForEach(row.post.reactions) { reaction in
                    Button("\(reaction.emoji) \(reaction.count)") {
                        Task { await posts.toggle(reaction.emoji, on: row) }
                    }
                    .buttonStyle(.bordered)
                    .tint(reaction.isMine ? Color.accentColor : Color.secondary)
                }
            }
        }

        private func rejected(_ reason: Feedback) -> some View {
            HStack {
                Text("Not sent. \(reason.text)").font(.caption).foregroundStyle(.red)
                Button("Try again") { posts.retry(row) }
                Button("Discard", role: .destructive) { posts.dismiss(row) }
            }
            .buttonStyle(.borderless)
        }

        @ViewBuilder private var menu: some View {
            if !row.post.isPending {
                ForEach(Self.offered, id: \.self) { emoji in
                    Button(emoji) { Task { await posts.toggle(emoji, on: row) } }
                }
            }
            if row.canEdit {
                Button("Edit", systemImage: "pencil") { edited = row }
                Button("Take back", systemImage: "trash", role: .destructive) { Task { await posts.retract(row) } }
            }
            if !row.isMine { Button("Report", systemImage: "flag") { isReporting = true } }
        }
    }

    /// The text of a post, or why it is not shown.
    struct PostTextView: View {
        let text: PostText

        var body: some View {
            switch text {
            // Not as Markdown, and not as a key of a translation.
            case .written(let text): Text(verbatim: text)
            case .removed: Text("A moderator has removed this.").italic()
            case .retracted: Text("This was retracted.").italic()
            case .blocked: Text("From a user whom you have blocked.").italic()
            case .unavailable: Text("This text is not available.").italic()
            }
        }
    }

    /// The form for another text of a post; stays open until the text is kept.
    struct EditView: View {
        let posts: PostsModel
        let row: PostRow
        @State private var text: String
        @Environment(\.dismiss) private var dismiss

        init(posts: PostsModel, row: PostRow) {
            (self.posts, self.row) = (posts, row)
            _text = State(initialValue: row.post.body ?? "")
        }

        var body: some View {
            Form {
                TextField("Text", text: $text, axis: .vertical)
                if let feedback = posts.feedback { FeedbackView(feedback: feedback) }
                Button("Save") { Task { if await posts.edit(row, text) { dismiss() } } }.disabled(text.isEmpty)
            }
            .onAppear { posts.feedback = nil }
            .navigationTitle("Edit")
            .toolbar { Button("Cancel") { dismiss() } }
        }
    }
#endif
