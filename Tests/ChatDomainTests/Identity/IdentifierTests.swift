import ChatDomain
import ChatTesting
import Foundation
import Testing

/// Ids, their text form, and derived ids.
struct IdentifierTests {
    @Test func textFollowsRFC9562() throws {
        let id = UserID(bits: 0x389b_0b66_f0e3_4907_9b4e_01ac_4146_bb0b)
        #expect(id.description == "389b0b66-f0e3-4907-9b4e-01ac4146bb0b")
        #expect(UserID("389b0b66-f0e3-4907-9b4e-01ac4146bb0b") == id)
        #expect(UserID("389B0B66-F0E3-4907-9B4E-01AC4146BB0B") == id)
        #expect(try json(["id": id]) == #"{"id":"389b0b66-f0e3-4907-9b4e-01ac4146bb0b"}"#)
        #expect(
            try value([MessageID].self, fromJSON: #"["389B0B66-F0E3-4907-9B4E-01AC4146BB0B"]"#) == [
                MessageID(bits: id.bits)
            ])
    }

    @Test(arguments: Seeds.seeds(50)) func textAgreesWithFoundation(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let id = SessionID(bits: random.bits128())
        let uuid = try #require(UUID(uuidString: id.description))
        #expect(uuid.uuidString.lowercased() == id.description)
        #expect(SessionID(uuid.uuidString) == id)
    }

    @Test(arguments: [
        "", "389b0b66", "389b0b66f0e349079b4e01ac4146bb0b", "389b0b66-f0e3-4907-9b4e-01ac4146bb0",
        "389b0b66-f0e3-4907-9b4e-01ac4146bb0b0",
        "389b0b66-f0e3-4907-9b4e-01ac4146bb0g", "389b0b66-f0e3-4907-9b4e+01ac4146bb0b",
        " 389b0b66-f0e3-4907-9b4e-01ac4146bb0",
        "389b0b66-f0e3-4907-9b4e-01ac4146bb0\n", "{389b0b66-f0e3-4907-9b4e-01ac4146bb}",
        "389b0b66-f0e34-907-9b4e-01ac4146bb0b",
        "٣89b0b66-f0e3-4907-9b4e-01ac4146bb0", "--------f---------------------------",
    ])
    func invalidTextIsRejected(text: String) {
        #expect(UserID(text) == nil)
        #expect(throws: DecodingError.self) { try value([UserID].self, fromJSON: try json([text])) }
    }

    @Test func idsAreOrderedByTheirBits() {
        #expect(UserID(bits: 1) < UserID(bits: 1 << 64))
        #expect(UserID(bits: .max) > UserID(bits: 1 << 127))
        #expect(!(UserID(bits: 1) < UserID(bits: 1)))
    }

    @Test(arguments: Seeds.seeds(20)) func version7IDHoldsTimeAndSortsByIt(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let time = Timestamp(millisecondsSince1970: Int64.random(in: 0..<(1 << 48 - 1), using: &random))
        let bits = random.bits128()
        let id = MessageID(version7At: time, random: bits)
        #expect(id.bits >> 80 == UInt128(time.millisecondsSince1970))
        #expect(id.bits >> 76 & 0xF == 7)
        #expect(id.bits >> 62 & 0x3 == 2)
        // The 74 other bits are random.
        #expect(id.bits >> 64 & 0xFFF == bits >> 64 & 0xFFF)
        #expect(id.bits & (1 << 62 - 1) == bits & (1 << 62 - 1))
        let next = MessageID(
            version7At: Timestamp(millisecondsSince1970: time.millisecondsSince1970 + 1), random: random.bits128())
        #expect(id < next)
        #expect(ThreadID(bits: id.bits).outwardCode == nil)
    }

    @Test(arguments: [
        ("SW1A", "53573141-0000-8000-806f-757477617264"), ("M1", "4d310000-0000-8000-806f-757477617264"),
        ("N1P", "4e315000-0000-8000-806f-757477617264"),
    ])
    func outwardCodeDeterminesThreadID(code: String, text: String) throws {
        let code = try #require(OutwardCode(code))
        let id = ThreadID(code)
        #expect(id.description == text)
        #expect(id.outwardCode == code)
        #expect(ThreadID(idOrOutwardCode: code.description.lowercased()) == id)
        #expect(ThreadID(idOrOutwardCode: text.uppercased()) == id)
        // Version 8 and the variant of RFC 9562.
        #expect(id.bits >> 76 & 0xF == 8)
        #expect(id.bits >> 62 & 0x3 == 2)
    }

    @Test(arguments: Seeds.seeds(20)) func otherIDsHaveNoOutwardCode(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        #expect(ThreadID(bits: random.bits128()).outwardCode == nil)
        let derived = ThreadID(try #require(OutwardCode("SW1A")))
        for bit in 0..<96 { #expect(ThreadID(bits: derived.bits ^ (1 << UInt128(bit))).outwardCode == nil) }
        // The bits of the code itself lead to another code or to none.
        for bit in 96..<128 {
            let other = ThreadID(bits: derived.bits ^ (1 << UInt128(bit)))
            if let code = other.outwardCode { #expect(ThreadID(code) == other) }
        }
    }

    @Test(arguments: ["", "SW", "QQ1", "SW1A 1AA", "Dogs"]) func invalidOutwardCodeNamesNoThread(text: String) {
        #expect(ThreadID(idOrOutwardCode: text) == nil)
    }

    @Test(arguments: Seeds.seeds(20)) func denseIndexesAgreeWithDictionary(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var index = TypedIDInterner<UserID>()
        var numbers: [UserID: Int] = [:]
        for _ in 0..<2_000 {
            // Half of the ids repeat; many share their low or high half.
            let id = UserID(bits: UInt128(random.next() % 40) << 64 | UInt128(random.next() % 40))
            #expect(index.find(id) == numbers[id])
            let (number, isNew) = index.insert(id)
            #expect(isNew == (numbers[id] == nil))
            #expect(number == numbers[id] ?? numbers.count)
            numbers[id] = number
            #expect(index.count == numbers.count)
        }
        for (id, number) in numbers { #expect(index.find(id) == number && index.id(number) == id) }
        #expect(index.find(UserID(bits: .max)) == nil)
    }

    @Test func denseIndexesCompareByTheirIDs() {
        var first = TypedIDInterner<UserID>()
        var second = TypedIDInterner<UserID>()
        for bits in 0..<100 as Range<UInt128> {
            _ = first.insert(UserID(bits: bits))
            #expect(first != second)
            _ = second.insert(UserID(bits: bits))
            #expect(first == second)
        }
    }
}
