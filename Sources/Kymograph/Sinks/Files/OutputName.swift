import KymographCore

/// The name of an output file: `kymo-20261121T064535-000001.ndjson.zst`. The names of a directory sort in the order in
/// which its files were written, also when the clock was set back (``follow(_:)``), as far as the last of them is still
/// there, and up to a million files that begin in one second.
struct OutputName {
    /// UTC start of the file, to the second.
    var start: String
    /// Tells files of one second, and of one run, apart.
    var sequence: Int
    /// What follows the sequence, such as `.ndjson.zst`.
    var suffix: String

    private static let prefix = "kymo-"
    /// What the names of encrypted files end with.
    static let sealedSuffix = ".sealed"
    private static let openSuffix = ".open"
    /// Around the names of growing files that earlier versions left.
    private static let formerPrefix = "."
    private static let formerSuffix = ".tmp"

    /// The name of the whole file.
    var final: String {
        let digits = String(sequence)
        let zeros = String(repeating: "0", count: max(0, 6 - digits.count))
        return "\(OutputName.prefix)\(start)-\(zeros)\(digits)\(suffix)"
    }

    /// The name while the file grows.
    var open: String { final + OutputName.openSuffix }

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

    /// Reads the name of a file that grows; nil when it is not one of ours.
    init?(open name: String) {
        guard let final = OutputName.final(of: name[...]), final.hasPrefix(OutputName.prefix) else { return nil }
        let rest = final.dropFirst(OutputName.prefix.count)
        guard let dash = rest.firstIndex(of: "-"), let dot = rest.firstIndex(of: "."), dash < dot,
            OutputName.isStart(rest[..<dash]), let sequence = OutputName.sequence(rest[rest.index(after: dash)..<dot])
        else { return nil }
        start = String(rest[..<dash])
        self.sequence = sequence
        suffix = String(rest[dot...])
    }

    /// Whether it is written as `20261121T064535`: other files of the directory are none of ours.
    private static func isStart(_ text: Substring) -> Bool {
        let bytes = Array(text.utf8)
        return bytes.count == 15
            && bytes.indices.allSatisfy { $0 == 8 ? bytes[$0] == UInt8(ascii: "T") : isDigit(bytes[$0]) }
    }

    private static func sequence(_ text: Substring) -> Int? {
        guard (6...12).contains(text.utf8.count), text.utf8.allSatisfy(isDigit) else { return nil }
        return Int(text)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Reads the name of a whole file; nil when it is not one of ours.
    init?(final name: String) {
        self.init(open: name + OutputName.openSuffix)
    }

    /// Sorts behind `former`, whose file was begun before: of two versions of an Observation, the file with the later
    /// one must be the later one by its name when the clock was set back, too.
    mutating func follow(_ former: OutputName) {
        guard start <= former.start else { return }
        start = former.start
        sequence = max(sequence, former.sequence + 1)
    }

    /// Whether this one sorts before `other`.
    func isBefore(_ other: OutputName) -> Bool { (start, sequence) < (other.start, other.sequence) }

    private static func final(of name: Substring) -> Substring? {
        if name.hasSuffix(openSuffix) { return name.dropLast(openSuffix.count) }
        guard name.hasPrefix(formerPrefix), name.hasSuffix(formerSuffix) else { return nil }
        return name.dropFirst(formerPrefix.count).dropLast(formerSuffix.count)
    }

    /// The same start with the next sequence.
    var next: OutputName {
        var name = self
        name.sequence += 1
        return name
    }
}
