/// Windows that late readings have opened, and that wait for more of them.
struct LateHolds: ~Copyable {
    /// How long they wait, in nanoseconds; 0 for not at all.
    private let length: Int64
    private var windows = RawArray<UInt32>(capacity: 16)
    /// When the first may have waited long enough, on the clock that is never set (``SilenceClock``).
    private var nextCheck = Instant.distantFuture
    /// Those that the last look has found.
    private(set) var due: [UInt32] = []

    init(length: Int64) { self.length = length }

    /// Lets window `index`, whose time has passed when it was opened by a reading received at `received`, wait for
    /// more.
    mutating func hold(_ index: Int, _ window: inout OpenWindow, received: Instant, by clock: SilenceClock) {
        guard length > 0 else { return }
        window.hold(until: received.advanced(by: length))
        windows.append(UInt32(index))
        nextCheck = min(nextCheck, clock.moment(of: received).advanced(by: length))
    }

    /// Finds those that have waited long enough at the last look of `clock`, in the order in which they were opened,
    /// and holds them no longer.
    mutating func findDue(by clock: SilenceClock, among open: borrowing OpenWindows) {
        due.removeAll(keepingCapacity: true)
        guard clock.now >= nextCheck else { return }
        nextCheck = .distantFuture
        var kept = 0
        for place in 0..<windows.count {
            // A record may have been closed, or be in use by another window, since it was listed.
            guard case .held(let receivedEnd) = open.unsettled(Int(windows[place])).phase else { continue }
            let end = clock.moment(of: receivedEnd.advanced(by: -length)).advanced(by: length)
            if end <= clock.now {
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
