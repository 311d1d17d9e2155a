extension ByteView {
    /// The end of the line that `start` is in: the place of its line feed, or of the end. The view must be padded.
    func lineEnd(from start: Int) -> Int { firstIndex(of: 0x0A, from: start) ?? count }

    /// The length of the first line; more than `limit` when it is longer than that. The view must be padded.
    @inline(__always)
    func lineLength(limit: Int) -> Int { self[0..<min(count, limit &+ 1)].place(of: 0x0A, from: 0) }

    /// The length up to and with the first closing brace; 0 when none is among the first `limit` bytes. The view must
    /// be padded.
    @inline(__always)
    func objectLength(limit: Int) -> Int {
        let room = min(count, limit)
        let brace = self[0..<room].place(of: UInt8(ascii: "}"), from: 0)
        return brace < room ? brace &+ 1 : 0
    }

    /// The place of the first `byte` from `start` on, or nil. The view must be padded.
    package func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start < count else { return nil }
        let found = place(of: byte, from: start)
        return found < count ? found : nil
    }
}
