/// Which open windows are meant.
package struct WindowSelection: Sendable {
    /// Patterns of names of types; empty for all.
    package var types: [NamePattern]
    /// Patterns of devices; empty for all.
    package var devices: [NamePattern]

    /// No window: no type is called nothing.
    package static let none = WindowSelection(types: [NamePattern("")])

    /// Those of all types and devices, or of what is named.
    package init(types: [NamePattern] = [], devices: [NamePattern] = []) {
        (self.types, self.devices) = (types, devices)
    }

    /// Whether windows of a series of the type called `type` are meant.
    func contains(_ series: SeriesIdentity, type: String) -> Bool {
        (types.isEmpty || types.contains { $0.matches(type.utf8) })
            && (devices.isEmpty || devices.contains { $0.matches(series.device) })
    }
}
