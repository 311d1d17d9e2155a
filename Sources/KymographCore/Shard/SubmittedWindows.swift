/// Windows that a shard has handed to its store since it last waited for that: any other one that it has handed over is
/// durable.
struct SubmittedWindows {
    /// Windows that are told apart; of more, each counts as on its way.
    private static let most = 8_192

    private var names: Set<WindowName> = []
    private var isOverfull = false

    /// Whether `name` may be on its way, and has to be waited for.
    func mayContain(_ name: WindowName) -> Bool { isOverfull || names.contains(name) }

    /// The windows of `submitted` are handed over.
    mutating func insert(_ submitted: borrowing ClosedWindows) {
        guard !isOverfull else { return }
        for place in 0..<submitted.count {
            names.insert(WindowName(series: submitted[place].series, start: submitted[place].start))
        }
        guard names.count > Self.most else { return }
        names.removeAll(keepingCapacity: true)
        isOverfull = true
    }

    /// The store has said that it has all of them.
    mutating func removeAll() {
        names.removeAll(keepingCapacity: true)
        isOverfull = false
    }
}
