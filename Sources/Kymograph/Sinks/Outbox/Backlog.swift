/// What waits to be sent, oldest first. Adding and taking cost the same however much waits.
struct Backlog<Element> {
    private var elements: [Element] = []
    private var head = 0

    /// Whether nothing waits.
    var isEmpty: Bool { head == elements.count }

    /// The oldest; nil when nothing waits.
    var first: Element? { isEmpty ? nil : elements[head] }

    /// Adds one behind the others.
    mutating func append(_ element: Element) { elements.append(element) }

    /// Adds `others` before the others.
    mutating func prepend(_ others: [Element]) {
        elements = others + elements[head...]
        head = 0
    }

    /// Takes the oldest, which must be there.
    mutating func removeFirst() {
        precondition(!isEmpty, "nothing waits")
        head += 1
        if isEmpty {
            (elements, head) = ([], 0)
        } else if head >= 1_024, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
    }
}
