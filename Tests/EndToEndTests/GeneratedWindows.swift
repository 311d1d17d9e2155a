import Kymograph
import KymographTestKit
import Testing

@testable import KymographCore
@testable import KymographTemplates
import TrialSupport

/// Windows of all types of a catalogue mapping, drawn by a seed: one reading and many, at regular times and at
/// irregular ones, with values that are absent, in every status, with a patient and an encounter and without.
///
/// No two are of one day, so that nothing else is needed to tell them apart.
struct GeneratedWindows: ~Copyable {
    private let mapping: String
    private let set: MappingSet
    private var generator: SeededGenerator
    private var readings: [(reading: Measurement, payload: [UInt8])] = []
    private var number: Int64 = 0

    /// How many became Observations.
    private(set) var written = 0
    /// The Observations: a summary of glucose is several.
    private(set) var observations = 0

    private static let second: Int64 = 1_000_000_000
    private static let day: Int64 = 86_400 * second
    /// 2015-01-01T00:00:00Z.
    private static let start: Int64 = 1_420_070_400 * second

    init(mapping: String, version: FHIRVersion, seed: UInt64) throws {
        let loaded = MappingSelection.load([mapping], fhirVersion: version)
        self.mapping = mapping
        set = try #require(loaded.set, "\(loaded.diagnostics.map(\.text))")
        generator = SeededGenerator(seed: Trials.seed(seed))
    }

    /// Bundles of `count` windows.
    mutating func bundles(_ count: Int, options: ObservationOptions) -> [[UInt8]] {
        let encoder = ObservationEncoder(
            types: set.types, templates: set.fhirTemplates, options: options, digest: .openSSL)
        var writer = EntryWriter(encoder, limits: BundleLimits(entries: random(4...60)))
        var blocks: [[UInt8]] = []
        while written < count {
            draw()
            if let block = add(to: &writer) { blocks.append(block) }
        }
        if writer.contentCount > 0 { blocks.append(writer.finish().array) }
        var assembler = BundleAssembler()
        return blocks.map { block in block.withByteView { assembler.text(of: $0)?.array } ?? [] }
    }

    /// Adds the window that was drawn; gives the block that had to end before it, if one had.
    private mutating func add(to writer: inout EntryWriter) -> [UInt8]? {
        let type = Int(number) % set.types.count
        let place = GeneratedWindows.start + number * GeneratedWindows.day
        var (start, end) = (place, place + GeneratedWindows.length(set.types[type].grouping))
        if set.types[type].grouping == .instance {
            start = readings[0].reading.instant.nanoseconds
            end = start
        }
        let series = SeriesIdentity(
            type: type, device: Array("\(mapping)-\(number / 40)".utf8),
            patient: number % 3 == 0 ? nil : Array("p/\(number / 40)".utf8),
            encounter: number % 5 == 0 ? Array("e \(number)".utf8) : nil,
            correlation: set.types[type].grouping == .correlation ? Array("c-\(number)".utf8) : nil)
        let slab = ReadingSlab(readings)
        let content = WindowContent(
            series: series, start: Instant(nanoseconds: start), end: Instant(nanoseconds: end),
            status: ObservationStatus(rawValue: UInt8(number % 3)) ?? .final,
            readings: slab.readings(from: 0, count: readings.count))
        switch writer.add(content) {
        case .added(let addition):
            written += 1
            observations += addition.contents
            guard addition.isOverfull else { return nil }
            let block = writer.finish(isOverfull: true).array
            writer.begin(with: content)
            return block
        // All values of all its readings are absent, or none is what the type reads.
        case .skipped(let reason):
            #expect([.missingValue, .invalidValue].contains(reason), "\(set.types[type].name)")
            return nil
        }
    }

    private static func length(_ grouping: Grouping) -> Int64 {
        if case .tumbling(let nanoseconds) = grouping { nanoseconds } else { 300 * second }
    }

    // MARK: Drawing

    private mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func draw() {
        number += 1
        readings.removeAll()
        let type = Int(number) % set.types.count
        let place = GeneratedWindows.start + number * GeneratedWindows.day
        for offset in times(set.types[type].grouping) { add(type, at: Instant(nanoseconds: place + offset)) }
    }

    /// When the readings of a window are, from its start.
    private mutating func times(_ grouping: Grouping) -> [Int64] {
        let length = GeneratedWindows.length(grouping)
        let unit = [1_000_000, 1_000_000_000, 1_000][random(0...2)]
        func limited(_ time: Int64) -> Int64 { min(time, length - 1) }
        let count = grouping == .instance ? 1 : [1, 2, random(3...60)][random(0...2)]
        if random(0...1) == 0 {
            let step = max(length / Int64(count) / 1_000_000_000, 1) * 1_000_000_000
            return (0..<count).map { limited(Int64($0) * step) }.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
        }
        var times: Set<Int64> = []
        for _ in 0..<count {
            let time = Int64.random(in: 0..<length, using: &generator)
            times.insert(time - time % Int64(unit))
        }
        return times.sorted()
    }

    private mutating func add(_ type: Int, at instant: Instant) {
        var reading = Measurement(instant: instant, received: instant.advanced(by: 1_000_000))
        if random(0...2) == 0 {
            reading.timeForm = TimeForm(offsetMinutes: Int16(random(-48...56) * 15), digits: random(0...9))
        }
        var payload = ByteWriter()
        for slot in set.types[type].valueNames.indices where random(0...5) > 0 {
            add(type, slot, to: &reading, &payload)
        }
        reading.payloadBytes = payload.count
        readings.append((reading, payload.view.array))
    }

    private mutating func add(_ type: Int, _ slot: Int, to reading: inout Measurement, _ payload: inout ByteWriter) {
        // A single reading is the same as another with its sender's id.
        let isID = slot == set.types[type].idSlot
        let value = isID ? Decimal64(mantissa: number * 100 + Int64(readings.count)) : drawn(type, slot)
        if !set.types[type].isNumeric[slot] {
            var text = ByteWriter()
            text.append(value)
            return ValueRecord.append(slot: slot, text: text.view, to: &payload)
        }
        if slot < Measurement.inlineValues { return reading.setInline(slot, value) }
        ValueRecord.append(slot: slot, number: value, to: &payload)
    }

    /// A value that a person can have, with up to three decimals.
    private mutating func drawn(_ type: Int, _ slot: Int) -> Decimal64 {
        if slot == set.types[type].durationSlot {
            return Decimal64(mantissa: Int64(random(0...600)) * GeneratedWindows.second)
        }
        let name = set.types[type].valueNames[slot]
        let rule = set.fhirTemplates[type]?.valueRules.first { $0.name == name }
        let isLow = name.lowercased().contains("diastolic")
        let range = isLow ? 40...80 : GeneratedWindows.usual(rule?.kind.unit?.code ?? "")
        let decimals = random(0...3)
        let number = Int64(random(range)) * Decimal64.powers[decimals]
        return Decimal64(mantissa: number + Int64(random(0...9)) * min(Int64(decimals), 1), exponent: Int8(-decimals))
    }

    private static func usual(_ unit: String) -> ClosedRange<Int> {
        switch unit {
        case "/min": 30...110
        case "%": 60...98
        case "Cel": 30...42
        case "[degF]": 90...108
        case "mm[Hg]": 90...200
        case "mg/dL": 20...400
        case "mmol/L": 1...30
        case "kg", "[lb_av]": 2...400
        default: 0...600
        }
    }
}
