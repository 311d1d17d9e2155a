/// Gives readings the patient and encounter of their devices. Of one thread.
package struct PatientAttribution: ~Copyable {
    /// What becomes of a reading.
    package enum Outcome: Equatable {
        /// Its key stays.
        case unchanged
        /// It has another key, ``PatientAttribution/key``.
        case changed
        /// It is not taken.
        case rejected(Rejection)
    }

    /// Nil where no map is in use.
    package var rules: PatientRules?
    private var writer = ByteWriter(capacity: 256)

    /// The tags of the last reading that was not rejected (``ReadingTags``): those of the period that it is filed by,
    /// none where its message decides. Valid until the next one, and as long as the map.
    package private(set) var tags = ByteView("")

    /// Without a map.
    package init(_ rules: PatientRules? = nil) { self.rules = rules }

    /// Whether a map is in use.
    @inline(__always)
    var isOn: Bool { rules != nil }

    /// The ``SeriesKey`` of the last reading that was ``Outcome/changed``; valid until the next one.
    package var key: ByteView { writer.view }

    /// Decides whose the reading of the series `key` at `instant` is. One that covers the `length` nanoseconds before,
    /// and not the instant itself, is of whom the device was for all that time.
    package mutating func attribute(_ key: ByteView, at instant: Instant, length: Int64 = 0) -> Outcome {
        tags = ByteView("")
        guard let rules else { return .unchanged }
        let message = PatientPolicy.Naming(patient: SeriesKey.patient(of: key), encounter: SeriesKey.encounter(of: key))
        let device = SeriesKey.device(of: key)
        let period: Int
        switch rules.map.span(of: device, to: instant, length: length) {
        case .period(let found): period = found
        case .several: return .rejected(.patientUnknown)
        case .nobody:
            let verdict = rules.policy.verdict(message: message, map: nil, isHeld: rules.map.holds(device))
            return outcome(verdict, message, message, key)
        }
        let map = PatientPolicy.Naming(patient: rules.map.patient(period), encounter: rules.map.encounter(period))
        let verdict = rules.policy.verdict(message: message, map: map)
        if case .filed(.map, _) = verdict { tags = rules.map.tags(period) }
        return outcome(verdict, message, map, key)
    }

    private mutating func outcome(
        _ verdict: PatientPolicy.Verdict, _ message: PatientPolicy.Naming, _ map: PatientPolicy.Naming, _ key: ByteView
    ) -> Outcome {
        switch verdict {
        case .rejected(let reason): return .rejected(reason)
        case .filed(.message, .message): return .unchanged
        case .filed(let patient, let encounter):
            SeriesKey.rewrite(
                key, patient: patient == .map ? map.patient : message.patient,
                encounter: encounter == .map ? map.encounter : message.encounter, into: &writer)
            return .changed
        }
    }
}
