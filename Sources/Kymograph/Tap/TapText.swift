import KymographCore

/// Writes events as lines of JSON. Identifiers, texts and contents are masked unless the tap reveals them.
struct TapText: Sendable {
    private let reveals: Bool
    private let writesEvents: Bool
    private let mask = IdentifierMask()
    /// Names of the sources by their numbers, and how their bytes become payloads.
    private let sources: [(name: String, framing: String)]

    /// For a tap that reveals, or not, what comes from `sources`.
    init(reveals: Bool, format: TapRequest.Format? = nil, sources: [(name: String, framing: String)]) {
        (self.reveals, self.sources) = (reveals, sources)
        writesEvents = format == .events
    }

    /// `event` as one line with its line feed.
    func line(_ event: TapEvent) -> [UInt8] {
        var line = TapLine()
        switch event {
        case .payload(let payload): append(payload, to: &line)
        case .measurement(let measurement) where writesEvents: return self.event(measurement)
        case .measurement(let measurement): append(measurement, to: &line)
        case .observation(let resource): append(resource, to: &line)
        }
        return line.finish()
    }

    /// `number` in groups of three digits: `1,234`.
    static func grouped(_ number: Int) -> String {
        var text = ""
        for (place, digit) in String(number).reversed().enumerated() {
            if place > 0, place % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }

    // MARK: Payloads

    private func append(_ payload: TappedPayload, to line: inout TapLine) {
        line.text("stage", "payload")
        line.time("time", payload.received)
        appendSource(payload.source, to: &line)
        line.text("framing", sources.indices.contains(payload.source) ? sources[payload.source].framing : "")
        line.number("bytes", payload.size)
        line.number("readings", payload.outcome.readings)
        line.texts("types", payload.outcome.types)
        if let reason = payload.outcome.rejection { line.text("rejected", reason.name) }
        if payload.size > payload.bytes.count { line.number("shownBytes", payload.bytes.count) }
        guard reveals else { return line.raw("shape", PayloadShape.of(payload.bytes)) }
        if String(validating: payload.bytes, as: UTF8.self) != nil {
            line.bytes("text", payload.bytes)
        } else {
            line.text("hex", payload.bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
    }

    private func appendSource(_ number: Int, to line: inout TapLine) {
        line.text("source", sources.indices.contains(number) ? sources[number].name : "")
    }

    // MARK: Readings

    /// A reading as a normalised event.
    private func event(_ tapped: TappedMeasurement) -> [UInt8] {
        var writer = ByteWriter(capacity: 512)
        tapped.payload.withByteView { payload in
            MeasurementJSON.append(
                tapped.measurement, payload: payload, type: tapped.type,
                identity: shown(tapped.key.withByteView { SeriesKey.identity($0) }),
                mask: reveals ? nil : IdentifierMask.text, to: &writer)
        }
        writer.append("\n")
        return writer.view.array
    }

    /// `identity` as it may be shown.
    private func shown(_ identity: SeriesIdentity) -> SeriesIdentity {
        guard !reveals else { return identity }
        func masked(_ identifier: [UInt8]) -> [UInt8] { Array(mask.name(of: identifier).utf8) }
        return SeriesIdentity(
            type: identity.type, device: masked(identity.device), patient: identity.patient.map(masked),
            encounter: identity.encounter.map(masked), correlation: identity.correlation.map(masked))
    }

    private func append(_ tapped: TappedMeasurement, to line: inout TapLine) {
        let identity = tapped.key.withByteView { SeriesKey.identity($0) }
        line.text("stage", "measurement")
        line.time("time", tapped.measurement.received)
        appendSource(tapped.source, to: &line)
        line.text("type", tapped.type.name)
        line.time("at", tapped.measurement.instant)
        append("device", identity.device, to: &line)
        append("patient", identity.patient, to: &line)
        append("encounter", identity.encounter, to: &line)
        append("correlation", identity.correlation, to: &line)
        line.begin("values")
        tapped.payload.withByteView { payload in
            for (slot, name) in tapped.type.valueNames.enumerated() where !tapped.type.isHidden(slot) {
                append(name, slot, tapped.measurement, payload, to: &line)
            }
        }
        line.end()
    }

    private func append(
        _ name: String, _ slot: Int, _ measurement: Measurement, _ payload: ByteView, to line: inout TapLine
    ) {
        guard let text = MeasurementJSON.text(of: slot, measurement, payload) else { return }
        let isInline = slot < Measurement.inlineValues && measurement.inline(slot) != nil
        if isInline || ValueRecord.find(slot, in: payload)?.isNumber == true {
            line.raw(name, Array(text.utf8))
        } else {
            line.text(name, reveals ? text : IdentifierMask.text)
        }
    }

    private func append(_ name: String, _ identifier: [UInt8]?, to line: inout TapLine) {
        guard let identifier else { return }
        reveals ? line.bytes(name, identifier) : line.text(name, mask.name(of: identifier))
    }

    // MARK: Resources

    private func append(_ resource: TappedResource, to line: inout TapLine) {
        line.text("stage", "observation")
        line.time("time", resource.time)
        if let type = resource.type { line.text("type", type) }
        line.text("resourceType", resource.resourceType)
        append("device", resource.device, to: &line)
        append("patient", resource.patient, to: &line)
        line.number("bytes", resource.size)
        guard !resource.body.isEmpty else { return }
        guard !reveals else { return line.raw("resource", resource.body) }
        if let masked = MaskedResource.of(resource.body) { line.raw("resource", masked) }
    }
}

/// One line of JSON that grows member by member.
struct TapLine: ~Copyable {
    private var writer = ByteWriter(capacity: 512)
    private var isFirst = true

    init() { writer.append("{") }

    private mutating func name(_ name: String) {
        if !isFirst { writer.append(",") }
        isFirst = false
        writer.append("\"")
        writer.appendJSON(name)
        writer.append("\":")
    }

    mutating func text(_ name: String, _ text: String) { bytes(name, Array(text.utf8)) }

    /// A string of UTF-8.
    mutating func bytes(_ name: String, _ text: [UInt8]) {
        self.name(name)
        writer.append("\"")
        writer.appendJSON(text)
        writer.append("\"")
    }

    mutating func time(_ name: String, _ instant: Instant) {
        self.name(name)
        writer.append("\"")
        writer.append(instant)
        writer.append("\"")
    }

    mutating func number(_ name: String, _ number: Int) { raw(name, Array(String(number).utf8)) }

    mutating func texts(_ name: String, _ texts: [String]) { raw(name, Array(JSONText.array(texts).utf8)) }

    /// A value that is JSON already.
    mutating func raw(_ name: String, _ value: [UInt8]) {
        self.name(name)
        writer.append(value)
    }

    /// Begins an object.
    mutating func begin(_ name: String) {
        self.name(name)
        writer.append("{")
        isFirst = true
    }

    /// Ends it.
    mutating func end() {
        writer.append("}")
        isFirst = false
    }

    /// The line with its line feed.
    mutating func finish() -> [UInt8] {
        writer.append("}\n")
        return writer.view.array
    }
}
