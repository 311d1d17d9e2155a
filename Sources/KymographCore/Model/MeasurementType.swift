/// How readings of one type are grouped into Observations.
package enum Grouping: Hashable, Sendable {
    /// One Observation per reading.
    case instance
    /// One Observation per UTC-aligned half-open window of this many nanoseconds.
    case tumbling(nanoseconds: Int64)
    /// One Observation per correlation id.
    case correlation
}

/// A kind of measurement of the pipeline: the join of device templates and FHIR template by type name.
///
/// All templates that give one type name, in all mappings of a pipeline, share one value layout, so that two templates
/// matching one payload merge their values (quirk 15 of the mapping dialect, fixed).
package struct MeasurementType: Sendable {
    /// Type name as the mapping spells it.
    package var name: String
    /// Value names in slot order.
    package var valueNames: [String]
    /// How readings are grouped.
    package var grouping: Grouping
    /// For each value slot: whether the FHIR template reads it as a number.
    package var isNumeric: [Bool]
    /// The slot whose number is the length of the reading in nanoseconds (from `startExpression`), or nil.
    package var durationSlot: Int?
    /// The slot of the text by which the sender names the reading (from `readingIdExpression`), or nil.
    package var idSlot: Int?
    /// What becomes of readings of one time that say different things.
    package var sameInstant = SameInstant.merge
    /// For each value slot: whether an array of numbers is taken as the samples of a waveform; a slot beyond does not.
    package var takesSamples: [Bool] = []
    /// Whether readings are rejected when no FHIR template takes the type; false only where measurements are all that
    /// is asked for.
    package var needsFHIRTemplate = true
    /// Whose rules apply where the reference system has quirks.
    package var compatibility = Compatibility.none

    /// Whether a value of this name is the number that a device gives its messages, by which a ledger finds missing
    /// ones: it need not appear in Observations.
    package static func isSequence(_ name: String) -> Bool { name.lowercased() == "sequence" }

    /// Whether a slot holds what no mapping has named: a reading's length or its id.
    package func isHidden(_ slot: Int) -> Bool { slot == durationSlot || slot == idSlot }

    /// The slot of the value that mappings call `name`; nil when there is none.
    package func valueSlot(_ name: String) -> Int? {
        valueNames.indices.first { !isHidden($0) && valueNames[$0].utf8.elementsEqual(name.utf8) }
    }

    /// Whether one reading takes the place of another as a whole, or not at all.
    var isWhole: Bool { idSlot != nil || sameInstant == .latest || sameInstant == .reject }

    /// The slot of the number that the device gives its messages, or nil when there is none.
    package var sequenceSlot: Int? { valueNames.firstIndex(where: MeasurementType.isSequence) }

    /// Makes a type.
    package init(
        name: String, valueNames: [String], grouping: Grouping, isNumeric: [Bool], durationSlot: Int? = nil
    ) {
        self.name = name
        self.valueNames = valueNames
        self.grouping = grouping
        self.isNumeric = isNumeric
        self.durationSlot = durationSlot
    }
}
