/// The times of the glucose records that came last, by device and sequence number: their contexts come in packets of
/// their own, without a time.
///
/// A fixed number of places. A record that another one has displaced, and a device whose identifier is too long to be
/// kept, have no time here; nothing is ever mistaken for another, because identifiers are compared in full.
struct GlucoseRecords: ~Copyable {
    struct Place: BitwiseCopyable {
        var sequence = -1
        var deviceLength = 0
        var time = PacketTime(instant: .distantPast, offsetMinutes: UTCOffset.none)
    }

    private static let count = 256
    private static let longestDevice = 64

    private var places = RawArray<Place>()
    private var devices = RawArray<UInt8>()

    /// Keeps `time` for the record `sequence` of `device`; nil forgets it.
    mutating func keep(_ time: PacketTime?, of sequence: Int, device: ByteView?) {
        let length = device?.count ?? 0
        guard length <= Self.longestDevice else { return }
        if places.count == 0 {
            places.grow(to: Self.count, with: Place())
            devices.grow(to: Self.count * Self.longestDevice, with: 0)
        }
        let place = Self.place(sequence, device)
        guard let time else {
            places[place] = Place()
            return
        }
        places[place] = Place(sequence: sequence, deviceLength: length, time: time)
        for index in 0..<length { devices[place * Self.longestDevice + index] = device?[index] ?? 0 }
    }

    /// The time of the record `sequence` of `device`, when it is still known.
    func time(of sequence: Int, device: ByteView?) -> PacketTime? {
        guard places.count > 0 else { return nil }
        let index = Self.place(sequence, device)
        let place = places[index]
        let start = index * Self.longestDevice
        guard place.sequence == sequence, place.deviceLength == device?.count ?? 0,
            device?.equals(devices.bytes(of: start..<(start + place.deviceLength))) ?? true
        else { return nil }
        return place.time
    }

    private static func place(_ sequence: Int, _ device: ByteView?) -> Int {
        var mixed = UInt64(truncatingIfNeeded: sequence) &* 0x9E37_79B9_7F4A_7C15
        // FNV-1a over the identifier.
        for index in 0..<(device?.count ?? 0) { mixed = (mixed ^ UInt64(device?[index] ?? 0)) &* 0x100_0000_01B3 }
        return Int((mixed ^ mixed >> 32) % UInt64(count))
    }
}
