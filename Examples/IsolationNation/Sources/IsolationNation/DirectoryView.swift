#if canImport(SwiftUI)
    import ChatClient
    import IsolationNationModel
    import SwiftUI

    /// The threads of the directory, and a field for a new one.
    struct DirectoryView: View {
        @State private var directory: DirectoryModel
        @State private var name = ""
        @Environment(\.dismiss) private var dismiss

        init(directory: DirectoryModel) { _directory = State(initialValue: directory) }

        var body: some View {
            List {
                if let feedback = directory.feedback { FeedbackView(feedback: feedback) }
                Section("A new thread") {
                    TextField("Name", text: $name)
                    Button("Open") { Task { if await directory.open(named: name) { dismiss() } } }.disabled(
                        name.isEmpty)
                }
                Section("Threads") {
                    ForEach(directory.entries) { entry in
                        HStack {
                            Text(verbatim: entry.name ?? "…")
                            Spacer()
                            Text("\(entry.memberCount) members").foregroundStyle(.secondary)
                            Button("Join") { Task { if await directory.join(entry) { dismiss() } } }.buttonStyle(
                                .borderless)
                        }
                    }
                    if directory.hasMore, !directory.entries.isEmpty {
                        Button("More") { Task { await directory.loadMore() } }.disabled(directory.isLoading)
                    }
                }
            }
            .overlay { if directory.isLoading, directory.entries.isEmpty { ProgressView() } }
            .navigationTitle("Find a thread")
            .toolbar { Button("Cancel") { dismiss() } }
            .task { await directory.reload() }
        }
    }
#endif
