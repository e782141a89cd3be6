import Foundation

/// The seed of this run's random cases: `CHATJOURNAL_SEED` if it is set, else a fresh one, which failures print.
let textSeed: UInt64 =
    ProcessInfo.processInfo.environment["CHATJOURNAL_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)

/// SplitMix64: the same cases for the same seed on every platform.
struct TextRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A text of some of these scalars.
    mutating func text(of scalars: [Unicode.Scalar], count: ClosedRange<Int>) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: count, using: &self) {
            if let scalar = scalars.randomElement(using: &self) { text.append(scalar) }
        }
        return String(text)
    }
}

/// The real postcodes, which are not part of the package: `../shared/data` beside it, or `CHATJOURNAL_DATA`.
enum PostcodeData {
    static let directory: URL = {
        if let path = ProcessInfo.processInfo.environment["CHATJOURNAL_DATA"] {
            return URL(fileURLWithPath: path, isDirectory: true).appendingPathComponent("postcodes")
        }
        var package = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { package.deleteLastPathComponent() }
        return package.deletingLastPathComponent().appendingPathComponent("shared/data/postcodes")
    }()

    static func exists(_ name: String) -> Bool {
        FileManager.default.isReadableFile(atPath: directory.appendingPathComponent(name).path)
    }

    static func lines(of name: String) throws -> [String] {
        let text = String(decoding: try Data(contentsOf: directory.appendingPathComponent(name)), as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).map(String.init)
    }
}

/// The letters A to Z.
let capitals: [Character] = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
