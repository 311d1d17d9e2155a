/// A resource that is no Observation, as a `ResourceFhir` template describes it, in the version of the output.
package struct ResourceRule: Sendable {
    /// The resource's type, such as `MedicationAdministration`.
    package var type: String
    package var identity: ResourceIdentity
    /// What the resource holds besides its type, id and identifier.
    package var members: [ResourceMember]
    /// Identifiers besides the one that is made of the identity.
    package var identifiers: [ResourceNode]

    package init(type: String, identity: ResourceIdentity, members: [ResourceMember], identifiers: [ResourceNode]) {
        (self.type, self.identity, self.members, self.identifiers) = (type, identity, members, identifiers)
    }

    /// The values of the device template that it reads.
    var uses: [FHIRTemplate.ValueUse] { (members.map(\.node) + identifiers).flatMap(\.values).map(\.use) }
}

/// What a resource's identity is made of.
package enum ResourceIdentity: UInt8, Sendable, CaseIterable, BitwiseCopyable {
    /// Its reading, as an Observation's: each reading is a resource of its own.
    case reading
    /// The reading's device: all readings of a device describe one Device, which Observations refer to.
    case device
}

/// A member of an object.
package struct ResourceMember: Sendable {
    package var name: String
    package var node: ResourceNode
    /// Whether the object makes no sense without it.
    package var isDemanded = false

    package init(name: String, node: ResourceNode, isDemanded: Bool = false) {
        (self.name, self.node, self.isDemanded) = (name, node, isDemanded)
    }
}

/// A JSON value with holes.
package indirect enum ResourceNode: Sendable {
    /// JSON as it stands.
    case constant(String)
    case object([ResourceMember])
    case array([ResourceNode])
    /// A value of the reading.
    case value(ResourceValue)
    /// A string of parts, which are `constant` (escaped, without quotes) or `value`.
    case text([ResourceNode])
    case time(ResourceTime)
    /// A Reference.
    case reference(ResourceTarget)
    /// An Identifier.
    case identifier(ResourceTarget)

    /// Levels of a resource; deeper is an error.
    package static let mostLevels = 24

    /// The values of the reading in it.
    var values: [ResourceValue] {
        switch self {
        case .value(let value): [value]
        case .object(let members): members.flatMap(\.node.values)
        case .array(let nodes), .text(let nodes): nodes.flatMap(\.values)
        case .constant, .time, .reference, .identifier: []
        }
    }

    /// Whether there can be something that a reading lacks.
    package var mayBeMissing: Bool {
        switch self {
        case .value, .reference(.encounter), .identifier(.encounter), .reference(.gateway), .identifier(.gateway): true
        case .object(let members): members.contains { $0.node.mayBeMissing }
        case .array(let nodes), .text(let nodes): nodes.contains(where: \.mayBeMissing)
        case .constant, .time, .reference, .identifier: false
        }
    }

    /// The node, which can be none but these `codes` when it is a value.
    package func limited(to codes: [String]) -> ResourceNode {
        guard case .value(var value) = self else { return self }
        value.codes = codes
        return .value(value)
    }

    /// The targets of the references in it.
    package var targets: [ResourceTarget] {
        switch self {
        case .reference(let target): [target]
        case .object(let members): members.flatMap(\.node.targets)
        case .array(let nodes): nodes.flatMap(\.targets)
        case .constant, .value, .text, .time, .identifier: []
        }
    }
}

/// A hole for a value of the reading.
package struct ResourceValue: Sendable {
    /// What the value must be, by FHIR's names.
    package enum Form: String, Sendable, CaseIterable {
        case string, code, uri, decimal, integer, boolean, dateTime, time
    }

    package var name: ValueName
    package var form: Form
    /// Whether the object that holds it makes no sense without it.
    package var isRequired = false
    /// What the value can be; empty for anything.
    package var codes: [String] = []

    package init(name: ValueName, form: Form, isRequired: Bool = false) {
        (self.name, self.form, self.isRequired) = (name, form, isRequired)
    }

    var use: FHIRTemplate.ValueUse {
        FHIRTemplate.ValueUse(
            name: name.text, isNumeric: form == .decimal || form == .integer, position: name.position)
    }
}

/// A point in time of a reading.
package enum ResourceTime: String, Sendable, CaseIterable {
    /// When the interval of the reading began; its end when it is of a moment.
    case start
    /// The reading's own time.
    case end
    /// When it came in.
    case received
}

/// What a reading is about.
package enum ResourceTarget: String, Sendable, CaseIterable {
    case patient, device, encounter
    /// This gateway, where the configuration names it.
    case gateway
}
