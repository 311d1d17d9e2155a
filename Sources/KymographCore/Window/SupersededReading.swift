/// A reading that was in a window until another took its place.
struct SupersededReading: ~Copyable {
    private(set) var reading = Measurement(instant: .distantPast, received: .distantPast)
    private(set) var payload = ByteWriter(capacity: 64)

    /// Keeps a copy of `stored`, as it came.
    mutating func keep(_ stored: WindowReadings) {
        reading = stored.measurement(0)
        reading.mark &= ReadingMark.source
        payload.removeAll()
        payload.append(stored.payload(0))
    }
}
