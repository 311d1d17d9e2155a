/// What became of the readings of one shard, counted since the last report.
package struct ShardTally: Sendable {
    /// Readings that are in a window.
    package var accepted = 0
    /// Readings that were there already.
    package var duplicate = 0
    /// Readings whose values differed from what was there.
    package var conflict = 0
    /// Rejected readings by reason, indexed by raw value.
    package var rejected: [Int] = Array(repeating: 0, count: Rejection.placeCount)
    /// Retractions that have taken a reading out, or had done so before.
    package var retractions = 0
    /// Readings of an earlier run's journal that were rejected: this run has neither received nor accepted them.
    package var withdrawn = 0
    /// Windows emitted as preliminary or final.
    package var windows = 0
    /// Windows closed, by cause.
    package var closings = WindowClosings()
    /// Readings that came when the time of their window had passed, and were not there already.
    package var lateReadings = 0
    /// Windows emitted again because they changed.
    package var amended = 0
    /// Windows that changed after they were emitted and can no longer be written: what was sent before stays.
    package var withheld = 0
    /// Emissions of windows that no sink wants.
    package var filtered = 0
    /// Emissions of windows that sinks want, and rules keep from all of them.
    package var vetoed = 0
    /// Observations written.
    package var observations = 0
    /// Other resources written.
    package var resources = 0
    /// Values that series have less than readings, by the policy of a SampledData template for readings of one slot.
    package var condensed = 0
    /// Readings with no number, and values and tags that were not written, in Observations that say something else.
    package var losses = ObservationLosses()

    /// Nothing counted.
    package init() {}

    /// Readings counted.
    package var readings: Int { accepted + duplicate + conflict + retractions + rejected.reduce(0, +) }

    /// Counts a rejection.
    mutating func reject(_ reason: Rejection, count: Int = 1) {
        rejected[Int(reason.rawValue)] += count
    }

    /// Adds what another tally counted.
    package mutating func add(_ other: ShardTally) {
        accepted += other.accepted
        duplicate += other.duplicate
        conflict += other.conflict
        for index in rejected.indices { rejected[index] += other.rejected[index] }
        retractions += other.retractions
        withdrawn += other.withdrawn
        windows += other.windows
        closings.add(other.closings)
        lateReadings += other.lateReadings
        amended += other.amended
        withheld += other.withheld
        filtered += other.filtered
        vetoed += other.vetoed
        observations += other.observations
        resources += other.resources
        condensed += other.condensed
        losses.add(other.losses)
    }
}
