import ChatDomain
import Testing

// ChatDomain.md shows a part of this code, with `ChatDomain` alone.
@Suite struct DomainExampleTests {
    @Test func decideAndEvolve() throws {
        let (now, id) = (Timestamp(millisecondsSince1970: 1_584_921_600_000), 1 as UInt128)
        var state = ChatState()
        let request = CommandRequest(.registerUser(username: "Ann"))
        if case .append(let events) = try state.decide(request, at: now, freshID: id) {
            for event in events { state.evolve(event, at: state.head + 1) }
        }
        #expect(state.head == 1)
    }
}
