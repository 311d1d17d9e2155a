/// Frames of one device that never came, and such that came late, by the numbers that its bridge gives.
package struct FrameGap: Sendable, Equatable {
    /// The device's identifier; empty where frames name none.
    package var device: IdentifierText
    /// Numbers that were passed over.
    package var missing = 0
    /// Numbers that were passed over before, and have come after all.
    package var late = 0

    /// Counts numbers of `device`.
    package init(device: IdentifierText, missing: Int = 0, late: Int = 0) {
        self.device = device
        self.missing = missing
        self.late = late
    }
}

/// Looks at the numbers that bridges give their frames, each device's rising by one.
///
/// A number that is up to 63 lower than the highest one of a bridge comes late, or twice. One that is lower than that
/// is of another bridge, to which the device has gone, or of one that has begun again: nothing is missing then. Neither
/// is anything when a frame of an earlier time comes, far from all others by its number: somebody sends it again.
struct FrameNumbers: ~Copyable {
    /// What has come of one device by one bridge.
    struct Sighting: BitwiseCopyable {
        /// The highest number.
        var highest: UInt64 = 0
        /// Which of the 64 numbers up to it were there, the highest one lowest; 0 when there is no such bridge. Those
        /// before the first count as there.
        var seen: UInt64 = 0
        /// When the bridge received the frame with the highest number.
        var time = Instant.distantPast
    }

    /// Most numbers that can be missing between two frames.
    static let longestGap: UInt64 = 1_000_000
    /// Most devices whose numbers are looked at, and the most bytes of their names; nothing is said of others.
    static let (mostDevices, longestName) = (65_536, 256)
    /// Bridges between which a device can go to and fro.
    static let bridges = 4
    private static let reach: UInt64 = 64

    private var devices = SeriesTable(capacity: 16)
    /// Those of each device, the latest bridge first.
    private var sightings = RawArray<Sighting>(capacity: 64)
    private var gaps: [FrameGap] = []

    /// Whether ``takeGaps()`` has something to tell.
    var hasGaps: Bool { !gaps.isEmpty }

    /// Notes that frame `number` of `device` has come, which the bridge received at `time`; an escaped name is written
    /// as JSON writes it.
    mutating func note(_ number: UInt64, of device: ByteView, isEscaped: Bool, at time: Instant) {
        guard let index = devices.find(device) else { return begin(number, of: device, at: time) }
        let first = index * FrameNumbers.bridges
        var found = near(number, from: first)
        if found == nil {
            if time < sightings[first].time { return }
            found = nearestBelow(number, from: first)
        }
        guard let place = found else {
            let last = first + FrameNumbers.bridges - 1
            return toFront(Sighting(highest: number, seen: .max, time: time), from: last, first)
        }
        let sighting = sightings[place]
        guard number > sighting.highest else { return fill(number, at: place, device, isEscaped) }
        let step = number - sighting.highest
        toFront(Sighting(highest: number, seen: sighting.seen << step | 1, time: time), from: place, first)
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
        sightings.append(Sighting(highest: number, seen: .max, time: time))
        for _ in 1..<FrameNumbers.bridges { sightings.append(Sighting()) }
    }

    /// Notes a number that is not above the highest one of its bridge.
    private mutating func fill(_ number: UInt64, at place: Int, _ device: ByteView, _ isEscaped: Bool) {
        let bit: UInt64 = 1 << (sightings[place].highest - number)
        guard sightings[place].seen & bit == 0 else { return }
        sightings[place].seen |= bit
        count(missing: 0, late: 1, device, isEscaped)
    }

    /// The first of a device's bridges whose highest number is about `number`.
    private func near(_ number: UInt64, from first: Int) -> Int? {
        for place in first..<first + FrameNumbers.bridges where sightings[place].seen != 0 {
            if sightings[place].distance(to: number) < FrameNumbers.reach { return place }
        }
        return nil
    }

    /// The bridge whose highest number is the nearest one below `number`, if that is not too far.
    private func nearestBelow(_ number: UInt64, from first: Int) -> Int? {
        var nearest: Int?
        for place in first..<first + FrameNumbers.bridges where sightings[place].seen != 0 {
            guard sightings[place].highest < number,
                number - sightings[place].highest <= FrameNumbers.longestGap
            else { continue }
            if let known = nearest, sightings[known].highest >= sightings[place].highest { continue }
            nearest = place
        }
        return nearest
    }

    /// Puts `sighting`, which was at `place`, before the others from `first` on.
    private mutating func toFront(_ sighting: Sighting, from place: Int, _ first: Int) {
        for moved in stride(from: place, to: first, by: -1) { sightings[moved] = sightings[moved - 1] }
        sightings[first] = sighting
    }

    private mutating func count(missing: Int, late: Int, _ device: ByteView, _ isEscaped: Bool) {
        let name = IdentifierText(isEscaped ? JSONUnescape.string(device) : device.string)
        let index = gaps.firstIndex { $0.device == name } ?? gaps.count
        if index == gaps.count { gaps.append(FrameGap(device: name)) }
        gaps[index].missing += missing
        gaps[index].late += late
    }
}

extension FrameNumbers.Sighting {
    /// How far `number` is from the highest one, less one above it: the next number is as near as the highest.
    fileprivate func distance(to number: UInt64) -> UInt64 {
        number > highest ? number - highest - 1 : highest - number
    }
}
