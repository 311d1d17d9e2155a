import KymographCore

extension EffectiveSettings {
    /// As a configuration file, with the origin of each value in a comment.
    package var yaml: String {
        let head = "# Effective settings of kymo \(KymographVersion.number), with where each was written\n"
        let lines =
            Self.lines(SettingTree.grouping(settings.map { ($0.key, $0) }), indent: "")
            + Self.lines("sources", sources) + Self.lines("sinks", sinks)
        return head + lines.map { $0 + "\n" }.joined()
    }

    /// As a configuration file in JSON; `withOrigins`, as an object of these `settings` and the `origins` of their
    /// values by key.
    package func json(withOrigins: Bool) -> [UInt8] {
        var members = Self.members(SettingTree.grouping(settings.map { ($0.key, $0) }))
        for (name, elements) in [("sources", sources), ("sinks", sinks)] where !elements.isEmpty {
            members.append((name, .list(elements.map { .object($0.map { ($0.key, Self.value($0)) }) })))
        }
        guard withOrigins else { return JSONValue.object(members).document }
        return JSONValue.object([("settings", .object(members)), ("origins", .object(origins))]).document
    }

    private var origins: [(key: String, value: JSONValue)] {
        var all = settings.map { ($0.key, JSONValue.text($0.place)) }
        for (name, elements) in [("sources", sources), ("sinks", sinks)] {
            for (index, element) in elements.enumerated() {
                all += element.map { ("\(name)[\(index)].\($0.key)", .text($0.place)) }
            }
        }
        return all
    }

    private static func lines(_ trees: [SettingTree<PrintedSetting>], indent: String) -> [String] {
        trees.flatMap { tree in
            switch tree {
            case .leaf(let name, let setting): [indent + line(name, setting)]
            case .section(let name, let members): ["\(indent)\(name):"] + lines(members, indent: indent + "  ")
            }
        }
    }

    private static func lines(_ name: String, _ elements: [[PrintedSetting]]) -> [String] {
        guard !elements.isEmpty else { return [] }
        return ["\(name):"]
            + elements.flatMap { element in
                element.enumerated().map { ($0.offset == 0 ? "  - " : "    ") + line($0.element.key, $0.element) }
            }
    }

    private static func line(_ name: String, _ setting: PrintedSetting) -> String {
        "\(name): \(YAMLText.list(setting.texts)) \(YAMLText.comment(setting.place))"
    }

    private static func members(_ trees: [SettingTree<PrintedSetting>]) -> [(key: String, value: JSONValue)] {
        trees.map { tree in
            switch tree {
            case .leaf(let name, let setting): (name, value(setting))
            case .section(let name, let members): (name, .object(Self.members(members)))
            }
        }
    }

    private static func value(_ setting: PrintedSetting) -> JSONValue {
        let values = setting.texts.map { JSONValue(VariableText.escaping($0), setting.values) }
        return setting.isList ? .list(values) : values[0]
    }
}
