import Foundation
import KymographCore
import KymographTemplates
import Testing

/// A measurement in plain values.
struct MappedReading: Equatable {
    var type: String
    var nanoseconds: Int64
    var offsetMinutes: Int16
    var device: String
    var patient: String?
    var encounter: String?
    var correlation: String?
    /// Values by name; the hidden length is called `(length)`.
    var values: [String: String]
}

/// A rejection in plain values.
struct MappedRejection: Equatable {
    var reason: Rejection
    var text: String
    var field: RejectionDetail.Field = .none
    var value = 0
    var offset = -1
}

/// Keeps what a mapper gives, in the order it came.
struct CollectingOutput: ~Copyable, MeasurementOutput {
    let set: MappingSet
    var readings: [MappedReading] = []
    var rejections: [MappedRejection] = []
    /// Given as the answer to every reading, as a full shard would.
    var refusal: Rejection?
    /// Whether readings that fit in registers may come that way.
    var takesPlain = true
    private(set) var plainReadings = 0
    /// Device and type of what was taken back.
    private(set) var retractions: [String] = []
    /// Whether a document has told a retraction behind readings of its own.
    private(set) var hasLateRetraction = false

    init(_ set: MappingSet) { self.set = set }

    mutating func retract(
        _ record: KymographCore.Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        let identity = SeriesKey.identity(key)
        retractions.append("\(set.types[identity.type].name) of \(String(decoding: identity.device, as: UTF8.self))")
        hasLateRetraction = hasLateRetraction || !readings.isEmpty
        return nil
    }

    mutating func accept(
        _ measurement: KymographCore.Measurement, payload: ByteView, key: ByteView, template: Int32
    ) -> Rejection? {
        let identity = SeriesKey.identity(key)
        func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
        let type = set.types[identity.type]
        var reading = MappedReading(
            type: type.name, nanoseconds: measurement.instant.nanoseconds,
            offsetMinutes: measurement.timeForm.offsetMinutes,
            device: text(identity.device) ?? "", patient: text(identity.patient), encounter: text(identity.encounter),
            correlation: text(identity.correlation), values: [:])
        for (slot, name) in type.valueNames.enumerated() {
            reading.values[name] = value(slot, measurement, payload)
        }
        if let refusal { return refusal }
        readings.append(reading)
        return nil
    }

    mutating func take(_ reading: PlainReading, key: ShortKey, template: Int32) -> Bool {
        guard takesPlain, refusal == nil else { return false }
        key.bytes.withByteView { key in
            _ = accept(KymographCore.Measurement(reading), payload: ByteView(""), key: key, template: template)
        }
        plainReadings += 1
        return true
    }

    private func value(_ slot: Int, _ measurement: KymographCore.Measurement, _ payload: ByteView) -> String? {
        if slot < KymographCore.Measurement.inlineValues, let number = measurement.inline(slot) { return plain(number) }
        guard let record = ValueRecord.find(slot, in: payload) else { return nil }
        if record.isNumber { return plain(record.number(in: payload)) }
        var text = ByteWriter()
        record.appendText(of: payload, to: &text)
        return text.view.string
    }

    private func plain(_ number: Decimal64) -> String {
        number.exponent == 0 ? "\(number.mantissa)" : "\(number.mantissa)e\(number.exponent)"
    }

    mutating func reject(_ reason: Rejection, bytes: ByteView, detail: RejectionDetail) {
        rejections.append(
            MappedRejection(
                reason: reason, text: bytes.string, field: detail.field, value: Int(detail.value),
                offset: Int(detail.offset)))
    }
}

/// One device mapping, loaded, and what it makes of payloads.
struct MappingRun {
    let set: MappingSet
    var context = SourceContext()
    var received = Instant(seconds: 1_700_000_000)
    var limits = ScanLimits()
    /// Whether mappers take the fast path.
    var usesFastPath = true

    /// Loads a `device.json` of these templates, and nothing else, so that values stay texts.
    init(_ templates: [[String: Any]], compatibility: Compatibility = .none) throws {
        let root: [String: Any] = ["templateType": "CollectionContent", "template": templates]
        try self.init(
            device: String(decoding: JSONSerialization.data(withJSONObject: root), as: UTF8.self),
            compatibility: compatibility)
    }

    /// Loads `device`, and `fhir` where numbers are wanted.
    init(device: String, fhir: String? = nil, compatibility: Compatibility = .none) throws {
        let mapping = NamedMapping(
            name: "m", device: MappingFile(name: "device.json", bytes: Array(device.utf8)),
            fhir: fhir.map { MappingFile(name: "fhir.json", bytes: Array($0.utf8)) }, compatibility: compatibility)
        let result = MappingLoader.load([mapping], measurementsOnly: fhir == nil)
        guard let set = result.set else { throw LoadFailure(texts: result.diagnostics.map(\.text)) }
        self.set = set
    }

    struct LoadFailure: Error { var texts: [String] }

    struct Outcome: Equatable {
        var readings: [MappedReading]
        var rejections: [MappedRejection]

        /// The values named `name` of all readings.
        func values(_ name: String = "x") -> [String?] { readings.map { $0.values[name] } }
        var reasons: [Rejection] { rejections.map(\.reason) }
    }

    /// A mapper for the mapping.
    func mapper() -> Mapper {
        Mapper(set, templates: set.templates(of: ["m"]), limits: limits, usesFastPath: usesFastPath)
    }

    /// What `map` gives with the fast path, which must be what it gives without.
    func bothWays<Result: Equatable>(
        sourceLocation: SourceLocation = #_sourceLocation, _ map: (MappingRun) -> Result
    ) -> Result {
        let quick = map(self)
        guard usesFastPath else { return quick }
        var general = self
        general.usesFastPath = false
        #expect(map(general) == quick, "the fast path gives something else", sourceLocation: sourceLocation)
        return quick
    }

    func line(_ payload: String) -> Outcome { lines([payload]) }

    /// Maps several lines with one mapper, as a lane does.
    func lines(_ payloads: [String], refusal: Rejection? = nil) -> Outcome {
        bothWays { run in
            var mapper = run.mapper()
            var output = CollectingOutput(set)
            output.refusal = refusal
            for payload in payloads {
                let storage = PaddedBytes(copying: payload.utf8)
                mapper.mapLine(storage.view, context: context, received: received, output: &output)
            }
            return Outcome(readings: output.readings, rejections: output.rejections)
        }
    }

    /// What the mapper notes besides readings and rejections.
    func notes(of payloads: [String]) -> MappingNotes {
        var mapper = mapper()
        var output = CollectingOutput(set)
        for payload in payloads {
            let storage = PaddedBytes(copying: payload.utf8)
            mapper.mapLine(storage.view, context: context, received: received, output: &output)
        }
        return mapper.takeNotes()
    }

    func datagram(_ payload: String) -> Outcome { datagrams([Array(payload.utf8)]) }

    /// Maps several datagrams with one mapper.
    func datagrams(_ payloads: [[UInt8]]) -> Outcome {
        bothWays { run in
            var mapper = run.mapper()
            var output = CollectingOutput(set)
            for payload in payloads {
                let storage = PaddedBytes(copying: payload)
                mapper.mapDatagram(storage.view, context: context, received: received, output: &output)
            }
            return Outcome(readings: output.readings, rejections: output.rejections)
        }
    }
}

/// Short ways to write templates.
enum TestTemplate {
    /// An entry of `values`.
    static func value(_ name: String, _ expression: String, required: Bool = false) -> [String: Any] {
        ["valueName": name, "valueExpression": expression, "required": required]
    }

    /// A JsonPathContent template over `{"d":…,"t":…,"v":…}`; `fields` replaces or adds members.
    static func jsonPath(
        _ typeName: String = "t", match: String = "$..[?(@v)]", values: [[String: Any]]? = nil,
        kind: String = "JsonPathContent", with fields: [String: Any] = [:]
    ) -> [String: Any] {
        var body: [String: Any] = [
            "typeName": typeName, "typeMatchExpression": match, "deviceIdExpression": "$.d",
            "timestampExpression": "$.t", "values": values ?? [value("x", "$.v", required: true)],
        ]
        for (name, field) in fields { body[name] = field is NSNull ? nil : field }
        return ["templateType": kind, "template": body]
    }

    /// A reading for ``jsonPath(_:match:values:kind:_:)``.
    static func reading(_ members: String) -> String { #"{"d":"dev","t":"2021-07-13T17:29:01Z",\#(members)}"# }

    /// A `device.json` of these templates.
    static func file(_ templates: [[String: Any]]) throws -> String {
        let root: [String: Any] = ["templateType": "CollectionContent", "template": templates]
        return String(decoding: try JSONSerialization.data(withJSONObject: root), as: UTF8.self)
    }

    /// The instant of ``reading(_:)``.
    static let instant: Int64 = 1_626_197_341_000_000_000
}
