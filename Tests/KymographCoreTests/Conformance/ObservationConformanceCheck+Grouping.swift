import Kymograph
import KymographCore
import KymographTemplates

/// Cases that group measurements, run on the window machine.
extension ObservationConformanceCheck {
    /// A measurement of a case.
    struct CaseMeasurement {
        var instant: Instant
        var received: Instant?
        var correlation: String?
        var values: [(name: String, value: String)]

        init?(_ node: JSONNode, correlation: String?) {
            guard let instant = node["OccurrenceTimeUtc"]?.instant else { return nil }
            self.instant = instant
            received = node["IngestionTimeUtc"]?.instant
            self.correlation = node["CorrelationId"]?.string ?? correlation
            values = (node["Properties"]?.elements ?? []).map { ($0["Name"]?.string ?? "", $0["Value"]?.string ?? "") }
        }
    }

    /// A window that the machine emitted.
    struct CaseWindow {
        var start: Instant
        /// The last tick of 100 ns inside.
        var end: Instant
        var values: [String: [SeriesSample]] = [:]
        var received: [Instant] = []
        var instants: [Instant] = []
    }

    mutating func observationGroups() throws {
        if let type = subject.template?["templateType"]?.string, type != "CodeValueFhir" { return try refuseTemplate() }
        let correlation = subject.input["CorrelationId"]?.string
        let data = (subject.input["Data"]?.elements ?? []).compactMap { CaseMeasurement($0, correlation: correlation) }
        let template = subject.template?["template"] ?? subject.template
        // A boundary of its own choice is what a correlation has here.
        let isBoundary = template?["boundary"] != nil
        let interval = isBoundary ? "-1" : template?.text("periodInterval") ?? "0"
        let windows = try windows(
            of: data, type: subject.input["MeasureType"]?.string ?? "", interval: interval,
            correlation: correlation ?? (isBoundary ? "b" : nil))
        if let count = subject.expected.text("group_count") {
            expect("\(windows.count)" == count, "\(count) groups expected, found \(windows.count)")
        }
        guard let groups = subject.expected["groups"]?.elements else { return }
        expect(groups.count == windows.count, "\(groups.count) groups expected, found \(windows.count)")
        for (group, window) in zip(groups, windows.sorted { $0.start < $1.start }) {
            expect(group["start"]?.instant == window.start, "start: found \(window.start.text)")
            expect(group["end"]?.instant == window.end, "end: found \(window.end.text)")
            let values = (group["values"]?.members ?? []).map { ($0.name, $0.node.samples) }
            let expected = Dictionary(uniqueKeysWithValues: values)
            expect(window.values == expected, "\(expected) expected, found \(window.values)")
        }
    }

    private func refuseTemplate() throws {
        let text = subject.template.map(JSONText.write) ?? ""
        var log = DiagnosticLog(file: "fhir.json")
        _ = FHIRTemplateLoader.load(
            try TextJSON.parse(#"{"templateType":"CollectionFhir","template":[\#(text)]}"#), log: &log)
        if log.hasErrors { throw MappingRun.LoadFailure(texts: log.all.map(\.text)) }
    }

    /// What comes of all events of the case; the daily window stands for the group of one key.
    mutating func measurementGroups() throws {
        let events = subject.input["events"]?.elements ?? []
        let bodies = events.flatMap { event -> [JSONNode] in
            let body = event["body"] ?? event["gzip_of"]
            return body?.elements ?? [body].compactMap { $0 }
        }
        let data = bodies.compactMap { CaseMeasurement($0, correlation: nil) }
        let type = bodies.first?["Type"]?.string ?? ""
        let windows = try windows(of: data, type: type, interval: "1440", correlation: nil)
        guard let groups = subject.expected["groups"]?.elements else { return }
        guard groups.count == windows.count else {
            return expect(false, "\(groups.count) groups expected, found \(windows.count)")
        }
        for (group, window) in zip(groups, windows) {
            let data = (group["Data"]?.elements ?? []).compactMap { CaseMeasurement($0, correlation: nil) }
            expect(data.map(\.instant) == window.instants, "times: found \(window.instants.map(\.text))")
            expect(data.compactMap(\.received) == window.received, "receipts: found \(window.received.map(\.text))")
            for (name, samples) in window.values {
                let expected = data.compactMap { measurement in
                    measurement.values.first { $0.name == name }.map {
                        SeriesSample(instant: measurement.instant, text: $0.value)
                    }
                }
                expect(samples == expected, "\(name): \(expected) expected, found \(samples)")
            }
        }
    }

    private func windows(
        of data: [CaseMeasurement], type: String, interval: String, correlation: String?
    ) throws -> [CaseWindow] {
        let names = Array(Set(data.flatMap { $0.values.map(\.name) })).sorted()
        let components = names.map { #"{"codes":[],"value":{"valueType":"String","valueName":"\#($0)"}}"# }
        let body = try TextJSON.parse(
            #"{"typeName":"\#(type)","codes":[],"periodInterval":\#(interval),"#
                + #""components":[\#(components.joined(separator: ","))]}"#)
        let run = try ReferenceRun(
            body: body, names: names, compatibility: compatibility, hasCorrelation: interval == "-1")
        if data.isEmpty { _ = try run.reading([:], at: Instant(seconds: 0), correlation: correlation) }
        var machine = WindowMachine<MemoryArchive>(types: [run.type], settings: WindowSettings())
        let series = machine.define(
            SeriesIdentity(
                type: 0, device: Array("deviceId".utf8), patient: Array("patientId".utf8),
                correlation: correlation.map { Array($0.utf8) }))
        var payload = ByteWriter()
        for measurement in data {
            let values = Dictionary(measurement.values.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
            let mapped = try run.reading(values, at: measurement.instant, correlation: correlation)
            var reading = TestReading(
                instant: mapped.nanoseconds, received: (measurement.received ?? Instant(seconds: 0)).nanoseconds)
            reading.values = run.slots(mapped).texts.mapValues { .text($0) }
            let encoded = reading.measurement(&payload)
            _ = machine.add(series: series ?? 0, encoded, payload: payload.view)
        }
        machine.drain()
        return taken(from: &machine, run.type)
    }

    private func taken(
        from machine: inout WindowMachine<MemoryArchive>, _ type: MeasurementType
    ) -> [CaseWindow] {
        var windows: [CaseWindow] = []
        while let emission = machine.nextEmission() {
            let content = machine.content(of: emission)
            windows.append(CaseWindow(content, type))
            machine.settle(emission)
        }
        return windows
    }
}

extension ObservationConformanceCheck.CaseWindow {
    fileprivate init(_ content: WindowContent, _ type: MeasurementType) {
        switch type.grouping {
        case .tumbling:
            start = content.start
            end = content.end.advanced(by: -100)
        default:
            start = content.readings[0].instant
            end = content.readings[content.readings.count - 1].instant
        }
        for index in 0..<content.readings.count {
            let instant = content.readings[index].instant
            instants.append(instant)
            received.append(content.readings[index].received)
            for (slot, name) in type.valueNames.enumerated() {
                guard let text = content.text(index, slot: slot)?.string else { continue }
                values[name, default: []].append(SeriesSample(instant: instant, text: text))
            }
        }
    }
}
