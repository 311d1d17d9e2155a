import GRDB
public import KymographCore

/// Which archived windows are asked for. What is nil does not matter.
public struct ArchiveFilter: Sendable {
    /// Name of the type, as the mapping spells it.
    public var type: String?
    /// Names of types, one of which it must be: those of a tag.
    public var types: Set<String>?
    /// Device.
    public var device: String?
    /// Patient.
    public var patient: String?
    /// Windows with readings at this time or later.
    public var from: Instant?
    /// Windows with readings before this time.
    public var to: Instant?
    /// Windows that were written at this time or later.
    public var modifiedFrom: Instant?
    /// Windows that were written before this time.
    public var modifiedTo: Instant?

    /// Everything.
    public init() {}

    /// SQL that follows WHERE for `window` joined with `series`, and its arguments. `types` are those of the store.
    func condition(types: [MeasurementType]) -> (sql: String, arguments: StatementArguments) {
        var parts = ["true"]
        var arguments = StatementArguments()
        func demand(_ sql: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            parts.append(sql)
            arguments += [value]
        }
        if type != nil || self.types != nil {
            let numbers = types.indices.filter { isWanted(types[$0]) }.map(String.init)
            parts.append("series.type IN (\(numbers.joined(separator: ", ")))")
        }
        demand("series.device = ?", device)
        demand("series.patient = ?", patient)
        demand("window.last >= ?", from?.nanoseconds)
        demand("window.start >= ?", earliestStart(types))
        demand("window.first < ?", to?.nanoseconds)
        demand("window.start < ?", to?.nanoseconds)
        demand("window.modified >= ?", modifiedFrom?.nanoseconds)
        demand("window.modified < ?", modifiedTo?.nanoseconds)
        return (parts.joined(separator: " AND "), arguments)
    }

    private func isWanted(_ candidate: MeasurementType) -> Bool {
        (type == nil || candidate.name == type) && (types?.contains(candidate.name) ?? true)
    }

    /// The start of the longest window that can have readings at ``from``: spares looking at all that came before.
    /// Nil where a window can cover all time.
    private func earliestStart(_ types: [MeasurementType]) -> Int64? {
        guard let from else { return nil }
        let chosen = types.filter(isWanted)
        guard !chosen.contains(where: { $0.grouping == .correlation }) else { return nil }
        return chosen.map { $0.grouping.archiveStart(around: from).nanoseconds }.min()
    }
}

/// A place in the order of archived windows: latest start first. Windows that are archived meanwhile do not move it.
public struct ArchiveCursor: Hashable, Sendable {
    let start: Int64
    let series: Int

    init(start: Int64, series: Int) {
        self.start = start
        self.series = series
    }

    /// The cursor that ``text`` was made of; nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0], radix: 36), let series = Int(parts[1], radix: 36),
            series >= 0
        else { return nil }
        (self.start, self.series) = (start, series)
    }

    /// An opaque text.
    public var text: String { String(start, radix: 36) + "_" + String(series, radix: 36) }
}
