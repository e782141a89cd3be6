#if Server
    /// A queue whose places are given back, also if something always waits in it.
    struct FirstInFirstOut<Element> {
        private var items: [Element?] = []
        private var first = 0

        var count: Int { items.count - first }
        var isEmpty: Bool { count == 0 }

        mutating func append(_ item: Element) { items.append(item) }

        mutating func popFirst() -> Element? {
            guard first < items.count else { return nil }
            let item = items[first].take()
            first += 1
            if first == items.count {
                items.removeAll(keepingCapacity: items.count <= 64)
                first = 0
            } else if first >= 1_024 {
                items.removeFirst(first)
                first = 0
            }
            return item
        }
    }

    extension FirstInFirstOut: Sendable where Element: Sendable {}
#endif
