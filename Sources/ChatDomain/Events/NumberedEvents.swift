/// Consecutive events with the numbers of what they are about: what a replay hands from the thread that decodes to the one that moves the state on.
///
/// The first has put in the numbers of ``Numbering``. The state, as it is moved on, adds those of ``DependentNumbering`` and finds the stretches; then the events can be
/// gone through.
package struct NumberedEvents: Sendable {
    package let events: EventRows
    /// By the index of the event.
    package internal(set) var numbers: [EventNumbers]
    private var stretches: [EventStretch] = []
    /// How many users had a number after them, and threads.
    package let (userCount, threadCount): (Int, Int)

    init(_ events: EventRows, _ numbers: [EventNumbers], userCount: Int, threadCount: Int) {
        (self.events, self.numbers) = (events, numbers)
        (self.userCount, self.threadCount) = (userCount, threadCount)
    }

    /// The position of an event.
    package func position(_ index: Int) -> Position { events.first + Position(index) }

    /// Finds the stretches, once it is known of which events the ids were new.
    mutating func divide(_ numbers: [EventNumbers]) { stretches = EventStretch.all(of: events.rows, numbers) }

    /// Goes through the events in order, the stretches of new messages and of joins at once.
    ///
    /// - Parameter other: Is given the index of an event of no such stretch and its content; that of one which has none that is indexed is `none`.
    @inline(__always)
    package func forEach(
        messages: (Range<Int>) -> Void, joins: (Range<Int>) -> Void, other: (Int, borrowing Content) -> Void
    ) {
        var contents = events.contents[...]
        for stretch in stretches {
            switch stretch.kind {
            case .messages: messages(stretch.range)
            case .joins: joins(stretch.range)
            case .others:
                for index in stretch.range {
                    if contents.first?.index == index {
                        other(index, contents.removeFirst().content)
                    } else {
                        other(index, .none)
                    }
                }
            }
        }
    }
}
