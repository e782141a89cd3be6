/// Consecutive events with the numbers of what they are about: what a replay hands from one part of the read models to the next.
///
/// ``Numbering`` puts in its numbers. The state, as it is moved on, adds those of ``DependentNumbering`` and divides the events; then they can be gone through.
package struct NumberedEvents: Sendable {
    package let events: EventRows
    /// By the index of the event.
    package internal(set) var numbers: [EventNumbers]
    /// The indices of the events that each post a new message: most of a long history.
    ///
    /// Where what they come to does not depend on the others between them, it is taken in for all of them together, in a fraction of the time.
    package private(set) var messages: [Int] = []
    /// The indices of the others.
    private var others: [Int] = []
    /// Where stretches of joins that each begin a membership end among the others, and where those of anything else, by turns from joins.
    private var stretchEnds: [Int] = []
    /// How many users had a number after them, and threads.
    package internal(set) var (userCount, threadCount) = (0, 0)

    /// Events that have no numbers yet.
    package init(_ events: EventRows) {
        self.events = events
        numbers = [EventNumbers](repeating: EventNumbers(), count: events.rows.count)
    }

    /// The position of an event.
    @inline(__always)
    package func position(_ index: Int) -> Position { events.first + Position(index) }

    /// Divides the events, once it is known of which of them the ids were new.
    mutating func divide(_ numbers: [EventNumbers]) {
        let rows = events.rows
        messages.reserveCapacity(rows.count)
        var isOfJoins = true
        for index in rows.indices {
            let kind = rows[index].kind
            if kind == .messagePosted, numbers[index].isNew {
                messages.append(index)
                continue
            }
            if (kind == .threadJoined && numbers[index].isNew) != isOfJoins {
                stretchEnds.append(others.count)
                isOfJoins.toggle()
            }
            others.append(index)
        }
        stretchEnds.append(others.count)
    }

    /// Goes through the events that post no new message, in order; the joins that each begin a membership as many at a time as come one after the other among these.
    ///
    /// - Parameters:
    ///   - joins: Is given the indices of such joins.
    ///   - other: Is given the index of any other event and its content; that of one which has none that is indexed is `none`.
    @inline(__always)
    package func forEachOther(joins: (ArraySlice<Int>) -> Void, other: (Int, borrowing Content) -> Void) {
        var contents = events.contents[...]
        var start = 0
        var isOfJoins = true
        for end in stretchEnds {
            if isOfJoins {
                if start < end { joins(others[start..<end]) }
            } else {
                for index in others[start..<end] {
                    if contents.first?.index == index {
                        other(index, contents.removeFirst().content)
                    } else {
                        other(index, .none)
                    }
                }
            }
            start = end
            isOfJoins.toggle()
        }
    }
}
