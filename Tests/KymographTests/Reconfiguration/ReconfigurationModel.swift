import KymographCore
import KymographTestKit

/// A reading that a test sends. The value of a `level` is the power of two of its place in five minutes, so that a sum
/// says which readings are in it; that of a `spot` is a number of its own.
struct SentReading: Hashable {
    var kind: MappingVariant.Kind
    var device: String
    /// Seconds since the epoch.
    var second: Int
    var value: Int
    var received: Instant

    var payload: [UInt8] {
        Array(#"{"d":"\#(device)","t":\#(second),"\#(kind.rawValue)":\#(value),"i":"\#(second).\#(value)"}"#.utf8)
    }
}

/// What must be on a server in the end: for every identity exactly the readings accepted for it, in the unit that they
/// were received in.
struct ReconfigurationModel {
    /// An Observation: of `level`, a window of so many minutes; of `spot`, a moment.
    struct Identity: Hashable {
        var kind: MappingVariant.Kind
        var device: String
        var minutes: Int
        var start: Int
    }

    private(set) var accepted: [Identity: Set<SentReading>] = [:]
    /// By which mappings a single reading may be written.
    private struct Writers {
        /// Editions of those by which it was taken, the first time or again.
        var editions: Set<Int> = []
        /// The first run that took it. Later ones may find it in the journal, and write it again.
        var run: Int
    }

    /// By identity and value.
    private var writers: [Identity: [Int: Writers]] = [:]
    /// The editions with which runs began.
    private var runs: [Int] = []
    /// The unit of the first readings of each kind; text "none" for numbers without.
    private(set) var units: [MappingVariant.Kind: String] = [:]
    /// Whether the first readings of `level` had ids, by the length of their windows.
    private(set) var namings: [Int: Bool] = [:]

    static func unit(_ variant: MappingVariant) -> String { variant.unit ?? "none" }

    /// Notes a run that begins with `variant`.
    mutating func begin(_ variant: MappingVariant) { runs.append(variant.edition) }

    /// Takes a reading that is durable, mapped by `variant`; none when that does not know its kind.
    mutating func accept(_ reading: SentReading, _ variant: MappingVariant) {
        guard variant.kinds.contains(reading.kind) else { return }
        let minutes = reading.kind == .level ? variant.minutes : 0
        let start = minutes == 0 ? reading.second : reading.second - reading.second % (minutes * 60)
        let identity = Identity(kind: reading.kind, device: reading.device, minutes: minutes, start: start)
        accepted[identity, default: []].insert(reading)
        let known = Writers(run: runs.count)
        writers[identity, default: [:]][reading.value, default: known].editions.insert(variant.edition)
        if units[reading.kind] == nil { units[reading.kind] = Self.unit(variant) }
        if reading.kind == .level, namings[minutes] == nil { namings[minutes] = variant.hasIds }
    }

    /// Whether a run with `variant` may begin, or go on in a process that has used `others`.
    func admits(_ variant: MappingVariant, after others: [MappingVariant] = []) -> Bool {
        guard admitsNaming(variant, after: others) else { return false }
        return variant.kinds.allSatisfy { kind in
            let used = others.first { $0.kinds.contains(kind) }.map(Self.unit)
            return [units[kind], used].compactMap { $0 }.allSatisfy { $0 == Self.unit(variant) }
        }
    }

    /// Whether readings of `level` that come again are those that windows of this length have.
    private func admitsNaming(_ variant: MappingVariant, after others: [MappingVariant]) -> Bool {
        guard variant.kinds.contains(.level) else { return true }
        let used = others.first { $0.kinds.contains(.level) && $0.minutes == variant.minutes }?.hasIds
        return [namings[variant.minutes], used].compactMap { $0 }.allSatisfy { $0 == variant.hasIds }
    }

    /// What the Observation of an identity says.
    struct Shown {
        var sum: Int
        var count: Int
        var unit: String
        /// The edition of the mapping that wrote it; nil for windows.
        var edition: Int?
    }

    /// What `observations` have otherwise. `lettered` are the readings that are dead letters in place of a window's.
    func differences(from observations: [JSONTree], lettered: [SentReading]) -> [String] {
        var found: [Identity: Shown] = [:]
        var differences: [String] = []
        for observation in observations {
            guard let (identity, shown) = Self.read(observation) else {
                differences.append("unreadable: \(observation)")
                continue
            }
            found[identity] = shown
            if accepted[identity] == nil { differences.append("nobody sent \(identity): \(shown)") }
        }
        for (identity, readings) in accepted {
            differences += difference(identity, readings, found[identity], lettered)
        }
        return differences
    }

    private func difference(
        _ identity: Identity, _ readings: Set<SentReading>, _ shown: Shown?, _ lettered: [SentReading]
    ) -> [String] {
        // A letter does not say of which length its window was.
        let mayLack = Set(lettered.filter { $0.device == identity.device }.map { [$0.second, $0.value] })
        let certain = readings.filter { !mayLack.contains([$0.second, $0.value]) }
        guard let shown else { return certain.isEmpty ? [] : ["\(identity) is missing: \(certain)"] }
        if shown.unit != units[identity.kind] { return ["\(identity) is in \(shown.unit)"] }
        if identity.kind == .spot {
            let last = certain.max { $0.received < $1.received }
            let later = readings.filter { reading in last.map { reading.received >= $0.received } ?? true }
            guard later.contains(where: { $0.value == shown.sum }) else {
                return ["\(identity) says \(shown.sum), not \(later)"]
            }
            guard let writers = writers[identity]?[shown.sum], let edition = shown.edition,
                writers.editions.contains(edition) || runs[writers.run...].contains(edition)
            else { return ["\(identity) is written by another mapping than its own: \(shown)"] }
            return []
        }
        let values = Set(readings.map(\.value))
        let sum = certain.reduce(into: Set()) { $0.insert($1.value) }.reduce(0, |)
        let isWhole = shown.sum & sum == sum && shown.sum & ~values.reduce(0, |) == 0
        return isWhole && shown.count == shown.sum.nonzeroBitCount
            ? [] : ["\(identity) has \(shown), not \(values.sorted())"]
    }

    /// Which Observation this is, and what it says.
    private static func read(_ observation: JSONTree) -> (Identity, Shown)? {
        let quantity = observation["valueQuantity"]
        guard let name = observation["identifier"]?.elements?.first?["value"]?.text,
            case .number(let text)? = quantity?["value"], let sum = Int(text)
        else { return nil }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, let kind = MappingVariant.Kind(rawValue: parts[2]), let start = seconds(parts[3]),
            let last = seconds(parts[4])
        else { return nil }
        let minutes = kind == .level ? (last - start + 1) / 60 : 0
        var count = 1
        for component in observation["component"]?.elements ?? [] {
            if case .number(let text)? = component["valueInteger"] { count = Int(text) ?? 0 }
        }
        let identity = Identity(kind: kind, device: parts[1], minutes: minutes, start: start)
        let code = observation["code"]?["coding"]?.elements?.first?["code"]?.text ?? ""
        let edition = kind == .spot ? Int(code.dropFirst("spot-".count)) : nil
        return (identity, Shown(sum: sum, count: count, unit: quantity?["code"]?.text ?? "none", edition: edition))
    }

    /// `20260301080000Z` in seconds since the epoch.
    static func seconds(_ compact: String) -> Int? {
        let digits = Array(compact.utf8.prefix(14)).map { Int($0) - 48 }
        guard digits.count == 14 else { return nil }
        func number(_ range: Range<Int>) -> String { range.map { String(digits[$0]) }.joined() }
        let text =
            "\(number(0..<4))-\(number(4..<6))-\(number(6..<8))T\(number(8..<10)):\(number(10..<12)):"
            + "\(number(12..<14))Z"
        let storage = PaddedBytes(copying: text.utf8)
        return TimestampParser.iso8601(storage.view).map { Int($0.instant.nanoseconds / 1_000_000_000) }
    }
}
