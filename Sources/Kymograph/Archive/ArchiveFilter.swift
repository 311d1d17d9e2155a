import GRDB
package import KymographCore

/// Which archived windows are asked for. What is nil does not matter.
package struct ArchiveFilter: Sendable {
    /// Names of types, as the mapping spells them, one of which it must be.
    package var typeNames: Set<String>?
    /// Tags, one of which it must have.
    package var tags: ArchiveTags?
    /// Devices, one of which it must be.
    package var devices: Set<IdentifierText>?
    /// Patients, one of whom it must be.
    package var patients: Set<IdentifierText>?
    /// Numbers of sources, one of which has brought some of the readings.
    package var sources: Set<Int>?
    /// Windows with readings at this time or later.
    package var from: Instant?
    /// Windows with readings before this time.
    package var to: Instant?
    /// Windows that were written at this time or later.
    package var modifiedFrom: Instant?
    /// Windows that were written before this time.
    package var modifiedTo: Instant?

    /// Everything.
    package init() {}

    /// SQL that follows WHERE for `window` joined with `series`, and its arguments. `types` are those of the store.
    /// With `understood`, windows are left out whose type has a form that this version does not know.
    func condition(
        types: [MeasurementType], understood: Bool = false
    ) -> (sql: String, arguments: StatementArguments) {
        var parts = ["true"]
        var arguments = StatementArguments()
        func demand(_ sql: String, _ value: (any DatabaseValueConvertible)?) {
            guard let value else { return }
            parts.append(sql)
            arguments += [value]
        }
        if typeNames != nil || understood && types.contains(where: \.isUnknown) {
            let numbers = types.indices.filter { isWanted(types[$0]) && !types[$0].isUnknown }.map(String.init)
            parts.append("series.type IN (\(numbers.joined(separator: ", ")))")
        }
        for (sql, values) in [
            ArchiveFilter.among("series.device", devices), ArchiveFilter.among("series.patient", patients),
        ] {
            parts.append(sql)
            arguments += values
        }
        if let sources {
            let shares = sources.sorted().map { "' ' || window.sources GLOB '* \($0):*'" }
            parts.append("(\(shares.isEmpty ? "false" : shares.joined(separator: " OR ")))")
        }
        demand("window.last >= ?", from?.nanoseconds)
        demand("window.start >= ?", earliestStart(types))
        demand("window.first < ?", to?.nanoseconds)
        demand("window.start < ?", to?.nanoseconds)
        demand("window.modified >= ?", modifiedFrom?.nanoseconds)
        demand("window.modified < ?", modifiedTo?.nanoseconds)
        return (parts.joined(separator: " AND "), arguments)
    }

    /// SQL that says that `column` has one of `values`, and its arguments; nil stands for any.
    static func among(_ column: String, _ values: Set<IdentifierText>?) -> (sql: String, arguments: StatementArguments)
    {
        guard let values else { return ("true", StatementArguments()) }
        let places = values.map { _ in "?" }.joined(separator: ", ")
        return ("\(column) IN (\(places))", StatementArguments(values.sorted().map(\.text)))
    }

    /// SQL that follows WHERE for `series` alone: devices and patients.
    var seriesCondition: (sql: String, arguments: StatementArguments) {
        let (device, devices) = ArchiveFilter.among("device", devices)
        let (patient, patients) = ArchiveFilter.among("patient", patients)
        return ("\(device) AND \(patient)", devices + patients)
    }

    /// Whether the type is asked for.
    func isWanted(_ candidate: MeasurementType) -> Bool {
        typeNames?.contains(candidate.name) ?? true
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
package struct ArchiveCursor: Hashable, Sendable {
    let start: Int64
    let series: Int

    init(start: Int64, series: Int) {
        self.start = start
        self.series = series
    }

    /// The cursor that ``text`` was made of; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 2, let start = Int64(parts[0], radix: 36), let series = Int(parts[1], radix: 36),
            series >= 0
        else { return nil }
        (self.start, self.series) = (start, series)
    }

    /// Whether it is of a window that comes before that of `other`: latest start first.
    func comes(before other: ArchiveCursor) -> Bool { (start, series) > (other.start, other.series) }

    /// An opaque text.
    package var text: String { String(start, radix: 36) + "_" + String(series, radix: 36) }
}
