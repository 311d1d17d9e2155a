/// The keys `deviceMapping` and `fhirMapping`, which together name a mapping by its two files.
package struct NamedMappingFiles: Sendable, Equatable {
    /// The keys that name mappings.
    static let keys = ["mappings", "deviceMapping", "fhirMapping"]

    /// The keys that `key` excludes in another file of the same rank: itself, and all that name mappings if it is one
    /// of them, since those replace each other.
    static func rivals(of key: String) -> [String] { keys.contains(key) ? keys : [key] }

    /// Path of the file with device templates.
    package var device: String?
    /// Path of the file with FHIR templates.
    package var fhir: String?

    /// None.
    package init() {}

    /// The mappings `names`, and the one of the two files when both are named.
    func references(beside names: [String]) -> [MappingReference] {
        let named = names.map { MappingReference.named($0) }
        guard let device, let fhir else { return named }
        return named + [.files(device: device, fhir: fhir)]
    }

    /// The key that is given without the other one, and the missing one.
    var lonely: (given: String, missing: String)? {
        switch (device, fhir) {
        case (_?, nil): ("deviceMapping", "fhirMapping")
        case (nil, _?): ("fhirMapping", "deviceMapping")
        case (nil, nil), (_?, _?): nil
        }
    }
}

extension PipelineSettings {
    /// Forgets the mappings of weaker layers of the configuration when a stronger one, which has `keys`, names some.
    mutating func beginLayer(_ keys: some Sequence<String>) {
        guard keys.contains(where: { NamedMappingFiles.keys.contains($0) }) else { return }
        mappings = []
        namedFiles = NamedMappingFiles()
        origins = origins.filter { entry in
            !NamedMappingFiles.keys.contains { entry.key == $0 || entry.key.hasPrefix("\($0)[") }
        }
    }
}
