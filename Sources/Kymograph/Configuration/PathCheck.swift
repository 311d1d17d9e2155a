import KymographCore
import KymographTemplates

/// Notes paths that a shell would have expanded and nothing here does: the data of patients would be in a folder called
/// `~`, below whatever folder the process was started in. Likewise quotation marks of a word processor.
enum PathCheck {
    /// Notes them in all that `settings` were given.
    static func check(_ settings: PipelineSettings, log: inout ConfigurationLog) {
        check(SettingTable.settings, of: settings, settings.origins, log: &log)
        for source in settings.sources {
            check(SourceSettings.all(settings.kinds), of: source, source.origins, log: &log)
            note(SourceSettings.addressText(source), source.addressOrigin, log: &log)
        }
        for sink in settings.sinks { check(SinkSettings.all(settings.sinkKinds), of: sink, sink.origins, log: &log) }
    }

    private static func check<Root>(
        _ settings: [Setting<Root>], of root: Root, _ origins: [String: SettingOrigin], log: inout ConfigurationLog
    ) {
        // Names of devices, patients and accounts are no paths; topics of MQTT may begin with `$share/` or `$SYS/`.
        for setting in settings where !isPersonal(setting.key) {
            guard let origin = origins[setting.key] else { continue }
            for text in setting.texts(root) { note(text, origin, log: &log) }
        }
    }

    private static func isPersonal(_ key: String) -> Bool {
        MaskedConfiguration.personal.contains(key.split(separator: ".").last.map(String.init) ?? key)
    }

    private static func note(_ text: String, _ origin: SettingOrigin, log: inout ConfigurationLog) {
        if let first = text.first, "“”„‘’‚«»".contains(first) {
            log.add(
                .warning, origin, "\(first) is a part of the value: it is no quotation mark of YAML",
                advice: "write \" or ' around the value, or nothing")
        }
        guard let (message, advice) = problem(text) else { return }
        log.add(.error, origin, message, advice: advice)
    }

    /// What is wrong with `text`, and what to do; nil when nothing is.
    private static func problem(_ text: String) -> (message: String, advice: String)? {
        if text == "~" || text.hasPrefix("~/") {
            return (
                "'\(text)' is not below your home directory: only shells know what '~' is",
                "write ${HOME}\(text.dropFirst()) in a file, or ./\(text) if the folder is called that"
            )
        }
        guard text.hasPrefix("$"), let slash = text.firstIndex(of: "/") else { return nil }
        let name = text[..<slash].dropFirst()
        guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0 == "_") }) else { return nil }
        return (
            "'\(text)' has no variable: only shells read '$\(name)' as one",
            "write ${\(name)}\(text[slash...]) in a file, or ./\(text) if the folder is called that"
        )
    }
}
