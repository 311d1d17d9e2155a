import KymographCore
import KymographTemplates

/// Reads the configuration file: YAML, or JSON, which is YAML too.
struct ConfigurationFileReader {
    private static let sections: [String] = {
        var sections: [String] = []
        for setting in SettingTable.settings {
            var parts = setting.key.split(separator: ".").dropLast()
            while !parts.isEmpty {
                let name = parts.joined(separator: ".")
                if !sections.contains(name) { sections.append(name) }
                parts = parts.dropLast()
            }
        }
        return sections
    }()

    private let file: String
    private var settings: PipelineSettings
    private var log: ConfigurationLog

    /// Reads `bytes` into `settings`; `name` is the file in messages.
    static func read(
        name: String, bytes: [UInt8], into settings: inout PipelineSettings, log: inout ConfigurationLog
    ) {
        guard let root = ConfigurationText(name: name, bytes: bytes).root(log: &log) else { return }
        if case .mapping(let pairs) = root.content {
            settings.beginLayer(pairs.compactMap { if case .text(let key) = $0.key.content { key } else { nil } })
        }
        var reader = ConfigurationFileReader(file: name, settings: settings, log: log)
        reader.section("", root)
        settings = reader.settings
        log = reader.log
    }

    /// Reads the keys of one section; `prefix` is its name with a final dot, or empty for the file.
    private mutating func section(_ prefix: String, _ node: ConfigurationNode) {
        switch node.content {
        case .mapping(let pairs):
            for (key, value) in pairs { entry(prefix, key, value) }
        case .nothing: break
        case .text, .list:
            let subject = prefix.isEmpty ? "the file" : String(prefix.dropLast())
            log.add(
                .error, origin(node, subject), "expected keys and values, found \(node.kind)",
                advice: "write one 'key: value' a line\(prefix.isEmpty ? "" : ", indented")")
        }
    }

    private mutating func entry(_ prefix: String, _ key: ConfigurationNode, _ value: ConfigurationNode) {
        guard case .text(let name) = key.content else {
            let subject = prefix.isEmpty ? "the file" : String(prefix.dropLast())
            return log.add(.error, origin(key, subject), "a key must be text, found \(key.kind)")
        }
        let path = prefix + name
        // A dot in a name is no way to nest: `output.format: bundle` is an unknown key.
        if name.contains(".") {
            unknown(prefix, name, key)
        } else if path == "sources" {
            settings.sources = ElementListReader.read(value, .sources(settings.kinds), file: file, log: &log)
        } else if path == "sinks" {
            settings.sinks = ElementListReader.read(value, .sinks(settings.sinkKinds), file: file, log: &log)
        } else if Self.sections.contains(path) {
            section("\(path).", value)
        } else if let setting = SettingTable.settings.first(where: { $0.key == path }) {
            if let texts = setting.texts(value, file: file, subject: path, log: &log) {
                settings.set(setting, texts, log: &log)
            }
        } else {
            unknown(prefix, name, key)
        }
    }

    private mutating func unknown(_ prefix: String, _ name: String, _ key: ConfigurationNode) {
        let siblings = Self.names(in: prefix)
        let elsewhere = SettingTable.settings.map(\.key).first { $0 == name || $0.hasSuffix(".\(name)") }
        let advice =
            if let elsewhere {
                "did you mean \(Self.nested(elsewhere))?"
            } else {
                NearestName.advice(
                    for: name, among: siblings, otherwise: "the keys here are \(siblings.joined(separator: ", "))")
            }
        log.add(
            Diagnostic(
                .error, file: file, position: key.position, message: "unknown key '\(prefix + name)'", advice: advice))
    }

    /// `'format' under 'output'`.
    private static func nested(_ key: String) -> String {
        key.split(separator: ".").reversed().map { "'\($0)'" }.joined(separator: " under ")
    }

    /// The keys that may stand in a section, in the order of the reference.
    private static func names(in prefix: String) -> [String] {
        var names: [String] = []
        for key in SettingTable.settings.map(\.key) where key.hasPrefix(prefix) {
            let name = String(key.dropFirst(prefix.count).prefix { $0 != "." })
            if !names.contains(name) { names.append(name) }
        }
        return prefix.isEmpty ? names + ["sources", "sinks"] : names
    }

    private func origin(_ node: ConfigurationNode, _ subject: String) -> SettingOrigin {
        SettingOrigin(file: file, position: node.position, subject: subject)
    }
}

extension Setting {
    /// The texts that `node` holds for this setting; nil, with a note in `log`, when it is of the wrong kind.
    func texts(
        _ node: ConfigurationNode, file: String, subject: String, log: inout ConfigurationLog
    ) -> [SettingText]? {
        let origin = SettingOrigin(file: file, position: node.position, subject: subject)
        switch node.content {
        case .text(let text): return [SettingText(text: text, origin: origin)]
        case .list(let elements) where isList:
            guard !elements.isEmpty else {
                log.add(.error, origin, "the list is empty", advice: "name at least one, or remove the key")
                return nil
            }
            return elements.compactMap { element(of: $0, file: file, subject: subject, log: &log) }
        case .nothing:
            log.add(.error, origin, "no value is given", advice: "write \(formInSentence), or remove the key")
        case .list, .mapping:
            let expected = isList ? "\(formInSentence), or a list of them" : formInSentence
            log.add(.error, origin, "found \(node.kind)", advice: "write \(expected)")
        }
        return nil
    }

    private func element(
        of node: ConfigurationNode, file: String, subject: String, log: inout ConfigurationLog
    ) -> SettingText? {
        let origin = SettingOrigin(file: file, position: node.position, subject: subject)
        if case .text(let text) = node.content { return SettingText(text: text, origin: origin) }
        log.add(.error, origin, "found \(node.kind) in the list", advice: "write \(formInSentence)")
        return nil
    }

    /// ``form`` with an article, unless it is literal, and without Markdown.
    private var formInSentence: String {
        let text = form.replacing("`", with: "")
        guard let first = form.first, first != "`" else { return text }
        return "aeio".contains(first) ? "an \(text)" : "a \(text)"
    }
}
