/// The columns of a table of readings whose values come again and again, in their order.
enum ReadingColumn: Int, CaseIterable {
    case device, patient, encounter, correlation, measurement, name, unit, unitSystem, factor, origin, text, kind,
        decimals
    case codeSystem, code, componentSystem, componentCode
    case start, utcOffset, source, readingID, windowStart, windowEnd
    case resource, identifierSystem, identifier, status

    /// What the column is called, and what its values are.
    var column: ParquetColumn {
        switch self {
        case .device: ParquetColumn(name: "device", form: .text, isOptional: false)
        case .patient: ParquetColumn(name: "patient", form: .text)
        case .encounter: ParquetColumn(name: "encounter", form: .text)
        case .correlation: ParquetColumn(name: "correlation", form: .text)
        case .measurement: ParquetColumn(name: "measurement", form: .text, isOptional: false)
        case .name: ParquetColumn(name: "name", form: .text)
        case .unit: ParquetColumn(name: "unit", form: .text)
        case .unitSystem: ParquetColumn(name: "unit_system", form: .text)
        case .factor: ParquetColumn(name: "factor", form: .text)
        case .origin: ParquetColumn(name: "origin", form: .text)
        case .text: ParquetColumn(name: "text", form: .text)
        case .kind: ParquetColumn(name: "kind", form: .text)
        case .decimals: ParquetColumn(name: "decimals", form: .int32)
        case .codeSystem: ParquetColumn(name: "code_system", form: .text)
        case .code: ParquetColumn(name: "code", form: .text)
        case .componentSystem: ParquetColumn(name: "component_system", form: .text)
        case .componentCode: ParquetColumn(name: "component_code", form: .text)
        case .start: ParquetColumn(name: "start", form: .time)
        case .utcOffset: ParquetColumn(name: "utc_offset", form: .int32)
        case .source: ParquetColumn(name: "source", form: .text)
        case .readingID: ParquetColumn(name: "reading_id", form: .text)
        case .windowStart: ParquetColumn(name: "window_start", form: .time)
        case .windowEnd: ParquetColumn(name: "window_end", form: .time)
        case .resource: ParquetColumn(name: "resource", form: .text)
        case .identifierSystem: ParquetColumn(name: "identifier_system", form: .text)
        case .identifier: ParquetColumn(name: "identifier", form: .text)
        case .status: ParquetColumn(name: "status", form: .text)
        }
    }
}
