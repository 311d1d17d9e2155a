import KymographCore
import KymographTemplates

/// Reads a patient map that is a table (RFC 4180): a header row that names the columns, and a row for each period.
struct PatientTable {
    /// A column.
    enum Column: String, CaseIterable {
        case device, patient, encounter, tags, from, to
    }

    /// A field of a row, and where it begins.
    private struct Field {
        var bytes: [UInt8]
        var position: SourcePosition
    }

    /// Bytes of the longest row.
    private static let longestRow = 64 << 10

    private let file: String
    private let bytes: [UInt8]
    private var log: ConfigurationLog
    /// The columns in the order of the file; nil before the header row.
    private var columns: [Column]?
    private var periods: [StatedPeriod] = []

    /// The periods of the table in `bytes`; what is wrong is in `log`.
    static func read(_ file: String, _ bytes: [UInt8], log: inout ConfigurationLog) -> [StatedPeriod] {
        var table = PatientTable(file: file, bytes: bytes, log: log)
        table.readRows()
        log = table.log
        return table.periods
    }

    private init(file: String, bytes: [UInt8], log: ConfigurationLog) {
        (self.file, self.bytes, self.log) = (file, bytes, log)
    }

    private mutating func readRows() {
        var row = TableRow(TableFraming(), cap: PatientTable.longestRow)
        let begin = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        // Lines and columns of where fields begin.
        var (line, lineStart, rowLine) = (1, begin, 1)
        var starts = [SourcePosition(offset: begin, line: 1, column: 1)]
        for offset in begin..<bytes.count {
            let fields = row.fields.count
            let step = row.step(bytes[offset])
            if bytes[offset] == 0x0A { (line, lineStart) = (line + 1, offset + 1) }
            let next = SourcePosition(offset: offset + 1, line: line, column: offset + 2 - lineStart)
            if step == .end {
                take(row, starts, line: rowLine)
                row.removeAll()
                (starts, rowLine) = ([next], line)
            } else if row.fields.count > fields {
                starts.append(next)
            }
        }
        if !row.isEmpty {
            row.finish()
            take(row, starts, line: rowLine)
        }
        if columns == nil {
            error(.start, "it is empty", advice: PatientTable.headerAdvice)
        } else if periods.isEmpty, log.all.isEmpty {
            error(.start, "it has no row behind the header: it may be cut", advice: "state a period, or no map at all")
        }
    }

    private static let headerAdvice = "begin with the header row 'device,patient,encounter,from,to'"

    private mutating func take(_ row: borrowing TableRow, _ starts: [SourcePosition], line: Int) {
        guard !row.isBlank else { return }
        guard !row.isBroken, !row.isTooLong else {
            let at = starts.first ?? .start
            return error(at, "its quotes are not as RFC 4180 has them, or it is too long", advice: "quote whole fields")
        }
        var fields: [Field] = []
        for (field, position) in zip(row.fields, starts) {
            fields.append(Field(bytes: row.text.view(field.range).array, position: position))
        }
        guard let columns else { return readHeader(fields) }
        // Rows below a header with errors would be errors, too.
        guard !columns.isEmpty else { return }
        guard fields.count == columns.count else {
            let counts = "the row has \(fields.count) of \(columns.count) columns"
            return error(fields[0].position, counts, advice: "a row has a field for each column, be it empty")
        }
        readPeriod(fields, columns)
    }

    private mutating func readHeader(_ fields: [Field]) {
        var found: [Column] = []
        for field in fields {
            let name = String(decoding: field.bytes, as: UTF8.self)
            guard let column = Column(rawValue: name), !found.contains(column) else {
                // Not what it is called: without a header row, that is an identifier.
                let names = Column.allCases.map(\.rawValue)
                let advice = NearestName.advice(for: name, among: names, otherwise: PatientTable.headerAdvice)
                error(
                    field.position,
                    Column(rawValue: name) == nil
                        ? "the column is not known" : "the column is there twice",
                    advice: name.contains(";") ? "separate the columns with commas" : advice)
                continue
            }
            found.append(column)
        }
        for needed in [Column.device, .patient] where !found.contains(needed) {
            error(fields[0].position, "there is no column '\(needed.rawValue)'", advice: PatientTable.headerAdvice)
        }
        columns = log.all.isEmpty ? found : []
    }

    private mutating func readPeriod(_ fields: [Field], _ columns: [Column]) {
        var period = PatientMap.Period(device: [], patient: [])
        var isWhole = true
        for (field, column) in zip(fields, columns) {
            do throws(SettingProblem) {
                try PatientTable.set(column, field.bytes, in: &period)
            } catch {
                self.error(field.position, error.message, advice: error.advice)
                isWhole = false
            }
        }
        guard isWhole else { return }
        if let problem = PatientPeriods.problem(period) {
            return error(fields[0].position, problem.message, advice: problem.advice)
        }
        periods.append(StatedPeriod(period: period, position: fields[0].position))
    }

    private static func set(
        _ column: Column, _ bytes: [UInt8], in period: inout PatientMap.Period
    ) throws(SettingProblem) {
        switch column {
        case .device: period.device = try PatientPeriods.identifier(bytes, "device")
        case .patient: period.patient = try PatientPeriods.identifier(bytes, "patient")
        case .encounter: period.encounter = bytes.isEmpty ? nil : try PatientPeriods.identifier(bytes, "encounter")
        case .tags: period.tags = try PatientPeriods.tags(ofField: bytes)
        case .from: period.from = try PatientPeriods.time(bytes, open: .distantPast)
        case .to: period.to = try PatientPeriods.time(bytes, open: .distantFuture)
        }
    }

    private mutating func error(_ position: SourcePosition, _ message: String, advice: String) {
        log.add(Diagnostic(.error, file: file, position: position, message: message, advice: advice))
    }
}
