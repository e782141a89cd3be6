#if canImport(SwiftUI)
    import ChatClient
    import Foundation
    import IsolationNationModel
    import SwiftUI

    /// The account: name and postcode, the outbox, the devices, the password, the sign-out.
    struct SettingsView: View {
        let app: AppModel
        let session: SessionModel
        @State private var asksForPostcode = false

        var body: some View {
            Form {
                Section("You") {
                    LabeledContent("Name", value: session.threads.username)
                    Button("Postcode: \(session.threads.postcode?.description ?? "none")") { asksForPostcode = true }
                }
                OutboxSection(outbox: session.outbox)
                if let settings = session.settings {
                    DevicesSection(settings: settings)
                    PasswordSection(settings: settings)
                }
                SignOutSection(app: app)
            }
            .navigationTitle("Settings")
            .sheet(isPresented: $asksForPostcode) { NavigationStack { PostcodeView(threads: session.threads) } }
        }
    }

    /// The commands that the server does not have yet, or has rejected.
    private struct OutboxSection: View {
        let outbox: OutboxModel

        var body: some View {
            Section("Not sent yet") {
                if let failure = outbox.failure { FailureView(failure: failure) { outbox.tryAgain() } }
                if let feedback = outbox.feedback { FeedbackView(feedback: feedback) }
                if outbox.items.isEmpty { Text("Nothing waits.").foregroundStyle(.secondary) }
                ForEach(outbox.rejected, id: \.item.id) { rejected in
                    VStack(alignment: .leading) {
                        Text(verbatim: rejected.item.text ?? rejected.item.kind)
                        Text(rejected.reason.text).font(.caption).foregroundStyle(.red)
                        HStack {
                            Button("Try again") { outbox.retry(rejected.item) }
                            Button("Discard", role: .destructive) { outbox.withdraw(rejected.item) }
                        }
                        .buttonStyle(.borderless)
                    }
                }
                ForEach(outbox.pending) { item in
                    HStack {
                        Text(verbatim: item.text ?? item.kind).lineLimit(1)
                        Spacer()
                        if !item.wasSent { Button("Take back") { outbox.withdraw(item) }.buttonStyle(.borderless) }
                    }
                }
                if outbox.hasMore { Text("More wait after these.").foregroundStyle(.secondary) }
            }
        }
    }

    /// The sessions of the user.
    private struct DevicesSection: View {
        let settings: SettingsModel

        var body: some View {
            Section("Devices") {
                if let feedback = settings.feedback { FeedbackView(feedback: feedback) }
                ForEach(settings.devices) { device in
                    HStack {
                        VStack(alignment: .leading) {
                            Text(verbatim: device.device ?? "…")
                            Text(device.lastUsedAt.date, style: .date).font(.caption).foregroundStyle(.secondary)
                        }
                        Spacer()
                        if device.isCurrent {
                            Text("This device").foregroundStyle(.secondary)
                        } else {
                            Button("Sign out", role: .destructive) { Task { await settings.end(device) } }.buttonStyle(
                                .borderless)
                        }
                    }
                }
            }
            .task { await settings.reload() }
        }
    }

    /// The form for another password.
    private struct PasswordSection: View {
        let settings: SettingsModel
        @State private var old = ""
        @State private var new = ""

        var body: some View {
            Section("Password") {
                SecureField("Old password", text: $old).textContentType(.password)
                SecureField("New password", text: $new).textContentType(.newPassword)
                Button("Change the password") {
                    Task {
                        await settings.changePassword(old: old, new: new)
                        (old, new) = ("", "")
                    }
                }
                .disabled(settings.isBusy || old.isEmpty || new.isEmpty)
            }
        }
    }

    /// The sign-out, which warns of commands that would be lost, and the deletion of the account.
    private struct SignOutSection: View {
        let app: AppModel
        @State private var feedback: Feedback?
        @State private var isAsking = false
        @State private var isDeleting = false
        @State private var password = ""

        var body: some View {
            Section {
                Button("Sign out") { signOut(discardsOutbox: false) }
                Button("Delete the account", role: .destructive) { isDeleting = true }
                if let feedback { FeedbackView(feedback: feedback) }
            }
            .confirmationDialog(feedback?.text ?? "", isPresented: $isAsking, titleVisibility: .visible) {
                Button("Sign out and lose it", role: .destructive) { signOut(discardsOutbox: true) }
            }
            .alert("Delete the account and all that you wrote?", isPresented: $isDeleting) {
                SecureField("Password", text: $password)
                Button("Delete", role: .destructive) { delete() }
                Button("Cancel", role: .cancel) {}
            }
        }

        private func signOut(discardsOutbox: Bool) {
            Task {
                do { try await app.signOut(discardsOutbox: discardsOutbox) } catch {
                    feedback = Feedback(error)
                    if case OutboxRefusal.itemsPending = error { isAsking = true }
                }
            }
        }

        private func delete() {
            Task {
                do { try await app.deleteAccount(password: password) } catch { feedback = Feedback(error) }
                password = ""
            }
        }
    }
#endif
