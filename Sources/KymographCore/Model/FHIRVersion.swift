/// The version of FHIR that output is written in. What differs is decided when templates are compiled
/// (``ProgramCompiler``), from the facts of spec/fhir.md section 6.
package enum FHIRVersion: String, CaseIterable, Sendable {
    /// 4.0.1.
    case r4 = "R4"
    /// 4.3.0, in which nothing that is written here differs from R4.
    case r4b = "R4B"
    /// 3.0.2.
    case stu3 = "STU3"
    /// 5.0.0.
    case r5 = "R5"

    /// The media type of a resource or bundle in this version, for `Content-Type` and `Accept`.
    package var contentType: String { "application/fhir+json; fhirVersion=\(number)" }

    /// Major and minor number, as the MIME parameter `fhirVersion` has them.
    private var number: String {
        switch self {
        case .r4: "4.0"
        case .r4b: "4.3"
        case .stu3: "3.0"
        case .r5: "5.0"
        }
    }

    /// Whether what is written for one of the two is right for the other.
    package func agrees(with other: FHIRVersion) -> Bool { self == other || (isR4 && other.isR4) }

    private var isR4: Bool { self == .r4 || self == .r4b }
}

// What differs, each told once.
extension FHIRVersion {
    /// Whether a reference by identifier may name the type of its target; STU3 has no `Reference.type`.
    package var hasReferenceType: Bool { self != .stu3 }

    /// The member of an Observation that refers to its encounter.
    package var encounterMember: StaticString { self == .stu3 ? "context" : "encounter" }

    /// How SampledData says when its samples were taken.
    var seriesTiming: SeriesTiming { self == .r5 ? .interval : .period }
}

/// How SampledData says when its samples were taken.
enum SeriesTiming {
    /// `period` in milliseconds; the times of irregular series stand in extensions.
    case period
    /// `interval` and `intervalUnit`, or `offsets` for irregular series.
    case interval
}
