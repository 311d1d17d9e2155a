package import KymographCore

/// Whose devices are, and what to do where messages say otherwise.
package struct PatientSettings: Sendable {
    /// The patient map; nil for none.
    package var book: PatientBook?
    /// What becomes of readings whose message and map do not agree.
    package var conflict = PatientConflict.reject
    /// What becomes of readings whose device is nobody's by the map.
    package var unmapped = UnmappedReadings.named

    /// No map.
    package init() {}

    /// Settings that have no effect without a map.
    static let keysOfMap = ["patientConflict", "unmapped"]
}

extension PipelineSettings {
    /// How the patient map is applied.
    package var patientPolicy: PatientPolicy {
        var policy = PatientPolicy()
        (policy.conflict, policy.unmapped) = (patients.conflict, patients.unmapped)
        policy.requiresPatient = requiresPatient
        return policy
    }

    /// The patient map as it is now, and how it is applied; nil without one.
    package var patientRules: PatientRules? {
        patients.book.map { PatientRules($0.current.map, patientPolicy) }
    }
}

extension PipelineSettings {
    /// What decides on readings by these settings.
    package var deciders: Set<StoreDecider> {
        var present: Set<StoreDecider> = []
        if patients.book != nil { present.insert(.patientMap) }
        if rules != nil { present.insert(.rules) }
        if interceptor != nil { present.insert(.hook) }
        return present
    }
}
