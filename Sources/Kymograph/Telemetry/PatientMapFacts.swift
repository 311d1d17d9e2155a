package import KymographCore

/// What is told of the patient map of a pipeline.
package struct PatientMapFacts: Sendable {
    /// Periods of the map in use.
    package private(set) var rows = 0
    /// Devices that have any.
    package private(set) var devices = 0
    /// When it was read.
    package private(set) var loaded = Instant.distantPast
    /// Whether the file has had errors since: the map in use is a former one.
    package private(set) var isRefused = false
    /// How often the file was read again.
    package private(set) var reloads = ReloadCounts()
    /// Periods of the past that came to be of another patient or encounter by that.
    package private(set) var changedPeriods = 0

    /// Of a map that was never read.
    package init() {}

    /// Notes that `map` was read at `now`.
    mutating func note(_ map: PatientMap, at now: Instant) {
        if loaded != .distantPast { reloads.succeeded += 1 }
        (rows, devices, loaded, isRefused) = (map.count, map.deviceCount, now, false)
    }

    /// Notes what has changed by that.
    mutating func note(_ change: PatientChange) { changedPeriods += change.periods }

    /// Notes that the file has errors.
    mutating func noteFailure() {
        reloads.failed += 1
        isRefused = true
    }
}
