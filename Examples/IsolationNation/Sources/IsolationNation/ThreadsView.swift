#if canImport(SwiftUI)
    import ChatClient
    import Foundation
    import IsolationNationModel
    import SwiftUI

    /// The threads of the user, with unread counts.
    struct ThreadsView: View {
        let session: SessionModel
        @State private var showsDirectory = false
        @State private var asksForPostcode = false

        private var threads: ThreadsModel { session.threads }

        var body: some View {
            List {
                if let failure = threads.failure { FailureView(failure: failure) { threads.tryAgain() } }
                if let feedback = threads.feedback { FeedbackView(feedback: feedback) }
                if threads.needsPostcode { Button("Set your postcode") { asksForPostcode = true } }
                if threads.isPostcodeWaiting { Text("Your postcode waits for the server.").foregroundStyle(.secondary) }
                ForEach(threads.threads) { thread in
                    NavigationLink(value: thread.id) { ThreadRow(thread: thread, user: session.chat.user) }
                        .badge(thread.unreadCount)
                }
            }
            .overlay { if threads.isLoading, threads.failure == nil { ProgressView() } }
            .navigationTitle("Threads")
            .navigationDestination(for: ThreadID.self) { id in
                ThreadView(session: session, thread: id)
            }
            .navigationDestination(for: RepliesLink.self) { link in RepliesView(session: session, link: link) }
            .toolbar {
                Button("Find a thread", systemImage: "magnifyingglass") { showsDirectory = true }
            }
            .sheet(isPresented: $showsDirectory) { NavigationStack { DirectoryView(directory: session.directory()) } }
            .sheet(isPresented: $asksForPostcode) { NavigationStack { PostcodeView(threads: threads) } }
        }
    }

    /// A thread in the list.
    private struct ThreadRow: View {
        let thread: UserThread
        let user: UserID

        var body: some View {
            VStack(alignment: .leading) {
                Text(thread.title(for: user)).font(.headline)
                if let post = thread.lastMessage {
                    HStack(spacing: 4) {
                        Text(verbatim: "\(post.author.username ?? "…"):")
                        PostTextView(text: post.shownText)
                    }
                    .font(.subheadline).foregroundStyle(.secondary).lineLimit(1)
                }
            }
        }
    }

    /// The postcode, which decides the thread of the district.
    struct PostcodeView: View {
        let threads: ThreadsModel
        @State private var text = ""
        @Environment(\.dismiss) private var dismiss

        var body: some View {
            Form {
                TextField("Postcode, such as SW1A 1AA", text: $text).textContentType(.postalCode)
                if let feedback = threads.feedback { FeedbackView(feedback: feedback) }
                Button("Set the postcode") { Task { if await threads.setPostcode(text) { dismiss() } } }.disabled(
                    text.isEmpty)
            }
            .navigationTitle("Postcode")
            .toolbar { Button("Cancel") { dismiss() } }
        }
    }
#endif
