/// What another map says otherwise of the past.
package struct PatientChange: Hashable, Sendable {
    /// Stretches of time of single devices whose readings may have been filed otherwise than they would be now.
    package private(set) var periods = 0
    /// Devices that have any.
    package private(set) var devices = 0

    /// Nothing.
    package init() {}

    /// What `new` says of the time before `now` that `former` has not said. Of times at which a device had no patient,
    /// `mayBeFiled` says whether its readings may have been filed all the same.
    package init(
        from former: PatientMap, to new: PatientMap, before now: Instant,
        mayBeFiled: (_ device: [UInt8], _ start: Instant) -> Bool
    ) {
        for (device, periods) in former.all {
            let other = device.withByteView { new.periods(of: $0) }
            note(PatientChange.count(periods, other, before: now) { mayBeFiled(device, $0) })
        }
        for (device, periods) in new.all where !device.withByteView({ former.holds($0) }) {
            note(PatientChange.count([], periods, before: now) { mayBeFiled(device, $0) })
        }
    }

    private mutating func note(_ count: Int) {
        periods += count
        if count > 0 { devices += 1 }
    }

    /// Stretches between any two bounds of the periods of a device of which they say different things.
    private static func count(
        _ former: [PatientMap.Period], _ new: [PatientMap.Period], before now: Instant,
        mayBeFiled: (_ start: Instant) -> Bool
    ) -> Int {
        if former == new { return 0 }
        let bounds = Set((former + new).flatMap { [$0.from, $0.to] }).filter { $0 < now }
        return bounds.union([.distantPast]).count { start in
            let (before, after) = (former.first { $0.contains(start) }, new.first { $0.contains(start) })
            guard before?.patient != after?.patient || before?.encounter != after?.encounter else { return false }
            return before != nil || mayBeFiled(start)
        }
    }
}
