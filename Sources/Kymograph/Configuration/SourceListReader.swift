import KymographCore

/// Reads the `sources` of the configuration file.
struct SourceListReader {
    private let file: String
    private var log: ConfigurationLog

    /// The sources of the list `node`; those with an error in their address are left out.
    static func read(
        _ node: ConfigurationNode, file: String, log: inout ConfigurationLog
    ) -> [PipelineSettings.Source] {
        var reader = SourceListReader(file: file, log: log)
        let sources = reader.list(node)
        log = reader.log
        return sources
    }

    private mutating func list(_ node: ConfigurationNode) -> [PipelineSettings.Source] {
        let defaults = PipelineSettings.defaultSources.map(\.configuration.kind.name).joined(separator: " and ")
        switch node.content {
        case .list(let elements) where !elements.isEmpty:
            return elements.enumerated().compactMap { source($1, name: "sources[\($0)]") }
        case .list, .nothing:
            log.add(
                .error, origin(node, "sources"), "no source is named",
                advice: "name one, or remove the key to listen to \(defaults)")
        default:
            log.add(
                .error, origin(node, "sources"), "expected a list, found \(node.kind)",
                advice: "begin each source with '- ', as in '- udp: 127.0.0.1:5757'")
        }
        return []
    }

    private mutating func source(_ node: ConfigurationNode, name: String) -> PipelineSettings.Source? {
        guard case .mapping(let pairs) = node.content else {
            log.add(
                .error, origin(node, name), "expected keys and values, found \(node.kind)",
                advice: "write for instance '- udp: 127.0.0.1:5757'")
            return nil
        }
        var source = PipelineSettings.Source(.standardInput(descriptor: 0))
        for (key, value) in pairs { entry(key, value, name: name, into: &source) }
        return checkKinds(pairs.map(\.key), node, name: name) ? source : nil
    }

    private mutating func entry(
        _ key: ConfigurationNode, _ value: ConfigurationNode, name: String, into source: inout PipelineSettings.Source
    ) {
        guard case .text(let text) = key.content else {
            return log.add(.error, origin(key, name), "a key must be text, found \(key.kind)")
        }
        guard let setting = SettingTable.sources.first(where: { $0.key == text }) else {
            let keys = SettingTable.sources.map(\.key)
            let fallback = "the keys of a source are \(keys.joined(separator: ", "))"
            return log.add(
                .error, origin(key, name), "unknown key '\(text)'",
                advice: NearestName.advice(for: text, among: keys, otherwise: fallback))
        }
        guard let texts = setting.texts(value, file: file, subject: "\(name).\(text)", log: &log),
            setting.apply(texts, to: &source, log: &log)
        else { return }
        setting.remember(texts, in: &source.origins)
    }

    /// Whether exactly one of the keys says where to receive.
    private mutating func checkKinds(_ keys: [ConfigurationNode], _ node: ConfigurationNode, name: String) -> Bool {
        let kinds = keys.compactMap { key in
            if case .text(let text) = key.content, SourceAddress.keys.contains(text) { (text, key) } else { nil }
        }
        guard let first = kinds.first else {
            log.add(
                .error, origin(node, name), "nothing to listen to is named",
                advice: "add one of \(SourceAddress.keys.joined(separator: ", "))")
            return false
        }
        for (text, key) in kinds.dropFirst() {
            log.add(
                .error, origin(key, name), "'\(text)' is given besides '\(first.0)'",
                advice: "make them two sources, each with a '- ' of its own")
        }
        return kinds.count == 1
    }

    private func origin(_ node: ConfigurationNode, _ subject: String) -> SettingOrigin {
        SettingOrigin(file: file, position: node.position, subject: subject)
    }
}
