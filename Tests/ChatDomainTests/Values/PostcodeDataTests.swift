import ChatDomain
import Foundation
import Testing

/// Real postcodes and related codes.
@Suite struct PostcodeDataTests {
    @Test(.enabled(if: PostcodeData.exists("postcodes_sample.txt"), "the sample of postcodes is not installed"))
    func realPostcodesRoundTrip() throws {
        let lines = try PostcodeData.lines(of: "postcodes_sample.txt")
        #expect(lines.count == 33_926)
        for line in lines {
            #expect(Postcode(line)?.description == line)
            let joined = line.filter { $0 != " " }.lowercased()
            #expect(Postcode(joined)?.description == line)
            let outward = String(line.prefix { $0 != " " })
            #expect(Postcode(line)?.outwardCode.description == outward)
            #expect(Postcode(line).flatMap { Postcode(ascii: $0.ascii) } == Postcode(joined))
        }
    }

    @Test(.enabled(if: PostcodeData.exists("outward_codes.csv"), "the list of outward codes is not installed"))
    func realOutwardCodesRoundTrip() throws {
        let rows = try PostcodeData.lines(of: "outward_codes.csv").dropFirst().map {
            $0.split(separator: ",", omittingEmptySubsequences: false)
        }
        #expect(rows.count == 2985)
        for row in rows {
            let code = OutwardCode(String(row[0]))
            #expect(code?.description == String(row[0]))
            #expect(code?.area == String(row[1]))
        }
        #expect(Set(rows.compactMap { OutwardCode(String($0[0]))?.area }).count == 124)
    }

    struct SpecialCase: Decodable {
        var code: String
        var strictFormat: Bool
        var outward: String?
    }

    @Test(.enabled(if: PostcodeData.exists("special_cases.jsonl"), "the list of special cases is not installed"))
    func specialCasesAreAcceptedByForm() throws {
        let cases = try PostcodeData.lines(of: "special_cases.jsonl").map {
            try JSONDecoder().decode(SpecialCase.self, from: Data($0.utf8))
        }
        #expect(cases.count == 33)
        for special in cases {
            #expect((Postcode(special.code) != nil) == special.strictFormat, "\(special.code)")
            if special.strictFormat { #expect(Postcode(special.code)?.outwardCode.description == special.outward) }
        }
    }
}
