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
    /// What `entry` is searched by.
    init(_ entry: Entry) {
        self.init(
            type: entry.type.string, system: IdentifierText(utf8: entry.system.array),
            value: IdentifierText(utf8: entry.value.array))
    }
}
