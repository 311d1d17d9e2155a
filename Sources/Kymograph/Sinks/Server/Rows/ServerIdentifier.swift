/// A resource as its identifier names it.
struct ServerIdentifier: Hashable, Sendable {
    /// Type of the resource, such as `Device`.
    var type: String
    /// System of the identifier; empty when it has none.
    var system: String
    /// Value of the identifier.
    var value: String
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
