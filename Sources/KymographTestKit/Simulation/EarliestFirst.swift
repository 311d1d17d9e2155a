import KymographCore

/// A binary heap that gives its elements in order of time, and those of one time in the order in which they came.
struct EarliestFirst<Element: Sendable>: Sendable {
    private struct Node: Sendable {
        var time: Instant
        var serial: UInt64
        var element: Element

        func isBefore(_ other: Node) -> Bool {
            time == other.time ? serial < other.serial : time < other.time
        }
    }

    private var nodes: [Node] = []
    private var serial: UInt64 = 0

    /// Time of the element that ``pop()`` would give.
    var earliest: Instant? { nodes.first?.time }

    /// Adds an element.
    mutating func push(_ element: Element, at time: Instant) {
        nodes.append(Node(time: time, serial: serial, element: element))
        serial += 1
        var child = nodes.count - 1
        while child > 0, nodes[child].isBefore(nodes[(child - 1) / 2]) {
            nodes.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes the earliest element.
    mutating func pop() -> (time: Instant, element: Element)? {
        guard let last = nodes.popLast() else { return nil }
        guard let first = nodes.first else { return (last.time, last.element) }
        nodes[0] = last
        sink()
        return (first.time, first.element)
    }

    private mutating func sink() {
        var parent = 0
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < nodes.count {
                if nodes[child].isBefore(nodes[first]) { first = child }
            }
            if first == parent { return }
            nodes.swapAt(parent, first)
            parent = first
        }
    }
}
