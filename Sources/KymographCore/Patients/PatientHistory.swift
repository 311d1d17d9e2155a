/// What the maps of a run have said so far: whether readings of a time at which a device has no patient may have been
/// filed all the same.
package struct PatientHistory: Sendable {
    /// When the first map came into use; nobody knows what was filed before.
    private let begun: Instant
    /// Since when each device has been in a map.
    private var known: [[UInt8]: Instant] = [:]
    /// What former maps have said of devices of which later ones said something else.
    private var former: [[UInt8]: [PatientMap.Period]] = [:]

    /// Of a run that began with `map` at `now`.
    package init(_ map: PatientMap, at now: Instant) {
        begun = now
        note(map, at: now)
    }

    /// Whether a former map has had the device.
    package func hasHad(_ device: [UInt8]) -> Bool { former[device] != nil }

    /// `new` takes the place of `old` at `now`.
    package mutating func note(_ old: PatientMap, replacedBy new: PatientMap, at now: Instant) {
        for (device, periods) in old.all where device.withByteView({ new.periods(of: $0) }) != periods {
            var said = former[device] ?? []
            said += periods.filter { !said.contains($0) }
            former[device] = said
        }
        note(new, at: now)
    }

    /// Whether a reading of the time `start`, for which the last map has no patient of `device`, may have been filed:
    /// by an earlier run, under a former map, or before any map had the device, unless `policy` rejects such readings.
    package func mayHaveFiled(_ device: [UInt8], at start: Instant, _ policy: PatientPolicy) -> Bool {
        guard policy.unmapped != .accept, start >= begun else { return true }
        if former[device]?.contains(where: { $0.contains(start) }) ?? false { return true }
        guard policy.unmapped != .reject else { return false }
        return known[device].map { start < $0 } ?? true
    }

    private mutating func note(_ map: PatientMap, at now: Instant) {
        for (device, _) in map.all where known[device] == nil { known[device] = now }
    }
}
