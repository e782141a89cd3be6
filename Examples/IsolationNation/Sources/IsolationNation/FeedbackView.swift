#if canImport(SwiftUI)
    import Foundation
    import IsolationNationModel
    import SwiftUI

    /// A sentence about what went wrong, or what was done.
    struct FeedbackView: View {
        let feedback: Feedback

        var body: some View {
            Label(feedback.text, systemImage: "info.circle").font(.callout).foregroundStyle(.secondary)
        }
    }

    /// Why a list is no longer kept current, and a button that reads it again.
    struct FailureView: View {
        let failure: Feedback
        let tryAgain: @MainActor () -> Void

        var body: some View {
            HStack {
                FeedbackView(feedback: failure)
                Button("Try again") { tryAgain() }.buttonStyle(.borderless)
            }
        }
    }

    /// The banner while the server is not followed: why, and when the next attempt is.
    struct BannerView: View {
        let session: SessionModel
        let banner: OfflineBanner
        @State private var isAsking = false
        /// Why the app could not start over.
        @State private var feedback: Feedback?

        var body: some View {
            VStack(alignment: .leading, spacing: 4) {
                Text((feedback ?? banner.feedback).text)
                HStack {
                    if let time = banner.nextAttempt {
                        Text("Next attempt at \(time.formatted(date: .omitted, time: .standard))")
                        Button("Now") { session.connectNow() }
                    }
                    if banner.canTryAgain { Button("Try again") { session.start() } }
                    if banner.canStartOver { Button("Start over") { isAsking = true } }
                }
            }
            .font(.footnote)
            .frame(maxWidth: .infinity, alignment: .leading)
            .padding(8)
            .background(.yellow.opacity(0.3))
            .confirmationDialog(
                "The copy on this device is forgotten, and read again. What waits is sent to the server as it is now.",
                isPresented: $isAsking, titleVisibility: .visible
            ) {
                Button("Start over", role: .destructive) {
                    Task { do { try await session.startOver() } catch { feedback = Feedback(error) } }
                }
            }
        }
    }

    extension View {
        /// Adds the banner of a session at the top.
        func withBanner(_ session: SessionModel) -> some View {
            safeAreaInset(edge: .top, spacing: 0) {
                if let banner = session.banner { BannerView(session: session, banner: banner) }
            }
        }
    }
#endif
