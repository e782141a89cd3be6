#if canImport(SwiftUI)
    import Chat
    import ChatClient
    import IsolationNationModel
    import SwiftUI

    /// The threads of a store in memory, for the canvas.
    private struct PreviewView: View {
        @State private var session: SessionModel?
        @State private var problem = ""

        var body: some View {
            if let session {
                NavigationStack { ThreadsView(session: session) }.task { session.start() }
            } else {
                Text(verbatim: problem).task { do { session = try await make() } catch { problem = "\(error)" } }
            }
        }

        private func make() async throws -> SessionModel {
            let store = try ChatStore.inMemory()
            let (ann, bob) = (UserID(bits: 1), UserID(bits: 2))
            for (user, name) in [(ann, "Ann"), (bob, "Bob")] {
                try await store.execute(.registerUser(id: user, username: name))
                try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: user))
            }
            guard let thread = try store.reader(as: .user(ann)).threads().first?.id else {
                return SessionModel(previewing: store.chat(of: ann))
            }
            try await store.execute(.postMessage(thread: thread, body: "Could someone pick up milk?", by: bob))
            return SessionModel(previewing: store.chat(of: ann))
        }
    }

    #Preview { PreviewView() }
#endif
