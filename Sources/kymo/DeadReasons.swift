import ArgumentParser
import Kymograph
import KymographCore
import KymographTemplates

/// `kymo dead` without more: how many letters there are of which reason.
struct DeadReasons: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reasons", abstract: "Count dead letters by reason. The default.",
        discussion: "Example: kymo dead reasons --data /var/lib/kymo")

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "table|json"))
    var format = TableFormat.table

    /// A row, as programs read it.
    private struct Row: Encodable {
        var reason: String
        var kind: String
        var letters: Int
        var replayed: Int
        var newest: String
        var meaning: String?
    }

    func run() throws {
        let reader = try store.reader()
        let reasons = try StandardError.translating { () throws(PipelineError) in try reader.letterReasons() }
        if format == .json {
            let rows = reasons.map { row in
                Row(
                    reason: row.reason, kind: row.kind, letters: row.count, replayed: row.replayed,
                    newest: row.newest.text, meaning: Rejection.allCases.first { $0.name == row.reason }?.explanation)
            }
            return try StandardOutput.write(try PrettyText.pretty(["reasons": rows]))
        }
        var table = TextTable(["reason", "kind", "letters", "replayed", "newest", "meaning"])
        for row in reasons {
            let known = Rejection.allCases.first { $0.name == row.reason }
            table.add([
                row.reason, row.kind, "\(row.count)", "\(row.replayed)", row.newest.text, known?.explanation ?? "",
            ])
        }
        try StandardOutput.write(table.bytes)
    }
}

/// The mappings by which dead letters that no template matched are explained.
struct LetterMappingOptions: ParsableArguments {
    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            "Mapping of 'kymo run', to name the nearest template of what none matched: a catalogue name, or a folder. "
                + "Repeatable. --config names them, too.", valueName: "name|dir"))
    var names: [String] = []

    @OptionGroup var files: MappingFileOptions

    /// What explains letters; nil when no mapping is named, or it cannot be loaded, which is told.
    func explainer(_ store: StoreOptions) throws -> LetterExplainer? {
        let flags = names.map { (key: "mappings", flag: "--mapping", value: $0) } + files.flags
        guard !flags.isEmpty || store.config != nil else { return nil }
        let settings = try store.settings(flags)
        let (set, diagnostics) = ConfigurationLoader.checkMappings(settings)
        Diagnostics.write(diagnostics.filter { $0.severity == .error })
        return set.map { LetterExplainer(settings: settings, set: $0) }
    }
}

/// Says of letters that no template matched which is the nearest.
struct LetterExplainer {
    let settings: PipelineSettings
    let set: MappingSet

    /// The letter's detail, with the nearest template when no template matched.
    func detail(of letter: StoredLetter) -> String {
        guard letter.reason == Rejection.noTemplate.name, letter.kind == "payload", let bytes = letter.bytes else {
            return letter.detail
        }
        let source = settings.listeningSources.first { $0.name == letter.source }
        let names = settings.mappings(of: source ?? settings.listeningSources[0])
        let finding = NearestTemplate.find(
            set, templates: set.templates(of: names), payload: bytes, context: SourceContext(), received: letter.at)
        // That of the mapping as it is now, beside the one of then.
        switch finding {
        case .nearest(let nearest) where !letter.detail.contains(nearest):
            return letter.detail.isEmpty ? nearest : "\(letter.detail); now \(nearest)"
        case .matches(let template):
            let now = "\(template) matches it now"
            return letter.detail.isEmpty ? now : "\(letter.detail); \(now)"
        case .nearest, nil: return letter.detail
        }
    }
}
