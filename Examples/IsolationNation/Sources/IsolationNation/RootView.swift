#if canImport(SwiftUI)
    import ChatClient
    import IsolationNationModel
    import SwiftUI

    /// The form of an account, the chat, or why the copy of the chat cannot be opened.
    struct RootView: View {
        let app: AppModel

        var body: some View {
            switch app.screen {
            case .starting: ProgressView().task { await app.start() }
            case .account(let account): NavigationStack { AccountView(account: account) }
            case .chat(let session): ChatView(app: app, session: session).id(session.id)
            case .unusableCopy(_, let feedback): UnusableCopyView(app: app, feedback: feedback)
            }
        }
    }

    /// The chat of a session: threads, inbox, settings.
    struct ChatView: View {
        let app: AppModel
        let session: SessionModel

        var body: some View {
            TabView {
                NavigationStack { ThreadsView(session: session).withBanner(session) }
                    .tabItem { Label("Threads", systemImage: "bubble.left.and.bubble.right") }
                    .badge(session.threads.unreadCount)
                NavigationStack { InboxView(session: session).withBanner(session) }
                    .tabItem { Label("Inbox", systemImage: "tray") }
                    .badge(session.inbox.unreadCount)
                NavigationStack { SettingsView(app: app, session: session).withBanner(session) }
                    .tabItem { Label("Settings", systemImage: "gear") }
                    .badge(session.outbox.rejected.count)
            }
        }
    }

    /// The choices for a copy that cannot be opened: try again, or remove it.
    struct UnusableCopyView: View {
        let app: AppModel
        let feedback: Feedback
        @State private var isAsking = false

        var body: some View {
            VStack(spacing: 16) {
                FeedbackView(feedback: feedback)
                Button("Try again") { app.openAgain() }
                Button("Remove the copy on this device", role: .destructive) { isAsking = true }
            }
            .padding()
            .confirmationDialog("What was not sent yet is lost.", isPresented: $isAsking, titleVisibility: .visible) {
                Button("Start over") { app.replaceCopy() }
            }
        }
    }
#endif
