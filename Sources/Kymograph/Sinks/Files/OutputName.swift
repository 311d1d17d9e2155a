import KymographCore

/// The name of an output file: `kymo-20261121T064535-000001.ndjson.zst`. Names sort by time.
struct OutputName {
    /// UTC start of the file, to the second.
    var start: String
    /// Tells files of one second, and of one run, apart.
    var sequence: Int
    /// What follows the sequence, such as `.ndjson.zst`.
    var suffix: String

    private static let prefix = "kymo-"
    private static let temporarySuffix = ".tmp"

    /// The visible name.
    var final: String {
        let digits = String(sequence)
        let zeros = String(repeating: "0", count: max(0, 6 - digits.count))
        return "\(OutputName.prefix)\(start)-\(zeros)\(digits)\(suffix)"
    }

    /// The hidden name while the file grows.
    var temporary: String { ".\(final)\(OutputName.temporarySuffix)" }

    /// Makes a name.
    init(start: Instant, sequence: Int, suffix: String) {
        // Core writes 20261121064535Z.
        var text = ByteWriter(capacity: 64)
        text.append(compact: start, fraction: false)
        let digits = text.view.string
        self.start = "\(digits.prefix(8))T\(digits.dropFirst(8).prefix(6))"
        self.sequence = sequence
        self.suffix = suffix
    }

    /// Reads a hidden name; nil when it is not one of ours.
    init?(temporary name: String) {
        guard name.hasPrefix("." + OutputName.prefix), name.hasSuffix(OutputName.temporarySuffix) else { return nil }
        let visible = name.dropFirst(1 + OutputName.prefix.count).dropLast(OutputName.temporarySuffix.count)
        guard let dash = visible.firstIndex(of: "-"), let dot = visible.firstIndex(of: "."), dash < dot,
            let sequence = Int(visible[visible.index(after: dash)..<dot])
        else { return nil }
        start = String(visible[..<dash])
        self.sequence = sequence
        suffix = String(visible[dot...])
    }

    /// The same start with the next sequence.
    var next: OutputName {
        var name = self
        name.sequence += 1
        return name
    }
}
