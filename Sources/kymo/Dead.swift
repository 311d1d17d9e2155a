import ArgumentParser
import Kymograph
import KymographCore

/// `kymo dead`: what could not become a reading, or was refused by a server.
struct Dead: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "Count, list, show, replay and discard dead letters.",
        discussion: """
            The store keeps what was rejected with its bytes, and what servers refused: the newest 100,000 letters. \
            They stay until they are discarded; those that were replayed are listed only with --all.

            Example: kymo dead replay --all --data /var/lib/kymo --config kymo.yaml
            """,
        subcommands: [
            DeadReasons.self, DeadList.self, DeadShow.self, DeadReplay.self, DeadDiscard.self,
        ], defaultSubcommand: DeadReasons.self)
}

/// Which letters.
struct LetterSelection: ParsableArguments {
    @Argument(help: "Numbers of letters, as the list shows them.")
    var numbers: [Int64] = []

    @Flag(help: "All letters that were not replayed.")
    var all = false

    func validate() throws {
        guard all != !numbers.isEmpty else { throw ValidationError("name numbers of letters, or --all") }
    }

    /// The letters; exits with status 65 when one is not there.
    func letters(_ reader: StoreReader) throws -> [StoredLetter] {
        let letters = try StandardError.translating { () throws(PipelineError) in try reader.letters(numbers) }
        let found = Set(letters.map(\.number))
        if let missing = numbers.first(where: { !found.contains($0) }) {
            throw StandardError.exit(
                "there is no dead letter \(missing): see 'kymo dead list --all'", code: ExitStatus.dataError)
        }
        return letters
    }
}

/// `kymo dead list`.
struct DeadList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List dead letters, oldest first.",
        discussion: "Example: kymo dead list --data /var/lib/kymo --format ndjson")

    @OptionGroup var store: StoreOptions
    @OptionGroup var mapping: LetterMappingOptions

    @Flag(help: "Those that were replayed, too.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "Only of this reason, such as noTemplate. Repeatable: of any of them.", valueName: "name"))
    var reason: [String] = []

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, ndjson, json
    }

    @Option(
        help: ArgumentHelp(
            "A table, one letter with its bytes (base64) a line, or all as one document.",
            valueName: "table|ndjson|json"))
    var format = Format.table

    func run() throws {
        let directory = try store.directory()
        let reader = try StoreReader.opened(directory)
        let letters = try StandardError.translating { () throws(PipelineError) in
            try reader.letters(withReplayed: all).filter { reason.isEmpty || reason.contains($0.reason) }
        }
        AuditNote.write(
            .deadShow, ["kymo dead list lists \(CountText.of(letters.count, "dead letter"))"], in: directory)
        switch format {
        case .ndjson: for letter in letters { try StandardOutput.write(letter.json) }
        case .json:
            let list = letters.map { $0.json.dropLast() }.joined(separator: Array(",".utf8))
            try StandardOutput.write(PrettyJSON.format(Array("{\"letters\":[".utf8) + list + Array("]}".utf8)))
        case .table:
            let explainer = try mapping.explainer(store)
            var table = TextTable(["number", "at", "kind", "reason", "source", "bytes", "replayed", "detail"])
            for letter in letters {
                table.add([
                    "\(letter.number)", letter.at.text, letter.kind, letter.reason, letter.source,
                    letter.bytes.map { "\($0.count)" } ?? "damaged", letter.replayed?.text ?? "",
                    explainer?.detail(of: letter) ?? letter.detail,
                ])
            }
            try StandardOutput.write(table.bytes)
        }
    }
}

/// `kymo dead show`.
struct DeadShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show one dead letter.",
        discussion: """
            With --text, for people: why it was rejected, and its bytes as text. With --mapping or --config, what no \
            template matched names the nearest template and what of its expression fails.

            Example: kymo dead show 17 --text --data /var/lib/kymo --mapping ./my-device/
            Example: kymo dead show 17 --bytes --data /var/lib/kymo | kymo map --mapping ./my-device/ --explain
            """)

    @Argument(help: "Number of the letter, as the list shows it.")
    var number: Int64

    @OptionGroup var store: StoreOptions
    @OptionGroup var mapping: LetterMappingOptions

    @Flag(help: "Its bytes as they came, and nothing else.")
    var bytes = false

    @Flag(help: "For people: why it was rejected, and its bytes as text.")
    var text = false

    func validate() throws {
        if bytes, text { throw ValidationError("name --bytes or --text, not both") }
    }

    func run() throws {
        let directory = try store.directory()
        let reader = try StoreReader.opened(directory)
        let letters = try StandardError.translating { () throws(PipelineError) in try reader.letters([number]) }
        guard var letter = letters.first else {
            throw StandardError.exit(
                "there is no dead letter \(number): see 'kymo dead list --all'", code: ExitStatus.dataError)
        }
        AuditNote.write(.deadShow, ["kymo dead show shows dead letter \(number)"], in: directory)
        if let explainer = try mapping.explainer(store) { letter.detail = explainer.detail(of: letter) }
        if text { return try StandardOutput.write(Array(readable(letter).utf8)) }
        if bytes { return try StandardOutput.write(data: letter.bytes ?? []) }
        try StandardOutput.write(PrettyJSON.format(Array(letter.json.dropLast())))
    }

    private func readable(_ letter: StoredLetter) -> String {
        let meaning = Rejection.allCases.first { $0.name == letter.reason }?.explanation
        var lines = ["letter \(letter.number), \(letter.kind) of \(letter.source), \(letter.at.text)"]
        lines.append("\(letter.reason)\(meaning.map { ": \($0)" } ?? "")")
        if !letter.detail.isEmpty { lines.append(PrintableText.line(letter.detail)) }
        if let replayed = letter.replayed { lines.append("replayed \(replayed.text)") }
        lines.append("")
        lines.append(letter.bytes.map(Self.printable) ?? "its bytes are damaged")
        return lines.joined(separator: "\n") + "\n"
    }

    /// Text as it is but for control characters, which are escaped; other bytes in hexadecimal.
    private static func printable(_ bytes: [UInt8]) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        }
        return PrintableText.lines(text)
    }
}

extension [StoredLetter] {
    /// Which ones, for the audit: what is discarded is named nowhere else.
    var audited: [String] { AuditDeed.parts(count == 1 ? "dead letter" : "dead letters", map { "\($0.number)" }) }
}

/// `kymo dead discard`.
struct DeadDiscard: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard", abstract: "Forget dead letters; they stay counted in the ledger.",
        discussion: "Example: kymo dead discard 17 18 --data /var/lib/kymo")

    @OptionGroup var selection: LetterSelection
    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("For people, or for programs.", valueName: "text|json"))
    var format = TextFormat.text

    func run() throws {
        let directory = try store.directory()
        let letters = try selection.letters(try StoreReader.opened(directory))
        AuditNote.write(.deadDiscard, letters.audited.map { "kymo dead discard discards \($0)" }, in: directory)
        _ = try StandardError.translating { () throws(PipelineError) in
            try DeadLetterChange.make(ControlRequest(.discard, letters: letters.map(\.number)), directory) {
                StandardError.write("kymo: \($0.text)\n")
            }
        }
        if format == .json { try StandardOutput.write(try PrettyText.pretty(["discarded": letters.count])) }
        StandardError.write("kymo: discarded \(CountText.of(letters.count, "dead letter"))\n")
    }
}
