// swift-tools-version: 6.2

import PackageDescription

/// One set of settings for every target: Swift 6 mode, the upcoming features, strict memory safety, and warnings that
/// fail the build (a deprecation alone stays a warning, so that a newer toolchain does not break an older release).
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .treatWarning("DeprecatedDeclaration", as: .warning),
]

let package = Package(
    name: "ChatJournal",
    platforms: [.macOS("26.0"), .iOS("26.0"), .tvOS("26.0"), .watchOS("26.0"), .visionOS("26.0")],
    products: [
        .library(name: "ChatDomain", targets: ["ChatDomain"]),
        .library(name: "EventJournal", targets: ["EventJournal"]),
        .library(name: "Projections", targets: ["Projections"]),
        .library(name: "Chat", targets: ["Chat"]),
        .library(name: "ChatTesting", targets: ["ChatTesting"]),
        .executable(name: "chat-journal", targets: ["chat-journal"]),
    ],
    targets: [
        // Within the package alone, so it is in no product: its types are public, because only public code is specialised in another module.
        .target(name: "Columns", swiftSettings: settings),
        .target(name: "ChatDomain", dependencies: ["Columns"], swiftSettings: settings),
        .target(name: "CChecksum"),
        .target(name: "EventJournal", dependencies: ["CChecksum"], swiftSettings: settings),
        .target(name: "Projections", dependencies: ["ChatDomain", "Columns", "EventJournal"], swiftSettings: settings),
        .target(name: "Chat", dependencies: ["ChatDomain", "Columns", "EventJournal", "Projections"], swiftSettings: settings),
        .target(name: "ChatTesting", dependencies: ["ChatDomain", "EventJournal", "Projections", "Chat"], swiftSettings: settings),
        .executableTarget(
            name: "chat-journal", dependencies: ["ChatDomain", "EventJournal", "Projections", "Chat"], swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks", dependencies: ["ChatDomain", "EventJournal", "Projections", "Chat", "CChecksum", "CFloor"],
            path: "Benchmarks", exclude: ["README.md", "CFloor"], swiftSettings: settings),
        // For the benchmarks alone, so it is in no product.
        .target(name: "CFloor", dependencies: ["CChecksum"], path: "Benchmarks/CFloor"),
        .testTarget(name: "ColumnsTests", dependencies: ["Columns", "ChatDomain", "ChatTesting"], swiftSettings: settings),
        .testTarget(name: "ChatDomainTests", dependencies: ["ChatDomain", "ChatTesting"], swiftSettings: settings),
        // For tests alone, so it is in no product.
        .target(name: "StubRewriter", dependencies: ["EventJournal"], path: "Tests/StubRewriter", swiftSettings: settings),
        .testTarget(name: "EventJournalTests", dependencies: ["EventJournal", "StubRewriter"], swiftSettings: settings),
        .testTarget(
            name: "ProjectionsTests", dependencies: ["Projections", "ChatDomain", "EventJournal", "ChatTesting"], swiftSettings: settings),
        .testTarget(
            name: "ChatTests",
            dependencies: ["Chat", "ChatDomain", "Columns", "EventJournal", "Projections", "ChatTesting", "StubRewriter"],
            swiftSettings: settings),
        .testTarget(name: "ChatTestingTests", dependencies: ["ChatTesting", "ChatDomain"], swiftSettings: settings),
        .testTarget(
            name: "ChatJournalToolTests", dependencies: ["chat-journal", "Chat", "ChatDomain", "EventJournal", "StubRewriter"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
