import KymographCore
import KymographTemplates

/// Reads the configuration file, YAML, or JSON, which is YAML too; and before it the files that it includes.
struct ConfigurationFileReader {
    /// Keys that files state, and where.
    private typealias Stated = [String: SettingOrigin]

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

    private let variables: [String: String]
    private var settings: PipelineSettings
    private var log: ConfigurationLog
    /// The files that are being read, outermost first.
    private var chain: [(name: String, identity: IncludedFiles.Identity?)] = []
    /// Where each file was included that has been read.
    private var included: [IncludedFiles.Identity: SettingOrigin] = [:]
    /// Keys of the file whose sections are being read.
    private var own: Stated = [:]

    /// Reads `bytes` into `settings`; `name` is the file in messages, and its folder the one of relative paths in
    /// `include`. `variables` are those that values may hold.
    static func read(
        name: String, bytes: [UInt8], variables: [String: String], into settings: inout PipelineSettings,
        log: inout ConfigurationLog
    ) {
        var reader = ConfigurationFileReader(variables, settings, log)
        reader.file(name, bytes)
        settings = reader.settings
        log = reader.log
    }

    private init(_ variables: [String: String], _ settings: PipelineSettings, _ log: ConfigurationLog) {
        (self.variables, self.settings, self.log) = (variables, settings, log)
    }

    // MARK: Files

    /// Reads one file after those that it includes; returns the keys that they state.
    @discardableResult
    private mutating func file(_ name: String, _ bytes: [UInt8]) -> Stated {
        settings.configurationFiles.append(name)
        guard let root = ConfigurationText(name: name, bytes: bytes, variables: variables).root(log: &log) else {
            return [:]
        }
        chain.append((name, IncludedFiles.Identity(name)))
        let (others, repeated) = include(root, name)
        chain.removeLast()
        own = [:]
        // What the file says of mappings replaces what included files say of them.
        if case .mapping(let pairs) = root.content {
            settings.beginLayer(pairs.compactMap { if case .text(let key) = $0.key.content { key } else { nil } })
        }
        section("", root)
        for (key, origin) in repeated {
            let rivals = NamedMappingFiles.rivals(of: key)
            guard !rivals.contains(where: { own[$0] != nil }) else { continue }
            guard let first = rivals.compactMap({ others[$0] }).first(where: { $0.place != origin.place }) else {
                continue
            }
            log.add(
                .error, origin, "it is given in \(first.place), too",
                advice: "keep one of them, or state it in \(name), which overrides both")
        }
        return others.merging(own) { $1 }
    }

    /// Reads the files that `root` includes. Returns the keys that they state, and those of them that a second file
    /// states, in the order of the files.
    private mutating func include(
        _ root: ConfigurationNode, _ name: String
    ) -> (stated: Stated, repeated: [(key: String, origin: SettingOrigin)]) {
        var stated: Stated = [:]
        var repeated: [(key: String, origin: SettingOrigin)] = []
        let texts = includes(root)
        settings.includes += texts.map { IncludedFiles.path($0.text, in: name) }
        for (path, origin) in IncludedFiles.paths(texts, in: name, log: &log) {
            guard isNew(path, origin), let bytes = IncludedFiles.content(path, origin, log: &log) else { continue }
            let found = file(path, bytes).sorted { $0.value.position.offset < $1.value.position.offset }
            let before = stated
            for (key, place) in found {
                if NamedMappingFiles.rivals(of: key).contains(where: { before[$0] != nil }) {
                    repeated.append((key, place))
                }
                stated[key] = stated[key] ?? place
            }
        }
        return (stated, repeated)
    }

    /// What `root` says under `include`.
    private mutating func includes(_ root: ConfigurationNode) -> [SettingText] {
        guard case .mapping(let pairs) = root.content else { return [] }
        let setting = IncludedFiles.setting
        for (key, value) in pairs {
            guard case .text(setting.key) = key.content else { continue }
            var names: [String] = []
            let texts = setting.texts(value, subject: setting.key, log: &log) ?? []
            return setting.apply(texts, to: &names, log: &log) ? texts : []
        }
        return []
    }

    /// Whether `path` has not been read yet; a note in `log` says otherwise.
    private mutating func isNew(_ path: String, _ origin: SettingOrigin) -> Bool {
        guard let identity = IncludedFiles.Identity(path) else { return true }
        if let start = chain.firstIndex(where: { $0.identity == identity }) {
            let files = (chain[start...].map(\.name) + [path]).joined(separator: " → ")
            log.add(.error, origin, "a file includes itself: \(files)", advice: "remove one of these includes")
            return false
        }
        if let first = included[identity] {
            log.add(.error, origin, "\(path) is included in \(first.place) already", advice: "include it once")
            return false
        }
        included[identity] = origin
        return true
    }

    // MARK: Sections

    /// Reads the keys of one section; `prefix` is its name with a final dot, or empty for the file.
    private mutating func section(_ prefix: String, _ node: ConfigurationNode) {
        switch node.content {
        case .mapping(let pairs):
            for (key, value) in pairs { entry(prefix, key, value) }
        case .nothing: break
        case .text, .list:
            let subject = prefix.isEmpty ? "the file" : String(prefix.dropLast())
            log.add(
                .error, node.origin(subject), "expected keys and values, found \(node.kind)",
                advice: "write one 'key: value' a line\(Self.hint(prefix, node))")
        }
    }

    /// What is added to the form of a line of a section: `key:value` is text.
    private static func hint(_ prefix: String, _ node: ConfigurationNode) -> String {
        if case .text(let text) = node.content, let colon = text.firstIndex(of: ":"),
            names(in: prefix).contains(String(text[..<colon]))
        {
            return ", with a blank behind the colon"
        }
        return prefix.isEmpty ? "" : ", indented"
    }

    private mutating func entry(_ prefix: String, _ key: ConfigurationNode, _ value: ConfigurationNode) {
        guard case .text(let name) = key.content else {
            let subject = prefix.isEmpty ? "the file" : String(prefix.dropLast())
            return log.add(.error, key.origin(subject), "a key must be text, found \(key.kind)")
        }
        let path = prefix + name
        // A dot in a name is no way to nest: `output.format: bundle` is an unknown key.
        if name.contains(".") {
            unknown(prefix, name, key)
        } else if path == "sources" {
            settings.sources += ElementListReader.read(value, .sources(settings.kinds), log: &log)
        } else if path == "sinks" {
            settings.sinks += ElementListReader.read(value, .sinks(settings.sinkKinds), log: &log)
        } else if path == IncludedFiles.setting.key {
            // Was read before all others.
        } else if Self.sections.contains(path) {
            section("\(path).", value)
        } else if let setting = SettingTable.settings.first(where: { $0.key == path }) {
            own[path] = value.origin(path)
            if let texts = setting.texts(value, subject: path, log: &log) { settings.set(setting, texts, log: &log) }
        } else {
            unknown(prefix, name, key)
        }
    }

    private mutating func unknown(_ prefix: String, _ name: String, _ key: ConfigurationNode) {
        let siblings = Self.names(in: prefix)
        let elsewhere = SettingTable.settings.map(\.key).first { $0 == name || $0.hasSuffix(".\(name)") }
        let advice =
            if name == IncludedFiles.setting.key {
                "write it at the left margin: a section includes nothing"
            } else if let blank = name.unicodeScalars.first(where: { !$0.isASCII && $0.properties.isWhitespace }) {
                "it has a blank of another kind in it (U+\(Self.code(of: blank))): "
                    + "write blanks of the keyboard"
            } else if name.contains("${") {
                "variables can stand in values only"
            } else if let elsewhere {
                "did you mean \(Self.nested(elsewhere))?"
            } else if !prefix.isEmpty, Self.names(in: "").contains(name) {
                "write it at the left margin, and not under '\(prefix.dropLast())'"
            } else if prefix.isEmpty, let place = settings.kinds.place(of: name) {
                place
            } else {
                NearestName.advice(
                    for: name, among: siblings, otherwise: "the keys here are \(siblings.joined(separator: ", "))")
            }
        let origin = key.origin("")
        log.add(
            Diagnostic(
                .error, file: origin.file, position: origin.position, message: "unknown key '\(prefix + name)'",
                advice: advice))
    }

    /// The code point in four digits at least.
    private static func code(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
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
        return prefix.isEmpty ? names + ["sources", "sinks", IncludedFiles.setting.key] : names
    }
}

extension IngestKinds {
    /// Where the key `name` of a source belongs; nil for other names.
    fileprivate func place(of name: String) -> String? {
        guard SourceSettings.all(self).contains(where: { $0.key == name }) else { return nil }
        return sources.contains { $0.key == name }
            ? "write it as an element of sources: begin a line under 'sources:' with '- \(name): '"
            : "it is a key of a source: write it under the element of sources that it is for"
    }
}

extension Setting {
    /// The texts that `node` holds for this setting; nil, with a note in `log`, when it is of the wrong kind.
    func texts(_ node: ConfigurationNode, subject: String, log: inout ConfigurationLog) -> [SettingText]? {
        let origin = node.origin(subject)
        switch node.content {
        case .text(let text): return node.value(text, subject, log: &log).map { [$0] }
        case .list(let elements) where isList:
            guard !elements.isEmpty else {
                log.add(.error, origin, "the list is empty", advice: "name at least one, or remove the key")
                return nil
            }
            return elements.compactMap { element(of: $0, subject: subject, log: &log) }
        case .nothing:
            log.add(.error, origin, "no value is given", advice: "write \(formInSentence), or remove the key")
        case .list, .mapping:
            let expected = isList ? "\(formInSentence), or a list of them" : formInSentence
            log.add(.error, origin, "found \(node.kind)", advice: "write \(expected)")
        }
        return nil
    }

    private func element(
        of node: ConfigurationNode, subject: String, log: inout ConfigurationLog
    ) -> SettingText? {
        if case .text(let text) = node.content { return node.value(text, subject, log: &log) }
        log.add(.error, node.origin(subject), "found \(node.kind) in the list", advice: "write \(formInSentence)")
        return nil
    }

    /// ``form`` with an article, unless it is literal, and without Markdown.
    private var formInSentence: String {
        let text = form.replacing("`", with: "")
        guard let first = form.first, first != "`" else { return text }
        return "aeio".contains(first) ? "an \(text)" : "a \(text)"
    }
}
