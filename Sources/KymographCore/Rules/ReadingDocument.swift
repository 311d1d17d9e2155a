/// The JSON that expressions of rules look at: what a reading is, by itself (docs/rules.md).
enum ReadingDocument {
    /// Writes a reading of the series `key` (a ``SeriesKey``), of `type`, that the source called `source` has brought.
    static func write(
        _ reading: Measurement, _ payload: ByteView, key: ByteView, type: MeasurementType, source: String,
        to writer: inout ByteWriter
    ) {
        writer.removeAll()
        writer.append("{\"type\":\"")
        writer.appendJSON(type.name)
        writer.append("\",\"deviceId\":\"")
        writer.appendJSON(SeriesKey.device(of: key))
        writer.append("\"")
        append("patientId", SeriesKey.patient(of: key), to: &writer)
        append("encounterId", SeriesKey.encounter(of: key), to: &writer)
        append("correlationId", SeriesKey.correlation(of: key), to: &writer)
        writer.append(",\"time\":\"")
        writer.append(reading.instant)
        writer.append("\",\"source\":\"")
        writer.appendJSON(source)
        writer.append("\",\"values\":{")
        appendValues(reading, payload, type, to: &writer)
        writer.append("},\"tags\":[")
        appendTags(payload, to: &writer)
        writer.append("]}")
        writer.pad()
    }

    private static func append(_ name: StaticString, _ identifier: ByteView?, to writer: inout ByteWriter) {
        writer.append(",\"")
        writer.append(name)
        guard let identifier else { return writer.append("\":null") }
        writer.append("\":\"")
        writer.appendJSON(identifier)
        writer.append("\"")
    }

    private static func appendValues(
        _ reading: Measurement, _ payload: ByteView, _ type: MeasurementType, to writer: inout ByteWriter
    ) {
        var isFirst = true
        for (slot, name) in type.valueNames.enumerated() where !type.isHidden(slot) {
            let number = slot < Measurement.inlineValues ? reading.inline(slot) : nil
            let record = number == nil ? ValueRecord.find(slot, in: payload) : nil
            guard number != nil || record != nil else { continue }
            writer.append(isFirst ? "\"" : ",\"")
            isFirst = false
            writer.appendJSON(name)
            writer.append("\":")
            if let number {
                writer.append(number)
            } else if let record {
                append(record, payload, to: &writer)
            }
        }
    }

    /// Numbers as such, texts, and the samples of a waveform as SampledData has them.
    private static func append(_ record: ValueRecord, _ payload: ByteView, to writer: inout ByteWriter) {
        guard !record.isNumber else { return writer.append(record.number(in: payload)) }
        writer.append("\"")
        switch record.kind {
        case .text: writer.appendJSON(payload[record.bytes])
        case .number, .samples: record.appendText(of: payload, to: &writer)
        }
        writer.append("\"")
    }

    private static func appendTags(_ payload: ByteView, to writer: inout ByteWriter) {
        var isFirst = true
        ReadingTags.forEach(in: ReadingTags.list(in: payload)) { tag in
            writer.append(isFirst ? "\"" : ",\"")
            isFirst = false
            writer.appendJSON(tag)
            writer.append("\"")
        }
    }
}
