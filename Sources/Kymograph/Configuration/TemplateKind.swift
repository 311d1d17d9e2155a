import KymographTemplates

/// The two kinds of template files that a mapping has.
package enum TemplateKind: Sendable, CaseIterable {
    /// Payload to measurements.
    case device
    /// Measurements to Observations.
    case fhir

    /// The name of the file in a mapping's folder.
    package var fileName: String {
        switch self {
        case .device: "device.json"
        case .fhir: "fhir.json"
        }
    }

    /// The `templateType` of the file's root.
    package var templateType: String {
        switch self {
        case .device: "CollectionContent"
        case .fhir: "CollectionFhir"
        }
    }

    /// The other kind.
    var other: TemplateKind {
        switch self {
        case .device: .fhir
        case .fhir: .device
        }
    }

    /// The names that a resource of the MedTech service, or the parameters of its deployment, have for it.
    var exportNames: [String] {
        switch self {
        case .device: ["devicemapping"]
        case .fhir: ["fhirmapping", "destinationmapping"]
        }
    }

    /// The kind of a collection of templates by its `templateType`, which the reference compares without case; nil for
    /// anything else.
    init?(_ node: JSONNode) {
        let type = node.members?.last { $0.name.lowercased() == "templatetype" }?.node.string?.lowercased()
        guard let type else { return nil }
        let kind = TemplateKind.allCases.first { kind in
            let name = kind.templateType.lowercased()
            return type == name || type == "\(name)template"
        }
        guard let kind else { return nil }
        self = kind
    }
}
