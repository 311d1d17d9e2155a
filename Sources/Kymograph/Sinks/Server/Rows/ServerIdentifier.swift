import KymographCore

/// A resource as its identifier names it.
struct ServerIdentifier: Hashable, Sendable {
    /// Type of the resource, such as `Device`.
    var type: String
    /// System of the identifier; empty when it has none.
    var system: IdentifierText
    /// Value of the identifier.
    var value: IdentifierText

    /// The resource of `type` with this identifier.
    init(type: String, system: IdentifierText, value: IdentifierText) {
        (self.type, self.system, self.value) = (type, system, value)
    }

    /// The resource of `type` with this identifier.
    init(type: String, system: String, value: String) {
        self.init(type: type, system: IdentifierText(system), value: IdentifierText(value))
    }
}

extension ServerIdentifier {
    /// What a reference by identifier names; nil when it has none.
    init?(reference: JSONSlice, type: String) {
        guard let identifier = reference["identifier"] else { return nil }
        self.init(identifier: identifier, type: type)
    }

    /// Reads an Identifier with a value.
    init?(identifier: JSONSlice, type: String) {
        guard let value = identifier["value"]?.string else { return nil }
        self.init(type: type, system: identifier["system"]?.string ?? "", value: value)
    }
}
