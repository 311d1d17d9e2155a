import FoundationEssentials
import GRDB
import KymographCore

extension StoreReader {
    /// The ledger for the windows that `filter` asks for; of the filter, type and modification are not used.
    /// `isRunning` says that a process uses the store now.
    ///
    /// - Throws: ``PipelineError`` when the database cannot be read.
    package func ledger(_ filter: ArchiveFilter, isRunning: Bool) throws(PipelineError) -> LedgerReport {
        // Before the database, which would otherwise seem to lack what is committed meanwhile.
        let mark = StoreMark.read(in: directory)
        return try read { db in
            var reader = try LedgerReader(db, filter, mark: mark)
            try reader.readSources(db)
            try reader.readWindows(db)
            try reader.readTallies(db)
            reader.readOpen()
            var report = try reader.finish(db, isRunning: isRunning)
            report.topics = try LedgerReport.Topic.stored(db)
            report.replayed = try SettledLetters.reasons(db)
            return report
        }
    }
}

/// Gathers a ``LedgerReport`` within one transaction.
struct LedgerReader {
    private var filter: ArchiveFilter
    private let types: [MeasurementType]
    private let open: OpenReadings
    private var sinks: [String: Int64] = [:]
    private var sources: [Int: LedgerReport.Source] = [:]
    private var series: [Int: LedgerReport.Series] = [:]
    private var report = LedgerReport()
    /// By the number of the type, the slot of its readings' sequence numbers.
    private let sequenceSlots: [Int?]
    private var sequence = SequenceNumbers()
    /// Frames that never came, by device, less those that came late.
    private var missingFrames: [IdentifierText: Int] = [:]
    /// Readings of archived windows that are open again because these readings have moved to other times, by series.
    private var leaving: [Int: Int] = [:]
    private var undelivered: [String: Int] = [:]
    private let lacking: LackingResources
    /// Windows of which a server lacks the latest version.
    private(set) var lackingWindows = 0
    /// Whether hours alone are asked for.
    private let isBrief: Bool
    /// Windows that a sink was ended without, by the sink.
    private var givenUp: [String: Int] = [:]
    /// Whether windows are listed one by one.
    private var listsWindows: Bool {
        !isBrief && hasFilter
    }
    private var hasFilter: Bool {
        filter.devices != nil || filter.patients != nil || filter.from != nil || filter.to != nil
    }

    /// Reads what all windows share. A reader of `hours` lists no windows, and of the balance it knows what is lost, by
    /// the store's counters: sums of the whole store are for the whole ledger.
    init(_ db: Database, _ filter: ArchiveFilter, mark: StoreCounts?, of hours: [StoredSeries]? = nil) throws {
        self.filter = filter
        isBrief = hours != nil
        types = try StoredTypes.types(db)
        open = try OpenReadings(db, types: types, of: hours.map { Set($0.map(\.number)) })
        lacking = try LackingResources(db)
        sequenceSlots = types.map(\.sequenceSlot)
        report.balance =
            isBrief
            ? try LedgerTotals.lost(db, mark: mark) : try LedgerTotals(db, open: open, mark: mark).balance
        (report.from, report.to) = (filter.from?.text, filter.to?.text)
    }

    mutating func readSources(_ db: Database) throws {
        for row in try Row.fetchAll(db, sql: "SELECT number, name FROM source") {
            sources[row[0]] = LedgerReport.Source(name: row[1])
        }
        for row in try Row.fetchAll(db, sql: "SELECT name, through FROM sink") { sinks[row[0]] = row[1] }
        let (condition, arguments) = filter.seriesCondition
        let rows = try Row.fetchAll(
            db, sql: "SELECT number, type, device, patient, encounter FROM series WHERE \(condition)",
            arguments: arguments)
        func text(_ column: String?) -> IdentifierText? { column.map { IdentifierText($0) } }
        for row in rows {
            let type: Int = row[1]
            series[row[0]] = LedgerReport.Series(
                type: types.indices.contains(type) ? types[type].name : "type \(type)", device: IdentifierText(row[2]),
                patient: text(row[3]), encounter: text(row[4]))
        }
    }

    /// A reader that has read the same of the store, for windows of `numbers`, and nothing of these yet.
    func asked(_ filter: ArchiveFilter, of numbers: Set<Int>) -> LedgerReader {
        var reader = self
        reader.filter = filter
        reader.series = series.filter { numbers.contains($0.key) }
        (reader.report.from, reader.report.to) = (filter.from?.text, filter.to?.text)
        return reader
    }

    mutating func readWindows(_ db: Database) throws {
        let (condition, arguments) = filter.condition(types: types)
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(Self.columns), series.type
                FROM window JOIN series ON series.number = window.series
                WHERE \(condition) ORDER BY start, window.series
                """, arguments: arguments)
        while let row = try rows.next() { try take(row, type: row[14], readings: row[3], db) }
    }

    /// What ``take(_:type:readings:_:)`` needs of a window.
    static let columns = """
        window.series, window.start, "end", readings, sources, merged, duplicates, conflicts, revision, modified,
        outbox, first, last, sinks
        """

    /// Takes a window of a type, of which `readings` are in the span.
    mutating func take(_ row: Row, type: Int, readings: Int, _ db: Database) throws {
        let number: Int = row[0]
        guard var owner = series[number] else { return }
        owner.windows += 1
        owner.readings += readings
        owner.merged += row[5]
        owner.duplicate += row[6]
        owner.conflict += row[7]
        series[number] = owner
        if let slot = sequenceSlots[type] { try readSequence(slot, number, row[1], owner.device, db) }
        let shares = SourceShares.parse(row[4])
        for (source, count) in shares { sources[source, default: LedgerReader.others].inWindows += count }
        let outbox: Int64 = row[10]
        let names = (row[13] as String? ?? "").split(separator: "\n").map(String.init)
        var delivered = sinks.filter { names.contains($0.key) }.mapValues { $0 >= outbox }
        for (sink, isDelivered) in delivered where !isDelivered { undelivered[sink, default: 0] += 1 }
        let start = Instant(nanoseconds: row[1])
        let lackingSinks = lacking.sinks(of: outbox, device: owner.device, start: start)
        for sink in lackingSinks { delivered[sink] = false }
        if !lackingSinks.isEmpty { lackingWindows += 1 }
        let lost = names.filter { $0.hasPrefix(OutboxRow.givenUp) }.map { String($0.dropFirst()) }
        for sink in lost { givenUp[sink, default: 0] += 1 }
        if outbox > 0, sinks.isEmpty { undelivered["any sink", default: 0] += 1 }
        guard listsWindows else { return }
        let isOpenEnded = row[1] as Int64 == 0 && row[11] as Int64 != 0
        report.windows.append(
            LedgerReport.Window(
                type: owner.type, device: owner.device,
                start: Instant(nanoseconds: isOpenEnded ? row[11] : row[1]).text,
                end: Instant(nanoseconds: isOpenEnded ? row[12] : row[2]).text, readings: row[3],
                sources: LedgerReader.byName(shares, sources), merged: row[5], duplicate: row[6], conflict: row[7],
                revision: row[8], modified: Instant(nanoseconds: row[9]).text, delivered: delivered, givenUp: lost,
                // Single readings left with many bundles, of which the row names none.
                receipts: try types[type].grouping == .instance ? [:] : receipts(outbox, db)))
    }

    private mutating func readSequence(
        _ slot: Int, _ number: Int, _ start: Int64, _ device: IdentifierText, _ db: Database
    ) throws {
        let row = try Row.fetchOne(
            db,
            sql: """
                SELECT \(ArchivedWindow.columns) FROM window JOIN series ON series.number = window.series
                WHERE window.start = ? AND window.series = ?
                """, arguments: [start, number])
        let (from, to) = span
        var found: [(Int64, Int64)] = []
        _ = row.map(ArchivedWindow.init)?.forEachReading { reading, payload in
            let instant = reading.instant.nanoseconds
            guard instant >= from, instant < to else { return }
            if let number = SequenceNumbers.number(slot, reading, payload) { found.append((instant, number)) }
        }
        for (instant, number) in found { sequence.add(number, at: instant, device: device) }
    }

    /// Nanoseconds of the span.
    private var span: (from: Int64, to: Int64) {
        (filter.from?.nanoseconds ?? .min, filter.to?.nanoseconds ?? .max)
    }

    /// Stands for sources beyond the numbers that there are.
    private static let others = LedgerReport.Source(name: "other sources")

    private static func byName(
        _ shares: [(source: Int, count: Int)], _ sources: [Int: LedgerReport.Source]
    ) -> [String: Int] {
        var named: [String: Int] = [:]
        for (source, count) in shares { named[sources[source, default: others].name, default: 0] += count }
        return named
    }

    private func receipts(_ outbox: Int64, _ db: Database) throws -> [String: Int] {
        guard outbox > 0 else { return [:] }
        var counts: [String: Int] = [:]
        let rows = try Row.fetchAll(
            db, sql: "SELECT sink, status, count(*) FROM receipt WHERE outbox = ? GROUP BY sink, status",
            arguments: [outbox])
        for row in rows { counts["\(row[0] as String) \(DeliveryReceipt.text(ofStored: row[1]))"] = row[2] }
        return counts
    }

    /// Counts of the hours that the span touches: those of series by the readings' own times, others by the time of
    /// receipt.
    mutating func readTallies(_ db: Database) throws {
        let first = filter.from.map(LedgerOutcome.hour) ?? .min
        let last = filter.to.map { LedgerOutcome.hour(of: $0.advanced(by: -1)) } ?? .max
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT source, series, outcome, count FROM \(try SettledLetters.counted(db))
                WHERE hour BETWEEN ? AND ?
                """, arguments: [first, last])
        while let row = try rows.next() { take(Tally(row)) }
    }

    /// A count of an hour.
    struct Tally {
        var source: Int
        var series: Int
        var outcome: String
        var count: Int

        /// Of the first four columns.
        init(_ row: Row) { (source, series, outcome, count) = (row[0], row[1], row[2], row[3]) }
    }

    /// The counts of each of `hours`.
    static func tallies(_ db: Database, hours: ClosedRange<Int64>) throws -> [Int64: [Tally]] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT source, series, outcome, count, hour FROM \(try SettledLetters.counted(db))
                WHERE hour BETWEEN ? AND ?
                """, arguments: [hours.lowerBound, hours.upperBound])
        var tallies: [Int64: [Tally]] = [:]
        while let row = try rows.next() { tallies[row[4], default: []].append(Tally(row)) }
        return tallies
    }

    /// Takes one of the counts of the span.
    mutating func take(_ tally: Tally) {
        let (source, number, outcome, count) = (tally.source, tally.series, tally.outcome, tally.count)
        if let gap = LedgerOutcome.gap(outcome, count) {
            missingFrames[gap.device, default: 0] += gap.missing - gap.late
            return
        }
        let isRejection = !LedgerOutcome.names.contains(outcome)
        if number >= 0 {
            guard series[number] != nil else { return }
            if isRejection { series[number]?.rejected[outcome, default: 0] += count }
            if outcome == LedgerOutcome.unreplaced {
                series[number]?.rejected[Rejection.superseded.name, default: 0] -= count
            }
            if outcome == LedgerOutcome.unretracted {
                series[number]?.rejected[Rejection.retracted.name, default: 0] -= count
            }
            if outcome == LedgerOutcome.droppedReadings { series[number]?.dropped += count }
        } else if source >= 0 {
            if outcome == LedgerOutcome.received { sources[source, default: Self.others].received += count }
            if outcome == LedgerOutcome.kernelDropped { sources[source, default: Self.others].kernelDropped += count }
            if isRejection { sources[source, default: Self.others].rejected[outcome, default: 0] += count }
        }
    }

    mutating func readOpen() {
        let (from, to) = span
        for number in Set(open.instants.keys).union(open.left.keys) {
            guard let device = series[number]?.device else { continue }
            let present = open.instants[number]?.count { $0 >= from && $0 < to } ?? 0
            let left = open.left[number]?.count { $0 >= from && $0 < to } ?? 0
            series[number]?.open = max(0, present - left)
            // The archive has them still.
            if left > present { leaving[number] = left - present }
            for (instant, number) in open.sequences[number] ?? [] where instant >= from && instant < to {
                sequence.add(number, at: instant, device: device)
            }
        }
    }

    // MARK: What is missing

    mutating func finish(_ db: Database, isRunning: Bool) throws -> LedgerReport {
        _ = finishSpan()
        return try finishStore(db, isRunning: isRunning)
    }

    /// What is missing of the devices and hours that were asked for.
    mutating func finishSpan() -> LedgerReport {
        for (number, one) in series { series[number]?.rejected = one.rejected.filter { $0.value > 0 } }
        for (number, one) in sources { sources[number]?.rejected = one.rejected.filter { $0.value > 0 } }
        report.sources = sources.sorted { $0.key < $1.key }.map(\.value)
        report.series = series.sorted { $0.key < $1.key }.map(\.value).filter {
            $0.windows + $0.open + $0.dropped > 0 || !$0.rejected.isEmpty
        }
        if report.series.isEmpty { report.missing.append("there are no readings") }
        for one in report.series { noteMissing(one) }
        noteLeaving()
        report.sequenceGaps = LedgerReport.DeviceGap.list(sequence.missing)
        for gap in report.sequenceGaps where gap.missing > 0 {
            let messages = CountText.of(gap.missing, one: "message is", many: "messages are")
            report.missing.append("\(gap.device): \(messages) missing by their sequence numbers")
        }
        noteMissingFrames()
        for (sink, count) in givenUp.sorted(by: { $0.key < $1.key }) {
            let windows = CountText.of(count, one: "window was", many: "windows were")
            report.missing.append("\(windows) given up for \(sink), which was no sink of theirs any more")
        }
        for (sink, count) in undelivered.sorted(by: { $0.key < $1.key }) {
            let windows = CountText.of(count, one: "window is", many: "windows are")
            report.missing.append("\(windows) not delivered to \(sink) yet")
        }
        for source in report.sources where !hasFilter || source.inWindows > 0 { noteMissing(source) }
        return report
    }

    /// What is missing, too, and nobody knows whose it is, or of which hour.
    mutating func finishStore(_ db: Database, isRunning: Bool) throws -> LedgerReport {
        noteLacking()
        try noteRefused(db)
        try noteDamaged(db)
        noteLost()
        try noteInterruptions(db, isRunning: isRunning)
        return report
    }

    /// What servers were sent and have not taken, since they keep what they have.
    private mutating func noteLacking() {
        report.lacking = lacking.bySink
        report.missing += lacking.sentences
    }

    /// Entries that a server has not taken, and those that were sent again since and are not taken yet.
    private mutating func noteRefused(_ db: Database) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT reason, count(*) FROM dead WHERE kind = 'entry' AND replayed IS NULL GROUP BY reason")
        let refused = ReasonCounts(Dictionary(rows.map { ($0[0] as String, $0[1] as Int) }, uniquingKeysWith: +))
        if refused.total > 0 {
            let entries = CountText.of(refused.total, one: "entry was", many: "entries were")
            report.missing.append("\(entries) put aside for a server (\(refused.reasons)): see 'kymo dead list'")
        }
        let waiting = try Int.fetchOne(
            db,
            sql: """
                SELECT count(*) FROM dead WHERE kind = 'entry' AND replayed IS NOT NULL
                    AND outbox > (SELECT through FROM sink WHERE name = source)
                """)
        if let waiting, waiting > 0 {
            report.missing.append("\(CountText.of(waiting, one: "entry waits", many: "entries wait")) to be sent again")
        }
    }

    /// Readings that the store had, and has no more. Whose they were is not known.
    private mutating func noteLost() {
        let (lost, isAtLeast) = (report.balance.lost, report.balance.isLostAtLeast)
        guard lost > 0 || isAtLeast else { return }
        let text = LostReadings.text(lost, isAtLeast: isAtLeast)
        report.missing.append(
            "\(text) that were acknowledged \(isAtLeast ? "may be" : "are") lost: the store was damaged")
    }

    /// Bundles that sinks have passed over because nobody could read them. Whose they were is not known.
    private mutating func noteDamaged(_ db: Database) throws {
        let places = try String.fetchAll(db, sql: "SELECT place FROM quarantine WHERE place LIKE 'outbox %'")
        let known = places.count { $0 != StoreSalvage.lostBundles }
        if known > 0 {
            let bundles = CountText.of(known, one: "bundle was", many: "bundles were")
            report.missing.append("\(bundles) damaged before all sinks had \(known == 1 ? "it" : "them")")
        }
        guard known < places.count else { return }
        report.missing.append("bundles that waited for sinks were lost when the store was repaired")
    }

    /// Of a patient, those of the devices that gave readings; frames that never came name nobody.
    private mutating func noteMissingFrames() {
        let known = Set(series.values.map(\.device))
        for (device, count) in missingFrames.sorted(by: { $0.key < $1.key }) where count > 0 {
            let isAsked = filter.devices?.contains(device) ?? (filter.patients == nil || known.contains(device))
            guard isAsked else { continue }
            report.missingFrames.append(LedgerReport.DeviceGap(device: device, missing: count))
            report.missing.append(
                "\(device.isEmpty ? "a device without identifier" : device): "
                    + "\(CountText.of(count, "frame")) never came, by the numbers of the bridge")
        }
    }

    private mutating func noteMissing(_ one: LedgerReport.Series) {
        let name = "\(one.device) \(one.type)"
        if one.open > 0 {
            let readings = CountText.of(one.open, one: "reading is", many: "readings are")
            report.missing.append("\(name): \(readings) in windows that are still open")
        }
        for (reason, count) in one.rejected.sorted(by: { $0.key < $1.key }) {
            // Neither is missing.
            if reason == Rejection.superseded.name {
                report.superseded += count
            } else if reason == Rejection.retracted.name {
                report.retracted += count
            } else {
                report.missing.append("\(name): \(Self.readings(count)) rejected: \(reason)")
            }
        }
        if one.dropped > 0 {
            let readings = CountText.of(one.dropped, "reading")
            report.missing.append("\(name): the archive has dropped windows with \(readings)")
        }
    }

    private mutating func noteLeaving() {
        for (number, count) in leaving.sorted(by: { $0.key < $1.key }) {
            guard let one = series[number] else { continue }
            let readings = CountText.of(count, one: "reading has", many: "readings have")
            report.missing.append("\(one.device) \(one.type): \(readings) left windows that are still open")
        }
    }

    private mutating func noteMissing(_ source: LedgerReport.Source) {
        for (reason, count) in source.rejected.sorted(by: { $0.key < $1.key }) {
            let device = count == 1 ? "its device" : "their device"
            report.missing.append(
                "\(source.name): \(Self.readings(count)) rejected before \(device) was known: \(reason)")
        }
        if source.kernelDropped > 0 {
            let datagrams = CountText.of(source.kernelDropped, "datagram")
            report.missing.append("\(source.name): the kernel dropped \(datagrams)")
        }
    }

    /// What was done to so many readings: `1 reading was`.
    private static func readings(_ count: Int) -> String {
        CountText.of(count, one: "reading was", many: "readings were")
    }

    private mutating func noteInterruptions(_ db: Database, isRunning: Bool) throws {
        let lost = report.balance.onTheWay
        guard lost > 0 else { return }
        let runs = try InterruptedRuns(db, isRunning: isRunning)
        if let last = runs.began.last {
            report.missing.append(
                "\(Self.readings(lost)) on \(lost == 1 ? "its" : "their") way when a run was killed, which had begun "
                    + "at \(last.text)")
        } else if !isRunning {
            report.missing.append("\(CountText.of(lost, one: "reading is", many: "readings are")) unaccounted for")
        }
    }
}

/// Runs that did not end as they should.
struct InterruptedRuns {
    /// When they began, oldest first.
    let began: [Instant]

    init(_ db: Database, isRunning: Bool) throws {
        let rows = try Int64.fetchAll(
            db,
            sql: """
                SELECT began FROM run WHERE ended IS NULL AND number < ? ORDER BY number
                """, arguments: [isRunning ? try Int64.fetchOne(db, sql: "SELECT max(number) FROM run") ?? 0 : .max])
        began = rows.map { Instant(nanoseconds: $0) }
    }
}
