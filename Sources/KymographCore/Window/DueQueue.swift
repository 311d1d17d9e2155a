/// The windows that need the owner's attention, first due first.
struct DueQueue: ~Copyable {
    private var windows = RawArray<UInt32>(capacity: 64)
    private var head = 0

    /// The first due window, or nil.
    var first: Int? { head < windows.count ? Int(windows[head]) : nil }

    /// The due window `places` behind the first, or nil.
    func behindFirst(_ places: Int) -> Int? { head + places < windows.count ? Int(windows[head + places]) : nil }

    mutating func append(_ window: Int) {
        if head > 1024 && head * 2 > windows.count { compact() }
        windows.append(UInt32(window))
    }

    mutating func removeFirst() {
        head += 1
        if head == windows.count {
            windows.removeAll()
            head = 0
        }
    }

    /// Turns round the order of the last `count` windows.
    mutating func reverseLast(_ count: Int) {
        var low = windows.count - count
        var high = windows.count - 1
        while low < high {
            (windows[low], windows[high]) = (windows[high], windows[low])
            low += 1
            high -= 1
        }
    }

    private mutating func compact() {
        let left = windows.count - head
        windows.move(head..<windows.count, to: 0)
        windows.truncate(to: left)
        head = 0
    }
}
