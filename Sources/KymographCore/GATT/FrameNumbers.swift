/// Frames of one device that never came, and such that came late, by the numbers that its bridge gives.
public struct FrameGap: Sendable, Equatable {
    /// The device's identifier; empty where frames name none.
    public var device: String
    /// Numbers that were passed over.
    public var missing = 0
    /// Numbers that were passed over before, and have come after all.
    public var late = 0

    /// Counts numbers of `device`.
    public init(device: String, missing: Int = 0, late: Int = 0) {
        self.device = device
        self.missing = missing
        self.late = late
    }
}

/// Looks at the numbers that bridges give their frames, each device's rising by one.
///
/// A number that is up to 63 lower than the highest one comes late, or twice. One that is lower than that, or higher by
/// more than ``longestGap``, is of a bridge that has begun again: nothing is missing then. Neither is anything when a
/// frame of an earlier time comes, far from the others by its number: somebody sends it again.
struct FrameNumbers: ~Copyable {
    /// What has come of one device.
    struct Sighting: BitwiseCopyable {
        /// The highest number.
        var highest: UInt64
        /// Which of the 64 numbers up to it were there, the highest one lowest. Those before the first count as there.
        var seen = UInt64.max
        /// When the bridge received the frame with the highest number.
        var time: Instant
    }

    /// Most numbers that can be missing between two frames.
    static let longestGap: UInt64 = 1_000_000
    /// Most devices whose numbers are looked at, and the most bytes of their names; nothing is said of others.
    static let (mostDevices, longestName) = (65_536, 256)
    private static let reach: UInt64 = 64

    private var devices = SeriesTable(capacity: 16)
    private var sightings = RawArray<Sighting>(capacity: 16)
    private var gaps: [FrameGap] = []

    /// Whether ``takeGaps()`` has something to tell.
    var hasGaps: Bool { !gaps.isEmpty }

    /// Notes that frame `number` of `device` has come, which the bridge received at `time`; an escaped name is written
    /// as JSON writes it.
    mutating func note(_ number: UInt64, of device: ByteView, isEscaped: Bool, at time: Instant) {
        guard let index = devices.find(device) else { return begin(number, of: device, at: time) }
        let sighting = sightings[index]
        if number <= sighting.highest, sighting.highest - number < FrameNumbers.reach {
            let bit: UInt64 = 1 << (sighting.highest - number)
            guard sighting.seen & bit == 0 else { return }
            sightings[index].seen |= bit
            return count(missing: 0, late: 1, device, isEscaped)
        }
        let step = number > sighting.highest ? number - sighting.highest : .max
        guard step <= FrameNumbers.reach || time >= sighting.time else { return }
        guard step <= FrameNumbers.longestGap else {
            sightings[index] = Sighting(highest: number, time: time)
            return
        }
        sightings[index] = Sighting(highest: number, seen: sighting.seen << step | 1, time: time)
        if step > 1 { count(missing: Int(step - 1), late: 0, device, isEscaped) }
    }

    /// What happened since the last call.
    mutating func takeGaps() -> [FrameGap] {
        defer { gaps = [] }
        return gaps
    }

    private mutating func begin(_ number: UInt64, of device: ByteView, at time: Instant) {
        guard devices.count < FrameNumbers.mostDevices, device.count <= FrameNumbers.longestName else { return }
        _ = devices.insert(device)
        sightings.append(Sighting(highest: number, time: time))
    }

    private mutating func count(missing: Int, late: Int, _ device: ByteView, _ isEscaped: Bool) {
        let name = isEscaped ? JSONUnescape.string(device) : device.string
        let index = gaps.firstIndex { $0.device == name } ?? gaps.count
        if index == gaps.count { gaps.append(FrameGap(device: name)) }
        gaps[index].missing += missing
        gaps[index].late += late
    }
}
