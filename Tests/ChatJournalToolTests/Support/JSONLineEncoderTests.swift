import Chat
import ChatDomain
import ChatWire
import TestSupport
import Testing

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

@testable import chat_journal

@Suite struct JSONLineEncoderTests {
    private let encoder = JSONLineEncoder()

    /// `JSONLineMembers` writes every kind of event as the encoder does; the golden journals hold
    /// every kind.
    @Test(arguments: ["history", "stubs", "late"]) func eventsAreWrittenAsTheEncoderWritesThem(folder: String) throws {
        let target = try ToolProcess.Folder()
        let store = try ChatStore.openReadOnly(try GoldenCase.copy(of: folder, to: target))
        var events: [ExportedEvent] = []
        try store.forEachExportedEvent { event, _ in
            events.append(event)
        }
        for (index, event) in events.enumerated() {
            var line = Array("before".utf8)
            try JSONLineMembers.appendObject(to: &line) { members in try event.encode(to: &members) }
            #expect(String(decoding: line, as: UTF8.self) == "before" + (try encoder.string(event)))
            let redacted = RedactedFields(rawValue: UInt8(index % 32))
            for recorded in [
                event.recorded, RecordedEvent(position: .max, event: event.recorded.event, redacted: redacted),
            ] {
                line = []
                try JSONLineMembers.appendObject(to: &line) { members in try recorded.encode(to: &members) }
                #expect(String(decoding: line, as: UTF8.self) == (try encoder.string(recorded)))
            }
        }
        #expect(events.count > 50)
    }

    @Test func keysKeepTheirOrder() throws {
        struct Row: Encodable {
            var zebra = 1
            var apple = "a/b"
            var middle: [Int?] = [1, nil]
            var none: Int?
            var nested = Nested()
            struct Nested: Encodable {
                var y = true
                var x = 1.5
            }
        }
        #expect(
            try encoder.string(Row()) == #"{"zebra":1,"apple":"a/b","middle":[1,null],"nested":{"y":true,"x":1.5}}"#)
    }

    @Test(arguments: [
        ("\"\\/", #""\"\\/""#), ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
        ("\u{0}\u{1b}\u{7f}\u{9f}", #""\u0000\u001b\u007f\u009f""#),
        ("\u{202e}\u{200d}\u{feff}\u{2028}\u{2029}", #""\u202e\u200d\ufeff\u2028\u2029""#),
        ("\u{E0041}", #""\udb40\udc41""#),
        ("größe 漢字 🦊", "\"größe 漢字 🦊\""),
    ])
    func strings(text: String, json: String) throws {
        #expect(try encoder.string(text) == json)
    }

    @Test func numbers() throws {
        #expect(try encoder.string([Int64.min]) == "[-9223372036854775808]")
        #expect(try encoder.string([UInt64.max]) == "[18446744073709551615]")
        #expect(try encoder.string([Int128.min]) == "[-170141183460469231731687303715884105728]")
        #expect(try encoder.string(["k": UInt128.max]) == #"{"k":340282366920938463463374607431768211455}"#)
        #expect(try encoder.string([Int8.min, 0, 127]) == "[-128,0,127]")
        #expect(try encoder.string([0, -0.0, 12, 0.1, 1e-7, 1e300]) == "[0,-0,12,0.1,1e-07,1e+300]")
        #expect(try encoder.string([Float(0.1), 3]) == "[0.1,3]")
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func numbersThatJSONDoesNotHave(value: Double) throws {
        struct Row: Encodable {
            var before = 1
            var rows: [[Double]]
        }
        var line = Array("kept ".utf8)
        #expect(throws: EncodingError.self) { try encoder.encode(Row(rows: [[], [0, value]]), into: &line) }
        #expect(String(decoding: line, as: UTF8.self) == "kept ")
        #expect(throws: EncodingError.self) { try encoder.string(Float(value)) }
    }

    /// A class encodes its own members, and its superclass into a separate encoder.
    @Test func superEncoders() throws {
        class Base: Encodable {
            let base = 1
        }
        final class Derived: Base {
            enum Keys: String, CodingKey { case own, parent }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Keys.self)
                try super.encode(to: container.superEncoder())
                try super.encode(to: container.superEncoder(forKey: .parent))
                try container.encodeNil(forKey: .own)
            }
        }
        struct List: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                try 7.encode(to: container.superEncoder())
                _ = container.superEncoder()
                try container.encodeNil()
                #expect(container.count == 3)
            }
        }
        #expect(try encoder.string(Derived()) == #"{"super":{"base":1},"parent":{"base":1},"own":null}"#)
        #expect(try encoder.string(List()) == "[7,{},null]")
    }

    /// Containers are nested in any way, and two types share one object.
    @Test func nestedContainers() throws {
        struct Tail: Encodable { var tail = "t" }
        struct Shape: Encodable {
            enum Keys: String, CodingKey { case a, b, c }
            func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: Keys.self)
                var inner = object.nestedContainer(keyedBy: Keys.self, forKey: .a)
                var list = inner.nestedUnkeyedContainer(forKey: .b)
                try list.encode(1)
                var deep = list.nestedContainer(keyedBy: Keys.self)
                try deep.encode(2, forKey: .c)
                try list.encode(3)
                _ = list.nestedUnkeyedContainer()
                try inner.encode("x", forKey: .c)
                try Tail().encode(to: encoder)
                try object.encode(Optional<Int>.none, forKey: .b)
            }
        }
        struct Nothing: Encodable {
            func encode(to encoder: any Encoder) throws {}
        }
        #expect(try encoder.string(Shape()) == #"{"a":{"b":[1,{"c":2},3,[]],"c":"x"},"tail":"t","b":null}"#)
        #expect(try encoder.string([Nothing()]) == "[{}]")
        #expect(try encoder.string(Optional<Int>.none) == "null")
    }

    /// A container may be filled after later members of its parent.
    @Test func containersOutOfOrder() throws {
        struct Late: Encodable {
            enum Keys: String, CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var object = encoder.container(keyedBy: Keys.self)
                var inner = object.nestedContainer(keyedBy: Keys.self, forKey: .a)
                try object.encode(1, forKey: .b)
                try inner.encode(2, forKey: .a)
            }
        }
        #expect(try encoder.string([Late()]) == #"[{"a":{"a":2},"b":1}]"#)
    }

    /// Foundation decodes random trees again, and no byte acts on a terminal.
    @Test func roundTrip() throws {
        let seed = Repetitions.seed
        var generator = SplitMix64(seed: seed)
        for _ in 0..<300 {
            let tree = Tree.random(depth: 5, using: &generator)
            var line: [UInt8] = []
            try encoder.encode(tree, into: &line)
            #expect(try JSONDecoder().decode(Tree.self, from: Data(line)) == tree, "seed \(seed)")
            #expect(throws: Never.self, "seed \(seed)") { try JSONScanner.validate(line) }
            #expect(
                String(decoding: line, as: UTF8.self).unicodeScalars.allSatisfy { !$0.altersTerminal }, "seed \(seed)")
        }
    }
}

extension JSONLineEncoder {
    /// The JSON of a value as a string.
    func string(_ value: some Encodable) throws -> String {
        var line: [UInt8] = []
        try encode(value, into: &line)
        return String(decoding: line, as: UTF8.self)
    }
}

/// Any JSON value, with members in a fixed order.
enum Tree: Codable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case text([Unicode.Scalar])
    case list([Tree])
    case object([String: Tree])

    static func random(depth: Int, using generator: inout some RandomNumberGenerator) -> Tree {
        switch Int.random(in: 0...(depth > 0 ? 7 : 4), using: &generator) {
        case 0: return .null
        case 1: return .bool(.random(using: &generator))
        case 2: return .integer(.random(in: .min ... .max, using: &generator))
        case 3:
            let number = Double(bitPattern: generator.next())
            return .number(number.isFinite ? number : 0.5)
        case 4: return .text(Array(String.random(using: &generator).unicodeScalars))
        case 5:
            return .list(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in random(depth: depth - 1, using: &generator) })
        default:
            var members: [String: Tree] = [:]
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                members[.random(using: &generator)] = random(depth: depth - 1, using: &generator)
            }
            return .object(members)
        }
    }

    // Each case is an object with one member, whose name identifies the case.
    private enum Keys: String, CodingKey { case bool, integer, number, text, list, object }

    func encode(to encoder: any Encoder) throws {
        if self == .null {
            var container = encoder.singleValueContainer()
            return try container.encodeNil()
        }
        var container = encoder.container(keyedBy: Keys.self)
        switch self {
        case .null: break
        case .bool(let value): try container.encode(value, forKey: .bool)
        case .integer(let value): try container.encode(value, forKey: .integer)
        case .number(let value): try container.encode(value, forKey: .number)
        case .text(let value): try container.encode(String(String.UnicodeScalarView(value)), forKey: .text)
        case .list(let value): try container.encode(value, forKey: .list)
        case .object(let value): try container.encode(value, forKey: .object)
        }
    }

    init(from decoder: any Decoder) throws {
        if try decoder.singleValueContainer().decodeNil() {
            self = .null
            return
        }
        let container = try decoder.container(keyedBy: Keys.self)
        switch container.allKeys.first {
        case .bool?: self = .bool(try container.decode(Bool.self, forKey: .bool))
        case .integer?: self = .integer(try container.decode(Int64.self, forKey: .integer))
        case .number?: self = .number(try container.decode(Double.self, forKey: .number))
        case .text?: self = .text(Array(try container.decode(String.self, forKey: .text).unicodeScalars))
        case .list?: self = .list(try container.decode([Tree].self, forKey: .list))
        case .object?: self = .object(try container.decode([String: Tree].self, forKey: .object))
        case nil: throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "no case"))
        }
    }
}
