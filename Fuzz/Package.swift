// swift-tools-version: 6.2

import PackageDescription

/// The settings of the package above; the command line adds `-enable-testing` and
/// `-sanitize=fuzzer`.
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

/// A target of the package above, compiled from the same sources through a symbolic link.
///
/// A dependency on that package would expose its public declarations only, and most of the fuzzed
/// code is not public.
func module(_ name: String, folder: String? = nil, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/package/\(folder ?? name)", swiftSettings: settings)
}

let package = Package(
    name: "Fuzz",
    platforms: [.macOS("26.0")],
    targets: [
        .target(name: "CHashing", path: "Sources/package/CHashing"),
        module("Columns"),
        module("Primitives", ["CHashing"]),
        module("Locking"),
        module("ChatDomain", ["Columns", "Primitives"]),
        module("MerkleLog", ["Primitives"]),
        module("EventJournal", ["Locking", "MerkleLog", "Primitives"]),
        module("ChatValues", ["ChatDomain", "Primitives"]),
        module("ChatLive", ["ChatDomain", "ChatValues"]),
        module("Projections", ["ChatDomain", "ChatValues", "Columns", "Primitives"]),
        module(
            "Chat",
            ["ChatDomain", "ChatLive", "ChatValues", "Columns", "EventJournal", "Locking", "Primitives", "Projections"]),
        module("ChatTesting", ["ChatDomain", "EventJournal", "Locking", "Primitives", "Projections", "Chat"]),
        module("ChatWire", ["Chat", "ChatDomain", "ChatValues", "EventJournal", "Primitives"]),
        // The code that reads the tool's input, without the tool's own `main`.
        module(
            "ToolInput", folder: "chat-journal/Support",
            ["Chat", "ChatDomain", "ChatWire", "EventJournal", "MerkleLog", "Primitives"]),
        // The code that reads HTTP, without the rest of the server, which needs libraries.
        .target(
            name: "HTTPParsing", path: "Sources/package/ChatServer/HTTP/Parsing",
            swiftSettings: settings + [.define("Server")]),
        // The header of libFuzzer's entry point, whose function is in the toolchain's runtime.
        .target(name: "CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "CFuzzer", "ChatDomain", "Columns", "EventJournal", "Locking", "MerkleLog", "Primitives", "Projections",
                "Chat",
                "ChatTesting", "ChatWire", "HTTPParsing", "ToolInput",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
