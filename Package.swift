// swift-tools-version: 6.2

import PackageDescription

/// One set of settings for every target: Swift 6 mode, the upcoming features, strict memory safety,
/// and warnings that fail the build (a deprecation alone stays a warning, so that a newer toolchain
/// does not break an older release).
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
        .library(name: "MerkleLog", targets: ["MerkleLog"]),
        .library(name: "ChatValues", targets: ["ChatValues"]),
        .library(name: "ChatLive", targets: ["ChatLive"]),
        .library(name: "Projections", targets: ["Projections"]),
        .library(name: "Chat", targets: ["Chat"]),
        .library(name: "ChatTesting", targets: ["ChatTesting"]),
        .library(name: "ChatWire", targets: ["ChatWire"]),
        // Empty without the trait Server.
        .library(name: "ChatServer", targets: ["ChatServer", "ChatAccounts"]),
        // Empty without the trait Client, except on Apple platforms.
        .library(name: "ChatClient", targets: ["ChatClient"]),
        // Empty without the trait Postgres.
        .library(name: "JournalPostgres", targets: ["JournalPostgres"]),
        .executable(name: "chat-journal", targets: ["chat-journal"]),
    ],
    traits: [
        .trait(name: "PeerBenchmarks", description: "Benchmarks also measures SQLite, which needs libsqlite3."),
        .trait(
            name: "Client", description: "The client on other systems than Apple's, which needs libcurl and libsqlite3."
        ),
        .trait(
            name: "Server",
            description: "Accounts and the server, which need libcurl, libwslay, libsodium, libsqlite3 and zlib.",
            enabledTraits: ["Client"]),
        .trait(name: "Postgres", description: "The log on PostgreSQL, which needs libpq."),
    ],
    targets: [
        // In no product. Its types are public, because only public code is specialised in another
        // module.
        .target(name: "Columns", swiftSettings: settings),
        // In no product. Positions, bytes, ids, checksums and searches, for several targets.
        .target(name: "Primitives", dependencies: ["CHashing"], swiftSettings: settings),
        .target(name: "ChatDomain", dependencies: ["Columns", "Primitives"], swiftSettings: settings),
        .target(name: "CHashing"),
        // In no product.
        .target(name: "Locking", swiftSettings: settings),
        .target(name: "MerkleLog", dependencies: ["Primitives"], swiftSettings: settings),
        .target(name: "EventJournal", dependencies: ["Locking", "MerkleLog", "Primitives"], swiftSettings: settings),
        // Empty without the trait Postgres.
        .target(
            name: "JournalPostgres",
            dependencies: [
                "EventJournal", "Locking", "MerkleLog", "Primitives",
                .target(name: "CPostgreSQL", condition: .when(traits: ["Postgres"])),
            ],
            swiftSettings: settings),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        // The values of queries and answers, for a client that has no journal.
        .target(name: "ChatValues", dependencies: ["ChatDomain", "Primitives"], swiftSettings: settings),
        // Live views and the chat of one user, of a store or of a client.
        .target(name: "ChatLive", dependencies: ["ChatDomain", "ChatValues"], swiftSettings: settings),
        .target(
            name: "Projections", dependencies: ["ChatDomain", "ChatValues", "Columns", "Primitives"],
            swiftSettings: settings),
        .target(
            name: "Chat",
            dependencies: [
                "ChatDomain", "ChatLive", "ChatValues", "Columns", "EventJournal", "Locking", "Primitives",
                "Projections",
            ],
            swiftSettings: settings),
        .target(
            name: "ChatTesting",
            dependencies: ["ChatDomain", "EventJournal", "Locking", "Primitives", "Projections", "Chat"],
            swiftSettings: settings),
        // In no product. Files that only their owner may read, and SQLite with the trait Client.
        .target(
            name: "LocalStorage", dependencies: [.target(name: "CSQLite", condition: .when(traits: ["Client"]))],
            swiftSettings: settings),
        // In no product. Requests over HTTP: by URLSession on Apple platforms, by libcurl with the
        // trait Client on Linux.
        .target(
            name: "HTTPTransfers",
            dependencies: [
                "Locking", .target(name: "CCurl", condition: .when(platforms: [.linux], traits: ["Client"])),
            ],
            swiftSettings: settings),
        .target(
            name: "ChatClient",
            dependencies: [
                "ChatDomain", "ChatLive", "ChatValues", "HTTPTransfers", "LocalStorage", "Locking", "Primitives",
            ],
            swiftSettings: settings),
        // In no product: an example. The view models; empty without the trait Client, except on
        // Apple platforms.
        .target(
            name: "IsolationNationModel", dependencies: ["ChatClient"],
            path: "Examples/IsolationNation/Sources/IsolationNationModel",
            swiftSettings: settings),
        // In no product: an example. The app, where SwiftUI exists; elsewhere a program that says
        // so.
        .executableTarget(
            name: "IsolationNation", dependencies: ["Chat", "ChatClient", "IsolationNationModel"],
            path: "Examples/IsolationNation/Sources/IsolationNation", swiftSettings: settings),
        // In no product: an example. The chat of the SwiftUI tutorials, a WebSocket that a program adds
        // to the server; empty without the trait Server.
        .target(
            name: "TutorialChat",
            dependencies: ["Chat", "ChatDomain", "ChatServer", "ChatWire", "EventJournal", "Locking", "Primitives"],
            path: "Examples/TutorialChat", swiftSettings: settings),
        // Empty without the trait Server.
        .target(
            name: "ChatAccounts",
            dependencies: [
                "ChatDomain", "LocalStorage", "Locking", "Primitives",
                .target(name: "CSodium", condition: .when(traits: ["Server"])),
            ],
            swiftSettings: settings),
        .target(
            name: "ChatWire", dependencies: ["Chat", "ChatDomain", "ChatValues", "EventJournal", "Primitives"],
            swiftSettings: settings),
        // Empty without the trait Server.
        .target(
            name: "ChatServer",
            dependencies: [
                "CServerFiles", "Chat", "ChatAccounts", "ChatDomain", "ChatWire", "EventJournal", "HTTPTransfers",
                "Locking", "Primitives",
                .target(name: "CWslay", condition: .when(traits: ["Server"])),
                .target(name: "CZlib", condition: .when(traits: ["Server"])),
            ],
            exclude: ["Page", "openapi.json"], swiftSettings: settings),
        // Includes the files of ChatServer that are served as they are.
        .target(name: "CServerFiles"),
        .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CSodium", providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),
        .executableTarget(
            name: "chat-journal",
            dependencies: [
                "Chat", "ChatAccounts", "ChatClient", "ChatDomain", "ChatLive", "ChatServer", "ChatValues", "ChatWire",
                "EventJournal",
                "JournalPostgres", "MerkleLog", "Primitives", "Projections", "TutorialChat",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "ChatDomain", "Columns", "EventJournal", "Projections", "Chat", "ChatClient", "ChatTesting",
                "ChatValues", "CCounting",
                "CHashing", "CFloor",
                "Locking",
                "JournalPostgres", "Primitives",
                .target(name: "CSQLite", condition: .when(traits: ["PeerBenchmarks"])),
                .target(name: "CPostgreSQL", condition: .when(traits: ["Postgres"])),
            ],
            path: "Benchmarks", exclude: ["README.md", "baseline.jsonl", "CCounting", "CFloor", "Door"],
            swiftSettings: settings),
        // In no product: for the benchmarks only.
        .target(name: "CCounting", path: "Benchmarks/CCounting"),
        .target(name: "CFloor", dependencies: ["CHashing"], path: "Benchmarks/CFloor"),
        .testTarget(name: "PrimitivesTests", dependencies: ["Primitives", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "MerkleLogTests", dependencies: ["MerkleLog", "Primitives", "TestSupport"], swiftSettings: settings),
        .testTarget(name: "LockingTests", dependencies: ["Locking"], swiftSettings: settings),
        .testTarget(
            name: "ColumnsTests", dependencies: ["Columns", "ChatDomain", "ChatTesting", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ChatDomainTests", dependencies: ["ChatDomain", "ChatTesting", "EventJournal", "TestSupport"],
            swiftSettings: settings),
        // In no product: for tests only.
        .target(name: "TestSupport", dependencies: ["Locking"], path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "NaiveViews", dependencies: ["ChatDomain", "Projections"], path: "Tests/NaiveViews",
            swiftSettings: settings),
        .target(
            name: "StubRewriter", dependencies: ["EventJournal", "Primitives"], path: "Tests/StubRewriter",
            swiftSettings: settings),
        .target(name: "ForkedProcess", path: "Tests/ForkedProcess"),
        .testTarget(
            name: "EventJournalTests",
            dependencies: [
                "ChatTesting", "EventJournal", "ForkedProcess", "Locking", "MerkleLog", "Primitives", "StubRewriter",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(name: "ChatValuesTests", dependencies: ["ChatValues"], swiftSettings: settings),
        .testTarget(
            name: "ChatLiveTests", dependencies: ["Chat", "ChatDomain", "ChatLive", "ChatValues", "Locking"],
            swiftSettings: settings),
        .testTarget(
            name: "ProjectionsTests",
            dependencies: [
                "Chat", "ChatDomain", "ChatTesting", "ChatValues", "EventJournal", "NaiveViews", "Projections",
                "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ChatTests",
            dependencies: [
                "Chat", "ChatDomain", "Columns", "EventJournal", "JournalPostgres", "Locking", "MerkleLog",
                "Primitives", "Projections",
                "ChatTesting", "NaiveViews", "StubRewriter", "TestSupport",
            ],
            swiftSettings: settings),
        // The examples of the documentation, with the settings of a caller's package.
        .testTarget(
            name: "ExampleTests",
            dependencies: ["Chat", "ChatDomain", "ChatTesting", "EventJournal", "MerkleLog", "TestSupport"],
            swiftSettings: [.treatAllWarnings(as: .error)]),
        .testTarget(
            name: "ChatAccountsTests",
            dependencies: ["ChatAccounts", "ChatDomain", "LocalStorage", "Locking", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ChatClientTests",
            dependencies: [
                "Chat", "ChatAccounts", "ChatClient", "ChatDomain", "ChatServer", "ChatTesting", "ChatValues",
                "ChatWire",
                "HTTPTransfers", "LocalStorage", "Locking", "Primitives", "ServerSupport", "TestSupport",
                .target(name: "CSQLite", condition: .when(traits: ["Client"])),
            ],
            swiftSettings: settings),
        // In no product: a real server for tests of clients. Empty without the trait Server.
        .target(
            name: "ServerSupport",
            dependencies: ["Chat", "ChatAccounts", "ChatClient", "ChatServer", "Locking", "TestSupport"],
            path: "Tests/ServerSupport", swiftSettings: settings),
        .testTarget(
            name: "IsolationNationTests",
            dependencies: ["Chat", "ChatClient", "IsolationNationModel", "ServerSupport", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ChatWireTests",
            dependencies: [
                "Chat", "ChatDomain", "ChatTesting", "ChatWire", "EventJournal", "Projections", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ChatServerTests",
            dependencies: [
                "Chat", "ChatAccounts", "ChatDomain", "ChatServer", "ChatTesting", "ChatWire", "EventJournal",
                "Locking", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "JournalPostgresTests",
            dependencies: [
                "Chat", "ChatDomain", "ChatTesting", "EventJournal", "JournalPostgres", "Locking", "MerkleLog",
                "Primitives", "TestSupport",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ChatTestingTests",
            dependencies: ["ChatTesting", "ChatDomain", "EventJournal", "Locking", "MerkleLog", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "ChatJournalToolTests",
            dependencies: [
                "chat-journal", "Chat", "ChatClient", "ChatDomain", "ChatLive", "ChatValues", "ChatWire",
                "EventJournal", "Locking", "MerkleLog",
                "StubRewriter", "TestSupport",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
