import GRDB
package import KymographCore

/// Whether the hours of devices are complete, hour by hour (UTC): the ledger of each, as `kymo ledger` has it for the
/// device and the hour.
package struct LedgerHours: Sendable {
    /// What is known of an hour.
    package enum State: String, Sendable {
        /// Everything that is known to have been sent has been delivered.
        case complete
        /// So far; the hour is not over, or readings of it may still come.
        case running
        /// Something is open or missing.
        case incomplete
        /// There are no readings.
        case none
    }

    /// An hour of a device.
    package struct Hour: Sendable {
        /// Its start.
        package var start: Instant
        /// What is known of it.
        package var state: State
        /// Readings of this time, those of open windows among them.
        package var readings = 0
        /// Readings whose place others have taken.
        package var superseded = 0
        /// What is open or missing.
        package var missing: [String] = []
    }

    /// The hours of a device.
    package struct Device: Sendable {
        /// The device.
        package var device: IdentifierText
        /// The least of the store's numbers of its series.
        package var series: Int
        /// All hours of the span, in order.
        package var hours: [Hour]
    }

    /// The devices, in their order.
    package var devices: [Device] = []
    /// What is missing in the store, and nobody knows whose it is, or of which hour.
    package var storeWide: [String] = []
    /// Whether there are more devices or hours than an answer may have.
    package var isPartial = false

    /// Cells of an answer at most: a week of a patient with several devices.
    package static let mostCells = 2_000
    /// Devices at most.
    package static let mostDevices = 50

    /// The form of docs/timeline.md, without layout.
    package var json: [UInt8] {
        var object = JSONMembers()
        object.add("devices", list: devices.map(\.json))
        object.add("storeWide", texts: storeWide)
        object.add("isPartial", if: isPartial)
        return object.finished()
    }
}

extension LedgerHours.Device {
    fileprivate var json: [UInt8] {
        var object = JSONMembers()
        object.add("device", device.text)
        object.add("series", series)
        object.add("hours", list: hours.map(\.json))
        return object.finished()
    }
}

extension LedgerHours.Hour {
    fileprivate var json: [UInt8] {
        var object = JSONMembers()
        object.add("start", start.text)
        object.add("state", state.rawValue)
        object.add("readings", readings)
        if superseded > 0 { object.add("superseded", superseded) }
        if !missing.isEmpty { object.add("missing", texts: missing) }
        return object.finished()
    }
}

extension StoreReader {
    /// The hours from that of `from` up to that before `to`, of a device or of all devices of a patient.
    ///
    /// `isRunning` says that a process uses the store now. An hour is ``LedgerHours/State/running`` until `lateness`
    /// nanoseconds behind its end. Each hour has the readings with its times: of a window that crosses hours, these.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func ledgerHours(
        device: IdentifierText?, patient: IdentifierText?, from: Instant, to: Instant, now: Instant,
        lateness: Int64 = 0, isRunning: Bool
    ) throws(PipelineError) -> LedgerHours {
        let mark = StoreMark.read(in: directory)
        return try read { db in
            let types = try StoredTypes.types(db)
            let series = try StoredSeries.read(device: device, patient: patient, types: types, db)
            let first = LedgerOutcome.hour(of: from)
            let last = max(first, LedgerOutcome.hour(of: to.advanced(by: -1)))
            var reader = try LedgerHourReader(db, series, patient, mark)
            reader.settled = now.advanced(by: -lateness)
            try reader.read(db, hours: first...last)
            try reader.finish(db, isRunning: isRunning)
            return reader.hours
        }
    }
}

/// Gathers ``LedgerHours`` within one transaction.
private struct LedgerHourReader {
    private(set) var hours = LedgerHours()
    /// Hours that end at this time or before have what they are to have.
    var settled = Instant.distantPast
    /// Has read what all hours share.
    private let shared: LedgerReader
    private let series: [StoredSeries]
    private let patient: IdentifierText?
    /// By the series' number and the hour: the windows with readings in it, and how many these are.
    private var windows: [Place: [(row: Row, readings: Int)]] = [:]

    private struct Place: Hashable {
        var series: Int
        var hour: Int64
    }

    init(_ db: Database, _ series: [StoredSeries], _ patient: IdentifierText?, _ mark: StoreCounts?) throws {
        (self.series, self.patient) = (series, patient)
        var filter = ArchiveFilter()
        (filter.devices, filter.patients) = (Set(series.map(\.device)), patient.map { [$0] })
        var shared = try LedgerReader(db, filter, mark: mark, of: series)
        try shared.readSources(db)
        self.shared = shared
    }

    mutating func read(_ db: Database, hours span: ClosedRange<Int64>) throws {
        let devices = Dictionary(grouping: series, by: \.device).sorted { $0.key < $1.key }
        let shown = devices.prefix(LedgerHours.mostDevices)
        let count = min(span.count, max(1, LedgerHours.mostCells / max(1, shown.count)))
        hours.isPartial = shown.count < devices.count || count < span.count
        let span = span.lowerBound...(span.lowerBound + Int64(count) - 1)
        try readWindows(of: shown.flatMap(\.value), in: span, db)
        let tallies = try LedgerReader.tallies(db, hours: span)
        for (device, members) in shown {
            let cells = try span.map { try hour($0, of: device, members, tallies[$0] ?? [], db) }
            hours.devices.append(LedgerHours.Device(device: device, series: members[0].number, hours: cells))
        }
    }

    /// Reads the windows of the span once, and says of each how many of its readings each hour has.
    private mutating func readWindows(
        of series: [StoredSeries], in span: ClosedRange<Int64>, _ db: Database
    ) throws {
        let from = span.lowerBound * LedgerOutcome.hourLength
        let to = (span.upperBound + 1) * LedgerOutcome.hourLength
        try SeriesWindows(series).forEach("\(LedgerReader.columns), number", from: from, to: to, db) { row in
            let (number, first, last): (Int, Int64, Int64) = (row[0], row[11], row[12])
            let bounds = [first, last].map { LedgerOutcome.hour(of: Instant(nanoseconds: $0)) }
            let counts =
                bounds[0] == bounds[1] ? [bounds[0]: row[3] as Int] : try Self.hours(ofWindow: row[14], bounds, db)
            let kept = row.copy()
            for (hour, readings) in counts where span.contains(hour) {
                windows[Place(series: number, hour: hour), default: []].append((kept, readings))
            }
        }
    }

    /// How many readings of a window each hour has; of one that is damaged, none in its first and last.
    private static func hours(ofWindow number: Int64, _ bounds: [Int64], _ db: Database) throws -> [Int64: Int] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(ArchivedWindow.columns) FROM window JOIN series ON series.number = window.series
                WHERE window.number = ?
                """)
        var counts: [Int64: Int] = Dictionary(bounds.map { ($0, 0) }, uniquingKeysWith: +)
        _ = try Row.fetchOne(statement, arguments: [number]).map(ArchivedWindow.init)?.forEachReading { reading, _ in
            counts[LedgerOutcome.hour(of: reading.instant), default: 0] += 1
        }
        return counts
    }

    private func hour(
        _ hour: Int64, of device: IdentifierText, _ members: [StoredSeries], _ tallies: [LedgerReader.Tally],
        _ db: Database
    ) throws -> LedgerHours.Hour {
        var filter = ArchiveFilter()
        (filter.devices, filter.patients) = ([device], patient.map { [$0] })
        let start = Instant(nanoseconds: hour * LedgerOutcome.hourLength)
        let end = Instant(nanoseconds: (hour + 1) * LedgerOutcome.hourLength)
        (filter.from, filter.to) = (start, end)
        var reader = shared.asked(filter, of: Set(members.map(\.number)))
        for one in members {
            for (row, readings) in windows[Place(series: one.number, hour: hour)] ?? [] {
                try reader.take(row, type: one.identity.type, readings: readings, db)
            }
        }
        for tally in tallies { reader.take(tally) }
        reader.readOpen()
        let report = reader.finishSpan()
        let readings = report.series.reduce(0) { $0 + $1.readings + $1.open }
        // The first sentence says that there are none, which is a state here.
        var missing = report.series.isEmpty ? Array(report.missing.dropFirst()) : report.missing
        let late = reader.lackingWindows
        if late > 0 { missing.append("a server lacks the latest version of \(late) window\(late == 1 ? "" : "s")") }
        return LedgerHours.Hour(
            start: start, state: state(report, missing, until: end), readings: readings,
            superseded: report.superseded, missing: missing)
    }

    private func state(_ report: LedgerReport, _ missing: [String], until end: Instant) -> LedgerHours.State {
        guard missing.isEmpty else { return .incomplete }
        guard !report.series.isEmpty else { return .none }
        return end > settled ? .running : .complete
    }

    mutating func finish(_ db: Database, isRunning: Bool) throws {
        var reader = shared
        hours.storeWide = try reader.finishStore(db, isRunning: isRunning).missing
    }
}
