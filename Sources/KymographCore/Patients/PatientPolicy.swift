/// What becomes of a reading whose message says another patient or encounter than the map: `patientConflict`.
package enum PatientConflict: String, CaseIterable, Sendable {
    /// It is rejected.
    case reject
    /// It is of whom the map says.
    case map
    /// It is of whom the message says.
    case message
}

/// What becomes of a reading whose device the map assigns to no patient at its time: `unmapped`.
package enum UnmappedReadings: String, CaseIterable, Sendable {
    /// It is taken if its message names a patient and the map has nothing of the device, and else rejected.
    case named
    /// It is rejected.
    case reject
    /// It is taken, with the patient that its message names or with none.
    case accept
}

/// Decides whose a reading is, by what its message says and what the map says: the table of docs/patients.md.
package struct PatientPolicy: Hashable, Sendable {
    /// Who says it.
    package enum Voice: Sendable {
        case message, map
    }

    /// Whose a reading is.
    package enum Verdict: Equatable, Sendable {
        /// Of the patient and the encounter of these.
        case filed(patient: Voice, encounter: Voice)
        /// It is not taken.
        case rejected(Rejection)
    }

    /// A patient and an encounter, as far as they are named.
    package struct Naming {
        var patient: ByteView?
        var encounter: ByteView?

        /// What is named.
        package init(patient: ByteView?, encounter: ByteView?) {
            (self.patient, self.encounter) = (patient, encounter)
        }

        /// Whether `self`, a message, says something else than `map`.
        fileprivate func contradicts(_ map: Naming) -> Bool {
            if PatientPolicy.differ(patient, map.patient) || PatientPolicy.differ(encounter, map.encounter) {
                return true
            }
            // An encounter alone is somebody's: of the map's patient only if the map says so.
            return patient == nil && encounter != nil && map.encounter == nil
        }
    }

    /// Where the two contradict each other.
    package var conflict = PatientConflict.reject
    /// Where the map says nothing.
    package var unmapped = UnmappedReadings.named
    /// Whether a reading of no patient is rejected (`identity: strict`).
    package var requiresPatient = false

    /// The defaults: what is not sure is rejected.
    package init() {}

    /// Whose a reading is; `map` is nil when the device is unassigned at its time, and `isHeld` says whether it is
    /// assigned at any other.
    package func verdict(message: Naming, map: Naming?, isHeld: Bool = false) -> Verdict {
        guard let map else { return unmappedVerdict(message, isHeld: isHeld) }
        guard message.contradicts(map) else {
            return .filed(patient: .map, encounter: message.encounter == nil ? .map : .message)
        }
        switch conflict {
        // Never the encounter of one and the patient of the other.
        case .map: return .filed(patient: .map, encounter: .map)
        case .message where message.patient != nil: return .filed(patient: .message, encounter: .message)
        // A message with an encounter that is not the map's, and no patient: it is unknown whose that is.
        case .message, .reject: return .rejected(.patientDeviceMismatch)
        }
    }

    private func unmappedVerdict(_ message: Naming, isHeld: Bool) -> Verdict {
        let isNamed = message.patient != nil
        switch unmapped {
        case .reject: return .rejected(.patientUnknown)
        // Of a device that is handed on, the message may name the former patient.
        case .named where !isNamed || isHeld: return .rejected(.patientUnknown)
        case .accept where requiresPatient && !isNamed: return .rejected(.noPatient)
        case .named, .accept: return .filed(patient: .message, encounter: .message)
        }
    }

    /// Whether both are there and not the same bytes.
    private static func differ(_ one: ByteView?, _ other: ByteView?) -> Bool {
        guard let one, let other else { return false }
        return !one.equals(other)
    }
}

/// A map, and how it is applied.
package struct PatientRules: Sendable {
    /// Whose each device is.
    package var map: PatientMap
    /// Where the map does not decide alone.
    package var policy: PatientPolicy

    /// Applies `map` by `policy`.
    package init(_ map: PatientMap, _ policy: PatientPolicy) { (self.map, self.policy) = (map, policy) }
}
