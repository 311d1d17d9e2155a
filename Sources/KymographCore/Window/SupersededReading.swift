/// A reading that was in a window until another took its place.
struct SupersededReading: ~Copyable {
    private(set) var reading = Measurement(instant: .distantPast, received: .distantPast)
    private(set) var payload = ByteWriter(capacity: 64)

    /// Keeps a copy of `stored`, as it came.
    mutating func keep(_ stored: WindowReadings) { keep(stored.measurement(0), stored.payload(0)) }

    /// Keeps a copy of a reading and its payload.
    mutating func keep(_ other: Measurement, _ bytes: ByteView) {
        reading = other
        reading.mark &= ReadingMark.source
        payload.removeAll()
        payload.append(bytes)
    }
}
