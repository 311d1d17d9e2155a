import KymographCore

/// The numbers that devices give their messages, and which of them never came.
///
/// A mapping tells of them with a value called `sequence` (``MeasurementType/sequenceSlot``). In the order of the
/// readings' times they rise by one; a lower one than before is a device that has begun again.
struct SequenceNumbers {
    private struct Sighting {
        var instant: Int64
        var number: Int64
    }

    private var sightings: [IdentifierText: [Sighting]] = [:]

    /// The number in `slot` of a reading, or nil when it has none that is whole.
    static func number(_ slot: Int, _ reading: KymographCore.Measurement, _ payload: ByteView) -> Int64? {
        MeasurementJSON.text(of: slot, reading, payload).flatMap { Int64($0) }
    }

    /// Notes a reading of `device`.
    mutating func add(_ number: Int64, at instant: Int64, device: IdentifierText) {
        sightings[device, default: []].append(Sighting(instant: instant, number: number))
    }

    /// How many numbers of each device that has any are missing.
    var missing: [IdentifierText: Int] {
        sightings.mapValues { sightings in
            let ordered = sightings.sorted { ($0.instant, $0.number) < ($1.instant, $1.number) }
            var missing = 0
            var last = ordered.first?.number ?? 0
            for sighting in ordered {
                let (step, overflow) = sighting.number.subtractingReportingOverflow(last)
                if step > 1, !overflow { missing += Int(step - 1) }
                last = sighting.number
            }
            return missing
        }
    }
}
