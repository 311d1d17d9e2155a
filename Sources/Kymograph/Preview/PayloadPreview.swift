package import KymographCore
import KymographTemplates

/// Maps one payload all the way, without sockets or windows that wait: what `kymo map` shows and `kymo test` compares.
package struct PayloadPreview: Sendable {
    /// A payload, or a part of one, that gave no reading.
    package struct Rejected: Sendable {
        /// The reason.
        package var reason: Rejection
        /// The original bytes.
        package var bytes: [UInt8]
        /// Which field of which template.
        package var detail: String
    }

    /// A value that an Observation has a reason in place of: readings of one correlation and time state it differently.
    package struct Withheld: Hashable, Sendable {
        /// The type of the readings.
        package var type: String
        /// The value's name.
        package var value: String

        /// Why it is withheld, and what ends that.
        package static let explanation =
            "readings of one correlation and time state it differently, and which of them belongs to the other values "
            + "is unknown; it is written once they agree"
    }

    /// Measurements in the reference system's form, one JSON object each.
    package var measurements: [[UInt8]] = []
    /// What is taken back, one JSON object each.
    package var retractions: [[UInt8]] = []
    /// Observations with references by identifier, one JSON object each.
    package var observations: [[UInt8]] = []
    /// Other resources, one JSON object each.
    package var resources: [[UInt8]] = []
    /// What was rejected.
    package var rejected: [Rejected] = []
    /// What rules did, where they are traced.
    package var rulings: [RuleStep] = []
    /// Values that the observations lack, in their order.
    package private(set) var withheld: [Withheld] = []
    /// What each template made of the payload; nil when nobody asked.
    package var explanation: PayloadExplanation?
    /// Whether there was more than `most` asked for.
    package private(set) var isCut = false

    /// What becomes of a message that is too long to be mapped.
    package init(tooLong message: InputMessage) {
        let detail = "longer than \(MessageReader.longest >> 20) MiB"
        rejected = [Rejected(reason: .lineTooLong, bytes: message.bytes, detail: detail)]
    }

    /// Whether there are measurements or retractions, and everything became one.
    package var isWhole: Bool { rejected.isEmpty && !(measurements.isEmpty && retractions.isEmpty) }

    /// Maps `payload`, one document or several as in a datagram, with the templates numbered `templates`; `patients`
    /// say whose devices are, and `rules`, of which the payload is of source 0, what is taken.
    ///
    /// Receive time is left out of the measurements, so that the same payload always shows the same. Of readings and
    /// rejections, `most` are kept of each.
    package init(
        payload: [UInt8], set: MappingSet, templates: [Int], context: SourceContext, received: Instant,
        options: ObservationOptions = ObservationOptions(), patients: PatientRules? = nil,
        rules: RuleDecider = RuleDecider(), resources: EntryRules = EntryRules(), most: Int = .max
    ) {
        var mapper = Mapper(set, templates: templates)
        var collector = Collector(patients: patients, lengthSlots: set.lengthSlots, rules: rules)
        collector.most = most
        let storage = PaddedBytes(copying: payload)
        mapper.mapDatagram(storage.view, context: context, received: received, output: &collector)
        isCut = collector.isCut
        rejected = collector.rejected.map { reason, bytes, detail in
            Rejected(reason: reason, bytes: bytes, detail: set.describe(detail, withMapping: false))
        }
        for (place, decision) in collector.ruled {
            let why = decision.detail.isEmpty ? "" : ": \(decision.detail)"
            rejected[place].detail = "rule \(decision.rule ?? "tags")\(why), \(rejected[place].detail)"
        }
        rulings = rules.takeSteps()
        measurements = collector.readings.map { $0.json(set) }
        retractions = collector.retractions.map { retraction in
            var writer = ByteWriter()
            retraction.payload.withByteView {
                MeasurementJSON.append(
                    retraction: retraction.measurement, content: $0, type: set.types[retraction.identity.type],
                    identity: retraction.identity, to: &writer)
            }
            return writer.view.array
        }
        writeObservations(collector.readings, set, options, resources)
    }

    private mutating func writeObservations(
        _ readings: [Collector.Reading], _ set: MappingSet, _ options: ObservationOptions, _ resources: EntryRules
    ) {
        var ruling = PreviewedResources(resources, set, options)
        var machine = WindowMachine<MemoryArchive>(types: set.types, settings: WindowSettings())
        for reading in readings {
            guard let series = machine.define(reading.identity) else { continue }
            _ = reading.payload.withByteView { machine.add(series: series, reading.measurement, payload: $0) }
        }
        machine.drain()
        while let emission = machine.nextEmission() {
            switch ruling.write(machine.content(of: emission), series: emission.series) {
            case .resource(let json): self.resources.append(json)
            // A summary is several Observations, one a line.
            case .observations(let json): observations += json.split(separator: 0x0A).map(Array.init)
            case .vetoed: break
            case .skipped(let reason):
                rejected.append(Rejected(reason: reason, bytes: [], detail: "nothing to write into a resource"))
            }
            machine.settle(emission)
        }
        rulings += ruling.steps
        withheld = ruling.withheld
    }

    /// Keeps everything that a mapper gives.
    struct Collector: MeasurementOutput {
        struct Reading {
            var measurement: Measurement
            var payload: [UInt8]
            var identity: SeriesIdentity

            func json(_ set: MappingSet) -> [UInt8] {
                var writer = ByteWriter()
                payload.withByteView { payload in
                    MeasurementJSON.append(
                        measurement, payload: payload, type: set.types[identity.type], identity: identity,
                        withReceiveTime: false, to: &writer)
                }
                return writer.view.array
            }
        }

        /// Says whose devices are; nil for nobody.
        var patients: PatientRules?
        /// By type, as ``MappingSet/lengthSlots``.
        var lengthSlots: [Int] = []
        /// Say what is taken.
        var rules = RuleDecider()
        /// What is taken of the source, which has number 0.
        var intake = IntakeLimits()
        var readings: [Reading] = []
        var retractions: [Reading] = []
        /// What rules have decided that rejected readings, with the places of these in ``rejected``.
        var ruled: [(place: Int, decision: RuleDecider.Decision)] = []
        var rejected: [(Rejection, [UInt8], RejectionDetail)] = []
        /// Readings, and rejections, that are kept.
        var most = Int.max
        private(set) var isCut = false

        mutating func accept(
            _ measurement: Measurement, payload: ByteView, key: ByteView, template: Int32
        ) -> Rejection? {
            var attribution = PatientAttribution(patients)
            let filed: ByteView
            let type = SeriesKey.type(of: key)
            let isLong = patients != nil || intake.hasEnds
            let length = isLong ? measurement.length(lengthSlots[type], payload) : 0
            if intake.isOn,
                let reason = intake.refusal(type: type, source: 0, at: measurement.instant, length: length)
            {
                return reason
            }
            switch attribution.attribute(key, at: measurement.instant, length: length) {
            case .rejected(let reason): return reason
            case .unchanged: filed = key
            case .changed: filed = attribution.key
            }
            var (measurement, payload) = (measurement, payload)
            if rules.isOn || attribution.tags.count > 0 {
                let decision = rules.decide(&measurement, payload, key: filed, source: 0, tags: attribution.tags)
                if let reason = decision.refusal {
                    ruled.append((rejected.count, decision))
                    return reason
                }
                if decision.isRewritten { payload = rules.payload }
            }
            guard readings.count < most else {
                isCut = true
                return nil
            }
            let identity = SeriesKey.identity(filed)
            readings.append(Reading(measurement: measurement, payload: payload.array, identity: identity))
            return nil
        }

        mutating func retract(
            _ record: Measurement, payload: ByteView, key: ByteView, template: Int32
        ) -> Rejection? {
            let type = SeriesKey.type(of: key)
            if intake.isOn, let reason = intake.refusal(type: type, source: 0, at: record.instant, length: 0) {
                return reason
            }
            guard retractions.count < most else {
                isCut = true
                return nil
            }
            retractions.append(
                Reading(measurement: record, payload: payload.array, identity: SeriesKey.identity(key)))
            return nil
        }

        mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
            guard rejected.count < most else { return isCut = true }
            // Thousands of readings of one document may be rejected with all of it: one copy is enough.
            let isLast = rejected.last?.1.withByteView { $0.equals(bytes) } ?? false
            rejected.append((reason, isLast ? rejected[rejected.count - 1].1 : bytes.array, detail))
        }
    }
}
