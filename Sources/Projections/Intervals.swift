import ChatDomain

/// Who was in which place (a thread, an outward code) from which position to which: the history, and the open intervals at hand.
struct Intervals: Equatable, Sendable {
    struct Interval: Equatable, Sendable {
        var user: UInt32
        var from: Position
        /// The position that ended it, nil while it is open.
        var to: Position?
    }

    private var placeNumbers = DenseIndex<ThreadID>()
    /// The intervals of each place, in the order in which they began: what a question as of an earlier position needs.
    private var history: [[Interval]] = []
    /// The open interval of each user in each place, as an index into that place's history.
    private var open: [[UInt32: Int]] = []
    /// The places where each user is now, in the order in which they came.
    private var places: [UInt32: [Int]] = [:]

    /// Begins an interval, unless one is open.
    mutating func open(_ user: UInt32, _ place: ThreadID, at position: Position) {
        let (number, isNew) = placeNumbers.insert(place)
        if isNew {
            history.append([])
            open.append([:])
        }
        guard open[number][user] == nil else { return }
        open[number][user] = history[number].count
        history[number].append(Interval(user: user, from: position))
        places[user, default: []].append(number)
    }

    /// Ends the open interval, if there is one.
    mutating func close(_ user: UInt32, _ place: ThreadID, at position: Position) {
        guard let number = placeNumbers.find(place), let index = open[number].removeValue(forKey: user) else { return }
        history[number][index].to = position
        places[user]?.removeAll { $0 == number }
    }

    func members(of place: ThreadID) -> [(user: UInt32, since: Position)] {
        guard let number = placeNumbers.find(place) else { return [] }
        return open[number].values.sorted().map { (history[number][$0].user, history[number][$0].from) }
    }

    func memberCount(of place: ThreadID) -> Int { placeNumbers.find(place).map { open[$0].count } ?? 0 }

    func since(_ user: UInt32, _ place: ThreadID) -> Position? {
        guard let number = placeNumbers.find(place), let index = open[number][user] else { return nil }
        return history[number][index].from
    }

    func places(of user: UInt32) -> [(place: ThreadID, since: Position)] {
        (places[user] ?? []).compactMap { number in
            open[number][user].map { (placeNumbers.id(number), history[number][$0].from) }
        }
    }
}
