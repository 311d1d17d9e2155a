/// Writes a measurement as the reference system's normalised message: the form of `kymo map`, of sinks that get
/// events, and of dead letters for readings that were rejected after mapping (mapping dialect, section 1.2).
///
/// Members and their order are those of `Measurement` in microsoft/iomt-fhir, as its JSON serializer writes them;
/// values are strings, and `IngestionTimeUtc` is when the reading was received.
package enum MeasurementJSON {
    /// Appends one JSON object, without line feed; `IngestionTimeUtc` is null unless `withReceiveTime`. Of values that
    /// are no numbers, `mask` takes the place.
    package static func append(
        _ measurement: Measurement, payload: ByteView, type: MeasurementType, identity: SeriesIdentity,
        withReceiveTime: Bool = true, mask: String? = nil, to writer: inout ByteWriter
    ) {
        writer.append("{\"Type\":\"")
        writer.appendJSON(type.name)
        writer.append("\",\"OccurrenceTimeUtc\":\"")
        writer.append(measurement.instant)
        writer.append("\",\"IngestionTimeUtc\":")
        if withReceiveTime {
            writer.append("\"")
            writer.append(measurement.received)
            writer.append("\"")
        } else {
            writer.append("null")
        }
        append("DeviceId", identity.device, to: &writer)
        append("PatientId", identity.patient, to: &writer)
        append("EncounterId", identity.encounter, to: &writer)
        append("CorrelationId", identity.correlation, to: &writer)
        writer.append(",\"Properties\":[")
        var isFirst = true
        for (slot, name) in type.valueNames.enumerated() where !type.isHidden(slot) {
            appendProperty(slot, name, measurement, payload, mask, &isFirst, to: &writer)
        }
        writer.append("]}")
    }

    /// Appends a retraction as one JSON object, without line feed: type, device and patient, and the id of the reading
    /// or else its time. `content` is that of a ``Tombstone``.
    package static func append(
        retraction record: Measurement, content: ByteView, type: MeasurementType, identity: SeriesIdentity,
        to writer: inout ByteWriter
    ) {
        writer.append("{\"Retracts\":\"")
        writer.appendJSON(type.name)
        writer.append("\"")
        append("DeviceId", identity.device, to: &writer)
        append("PatientId", identity.patient, to: &writer)
        if let id = ValueRecord.read(content, at: 0) {
            append("ReadingId", content[id.bytes].array, to: &writer)
        } else {
            writer.append(",\"OccurrenceTimeUtc\":\"")
            writer.append(record.instant)
            writer.append("\"")
        }
        writer.append("}")
    }

    /// The value in `slot` as text, numbers with the digits that they came with; nil when there is none.
    package static func text(of slot: Int, _ measurement: Measurement, _ payload: ByteView) -> String? {
        var writer = ByteWriter(capacity: 32)
        if slot < Measurement.inlineValues, let number = measurement.inline(slot) {
            writer.append(number)
            return writer.view.string
        }
        guard let record = ValueRecord.find(slot, in: payload) else { return nil }
        guard record.isNumber else { return payload[record.bytes].string }
        writer.append(record.number(in: payload))
        return writer.view.string
    }

    private static func append(_ name: StaticString, _ value: [UInt8]?, to writer: inout ByteWriter) {
        writer.append(",\"")
        writer.append(name)
        guard let value else { return writer.append("\":null") }
        writer.append("\":\"")
        writer.appendJSON(value)
        writer.append("\"")
    }

    private static func appendProperty(
        _ slot: Int, _ name: String, _ measurement: Measurement, _ payload: ByteView, _ mask: String?,
        _ isFirst: inout Bool, to writer: inout ByteWriter
    ) {
        let inline = slot < Measurement.inlineValues ? measurement.inline(slot) : nil
        let record = inline == nil ? ValueRecord.find(slot, in: payload) : nil
        guard inline != nil || record != nil else { return }
        if !isFirst { writer.append(",") }
        isFirst = false
        writer.append("{\"Name\":\"")
        writer.appendJSON(name)
        writer.append("\",\"Value\":\"")
        if let inline {
            writer.append(inline)
        } else if let record {
            if let mask, !record.isNumber {
                writer.appendJSON(mask)
            } else if record.kind == .text {
                writer.appendJSON(payload[record.bytes])
            } else {
                record.appendText(of: payload, to: &writer)
            }
        }
        writer.append("\"}")
    }
}
