import KymographCore

/// The configuration file as a JSON Schema (draft 2020-12), made from the settings that the reader takes.
///
/// The schema is for editors and for programs that write configurations. It takes what the reader takes, but for
/// relations between settings, of which `kymo check` knows more.
package enum ConfigurationSchema {
    /// The schema as a document.
    package static var document: [UInt8] {
        let defaults = PipelineSettings()
        let trees = SettingTree.grouping(
            SettingTable.settings.map { ($0.key, member($0, shownOf: defaults)) })
        let include = (IncludedFiles.setting.key, member(IncludedFiles.setting, shownOf: []))
        let properties = members(trees) + [("sources", sources), ("sinks", sinks), include]
        return JSONValue.object([
            ("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
            ("$id", .text("urn:kymograph:configuration:\(KymographVersion.number)")),
            ("title", .text("Configuration of kymo \(KymographVersion.number)")),
            ("type", .list([.text("object"), .text("null")])), ("additionalProperties", .flag(false)),
            ("properties", .object(properties)), ("$defs", .object([("variable", variable)])),
        ]).document
    }

    private typealias Members = [(key: String, value: JSONValue)]

    /// Any value can hold variables, whose values are not known here.
    private static let variable = JSONValue.object([
        ("description", .text("A text with variables of the environment")), ("type", .text("string")),
        ("pattern", .text("\\$\\{")),
    ])

    private static func members(_ trees: [SettingTree<JSONValue>]) -> Members {
        trees.map { tree in
            switch tree {
            case .leaf(let name, let schema): (name, schema)
            case .section(let name, let inner): (name, section(members(inner)))
            }
        }
    }

    /// An object of these members; a section may be empty, too.
    private static func section(_ properties: Members) -> JSONValue {
        .object([
            ("type", .list([.text("object"), .text("null")])), ("additionalProperties", .flag(false)),
            ("properties", .object(properties)),
        ])
    }

    private static var sources: JSONValue {
        let kinds = IngestKinds.builtIn
        let start = PipelineSettings.Source(.udp(host: "127.0.0.1", port: 5757))
        return list(
            "Where readings come from", SourceSettings.all(kinds).map { ($0.key, member($0, shownOf: start)) },
            oneOf: kinds.sources.map(\.key), atMost: nil)
    }

    private static var sinks: JSONValue {
        let kinds = SinkKinds.builtIn
        let start = PipelineSettings.Sink()
        return list(
            "Where bundles go, in place of output.to and server",
            SinkSettings.all(kinds).map { ($0.key, member($0, shownOf: start)) },
            oneOf: kinds.keys, atMost: BundleRoute.mostSinks)
    }

    private static func list(
        _ about: String, _ properties: Members, oneOf keys: [String], atMost most: Int?
    ) -> JSONValue {
        let kinds = keys.map { JSONValue.object([("required", .list([.text($0)]))]) }
        let items = JSONValue.object([
            ("type", .text("object")), ("additionalProperties", .flag(false)), ("properties", .object(properties)),
            ("oneOf", .list(kinds)),
        ])
        let limit: Members = most.map { [("maxItems", .number($0))] } ?? []
        return .object(
            [("description", .text(about)), ("type", .text("array")), ("minItems", .number(1))] + limit
                + [("items", items)])
    }

    /// What one setting takes.
    private static func member<Root>(_ setting: Setting<Root>, shownOf root: Root) -> JSONValue {
        var members: Members = [("description", .text(setting.about.replacing("`", with: "")))]
        let texts = setting.texts(root)
        if !texts.isEmpty {
            let values = texts.map { JSONValue($0, setting.values) }
            members.append(("default", setting.isList ? .list(values) : values[0]))
        }
        var forms = forms(setting.values)
        if setting.isList {
            forms.append([
                ("type", .text("array")), ("minItems", .number(1)), ("uniqueItems", .flag(true)),
                ("items", .object([("anyOf", .list(forms.map { .object($0) }))])),
            ])
        }
        if setting.values != .text { forms.append([("$ref", .text("#/$defs/variable"))]) }
        return .object(members + (forms.count == 1 ? forms[0] : [("anyOf", .list(forms.map { .object($0) }))]))
    }

    /// What a value can be, as alternatives. The reader takes the text of a scalar, which JSON and YAML call a number
    /// or a flag when it looks like one.
    private static func forms(_ values: SettingValues) -> [Members] {
        switch values {
        case .text: [[("type", .list([.text("string"), .text("number")])), ("minLength", .number(1))]]
        case .duration: [pattern("^(?=[0-9])([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?$")]
        case .size(let range): [number(range), pattern("^[0-9]+([KMG]iB)?$")]
        case .count(let range): [number(range), pattern("^[0-9]+$")]
        case .countOrAuto(let range): [number(range), pattern("^([0-9]+|auto)$")]
        case .powerOfTwo(let range):
            [[("enum", .list(powers(range).flatMap { [.number($0), .text(String($0))] }))]]
        case .choice(let names):
            [[("enum", .list(names.map { .text($0) } + names.compactMap { JSONValue.flags[$0] }.map { .flag($0) }))]]
        case .uri: [pattern("^[A-Za-z][A-Za-z0-9+.-]*:[^ ]+$")]
        }
    }

    private static func pattern(_ text: String) -> Members { [("type", .text("string")), ("pattern", .text(text))] }

    private static func number(_ range: ClosedRange<Int>) -> Members {
        [("type", .text("integer")), ("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound))]
    }

    private static func powers(_ range: ClosedRange<Int>) -> [Int] {
        (0..<Int.bitWidth - 1).map { 1 << $0 }.filter(range.contains)
    }
}
