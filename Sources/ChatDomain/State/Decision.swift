/// What the decider makes of a command that it does not refuse.
public enum Decision: Hashable, Sendable {
    /// These events are to be appended in one commit; there is at least one.
    case append([Event])

    /// The command's effect holds already: nothing is appended.
    case unchanged

    /// The id was used by the same command before: nothing is appended, and the answer is the first receipt, whose events stand at these positions.
    case duplicate(of: ClosedRange<Position>)
}
