import GRDB
package import KymographCore

/// A closed window of a timeline, without its readings.
package struct TimelineWindow: Sendable {
    /// Names it in the store.
    package var cursor: ArchiveCursor
    /// Start, and the first instant behind it; of a correlation its first and last reading.
    package var start: Instant
    package var end: Instant
    /// Its first and last reading.
    package var first: Instant
    package var last: Instant
    /// How many it has.
    package var readings: Int
    /// How often it was written, from 1.
    package var revision: Int
    /// When it was written last.
    package var modified: Instant
    /// Whether it was written again because its readings changed.
    package var isAmended: Bool
}

extension TimelineWindow {
    init(_ row: Row, _ grouping: Grouping) {
        func instant(_ column: String) -> Instant { Instant(nanoseconds: row[column]) }
        let isOpenEnded = grouping == .correlation
        cursor = ArchiveCursor(start: row["start"], series: row["series"])
        (first, last, modified) = (instant("first"), instant("last"), instant("modified"))
        (start, end) = isOpenEnded ? (first, last) : (instant("start"), instant("end"))
        (readings, revision) = (row["readings"], row["revision"])
        isAmended = revision > 1 && grouping != .instance
    }

    /// The form of docs/timeline.md, without layout.
    package var json: [UInt8] {
        var object = JSONMembers()
        object.add("id", cursor.text)
        for (name, instant) in [("start" as StaticString, start), ("end", end), ("first", first), ("last", last)] {
            object.add(name, instant.text)
        }
        object.add("readings", readings)
        object.add("revision", revision)
        object.add("modified", modified.text)
        object.add("isAmended", if: isAmended)
        return object.finished()
    }
}

/// A window with its readings and, where there are mappings, its Observations.
package struct TimelineWindowDetail: Sendable {
    /// The window.
    package var window: TimelineWindow
    /// Its readings in the reference system's form, one JSON object each.
    package var readings: [[UInt8]] = []
    /// Its Observations, one JSON object each.
    package var observations: [[UInt8]] = []
    /// Whether there are more readings.
    package var isPartial = false
    /// Whether its readings are damaged.
    package var isDamaged = false

    /// The form of docs/timeline.md, without layout.
    package var json: [UInt8] {
        var object = JSONMembers()
        object.add("window", json: window.json)
        object.add("readings", list: readings)
        object.add("observations", list: observations)
        object.add("isPartial", if: isPartial)
        object.add("isDamaged", if: isDamaged)
        return object.finished()
    }
}

extension StoreReader {
    /// The closed windows of a series with readings in a span, at most `limit` of them, earliest first.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func timelineWindows(
        series: Int, from: Instant, to: Instant, limit: Int
    ) throws(PipelineError) -> [TimelineWindow] {
        try read { db in
            let types = try StoredTypes.types(db)
            guard let one = try StoredSeries.read(number: series, types: types, db) else { return [] }
            var windows: [TimelineWindow] = []
            try SeriesWindows([one]).forEach(
                "start, series, \"end\", first, last, readings, revision, modified", from: from.nanoseconds,
                to: to.nanoseconds, limit: limit, db
            ) { windows.append(TimelineWindow($0, one.grouping)) }
            return windows
        }
    }

    /// The window that `cursor` names, with at most `limit` readings, and the Observations that `set`, which continues
    /// the types of the store, makes of it; nil when there is no such window. With `naming`, identifiers are what it
    /// makes of them, and values that are no numbers are hidden.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func timelineWindow(
        _ cursor: ArchiveCursor, set: MappingSet?, options: ObservationOptions = ObservationOptions(), limit: Int,
        naming: (([UInt8]) -> [UInt8])? = nil
    ) throws(PipelineError) -> TimelineWindowDetail? {
        try read { db in
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT \(ArchivedWindow.columns) FROM window JOIN series ON series.number = window.series
                    WHERE window.start = ? AND window.series = ?
                    """, arguments: [cursor.start, cursor.series])
            let types = try StoredTypes.types(db)
            guard let row else { return nil }
            let window = ArchivedWindow(row)
            guard types.indices.contains(window.series.type) else { return nil }
            let type = types[window.series.type]
            guard !type.isUnknown else { return nil }
            var detail = TimelineWindowDetail(window: TimelineWindow(row, type.grouping))
            detail.takeReadings(of: window, type, limit: limit, naming: naming)
            if let set, set.types.indices.contains(window.series.type), set.fhirTemplates[window.series.type] != nil {
                var encoder = ArchiveEncoder(set: set, options: options)
                detail.observations = encoder.observations(of: window) ?? []
            }
            return detail
        }
    }
}

extension TimelineWindowDetail {
    init(window: TimelineWindow) { self.window = window }

    fileprivate mutating func takeReadings(
        of window: ArchivedWindow, _ type: MeasurementType, limit: Int, naming: (([UInt8]) -> [UInt8])?
    ) {
        var identity = window.series
        if let naming {
            identity.device = naming(identity.device)
            identity.patient = identity.patient.map(naming)
            identity.encounter = identity.encounter.map(naming)
            identity.correlation = identity.correlation.map(naming)
        }
        var texts: [[UInt8]] = []
        var writer = ByteWriter()
        let isWhole = window.forEachReading { reading, payload in
            guard texts.count < limit else { return }
            MeasurementJSON.append(
                reading, payload: payload, type: type, identity: identity, mask: naming == nil ? nil : "masked",
                to: &writer)
            texts.append(writer.view.array)
            writer.removeAll()
        }
        (readings, isDamaged) = (texts, !isWhole)
        isPartial = isWhole && window.readings > texts.count
    }
}
