import KymographCore

/// A configuration file with every setting, to begin from.
package enum ConfigurationExample {
    /// Every setting with what it is for and its default. Those without a default, and those that have no effect beside
    /// the defaults of the others, are comments.
    package static var yaml: String {
        let defaults = PipelineSettings()
        let live = Set(EffectiveSettings(defaults, withDefaults: true).settings.map(\.key))
        let trees = SettingTree.grouping(SettingTable.settings.map { ($0.key, $0) })
        var lines = [
            "# Configuration of kymo \(KymographVersion.number). Every setting is here, with its default.",
            "# Remove what you do not change: the defaults of later versions then apply.",
        ]
        for tree in trees { lines += [""] + block(tree, defaults, live: live, prefix: "", indent: "") }
        lines += [""] + sources(defaults) + [""] + sinks(defaults) + [""] + include
        return lines.map { $0 + "\n" }.joined()
    }

    private typealias Tree = SettingTree<Setting<PipelineSettings>>

    /// The lines of one part. `live` are the keys that are no comments; nil within a section that is one as a whole.
    private static func block(
        _ tree: Tree, _ defaults: PipelineSettings, live: Set<String>?, prefix: String, indent: String
    ) -> [String] {
        switch tree {
        case .leaf(let name, let setting):
            return entry(name, setting, of: defaults, indent: indent, isLive: live?.contains(prefix + name) ?? true)
        case .section(let name, let members):
            let isLive = live?.contains { $0.hasPrefix("\(prefix)\(name).") } ?? true
            let inner = members.flatMap {
                block(
                    $0, defaults, live: isLive ? live : nil, prefix: "\(prefix)\(name).",
                    indent: isLive ? indent + "  " : "  ")
            }
            return isLive ? ["\(indent)\(name):"] + inner : ["\(indent)# \(name):"] + inner.map { comment($0, indent) }
        }
    }

    /// A line of a section that is a comment as a whole: to remove the first number sign leaves a comment what it is.
    private static func comment(_ line: String, _ indent: String) -> String { "\(indent)# \(line)" }

    /// What a setting is for, and its default; as a comment where that is none.
    private static func entry<Root>(
        _ name: String, _ setting: Setting<Root>, of root: Root, indent: String, isLive: Bool
    ) -> [String] {
        let texts = setting.texts(root)
        let about = lines("\(plain(setting.about)) (\(plain(setting.form)))").map { "\(indent)# \($0)" }
        let value = texts.isEmpty ? "…" : YAMLText.list(texts)
        return about + ["\(indent)\(isLive && !texts.isEmpty ? "" : "# ")\(name): \(value)"]
    }

    private static func sources(_ defaults: PipelineSettings) -> [String] {
        let addresses = PipelineSettings.defaultSources.map { source in
            "  - \(source.configuration.address.kind.key): \(YAMLText.scalar(SourceSettings.addressText(source)))"
        }
        let settings = SourceSettings.all(defaults.kinds)
        return ["# Where readings come from. Each element has one of the keys:"]
            + ["# \(keys(defaults.kinds.sources.map(\.key)))", "sources:"] + addresses + ["# All keys of a source:"]
            + settings.flatMap { row in
                members(row, PipelineSettings.Source(.udp(host: "127.0.0.1", port: 5757)))
            }
    }

    private static func sinks(_ defaults: PipelineSettings) -> [String] {
        ["# Where bundles go, in place of output.to and server. Each element has one of the keys:"]
            + ["# \(keys(defaults.sinkKinds.keys))"] + ["# sinks:", "#   - to: stdout", "# All keys of a sink:"]
            + SinkSettings.all(defaults.sinkKinds).flatMap { members($0, PipelineSettings.Sink()) }
    }

    private static var include: [String] {
        let setting = IncludedFiles.setting
        return ["# \(plain(setting.about))", "# include: [conf.d/*.yaml]"]
    }

    private static func members<Root>(_ setting: Setting<Root>, _ root: Root) -> [String] {
        entry(setting.key, setting, of: root, indent: "    ", isLive: true).map { comment($0, "") }
    }

    private static func keys(_ names: [String]) -> String { names.joined(separator: ", ") }

    /// `text` in lines of at most ``width`` characters, broken between words.
    private static func lines(_ text: String) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + word.count < width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }

    private static let width = 90

    /// Without Markdown.
    private static func plain(_ text: String) -> String { text.replacing("`", with: "") }
}
