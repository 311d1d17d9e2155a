import GRDB
package import KymographCore

/// Archived readings as rows of a table with the same columns throughout: whose and when, and one column for each name
/// of a value.
package struct ReadingTable: Sendable {
    /// Names of the columns that every table has.
    package static let leading = [
        "time", "received", "type", "device", "patient", "encounter", "correlation", "source",
    ]

    /// Names of all columns.
    package let columns: [String]
    private let types: [MeasurementType]
    private let places: [String: Int]
    private let sources: [Int: String]

    /// A table for readings of `types`, of which only those in `names` get columns unless it is empty. `sources` are
    /// the names by number.
    package init(types: [MeasurementType], names chosen: [String], sources: [Int: String]) {
        var names: [String] = []
        for type in types where chosen.isEmpty || chosen.contains(type.name) {
            for (slot, value) in type.valueNames.enumerated() where !type.isHidden(slot) {
                if !names.contains(value) { names.append(value) }
            }
        }
        self.types = types
        self.sources = sources
        columns = ReadingTable.leading + names
        places = Dictionary(
            uniqueKeysWithValues: names.enumerated().map { ($1, $0 + ReadingTable.leading.count) })
    }

    /// The row of a reading; nil stands for "there is none".
    package func row(_ reading: Measurement, _ payload: ByteView, of series: SeriesIdentity) -> [String?] {
        func text(_ part: [UInt8]?) -> String? { part.map { String(decoding: $0, as: UTF8.self) } }
        let type = types[series.type]
        var row: [String?] = [
            reading.instant.text, reading.received.text, type.name, text(series.device), text(series.patient),
            text(series.encounter), text(series.correlation), sources[ReadingSource.number(reading.mark)],
        ]
        row += Array(repeating: nil, count: columns.count - row.count)
        for (slot, name) in type.valueNames.enumerated() {
            guard !type.isHidden(slot), let place = places[name] else { continue }
            row[place] = MeasurementJSON.text(of: slot, reading, payload)
        }
        return row
    }

    /// A line of CSV (RFC 4180) with a line feed; what is not there is empty.
    package static func csv(_ row: [String?]) -> [UInt8] {
        Array((row.map { quoted($0 ?? "") }.joined(separator: ",") + "\n").utf8)
    }

    private static func quoted(_ text: String) -> String {
        let isPlain = !text.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }
        guard !isPlain else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

extension StoreReader {
    /// Names of sources by number.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func sourceNames() throws(PipelineError) -> [Int: String] {
        try read { db in
            var names: [Int: String] = [:]
            for row in try Row.fetchAll(db, sql: "SELECT number, name FROM source") { names[row[0]] = row[1] }
            return names
        }
    }
}
