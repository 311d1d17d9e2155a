import KymographCore
import KymographTemplates

/// Reads a list of the configuration file whose elements have keys of their own: `sources` and `sinks`.
struct ElementListReader<Element> {
    /// What distinguishes one list from the other.
    struct Form {
        /// Key of the list.
        var name: String
        /// What an element is called.
        var noun: String
        /// Keys of which an element has exactly one.
        var kinds: [String]
        /// All keys.
        var settings: [Setting<Element>]
        /// An element as one would write it.
        var example: String
        /// What to do in place of an empty list.
        var adviceWhenEmpty: String
        /// What is said of an element without any of ``kinds``.
        var messageWithoutKind: String
        /// What an element is before it is read.
        var start: Element
        /// Where it keeps the places of its values.
        var origins: WritableKeyPath<Element, [String: SettingOrigin]>
        /// Keys whose values are no texts, with what reads them: it gets the value, what messages call it, the element
        /// and the log.
        var nested: [String: (ConfigurationNode, String, inout Element, inout ConfigurationLog) -> Void] = [:]
    }

    private let form: Form
    private var log: ConfigurationLog

    /// The elements of the list `node`; those with an error in their kind are left out.
    static func read(
        _ node: ConfigurationNode, _ form: Form, log: inout ConfigurationLog
    ) -> [Element] {
        var reader = ElementListReader(form: form, log: log)
        let elements = reader.list(node)
        log = reader.log
        return elements
    }

    private mutating func list(_ node: ConfigurationNode) -> [Element] {
        switch node.content {
        case .list(let elements) where !elements.isEmpty:
            return elements.enumerated().compactMap { element($1, name: "\(form.name)[\($0)]") }
        case .list, .nothing:
            log.add(.error, node.origin(form.name), "no \(form.noun) is named", advice: form.adviceWhenEmpty)
        case .text, .mapping:
            log.add(
                .error, node.origin(form.name), "expected a list, found \(node.kind)",
                advice: "begin each \(form.noun) with '- ', as in '\(form.example)'")
        }
        return []
    }

    private mutating func element(_ node: ConfigurationNode, name: String) -> Element? {
        guard case .mapping(let pairs) = node.content else {
            log.add(
                .error, node.origin(name), "expected keys and values, found \(node.kind)",
                advice: "write for instance '\(form.example)'")
            return nil
        }
        var element = form.start
        for (key, value) in pairs { entry(key, value, name: name, into: &element) }
        return checkKinds(pairs.map(\.key), node, name: name) ? element : nil
    }

    private mutating func entry(
        _ key: ConfigurationNode, _ value: ConfigurationNode, name: String, into element: inout Element
    ) {
        guard case .text(let text) = key.content else {
            return log.add(.error, key.origin(name), "a key must be text, found \(key.kind)")
        }
        if let read = form.nested[text] { return read(value, "\(name).\(text)", &element, &log) }
        guard let setting = form.settings.first(where: { $0.key == text }) else {
            let keys = form.settings.map(\.key) + form.nested.keys.sorted()
            let fallback = "the keys of a \(form.noun) are \(keys.joined(separator: ", "))"
            return log.add(
                .error, key.origin(name), "unknown key '\(text)'",
                advice: NearestName.advice(for: text, among: keys, otherwise: fallback))
        }
        guard let texts = setting.texts(value, subject: "\(name).\(text)", log: &log),
            setting.apply(texts, to: &element, log: &log)
        else { return }
        setting.remember(texts, in: &element[keyPath: form.origins])
    }

    /// Whether exactly one of the keys says what kind of element it is.
    private mutating func checkKinds(_ keys: [ConfigurationNode], _ node: ConfigurationNode, name: String) -> Bool {
        let kinds = keys.compactMap { key in
            if case .text(let text) = key.content, form.kinds.contains(text) { (text, key) } else { nil }
        }
        guard let first = kinds.first else {
            log.add(
                .error, node.origin(name), form.messageWithoutKind,
                advice: "add one of \(form.kinds.joined(separator: ", "))")
            return false
        }
        for (text, key) in kinds.dropFirst() {
            log.add(
                .error, key.origin(name), "'\(text)' is given besides '\(first.0)'",
                advice: "make them two \(form.name), each with a '- ' of its own")
        }
        return kinds.count == 1
    }
}

extension ElementListReader<PipelineSettings.Source>.Form {
    /// The `sources`, of these kinds.
    static func sources(_ kinds: IngestKinds) -> Self {
        let defaults = PipelineSettings.defaultSources.map(\.configuration.address.name).joined(separator: " and ")
        return Self(
            name: "sources", noun: "source", kinds: kinds.sources.map(\.key), settings: SourceSettings.all(kinds),
            example: "- udp: 127.0.0.1:5757",
            adviceWhenEmpty: "name one, or remove the key to listen to \(defaults)",
            messageWithoutKind: "nothing to listen to is named",
            start: PipelineSettings.Source(.standardInput(descriptor: 0)), origins: \.origins)
    }
}

extension ElementListReader<PipelineSettings.Sink>.Form {
    /// The `sinks`, of these kinds.
    static func sinks(_ kinds: SinkKinds) -> Self {
        Self(
            name: "sinks", noun: "sink", kinds: kinds.keys, settings: SinkSettings.all(kinds),
            example: "- to: /var/lib/kymo/bundles",
            adviceWhenEmpty: "name one, or remove the key to write to output.to and server.url",
            messageWithoutKind: "it says neither where bundles go nor to which server",
            start: PipelineSettings.Sink(), origins: \.origins)
    }
}
