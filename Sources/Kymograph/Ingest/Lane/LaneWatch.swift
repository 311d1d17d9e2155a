/// What a lane reads next: descriptors that the kernel tells of, and streams of which it does not. Of the lane's
/// thread.
final class LaneWatch {
    /// What an epoll token names, in its upper half; the lower half is an index.
    private enum Token: UInt64 {
        case stop = 0
        case source = 1
        case connection = 2
    }

    /// What is ready.
    enum Ready {
        case stop
        /// The source at this place.
        case source(Int)
        /// The stream in this slot.
        case stream(Int)
    }

    private var readiness: Readiness
    /// Streams that never make one wait, such as regular files.
    private(set) var alwaysReady: [Int] = []
    /// Streams of which bytes have been taken from the socket that were not read yet.
    private var buffered: Set<Int> = []

    /// Waits for nothing yet.
    init() throws(SourceError) { readiness = try Readiness() }

    /// Begins to wait for the event that says to stop.
    func watch(stopEvent: Descriptor) throws(SourceError) {
        _ = try readiness.add(stopEvent.raw, token: Token.stop.rawValue << 32)
    }

    /// Begins to wait for the socket of source `index`.
    func watch(source index: Int, _ descriptor: Descriptor) throws(SourceError) {
        let token = Token.source.rawValue << 32 | UInt64(index)
        _ = try readiness.add(descriptor.raw, token: token)
    }

    /// Begins to wait for the stream in `slot`.
    func watch(_ slot: Int, _ descriptor: Descriptor) throws(SourceError) {
        let waits = try readiness.add(descriptor.raw, token: Token.connection.rawValue << 32 | UInt64(slot))
        if !waits { alwaysReady.append(slot) }
    }

    /// Stops waiting for `descriptor`.
    func remove(_ descriptor: Descriptor) { readiness.remove(descriptor.raw) }

    /// Reads nothing more of the stream in `slot`.
    func forget(_ slot: Int, _ descriptor: Descriptor) {
        buffered.remove(slot)
        alwaysReady.removeAll { $0 == slot }
        readiness.remove(descriptor.raw)
    }

    /// Notes that bytes of the stream in `slot` are there of which its socket does not tell.
    func noteBuffered(_ slot: Int) { buffered.insert(slot) }

    /// Takes the streams of which the socket does not tell that more is there.
    func takeBuffered() -> Set<Int> {
        guard !buffered.isEmpty else { return [] }
        defer { buffered.removeAll(keepingCapacity: true) }
        return buffered
    }

    /// Whether a stream can be read that the kernel does not tell of.
    var isBusy: Bool { !alwaysReady.isEmpty || !buffered.isEmpty }

    /// Waits at most `milliseconds`; returns how many ``ready(_:)`` has.
    func wait(milliseconds: Int32) throws(SourceError) -> Int { try readiness.wait(milliseconds: milliseconds) }

    /// What the last wait has told of at place `place`.
    func ready(_ place: Int) -> Ready {
        let token = readiness.token(place)
        let index = Int(token & 0xFFFF_FFFF)
        return switch Token(rawValue: token >> 32) {
        case .source: .source(index)
        case .connection: .stream(index)
        case .stop, nil: .stop
        }
    }
}
