import ChatDomain
import Testing

@testable import ChatWire

/// The targets of requests: paths and queries, percent-encoded.
@Suite struct WireRequestTests {
    private func request(_ target: String) throws(Problem) -> WireRequest {
        try WireRequest(method: "GET", target: target)
    }

    @Test(arguments: [
        ("/v1/me", ["v1", "me"]), ("/", [""]), ("/v1/threads/", ["v1", "threads", ""]), ("//v1", ["", "v1"]),
        ("/a%2Fb", ["a/b"]), ("/%C3%A9", ["é"]), ("/a+b", ["a+b"]), ("/%2e%2E", [".."]), ("/a?b/c", ["a"]),
        ("/%25", ["%"]),
        ("/a%3Fb", ["a?b"]), ("/é", ["é"]),
    ]) func pathsAreSplitBeforeTheyAreDecoded(target: String, path: [String]) throws {
        #expect(try request(target).path == path)
    }

    @Test(arguments: [
        "", "v1/me", "http://host/v1/me", "*", "?a=b", "/%", "/%4", "/%zz", "/%4g", "/a%0Ab", "/%00", "/%1f", "/%7F",
        "/%ff", "/%C3",
        "/%C0%80", "/%ED%A0%80", "/a\u{1}", "/%+1",
    ]) func malformedPathsDoNotExist(target: String) {
        let found = problem { _ = try request(target) }
        #expect(found == .notFound)
    }

    @Test(arguments: [
        ("/?a=1", [["a", "1"]]), ("/?", []), ("/?a", [["a", ""]]), ("/?a=", [["a", ""]]), ("/?=1", [["", "1"]]),
        ("/?a=b=c", [["a", "b=c"]]), ("/?a=1&b=2&a=3", [["a", "1"], ["b", "2"], ["a", "3"]]),
        ("/?&&a=1&", [["a", "1"]]),
        ("/?%61=%62", [["a", "b"]]), ("/?a=%26%3D", [["a", "&="]]), ("/?a=b?c", [["a", "b?c"]]),
        ("/?a=b+c", [["a", "b+c"]]),
    ]) func queriesAreSplitBeforeTheyAreDecoded(target: String, query: [[String]]) throws {
        #expect(try request(target).query.map { [$0.name, $0.value] } == query)
    }

    @Test(arguments: ["/?a=%", "/?%=1", "/?a=%0d", "/?a=%00", "/?a=%ff", "/?a=1&b=%7f", "/?a=%u0041"])
    func malformedQueriesAreProblems(target: String) throws {
        let found = ChatWireTests.problem { _ = try request(target) }
        let problem = try #require(found)
        #expect((problem.status, problem.code) == (400, .invalidQuery))
    }

    @Test(arguments: [
        ("0", UInt64(0)), ("18446744073709551615", .max), ("007", 7), ("18446744073709551616", nil), ("-1", nil),
        ("+1", nil), ("", nil),
        ("1.0", nil), ("1e3", nil), (" 1", nil), ("٣", nil), ("0x10", nil), ("99999999999999999999999", nil),
    ]) func numbersAreWholeAndInRange(text: String, number: UInt64?) throws {
        let request = try WireRequest(method: "GET", target: "/?n=" + percentEncoded(text))
        let problem = ChatWireTests.problem {
            let found = try request.number("n", in: 0...UInt64.max)
            #expect(found == number)
        }
        #expect((problem == nil) == (number != nil))
        if let problem { #expect((problem.status, problem.code, problem.field) == (400, .invalidQuery, "n")) }
    }

    @Test func numberOutsideOfItsRangeIsAProblem() throws {
        for (text, isValid) in [("0", false), ("1", true), ("200", true), ("201", false)] {
            let request = try WireRequest(method: "GET", target: "/?limit=\(text)")
            let found = problem { _ = try request.number("limit", in: 1...200) }
            #expect((found == nil) == isValid)
        }
        #expect(try request("/").number("limit", in: 1...200) == nil)
    }

    @Test func unknownAndRepeatedParametersAreProblems() throws {
        let none = problem { try request("/?a=1&b=2").requireParameters(["a", "b", "c"]) }
        #expect(none == nil)
        for (target, field) in [
            ("/?a=1&x=2", "x" as String?), ("/?a=1&b=2&a=1", "a"), ("/?A=1", "A"), ("/?%61=1&a=2", "a"), ("/?=1", nil),
        ] {
            let found = ChatWireTests.problem { try request(target).requireParameters(["a", "b"]) }
            let problem = try #require(found)
            #expect((problem.status, problem.code, problem.field) == (400, .invalidQuery, field))
        }
        let long = String(repeating: "x", count: 10_000)
        let found = ChatWireTests.problem { try request("/?\(long)=1").requireParameters() }
        let problem = try #require(found)
        #expect(try #require(problem.field).utf8.count < 100)
    }

    private func percentEncoded(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
