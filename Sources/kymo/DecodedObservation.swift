import Kymograph
import KymographCore
import KymographTestKit

/// The rows of an Observation.
struct DecodedObservation {
    /// Which rows are wanted besides those of samples that have a value.
    struct Wanted {
        /// Values that are no series.
        var values = false
        /// Samples that have none.
        var missing = false
    }

    private let observation: JSONTree
    private let head: [String?]
    private let wanted: Wanted

    /// Rows of `observation`; `names` are the identifiers of what stands in its Bundle.
    init(_ observation: JSONTree, _ names: [String: String], _ wanted: Wanted) {
        self.observation = observation
        self.wanted = wanted
        let subjects = ["subject", "device"].map { Self.subject(observation[$0], names) }
        let identifier = observation["identifier"]?.elements?.first.map { Self.joined($0, "value") }
        head = [observation["id"]?.text, identifier] + subjects + [Self.codes(of: observation)]
    }

    /// The rows, and how many series or values they are of.
    ///
    /// - Throws: ``SeriesDecoderError`` when a series or a time cannot be read as FHIR defines it.
    func rows() throws(SeriesDecoderError) -> (rows: [DecodedRow], count: Int) {
        var (rows, count): ([DecodedRow], Int) = ([], 0)
        let components = observation["component"]?.elements ?? []
        for (holder, isComponent) in [(observation, false)] + components.map({ ($0, true) }) {
            let component = isComponent ? Self.codes(of: holder) ?? "" : nil
            if let series = try SeriesDecoder.series(of: holder, in: observation) {
                rows += series.samples.compactMap { row($0, component, series.unit) }
                count += 1
            } else if wanted.values, let value = ObservedValue(holder) {
                rows.append(try row(value, component))
                count += 1
            }
        }
        return (rows, count)
    }

    private func row(_ sample: SeriesDecoder.Sample, _ component: String?, _ unit: String?) -> DecodedRow? {
        let (value, flag): (DecodedRow.Value, String?) =
            switch sample.value {
            case .number(let number): (.number(Self.text(number)), nil)
            case .belowLimit: (.none, "belowLimit")
            case .aboveLimit: (.none, "aboveLimit")
            case .missing: (.none, "missing")
            }
        guard wanted.missing || flag != "missing" else { return nil }
        return DecodedRow(
            head: head, component: component, time: sample.instant.text, dimension: sample.dimension, value: value,
            flag: flag, unit: unit)
    }

    private func row(_ value: ObservedValue, _ component: String?) throws(SeriesDecoderError) -> DecodedRow {
        let start = try SeriesDecoder.start(of: observation).text
        let end = observation["effectivePeriod"]?["end"]?.text.flatMap { TimestampReader.instant($0)?.text }
        return DecodedRow(
            head: head, component: component, time: start, end: end == start ? nil : end, value: value.value,
            flag: value.flag, unit: value.unit)
    }

    // MARK: Names

    /// What a reference refers to: an identifier where one is there, else the reference.
    private static func subject(_ reference: JSONTree?, _ names: [String: String]) -> String? {
        guard let place = reference?["reference"]?.text else { return reference?["identifier"]?["value"]?.text }
        return names[place] ?? place
    }

    private static func codes(of holder: JSONTree) -> String? {
        holder["code"]?["coding"]?.elements?.map { joined($0, "code") }.joined(separator: " ")
    }

    /// `system|code`.
    fileprivate static func joined(_ coding: JSONTree, _ name: String) -> String {
        "\(coding["system"]?.text ?? "")|\(coding[name]?.text ?? "")"
    }

    private static func text(_ number: Decimal64) -> String {
        var writer = ByteWriter(capacity: 32)
        writer.append(number)
        return writer.view.string
    }
}

/// A value of an Observation or a component that is no series.
private struct ObservedValue {
    var value = DecodedRow.Value.none
    var flag: String?
    var unit: String?

    /// Nil where there is none, or of a type that is more than one value.
    init?(_ holder: JSONTree) {
        if let quantity = holder["valueQuantity"], let digits = quantity["value"]?.digits {
            (value, flag) = (.number(digits), quantity["comparator"]?.text)
            unit = quantity["code"]?.text ?? quantity["unit"]?.text
        } else if let digits = holder["valueInteger"]?.digits {
            value = .number(digits)
        } else if case .bool(let isTrue) = holder["valueBoolean"] {
            value = .text(isTrue ? "true" : "false")
        } else if let concept = holder["valueCodeableConcept"] {
            value = .text(Self.text(concept))
        } else if let text = Self.texts.lazy.compactMap({ holder[$0]?.text }).first {
            value = .text(text)
        } else if let reason = holder["dataAbsentReason"] {
            flag = reason["coding"]?.elements?.first?["code"]?.text ?? reason["text"]?.text ?? "absent"
            // A quantity without a value still says of which unit it would be.
            unit = holder["valueQuantity"].flatMap { $0["code"]?.text ?? $0["unit"]?.text }
        } else {
            return nil
        }
    }

    private static let texts = ["valueString", "valueDateTime", "valueTime", "valueInstant"]

    private static func text(_ concept: JSONTree) -> String {
        concept["coding"]?.elements?.first.map { DecodedObservation.joined($0, "code") } ?? concept["text"]?.text ?? ""
    }
}
