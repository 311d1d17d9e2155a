import KymographCore

/// What becomes of an element that another version of FHIR writes in another way.
enum ElementChange: Sendable {
    /// It has another name.
    case named(String)
    /// It is a list.
    case listed(String)
    /// It is one and not a list; of an object only the member `part`, when there is one.
    case single(String, part: String? = nil)
    /// A CodeableConcept is the concept of a CodeableReference.
    case concept(String)
    /// A Reference is the reference of a CodeableReference.
    case reference(String)
    /// A string is the text of a CodeableConcept.
    case worded(String)
    /// It is an identifier of this type.
    case identifier(String)
    /// The code `not-done` is the flag `flag` beside the code `code`.
    case notDone(flag: String, code: String)
    /// It does not exist, and is carried by HL7's cross-version extension, as the `value[x]` of this type.
    case carried(String)
    /// As `carried`, of an element with these members and their types.
    case carriedParts([String: String])
}

extension ElementChange {
    /// What differs from R4 in `version`, by path.
    static func fromR4(to version: FHIRVersion) -> [String: ElementChange] {
        switch version {
        case .r4, .r4b: [:]
        case .stu3: toSTU3
        case .r5: toR5
        }
    }

    private static let toSTU3: [String: ElementChange] = [
        "Device.udiCarrier": .single("udi"),
        "Device.deviceName": .carriedParts(["name": "String", "type": "Code"]),
        "Device.serialNumber": .identifier("SNO"),
        "Device.modelNumber": .named("model"),
        "Device.partNumber": .carried("String"),
        "Device.distinctIdentifier": .carried("String"),
        "Device.version": .single("version", part: "value"),
        "Device.statusReason": .carried("CodeableConcept"),
        "Device.parent": .carried("Reference"),
        "Device.definition": .carried("Reference"),
        "MedicationAdministration.status": .notDone(flag: "notGiven", code: "completed"),
        "MedicationAdministration.statusReason": .named("reasonNotGiven"),
        "MedicationAdministration.request": .named("prescription"),
        "MedicationAdministration.instantiates": .carried("Uri"),
        "MedicationAdministration.performer.function": .carried("CodeableConcept"),
        "Communication.status": .notDone(flag: "notDone", code: "aborted"),
        "Communication.statusReason": .named("notDoneReason"),
        "Communication.encounter": .named("context"),
        "Communication.about": .named("topic"),
        "Communication.topic": .carried("CodeableConcept"),
        "Communication.priority": .carried("Code"),
        "Communication.inResponseTo": .carried("Reference"),
        "Communication.instantiatesCanonical": .carried("Uri"),
        "Communication.instantiatesUri": .carried("Uri"),
        "Flag.category": .single("category"),
        "Observation.encounter": .named("context"),
        "Observation.interpretation": .single("interpretation"),
        "Observation.component.interpretation": .single("interpretation"),
        "Observation.note": .single("comment", part: "text"),
    ]

    private static let toR5: [String: ElementChange] = [
        "Device.deviceName": .named("name"),
        "Device.deviceName.name": .named("value"),
        "Device.type": .listed("type"),
        "Device.patient": .carried("Reference"),
        "Device.statusReason": .carried("CodeableConcept"),
        "Device.distinctIdentifier": .carried("String"),
        "Device.definition": .reference("definition"),
        "Device.property.valueQuantity": .single("valueQuantity"),
        "Device.property.valueCode": .single("valueCodeableConcept"),
        "Device.specialization": .named("conformsTo"),
        "Device.specialization.systemType": .named("specification"),
        "MedicationAdministration.medicationCodeableConcept": .concept("medication"),
        "MedicationAdministration.medicationReference": .reference("medication"),
        "MedicationAdministration.effectiveDateTime": .named("occurenceDateTime"),
        "MedicationAdministration.effectivePeriod": .named("occurencePeriod"),
        "MedicationAdministration.context": .named("encounter"),
        "MedicationAdministration.category": .listed("category"),
        "MedicationAdministration.performer.actor": .reference("actor"),
        "MedicationAdministration.device": .reference("device"),
        "MedicationAdministration.reasonCode": .concept("reason"),
        "MedicationAdministration.reasonReference": .reference("reason"),
        "MedicationAdministration.instantiates": .carried("Uri"),
        "Communication.reasonCode": .concept("reason"),
        "Communication.reasonReference": .reference("reason"),
        "Communication.payload.contentString": .worded("contentCodeableConcept"),
    ]
}
