import KymographCore

/// The elements of a type of resources in one version of FHIR: their names, which of them are lists and which must be
/// there. Source: the definitions of the resources in STU3 3.0.2, R4 4.0.1 and R5 5.0.0; R4B is R4 here.
struct ElementTable: Sendable {
    /// An element.
    struct Element: Sendable {
        var name: String
        var isList: Bool
    }

    let type: String
    /// By name, those that every resource has included.
    let elements: [Element]
    /// Elements that must be there, each with those that can stand for it (`medication[x]`).
    let required: [[String]]

    /// The types that are known.
    static let types = Array(Set(rows.map(\.type))).sorted()

    /// The table of `type` in `version`; nil when the type is not known.
    init?(type: String, version: FHIRVersion) {
        guard let row = ElementTable.rows.first(where: { $0.type == type && $0.version.agrees(with: version) }) else {
            return nil
        }
        self.type = type
        var elements: [Element] = []
        var required: [[String]] = []
        let marks = "!*".utf8
        for words in (row.elements + " " + ElementTable.common).utf8.split(separator: UInt8(ascii: " ")) {
            let names = words.split(separator: UInt8(ascii: "|")).map { word in
                String(Substring(word.prefix { !marks.contains($0) }))
            }
            let isList = words.contains(UInt8(ascii: "*"))
            for name in names { elements.append(Element(name: name, isList: isList)) }
            if words.last == UInt8(ascii: "!") { required.append(names) }
        }
        self.elements = elements
        self.required = required
    }

    /// The element called `name`, or nil.
    func element(_ name: String) -> Element? { elements.first { $0.name == name } }

    private struct Row: Sendable {
        var type: String
        var version: FHIRVersion
        /// Names; `*` marks lists, `!` what must be there, and a bar those of which there is one.
        var elements: String
    }

    private static let common = "meta implicitRules language text contained* extension* modifierExtension* identifier*"

    private static let rows = [
        Row(
            type: "Device", version: .stu3,
            elements: """
                udi status type lotNumber manufacturer manufactureDate expirationDate model version patient owner \
                contact* location url note* safety*
                """),
        Row(
            type: "Device", version: .r4,
            elements: """
                definition udiCarrier* status statusReason* distinctIdentifier manufacturer manufactureDate \
                expirationDate lotNumber serialNumber deviceName* modelNumber partNumber type specialization* \
                version* property* patient owner contact* location url note* safety* parent
                """),
        Row(
            type: "Device", version: .r5,
            elements: """
                displayName definition udiCarrier* status availabilityStatus biologicalSourceEvent manufacturer \
                manufactureDate expirationDate lotNumber serialNumber name* modelNumber partNumber category* type* \
                version* conformsTo* property* mode cycle duration owner contact* location url endpoint* gateway* \
                note* safety* parent
                """),
        Row(
            type: "MedicationAdministration", version: .stu3,
            elements: """
                definition* partOf* status! category medicationCodeableConcept|medicationReference! subject! context \
                supportingInformation* effectiveDateTime|effectivePeriod! performer* notGiven reasonNotGiven* \
                reasonCode* reasonReference* prescription device* note* dosage eventHistory*
                """),
        Row(
            type: "MedicationAdministration", version: .r4,
            elements: """
                instantiates* partOf* status! statusReason* category medicationCodeableConcept|medicationReference! \
                subject! context supportingInformation* effectiveDateTime|effectivePeriod! performer* reasonCode* \
                reasonReference* request device* note* dosage eventHistory*
                """),
        Row(
            type: "MedicationAdministration", version: .r5,
            elements: """
                basedOn* partOf* status! statusReason* category* medication! subject! encounter \
                supportingInformation* occurenceDateTime|occurencePeriod|occurenceTiming! recorded isSubPotent \
                subPotentReason* performer* reason* request device* note* dosage eventHistory*
                """),
        Row(
            type: "Communication", version: .stu3,
            elements: """
                definition* basedOn* partOf* status! notDone notDoneReason category* medium* subject recipient* \
                topic* context sent received sender reasonCode* reasonReference* payload* note*
                """),
        Row(
            type: "Communication", version: .r4,
            elements: """
                instantiatesCanonical* instantiatesUri* basedOn* partOf* inResponseTo* status! statusReason category* \
                priority medium* subject topic about* encounter sent received recipient* sender reasonCode* \
                reasonReference* payload* note*
                """),
        Row(
            type: "Communication", version: .r5,
            elements: """
                instantiatesCanonical* instantiatesUri* basedOn* partOf* inResponseTo* status! statusReason category* \
                priority medium* subject topic about* encounter sent received recipient* sender reason* payload* note*
                """),
        Row(
            type: "Observation", version: .stu3,
            elements: """
                basedOn* status! category* code! subject context effectiveDateTime|effectivePeriod issued performer* \
                valueQuantity|valueCodeableConcept|valueString|valueBoolean|valueRange|valueRatio|valueSampledData \
                valueAttachment valueTime valueDateTime valuePeriod dataAbsentReason interpretation comment bodySite \
                method specimen device referenceRange* related* component*
                """),
        Row(
            type: "Observation", version: .r4,
            elements: """
                basedOn* partOf* status! category* code! subject focus* encounter \
                effectiveDateTime|effectivePeriod|effectiveTiming|effectiveInstant issued performer* \
                valueQuantity|valueCodeableConcept|valueString|valueBoolean|valueInteger|valueRange|valueRatio \
                valueSampledData valueTime valueDateTime valuePeriod dataAbsentReason interpretation* note* bodySite \
                method specimen device referenceRange* hasMember* derivedFrom* component*
                """),
        Row(
            type: "Observation", version: .r5,
            elements: """
                instantiatesCanonical instantiatesReference basedOn* triggeredBy* partOf* status! category* code! \
                subject focus* encounter effectiveDateTime|effectivePeriod|effectiveTiming|effectiveInstant issued \
                performer* valueQuantity|valueCodeableConcept|valueString|valueBoolean|valueInteger|valueRange \
                valueRatio|valueSampledData valueTime valueDateTime valuePeriod valueAttachment valueReference \
                dataAbsentReason interpretation* note* bodySite bodyStructure method specimen device referenceRange* \
                hasMember* derivedFrom* component*
                """),
        Row(
            type: "Flag", version: .stu3,
            elements: "status! category code! subject! period encounter author"),
        Row(
            type: "Flag", version: .r4,
            elements: "status! category* code! subject! period encounter author"),
        Row(
            type: "Flag", version: .r5,
            elements: "status! category* code! subject! period encounter author"),
    ]
}
