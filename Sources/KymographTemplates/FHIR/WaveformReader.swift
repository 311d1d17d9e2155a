import KymographCore

/// Reads the members that say what the arrays of a SampledData value are.
struct WaveformReader {
    /// What it reads.
    static let names = ["valueNames", "dimensions", "rateName", "periodName"]

    private let object: FieldReader
    /// Nanoseconds between samples as the template states them, or nil.
    private let period: Int64?

    init(_ object: FieldReader, period: Int64?) {
        self.object = object
        self.period = period
    }

    /// Whether `object` names its signals one by one, instead of by `valueName`.
    static func namesSignals(_ object: FieldReader) -> Bool {
        object.node("valueNames") != nil
            && object.node("valueType")?.string?.lowercased() == "SampledData".lowercased()
    }

    /// The rule; nil when the value has none of the members, or wrong ones.
    func read(log: inout DiagnosticLog) -> WaveformRule? {
        guard WaveformReader.names.contains(where: { object.node($0) != nil }) else { return nil }
        let dimensions = dimensions(log: &log)
        guard let signals = signals(log: &log), !signals.isEmpty else { return nil }
        if signals.count > 1, let stated = dimensions, stated != signals.count {
            log.error(
                object.position(of: "dimensions"), "there are \(signals.count) valueNames, and not \(stated)",
                advice: "leave 'dimensions' out, or name one array that has all signals in turn by 'valueName'",
                finding: .wrongPeriod)
        }
        let rule = WaveformRule(
            signals: signals, dimensions: dimensions ?? signals.count, rate: name("rateName", log: &log),
            period: name("periodName", log: &log))
        checkPeriod(rule, log: &log)
        return rule
    }

    private func dimensions(log: inout DiagnosticLog) -> Int? {
        guard let node = object.optional("dimensions", "a number", log: &log), case .number(let text) = node.value
        else { return nil }
        if let count = Int(text), (1...WaveformRule.mostDimensions).contains(count) { return count }
        log.error(
            node.position, "'dimensions' is not a whole number from 1 to \(WaveformRule.mostDimensions)",
            advice: "write how many signals follow each other in the array, such as 2", finding: .wrongPeriod)
        return nil
    }

    private func signals(log: inout DiagnosticLog) -> [ValueName]? {
        guard let elements = object.array("valueNames", log: &log) else {
            return object.text("valueName", log: &log).map {
                [ValueName(text: $0, position: object.position(of: "valueName"))]
            }
        }
        if (1...WaveformRule.mostSignals).contains(elements.count), object.node("valueName") == nil {
            return elements.compactMap { node in
                node.text("a value name", log: &log).map { ValueName(text: $0, position: node.position) }
            }
        }
        log.error(
            object.position(of: "valueNames"),
            "'valueNames' must be 1 to \(WaveformRule.mostSignals) names, without a 'valueName' beside them",
            advice: "name the values of the device template that hold an array each", finding: .missingField)
        return nil
    }

    private func name(_ member: String, log: inout DiagnosticLog) -> ValueName? {
        object.text(member, log: &log).map { ValueName(text: $0, position: object.position(of: member)) }
    }

    /// An array has one time, that of its first sample: the others follow from the period alone.
    private func checkPeriod(_ rule: WaveformRule, log: inout DiagnosticLog) {
        if let rate = rule.rate, rule.period != nil {
            log.error(
                rate.position, "'rateName' and 'periodName' say the same", advice: "remove one of them",
                finding: .wrongPeriod)
        }
        guard rule.rate == nil, rule.period == nil, period == nil else { return }
        log.error(
            object.position, "nothing says how far apart the samples of an array are",
            advice: "write \"defaultPeriod\" in milliseconds, or name the value with samples per second by "
                + "\"rateName\" or that with milliseconds by \"periodName\"", finding: .wrongPeriod)
    }
}
