#if canImport(SwiftUI)
    import ChatClient
    import Foundation
    import IsolationNationModel
    import SwiftUI

    /// The app, whose server is the setting `server`, or by default one on the same machine.
    @main struct IsolationNationApp: App {
        @State private var start = Start()

        var body: some Scene {
            WindowGroup {
                switch start {
                case .app(let app): RootView(app: app)
                case .problem(let feedback): FeedbackView(feedback: feedback).padding()
                }
            }
        }
    }

    /// The app, or why it cannot begin.
    private enum Start {
        case app(AppModel)
        case problem(Feedback)

        @MainActor init() {
            do {
                let address = UserDefaults.standard.string(forKey: "server") ?? "http://127.0.0.1:8080"
                guard let server = URL(string: address) else {
                    throw ClientError.invalidAddress("The setting `server` is not a URL.")
                }
                let directory = URL.applicationSupportDirectory.appending(path: "IsolationNation")
                let path = directory.path(percentEncoded: false)
                // A program that is not in a bundle, such as that of `swift run`, has no keychain
                // of its own.
                let tokens: any TokenStore =
                    if let name = Bundle.main.bundleIdentifier { KeychainTokenStore(service: name) } else {
                        FileTokenStore(path: path + "/session")
                    }
                self = .app(
                    try AppModel(
                        server: server, tokens: tokens, directory: path, device: ProcessInfo.processInfo.hostName))
            } catch { self = .problem(Feedback(error) ?? Feedback(code: "unknown", "The app cannot begin.")) }
        }
    }
#else
    /// Prints that SwiftUI is missing, so that the package builds on all platforms.
    @main enum IsolationNationApp {
        static func main() { print("Isolation Nation needs SwiftUI, which this platform does not have.") }
    }
#endif
