import KymographCore

/// The kinds of findings about mapping files. Raw values are what `kymo check --format json` calls `code`: scripts rely
/// on them, so they are added to and never renamed. docs/mapping-language.md lists what each means.
package enum Finding: String, CaseIterable, Sendable {
    // Form of the files.
    case invalidJSON = "invalid-json"
    case wrongKind = "wrong-kind"
    case missingField = "missing-field"
    case nullField = "null-field"
    case blankField = "blank-field"
    case unknownField = "unknown-field"
    case unknownChoice = "unknown-choice"
    case wrongTemplateType = "wrong-template-type"
    case duplicateType = "duplicate-type"
    case wrongChange = "wrong-change"
    case wrongPeriod = "wrong-period"
    case wrongLimit = "wrong-limit"
    case emptyConcept = "empty-concept"
    case nestedComponents = "nested-components"
    case misplacedMember = "misplaced-member"
    case wrongBounds = "wrong-bounds"
    case wrongExtension = "wrong-extension"
    case wrongIdentifier = "wrong-identifier"
    case sameInstant = "same-instant"
    case otherFHIRVersion = "other-fhir-version"
    case newerDialect = "newer-dialect"
    case repeatedValue = "repeated-value"

    // Resources that are no Observations.
    case resourceType = "resource-type"
    case resourceBody = "resource-body"
    case noDeviceCode = "no-device-code"
    case unknownElement = "unknown-element"
    case missingElement = "missing-element"

    // Expressions and the rules of values.
    case expression
    case integerDivision = "integer-division"
    case valueRule = "value-rule"
    case unitRule = "unit-rule"
    case derivation
    case envelopePath = "envelope-path"
    case differentTime = "different-time"

    // Packets.
    case packetLayout = "packet-layout"
    case packetField = "packet-field"
    case mixedPayloads = "mixed-payloads"

    // The two files against each other.
    case noFHIRTemplate = "no-fhir-template"
    case noDeviceTemplate = "no-device-template"
    case unusedValue = "unused-value"
    case unknownValue = "unknown-value"
    case conflictingTemplates = "conflicting-templates"
    case noCorrelation = "no-correlation"
    case sameMatch = "same-match"
    case overlap = "overlapping-mappings"

    // Codes.
    case codingWithoutCode = "coding-without-code"
    case codeWithoutSystem = "code-without-system"
    case systemSpelling = "system-spelling"
    case loincFormat = "loinc-format"
    case loincCheckDigit = "loinc-check-digit"
    case codeMismatch = "code-mismatch"
    case repeatedCode = "repeated-code"

    // Units and values.
    case ucumCode = "ucum-code"
    case missingUnit = "missing-unit"
    case unitWithoutCode = "unit-without-code"
    case unitMismatch = "unit-mismatch"
    case singleSample = "single-sample"
    case noValue = "no-value"
    case meanOfCounts = "mean-of-counts"
    case mixedReading = "mixed-reading"
    case effectiveType = "effective-type"

    // Profiles of FHIR R4.
    case vitalSignCategory = "vital-sign-category"
    case vitalSignCode = "vital-sign-code"
    case vitalSignValue = "vital-sign-value"
    case vitalSignUnit = "vital-sign-unit"
    case bloodPressureValue = "blood-pressure-value"
    case bloodPressurePart = "blood-pressure-part"
    case profileMismatch = "profile-mismatch"

    // Sample events.
    case eventRejected = "event-rejected"
    case eventUnmatched = "event-unmatched"
}
