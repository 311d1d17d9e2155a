import KymographCore
import KymographTemplates

/// What an Observation says, as columns.
struct ObservationValues {
    private let observation: JSONNode
    /// What its times say: of a point in time, twice the same.
    let start: Instant?
    let end: Instant?

    /// What `observation` says.
    init(_ observation: JSONNode) {
        self.observation = observation
        let period = observation.member("effectivePeriod")
        let point = observation.member("effectiveDateTime") ?? observation.member("effectiveInstant")
        start = Self.instant(period == nil ? point : period?.member("start"))
        let last = period == nil ? point : period?.member("end")
        end = last == nil ? start : Self.instant(last)
    }

    private static func instant(_ node: JSONNode?) -> Instant? {
        guard let text = node?.string else { return nil }
        let bytes = PaddedBytes(copying: Array(text.utf8))
        return TimestampParser.iso8601(bytes.view)?.instant
    }

    /// Status, as FHIR has it.
    var status: String? { observation.member("status")?.string }

    /// The first code and its system.
    var code: (system: String?, code: String?) { Self.code(of: observation) }

    private static func code(of holder: JSONNode) -> (system: String?, code: String?) {
        let coding = holder.member("code")?.member("coding")?.elements?.first
        return (coding?.member("system")?.string, coding?.member("code")?.string)
    }

    /// Whether values that are no series say what a window's readings say together.
    private var isSummarised: Bool {
        holders.contains {
            $0.member("valueSampledData") != nil || Self.code(of: $0).system?.hasSuffix(Self.statistics) == true
        }
    }

    /// What FHIR's code system of statistics ends with, and ours.
    private static let statistics = "observation-statistics"

    /// The Observation, and its components.
    private var holders: [JSONNode] { [observation] + (observation.member("component")?.elements ?? []) }

    // MARK: Rows

    /// Adds a row of `reading` for each value, of the entry at `place` of a batch. False when a value cannot be read as
    /// FHIR defines it.
    func addRows(of place: Int, to rows: inout CopyWriter) -> Bool {
        // One that was an error has none, whatever it says of why.
        guard status != "entered-in-error" else { return true }
        guard let end else {
            return !holders.contains { $0.member("valueSampledData") != nil || SingleValue($0) != nil }
        }
        var ordinal = 0
        let kind = isSummarised ? "summary" : "value"
        for (index, holder) in holders.enumerated() {
            let component = index == 0 ? (nil, nil) : Self.code(of: holder)
            if let data = holder.member("valueSampledData") {
                guard let samples = SampledValues(data)?.samples(from: start ?? end) else { return false }
                let unit = Self.unit(data.member("origin"))
                for sample in samples {
                    rows.add(Int64(place))
                    rows.add(Int64(ordinal))
                    rows.add("sample")
                    rows.add(sample.instant)
                    rows.add(nil as Instant?)
                    rows.add(component, Int64(sample.dimension), sample.digits, sample.flag, nil, unit)
                    ordinal += 1
                }
            } else if let value = SingleValue(holder) {
                rows.add(Int64(place))
                rows.add(Int64(ordinal))
                rows.add(kind)
                rows.add(end)
                rows.add(start == end ? nil : start)
                let unit = Self.unit(holder.member("valueQuantity"))
                rows.add(component, nil, value.digits, value.flag, value.text, unit)
                ordinal += 1
            }
        }
        return true
    }

    /// Code and system of a quantity's unit, or its name alone.
    private static func unit(_ quantity: JSONNode?) -> (unit: String?, system: String?) {
        guard let code = quantity?.member("code")?.string else { return (quantity?.member("unit")?.string, nil) }
        return (code, quantity?.member("system")?.string)
    }
}

extension CopyWriter {
    /// Adds the columns of a value behind its times, and ends the row.
    fileprivate mutating func add(
        _ component: (system: String?, code: String?), _ dimension: Int64?, _ digits: String?, _ flag: String?,
        _ text: String?, _ unit: (unit: String?, system: String?)
    ) {
        add(component.system)
        add(component.code)
        add(dimension)
        add(digits)
        add(flag)
        add(text)
        add(unit.unit)
        add(unit.system)
        endRow()
    }
}

/// A value of an Observation or a component that is no series.
private struct SingleValue {
    /// A number as it is written.
    var digits: String?
    var text: String?
    /// The comparator, or why there is no value.
    var flag: String?

    private static let texts = ["valueString", "valueDateTime", "valueTime", "valueInstant"]

    /// Nil where there is none.
    init?(_ holder: JSONNode) {
        if let quantity = holder.member("valueQuantity"), let number = quantity.member("value")?.numberText {
            (digits, flag) = (number, quantity.member("comparator")?.string)
        } else if let number = holder.member("valueInteger")?.numberText {
            digits = number
        } else if let found = Self.texts.lazy.compactMap({ holder.member($0)?.string }).first {
            text = found
        } else if let concept = holder.member("valueCodeableConcept") {
            text = Self.text(concept)
        } else if let reason = holder.member("dataAbsentReason") {
            flag = reason.member("coding")?.elements?.first?.member("code")?.string ?? reason.member("text")?.string
        } else if let other = holder.members?.first(where: { $0.name.hasPrefix("value") }) {
            // A flag, or what is more than one value: as it is written.
            text = other.node.jsonText
        } else {
            return nil
        }
    }

    private static func text(_ concept: JSONNode) -> String? {
        guard let coding = concept.member("coding")?.elements?.first else { return concept.member("text")?.string }
        return "\(coding.member("system")?.string ?? "")|\(coding.member("code")?.string ?? "")"
    }
}
