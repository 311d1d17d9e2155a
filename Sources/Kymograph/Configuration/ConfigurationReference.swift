/// The tables of `docs/configuration.md`, made from what the loader reads.
package enum ConfigurationReference {
    /// Every key of the pipeline with form, default, environment variable and meaning, as a Markdown table.
    package static var settingsTable: String {
        let defaults = PipelineSettings()
        let rows = SettingTable.settings.map { setting in
            [code(setting.key), setting.form, code(setting.shown(defaults)), code(setting.variable), setting.about]
        }
        return table(["Key", "Value", "Default", "Environment", "Meaning"], rows)
    }

    /// Every key of a source, as a Markdown table.
    package static var sourcesTable: String {
        elementTable(SourceSettings.all(.builtIn), PipelineSettings.Source(.standardInput(descriptor: 0)))
    }

    /// Every key of a sink, as a Markdown table.
    package static var sinksTable: String { elementTable(SinkSettings.all(.builtIn), PipelineSettings.Sink()) }

    private static func elementTable<Element>(_ settings: [Setting<Element>], _ defaults: Element) -> String {
        let rows = settings.map { setting in
            [code(setting.key), setting.form, code(setting.shown(defaults)), setting.about]
        }
        return table(["Key", "Value", "Default", "Meaning"], rows)
    }

    private static func code(_ text: String) -> String { text.isEmpty ? "" : "`\(text)`" }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
    }
}
