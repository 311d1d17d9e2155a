import KymographCore
import KymographTemplates

/// Finds types that two mappings of one source both give: one payload then gives two
/// readings at one instant, which the window counts as duplicate or conflict.
enum MappingOverlap {
    /// What matters of a device template.
    private struct Outline {
        var typeName: String
        var position: SourcePosition
        /// The expressions that decide whether and when the template gives a reading.
        var match: [String?]
    }

    private static let decidingFields = ["typeMatchExpression", "timestampExpression", "timestampFormat"]

    /// Warns about each pair of mappings of a source, and each type that both give, once.
    static func check(_ settings: PipelineSettings, _ mappings: [NamedMapping], log: inout ConfigurationLog) {
        var outlines: [String: [Outline]] = [:]
        // Reading the files again is only worth it for those that share a source.
        let shared = Set(settings.listeningSources.map { settings.mappings(of: $0) }.filter { $0.count > 1 }.joined())
        for mapping in mappings where shared.contains(mapping.name) { outlines[mapping.name] = outline(mapping) }
        var seen: Set<[String]> = []
        for source in settings.listeningSources {
            let names = settings.mappings(of: source)
            for (index, later) in names.enumerated() {
                for earlier in names[..<index] where seen.insert([earlier, later]).inserted {
                    let file = mappings.first { $0.name == later }?.device.name ?? later
                    let first = outlines[earlier] ?? []
                    compare(first, earlier, outlines[later] ?? [], file, source.configuration.address.name, log: &log)
                }
            }
        }
    }

    private static func compare(
        _ first: [Outline], _ firstName: String, _ second: [Outline], _ file: String, _ source: String,
        log: inout ConfigurationLog
    ) {
        var seen: Set<String> = []
        for template in second where seen.insert(template.typeName).inserted {
            let others = first.filter { $0.typeName == template.typeName }
            guard !others.isEmpty else { continue }
            let same = second.filter { $0.typeName == template.typeName }.map(\.match)
            let isCertain = others.contains { same.contains($0.match) }
            let extent = isCertain ? "they match the same payloads" : "a payload that both match"
            let effect = isCertain ? ", and each gives" : " gives"
            log.add(
                Diagnostic(
                    .warning, file: file, position: template.position,
                    message: "the mapping '\(firstName)' of \(source) gives the type '\(template.typeName)' too: "
                        + "\(extent)\(effect) a duplicate or a conflict",
                    advice: "name one of the two mappings for \(source), or give each a source of its own",
                    code: Finding.overlap.rawValue))
        }
    }

    /// The templates of a mapping that has been found good.
    private static func outline(_ mapping: NamedMapping) -> [Outline] {
        var log = DiagnosticLog(file: mapping.device.name)
        guard let file = JSONNode.parse(mapping.device.bytes, log: &log) else { return [] }
        let root = MappingExtension.merged(file, .device, mapping.extensible, log: &log)
        return (root.member("template")?.elements ?? []).compactMap { element in
            guard let body = element.member("template"), let name = body.member("typeName"), let text = name.string
            else { return nil }
            return Outline(
                typeName: text, position: name.position, match: decidingFields.map { body.member($0)?.string })
        }
    }
}

extension JSONNode {
    /// The value of the last member called `name` without regard to case, as the mapping dialect reads its files.
    fileprivate func member(_ name: String) -> JSONNode? {
        members?.last { $0.name.lowercased() == name.lowercased() }?.node
    }
}
