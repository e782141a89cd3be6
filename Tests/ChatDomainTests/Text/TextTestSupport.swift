import ChatTesting
import Foundation

extension SeededRandom {
    /// Returns a random text of these scalars.
    mutating func text(of scalars: [Unicode.Scalar], count: ClosedRange<Int>) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: count, using: &self) {
            if let scalar = scalars.randomElement(using: &self) { text.append(scalar) }
        }
        return String(text)
    }
}

/// The real postcodes, which the package does not include: `../shared/data` beside it, or
/// `CHATJOURNAL_DATA`.
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
