@testable import ChatDomain
import ChatTesting
import Primitives
import Testing

/// What the table of kinds and the switches over pairs of a kind and a shape cannot say to the
/// compiler.
struct KindTableTests {
    /// The kinds are declared in the order of their bytes, in which tables have them; bytes can be
    /// left out.
    @Test func bytesOfKindsAscend() {
        let bytes = EventKind.allCases.map(\.rawValue)
        #expect(bytes == bytes.sorted() && bytes.first == 1)
    }

    /// The audit decides the command that causes an event, and has a check of its own for a kind
    /// that no command causes.
    @Test(arguments: EventKind.allCases) func everyKindIsAudited(kind: EventKind) {
        let checked: Set<EventKind> = [.lost, .userErased, .contentErased, .clockCorrected, .historyRepaired]
        #expect((kind.form.cause == nil) == checked.contains(kind))
    }

    /// Each field of a layout stands once in its bytes, and in JSON with the content once at most.
    @Test(arguments: EventKind.allCases) func jsonHasTheFieldsOfTheBytes(kind: EventKind) {
        let (kept, json) = (Array(kind.form.layout.kept), Array(kind.form.layout.json))
        #expect(Set(kept).count == kept.count && Set(json).count == json.count)
        #expect(Set(json).subtracting([.content]) == Set(kept))
        #expect(json.contains(.content) || kind.form.content == .none || kind.form.content == .erasure)
    }

    /// The row of an order has the last of its positions, whenever its content is set.
    @Test func orderHasItsLastPosition() {
        let time = Timestamp(millisecondsSince1970: 0)
        var order = ChatEvent(recordedAt: time, details: EventDetails(.contentErased))
        order.content = .erasure(reason: "spam", positions: PositionSet([1...7]))
        #expect(order.row.number == 7)
        order.content = .erasure(reason: "spam", positions: PositionSet([1...3]))
        #expect(order.row.number == 3)
        let posted = EventDetails(
            .messagePosted,
            .message(thread: ThreadID(bits: 1), number: 5, message: MessageID(bits: 2), by: UserID(bits: 3)))
        let event = ChatEvent(
            recordedAt: time, details: posted, content: .erasure(reason: "spam", positions: PositionSet([1...9])))
        #expect(event.threadNumber == 5)
    }
}
