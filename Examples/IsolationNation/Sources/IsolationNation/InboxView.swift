#if canImport(SwiftUI)
    import ChatClient
    import Foundation
    import IsolationNationModel
    import SwiftUI

    /// The inbox: replies, mentions, reactions, invitations, and the acts of moderators.
    struct InboxView: View {
        let session: SessionModel

        private var inbox: InboxModel { session.inbox }

        var body: some View {
            List {
                if let failure = inbox.failure { FailureView(failure: failure) { inbox.tryAgain() } }
                if let feedback = inbox.feedback { FeedbackView(feedback: feedback) }
                ForEach(inbox.entries) { entry in InboxRow(inbox: inbox, entry: entry) }
            }
            .overlay { if inbox.isLoading, inbox.failure == nil { ProgressView() } }
            .navigationTitle("Inbox")
            .toolbar { Button("Mark all as read") { Task { await inbox.markRead() } }.disabled(inbox.unreadCount == 0) }
        }
    }

    /// An entry of the inbox.
    private struct InboxRow: View {
        let inbox: InboxModel
        let entry: InboxEntry

        var body: some View {
            VStack(alignment: .leading) {
                Text(sentence).fontWeight(entry.isUnread ? .bold : .regular)
                Text(entry.createdAt.date, style: .relative).font(.caption).foregroundStyle(.secondary)
                if let reason = entry.moderatorNote { Text(verbatim: reason).font(.caption) }
                if entry.reason == .invitation, entry.isUnread {
                    HStack {
                        Button("Accept") { Task { await inbox.accept(entry) } }
                        Button("Decline") { Task { await inbox.decline(entry) } }
                    }
                    .buttonStyle(.borderless)
                }
            }
        }

        private var sentence: LocalizedStringKey {
            let (who, place) = (entry.by.username ?? "…", entry.name ?? "…")
            return switch entry.reason {
            case .reply: "\(who) replied to you in \(place)"
            case .mention: "\(who) mentioned you in \(place)"
            case .reaction: "\(who) reacted with \(entry.emoji ?? "…") in \(place)"
            case .invitation: "\(who) invited you to \(place)"
            case .moderation: "A moderator of \(place) acted on you or what you wrote"
            case .report: "\(who) reported a post in \(place)"
            }
        }
    }
#endif
