/// The windows that a journal leaves open, as a run that took it up would have them. Nothing is received meanwhile, and
/// nothing leaves before the end.
package struct UnclosedWindows<Archive: WindowArchive & ~Copyable>: ~Copyable {
    private var machine: WindowMachine<Archive>
    /// What the archive has of windows that readings of the journal belong to.
    private var archivedThrough: [WindowName: JournalPlace?] = [:]
    /// Readings that no window takes, by the reason for which a run would reject them.
    package private(set) var rejected: [Rejection: Int] = [:]

    /// Of an empty journal. A series' type is an index into `types`. The `archive` gives what closed windows had, and
    /// is given the windows that are open in the end.
    package init(types: [MeasurementType], archive: consuming Archive) {
        // What a run has taken was within its limits.
        let most = Int(Int32.max)
        var settings = WindowSettings(
            idle: 0,
            limits: WindowLimits(
                maxDevices: most, maxSeries: most, maxOpenWindows: most, maxReadingsPerWindow: most,
                preliminaryEvery: 0))
        // A letter that was taken again, and that no run has looked at, may be filed for another patient than the
        // device's readings of its time. What a run has accepted stays.
        settings.deviceGuard = EveryDevice()
        machine = WindowMachine(types: types, settings: settings, archive: archive)
        machine.setReplaying(true)
    }

    /// Takes the readings of `block`, which comes behind those before, except those at the places `withdrawn`.
    ///
    /// `through` says how far the journal is in the archived content of the window of a series, by the store's number,
    /// with this start in the archive. `series` gives the ``SeriesKey`` of a number, or nil when its readings are not
    /// asked for. False when the block is damaged; what came before the damage has been taken.
    package mutating func take(
        _ block: JournalBlock, except withdrawn: Set<Int>, through: (Int, Instant) throws -> JournalPlace?,
        series: (Int) throws -> [UInt8]?
    ) rethrows -> Bool {
        machine.journal(from: block.number)
        return try block.bytes.withByteView { bytes in
            guard var reader = JournalReader(bytes) else { return false }
            while let record = reader.next() {
                let place = JournalPlace(block: block.number, index: reader.read - 1)
                guard !withdrawn.contains(place.index), let key = try series(record.series) else { continue }
                guard let number = machine.define(key.withByteView { SeriesKey.identity($0) }) else { continue }
                if try !isArchived(record, of: number, place, through) { take(record, of: number) }
            }
            return reader.isComplete && reader.read == block.count
        }
    }

    private mutating func isArchived(
        _ record: JournalReader.Record, of series: Int, _ place: JournalPlace,
        _ through: (Int, Instant) throws -> JournalPlace?
    ) rethrows -> Bool {
        let instant = record.reading.instant
        guard !machine.isOpen(series: series, at: instant) else { return false }
        let name = WindowName(series: record.series, start: machine.archiveStart(series: series, at: instant))
        let known: JournalPlace?
        if let former = archivedThrough[name] {
            known = former
        } else {
            known = try through(name.series, name.start)
            archivedThrough[name] = .some(known)
        }
        return known.map { place < $0 } ?? false
    }

    private mutating func take(_ record: JournalReader.Record, of series: Int) {
        if record.retracts {
            _ = machine.removeRetracted(series: series, record.reading, payload: record.payload)
        } else if record.moves {
            _ = machine.remove(series: series, record.reading, payload: record.payload)
        } else if case .rejected(let reason) = machine.add(
            series: series, record.reading, payload: record.payload)
        {
            rejected[reason, default: 0] += 1
        }
    }

    /// Gives the archive all windows that differ from what it has.
    package mutating func end() {
        machine.drain()
        while let emission = machine.nextEmission() { machine.settle(emission) }
    }
}

/// Any device is of one patient at a time.
private final class EveryDevice: DeviceGuard {
    let generation = 0

    func holds(_ device: [UInt8]) -> Bool { true }
}
