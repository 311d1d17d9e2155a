/// Whose each device is at which times. It never changes. For any thread.
///
/// A device is found by one look-up of its bytes, and the period of a time by halving those of the device.
package final class PatientMap: Sendable {
    /// A time during which a device is of one patient.
    package struct Period: Hashable, Sendable {
        /// Identifier of the device, UTF-8, not empty.
        package var device: [UInt8]
        /// Identifier of the patient, UTF-8, not empty.
        package var patient: [UInt8]
        /// Identifier of the encounter, or nil.
        package var encounter: [UInt8]?
        /// Tags of the readings that are filed by it (``ReadingTags``).
        package var tags: [UInt8] = []
        /// The first instant of it.
        package var from = Instant.distantPast
        /// The first instant behind it.
        package var to = Instant.distantFuture

        /// A period that is for ever, unless ``from`` and ``to`` are set.
        package init(device: [UInt8], patient: [UInt8], encounter: [UInt8]? = nil) {
            (self.device, self.patient, self.encounter) = (device, patient, encounter)
        }

        /// Whether `instant` is in it.
        package func contains(_ instant: Instant) -> Bool { from <= instant && instant < to }
    }

    /// A device and its periods, which follow each other.
    private struct Device: BitwiseCopyable {
        var hash: UInt64
        var start: Int
        var length: UInt32
        var first: UInt32
        var count: UInt32
    }

    /// What is kept of a period; the patient, the encounter and the tags are where its text begins.
    private struct Entry: BitwiseCopyable {
        var from: Instant
        var to: Instant
        var start: Int
        var patient: UInt16
        /// Bytes of the encounter and one; 0 for none.
        var encounter: UInt16
        var tags: UInt16

        init(_ period: Period, at start: Int) {
            (from, to, self.start) = (period.from, period.to, start)
            (patient, tags) = (UInt16(period.patient.count), UInt16(period.tags.count))
            encounter = period.encounter.map { UInt16($0.count + 1) } ?? 0
        }

        /// Where the tags begin.
        var tagStart: Int { start + Int(patient) + max(Int(encounter) - 1, 0) }
    }

    private static let empty = UInt32.max

    private let text: PaddedBytes
    private let entries: [Entry]
    private let devices: [Device]
    /// Numbers of devices by hash, open addressing.
    private let cells: [UInt32]

    /// A map of `periods`, in any order, no two of which are of one device and time.
    package init(_ periods: [Period] = []) {
        let sorted = periods.sorted {
            $0.device == $1.device ? $0.from < $1.from : $0.device.lexicographicallyPrecedes($1.device)
        }
        var text: [UInt8] = []
        var entries: [Entry] = []
        var devices: [Device] = []
        entries.reserveCapacity(sorted.count)
        for (place, period) in sorted.enumerated() {
            if place == 0 || sorted[place - 1].device != period.device {
                devices.append(PatientMap.device(period.device, first: entries.count, at: text.count))
                text += period.device
            } else {
                precondition(sorted[place - 1].to <= period.from, "periods of one device overlap")
            }
            devices[devices.count - 1].count += 1
            entries.append(Entry(period, at: text.count))
            text += period.patient + (period.encounter ?? []) + period.tags
        }
        self.text = PaddedBytes(copying: text)
        self.entries = entries
        self.devices = devices
        cells = PatientMap.index(devices)
    }

    private static func device(_ name: [UInt8], first: Int, at start: Int) -> Device {
        Device(
            hash: name.withByteView { SeriesTable.hash($0) }, start: start, length: UInt32(name.count),
            first: UInt32(first), count: 0)
    }

    /// At most half full.
    private static func index(_ devices: [Device]) -> [UInt32] {
        var size = 16
        while size < devices.count * 2 { size *= 2 }
        var cells = [UInt32](repeating: empty, count: size)
        for (number, device) in devices.enumerated() {
            var cell = Int(truncatingIfNeeded: device.hash) & (size - 1)
            while cells[cell] != empty { cell = (cell + 1) & (size - 1) }
            cells[cell] = UInt32(number)
        }
        return cells
    }

    /// Periods.
    package var count: Int { entries.count }

    /// Devices that have any.
    package var deviceCount: Int { devices.count }

    /// Bytes of memory.
    package var byteCount: Int {
        text.capacity + entries.count * MemoryLayout<Entry>.stride + devices.count * MemoryLayout<Device>.stride
            + cells.count * MemoryLayout<UInt32>.stride
    }

    // MARK: Looking

    private func find(_ device: ByteView) -> Device? {
        let hash = SeriesTable.hash(device)
        var cell = Int(truncatingIfNeeded: hash) & (cells.count - 1)
        while cells[cell] != PatientMap.empty {
            let found = devices[Int(cells[cell])]
            if found.hash == hash, text.view(found.start..<(found.start + Int(found.length))).equals(device) {
                return found
            }
            cell = (cell + 1) & (cells.count - 1)
        }
        return nil
    }

    /// Whether there is any period of `device`.
    package func holds(_ device: ByteView) -> Bool { find(device) != nil }

    /// The number of the period of `device` that `instant` is in; nil when it is unassigned then.
    package func period(of device: ByteView, at instant: Instant) -> Int? {
        guard let found = find(device) else { return nil }
        var (low, high) = (Int(found.first), Int(found.first + found.count))
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].from <= instant { low = middle + 1 } else { high = middle }
        }
        let place = low - 1
        return place >= Int(found.first) && instant < entries[place].to ? place : nil
    }

    /// Whose a device is for an interval.
    package enum Span: Equatable {
        /// Of the patient of this period, for all of it.
        case period(Int)
        /// Of nobody, at no time of it.
        case nobody
        /// Of several, or of somebody for a part of it.
        case several
    }

    /// Whose `device` is at `instant` or, where `length` is above 0, for the `length` nanoseconds before it.
    package func span(of device: ByteView, to instant: Instant, length: Int64) -> Span {
        guard length > 0 else { return period(of: device, at: instant).map { .period($0) } ?? .nobody }
        let start = instant.advanced(by: -length)
        switch (period(of: device, at: start), period(of: device, at: instant.advanced(by: -1))) {
        case (nil, nil):
            let isAnybody = periods(of: device).contains { $0.from < instant && $0.to > start }
            return isAnybody ? .several : .nobody
        case (let first?, let last?) where isOne(first, last): return .period(last)
        case (_?, _?), (nil, _?), (_?, nil): return .several
        }
    }

    /// Whether a device is of one patient and encounter without a break from period `first` to period `last` of it.
    private func isOne(_ first: Int, _ last: Int) -> Bool {
        first <= last
            && (first..<last).allSatisfy { number in
                let (this, next) = (period(number, of: []), period(number + 1, of: []))
                return this.to == next.from && this.patient == next.patient && this.encounter == next.encounter
            }
    }

    /// The patient of period `number`; valid as long as the map.
    package func patient(_ number: Int) -> ByteView {
        let entry = entries[number]
        return text.view(entry.start..<(entry.start + Int(entry.patient)))
    }

    /// The encounter of period `number`, if it has one; valid as long as the map.
    package func encounter(_ number: Int) -> ByteView? {
        let entry = entries[number]
        guard entry.encounter > 0 else { return nil }
        let start = entry.start + Int(entry.patient)
        return text.view(start..<(start + Int(entry.encounter) - 1))
    }

    /// The tags of period `number`, no bytes when it has none; valid as long as the map.
    package func tags(_ number: Int) -> ByteView {
        let entry = entries[number]
        return text.view(entry.tagStart..<(entry.tagStart + Int(entry.tags)))
    }

    /// The tags of all periods, each once, in the order of their bytes.
    package var tagTexts: [String] {
        let lists = Set(entries.indices.lazy.filter { self.entries[$0].tags > 0 }.map { self.tags($0).array })
        return Set(lists.flatMap { $0.withByteView(ReadingTags.texts) }).sorted()
    }

    /// The devices, in the order of their bytes, each with its periods in the order of time.
    package var all: [(device: [UInt8], periods: [Period])] {
        devices.map { device in
            let name = text.view(device.start..<(device.start + Int(device.length))).array
            let periods = (Int(device.first)..<Int(device.first + device.count)).map { period($0, of: name) }
            return (name, periods)
        }
    }

    /// The periods of `device` in the order of time.
    package func periods(of device: ByteView) -> [Period] {
        guard let found = find(device) else { return [] }
        return (Int(found.first)..<Int(found.first + found.count)).map { period($0, of: device.array) }
    }

    private func period(_ number: Int, of device: [UInt8]) -> Period {
        var period = Period(device: device, patient: patient(number).array, encounter: encounter(number)?.array)
        (period.from, period.to) = (entries[number].from, entries[number].to)
        period.tags = tags(number).array
        return period
    }
}
