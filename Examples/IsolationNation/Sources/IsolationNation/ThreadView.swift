#if canImport(SwiftUI)
    import ChatClient
    import IsolationNationModel
    import SwiftUI

    /// The destination of a link to the replies of a message.
    struct RepliesLink: Hashable {
        let message: MessageID
        let thread: ThreadID
    }

    /// The messages of a thread.
    struct ThreadView: View {
        let session: SessionModel
        let thread: ThreadID
        @State private var posts: PostsModel
        @Environment(\.scenePhase) private var scenePhase

        init(session: SessionModel, thread: ThreadID) {
            (self.session, self.thread) = (session, thread)
            _posts = State(initialValue: session.posts(of: thread))
        }

        private var present: UserThread? { session.threads.thread(thread) }

        var body: some View {
            PostsView(posts: posts, placeholder: "Message", menuFeedback: session.threads.feedback)
                .navigationTitle(present?.title(for: session.chat.user) ?? "")
                .toolbar { if let present { ThreadMenu(threads: session.threads, thread: present) } }
                // A message that arrives in the background stays unread.
                .onChange(of: scenePhase, initial: true) { _, phase in posts.isOnScreen = phase == .active }
        }
    }

    /// The replies to a message.
    struct RepliesView: View {
        @State private var posts: PostsModel

        init(session: SessionModel, link: RepliesLink) {
            _posts = State(initialValue: session.replies(to: link.message, in: link.thread))
        }

        var body: some View { PostsView(posts: posts, placeholder: "Reply").navigationTitle("Replies") }
    }

    /// The menu of a thread: what notifies the user, and leaving.
    private struct ThreadMenu: View {
        let threads: ThreadsModel
        let thread: UserThread

        var body: some View {
            Menu("Thread", systemImage: "ellipsis.circle") {
                Picker("Notifications", selection: level) {
                    Text("All messages").tag(NotificationLevel.all)
                    Text("Mentions").tag(NotificationLevel.mentions)
                    Text("None").tag(NotificationLevel.none)
                }
                Button("Leave the thread", role: .destructive) { Task { await threads.leave(thread.id) } }
            }
        }

        private var level: Binding<NotificationLevel> {
            Binding(
                get: { thread.notifications.level },
                set: { level in Task { await threads.setNotifications(level, of: thread.id) } })
        }
    }

    /// Posts, oldest first, and a field for the next one.
    private struct PostsView: View {
        @Bindable var posts: PostsModel
        let placeholder: LocalizedStringKey
        /// What went wrong with a choice of the menu.
        var menuFeedback: Feedback?
        @State private var edited: PostRow?

        var body: some View {
            ScrollViewReader { scroller in
                List {
                    if let failure = posts.failure { FailureView(failure: failure) { posts.tryAgain() } }
                    if let root = posts.root { PostTextView(text: root.shownText).font(.headline) }
                    if posts.hasEarlier {
                        Button("Earlier") { Task { await posts.loadEarlier() } }.disabled(posts.isLoadingEarlier)
                    }
                    ForEach(posts.rows) { row in PostRowView(posts: posts, row: row, edited: $edited) }
                }
                .listStyle(.plain)
                .overlay { if posts.isLoading { ProgressView() } }
                .onChange(of: posts.rows.last?.id) { _, last in if let last { scroller.scrollTo(last, anchor: .bottom) }
                }
            }
            .safeAreaInset(edge: .bottom, spacing: 0) { field }
            .task { await posts.follow() }
            .sheet(item: $edited) { row in NavigationStack { EditView(posts: posts, row: row) } }
        }

        private var field: some View {
            VStack(alignment: .leading) {
                if let feedback = posts.feedback ?? menuFeedback { FeedbackView(feedback: feedback) }
                HStack {
                    TextField(placeholder, text: $posts.draft, axis: .vertical).lineLimit(1...5)
                    Button("Send", systemImage: "paperplane") { Task { await posts.post() } }
                        .labelStyle(.iconOnly)
                        .disabled(posts.draft.isEmpty)
                }
            }
            .padding(8)
            .background(.bar)
        }
    }
#endif
