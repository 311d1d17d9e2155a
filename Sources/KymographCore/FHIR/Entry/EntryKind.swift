/// What an entry is. The raw values are in every store: never change or reuse one.
package enum EntryKind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// An Observation.
    case observation = 1
    /// Another resource of readings.
    case resource = 2
    /// A Device that readings describe.
    case describedDevice = 3
    /// A Patient that others refer to, with nothing but its identifier.
    case patient = 4
    /// A Device that others refer to, with nothing but its identifier.
    case device = 5
    /// The Device that the gateway is, with its type.
    case gateway = 6
    /// A reading as a normalised event (``MeasurementJSON``), no resource: its type is that of the measurement, and its
    /// value the device. Blocks of events hold nothing else.
    case event = 7

    /// Whether it is there for others to refer to.
    package var isBare: Bool { rawValue &- EntryKind.patient.rawValue <= 2 }
}

/// A Reference in the body of an entry: a hole that whoever puts entries together fills.
package struct EntryReference: BitwiseCopyable, Sendable {
    /// What a Reference names. The raw values are in every store: never change or reuse one.
    package enum Role: UInt32, BitwiseCopyable, Sendable, CaseIterable {
        /// Who the resource is about.
        case patient = 0
        /// What took the readings.
        case device = 1
        case gateway = 2
        /// An encounter, by the identifier that the entry has for it.
        case encounter = 3
        /// A member of a panel.
        case member = 4
    }

    /// Where in the body its members belong.
    package var place: Int
    /// What it names.
    package var role: Role
    /// Number of the entry that it names; of an encounter 0.
    package var target: Int

    /// A Reference.
    package init(place: Int, role: Role, target: Int) { (self.place, self.role, self.target) = (place, role, target) }
}
