/// Windows that late readings have opened, and that wait for more of them.
struct LateHolds: ~Copyable {
    /// How long they wait in receive time, in nanoseconds; 0 for not at all.
    private let length: Int64
    private var windows = RawArray<UInt32>(capacity: 16)
    /// Receive-clock time at which the first has waited long enough.
    private var nextCheck = Instant.distantFuture
    /// Those that the last look has found.
    private(set) var due: [UInt32] = []

    init(length: Int64) { self.length = length }

    /// Lets window `index`, whose time has passed when it was opened by a reading received at `received`, wait for
    /// more.
    mutating func hold(_ index: Int, _ window: inout OpenWindow, received: Instant) {
        guard length > 0 else { return }
        let end = received.advanced(by: length)
        window.hold(until: end)
        windows.append(UInt32(index))
        nextCheck = min(nextCheck, end)
    }

    /// Finds those that have waited long enough at `now`, in the order in which they were opened, and holds them no
    /// longer.
    mutating func findDue(at now: Instant, among open: borrowing OpenWindows) {
        due.removeAll(keepingCapacity: true)
        guard now >= nextCheck else { return }
        nextCheck = .distantFuture
        var kept = 0
        for place in 0..<windows.count {
            // A record may have been closed, or be in use by another window, since it was listed.
            guard case .held(let end) = open.unsettled(Int(windows[place])).phase else { continue }
            if end <= now {
                due.append(windows[place])
            } else {
                nextCheck = min(nextCheck, end)
                windows[kept] = windows[place]
                kept += 1
            }
        }
        windows.truncate(to: kept)
    }
}
