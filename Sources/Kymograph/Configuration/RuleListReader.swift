import KymographTemplates

/// Reads lists of rules: what those for readings and those for resources have in common.
enum RuleListReader<Entry> {
    /// Most rules of a list: each has a counter.
    private static var most: Int { 64 }

    /// The rules of `node`, each of which `check` looks at, with the place of its name. `actions` is what to write
    /// where a rule does not say what is done.
    static func read(
        _ node: ConfigurationNode, _ form: ElementListReader<Entry>.Form, actions: String,
        log: inout ConfigurationLog, check: (Entry, SettingOrigin, inout ConfigurationLog) -> Void
    ) -> [Entry] {
        let entries = ElementListReader.read(node, form, log: &log)
        for entry in entries {
            guard let origin = entry[keyPath: form.origins]["name"] else { continue }
            if entry[keyPath: form.origins]["then"] == nil {
                log.add(.error, origin, "it does not say what is done", advice: actions)
            }
            check(entry, origin, &log)
        }
        if entries.count > most, let origin = entries[most][keyPath: form.origins]["name"] {
            log.add(.error, origin, "there are more than \(most) rules", advice: "name several devices in one")
        }
        return entries
    }
}
