/// Which readings were taken back, of the devices that this run has to do with, and of which series they are.
///
/// Nothing is kept, and nothing is asked, before the first retraction of a store. From then on only the readings of
/// devices and types with retractions are looked at.
///
/// What an archive remembers is forgotten here now and then (``forget()``), and asked for again when it is needed.
struct RetractionBook {
    /// A device and type.
    private struct Kind: Hashable {
        var device: [UInt8]
        var type: String
    }

    /// What is known of a device and type.
    private struct Group {
        /// The machine's numbers of its series.
        var series: [Int] = []
        /// Of each reading that was taken back, what was said of it, by each patient that was named.
        var retracted: [RetractionName: [Entry]] = [:]
        /// Whether the series of earlier runs are among them.
        var hasFormer = false
        /// Whether what the archive remembers is in ``retracted``.
        var isRecalled = true
        /// Whether it counts as a series: a retraction has named it, and no reading has come.
        var isReserved = false
    }

    /// What is remembered of retractions of one name that name one patient, or none.
    private struct Entry {
        /// Nil for none.
        var patient: [UInt8]?
        /// Whether a reading was taken out, so that its name is known to be that reading's.
        var hasTaken: Bool
        /// The store's numbers of the series that readings were taken out of, as far as they are known.
        var series: Set<Int> = []
        /// When the document was received that has renewed the reading: what came before that stays out. Nil for none.
        /// Of a retraction that others had said already, the distant past: it keeps out nothing itself.
        var renewed: Instant?
        /// When the last document was received that has said it. What else that document has may come later, by a dead
        /// letter, and renews the reading as it would have done then. Nil when it is not known, or nothing can come.
        var came: Instant?

        /// Whether it means a reading called `name` that is filed for `other`. The id of a reading that was there stays
        /// that one's, whoever it is filed for when it comes again.
        func means(_ name: RetractionName, _ other: [UInt8]?) -> Bool {
            patient == nil || patient == other || hasTaken && name.form == .byID
        }

        /// Whether it keeps out what was received at `received`.
        func keepsOut(_ received: Instant) -> Bool { renewed.map { received < $0 } ?? true }

        /// Whether it says what a retraction received at `received` does.
        func isKnown(at received: Instant) -> Bool { renewed.map { received <= $0 } ?? true }

        /// Whether it is of a reading that has not come.
        var isStray: Bool { !hasTaken && renewed == nil }
    }

    /// A reading that the present document of a ring takes back. There may be as many as there are readings.
    private struct ExpectedName: Hashable {
        var group: Int
        var name: RetractionName
    }

    /// Whether there was any retraction.
    private(set) var isOn = false
    private var groups: [Group] = []
    private var numbers: [Kind: Int] = [:]
    private var kinds: [Kind] = []
    /// By series, its group.
    private var groupOfSeries: [Int] = []
    /// Devices whose retractions the archive was asked for.
    private var devices: Set<[UInt8]> = []
    /// Those that only retractions have named.
    private var reservedDevices: Set<[UInt8]> = []
    /// Groups that count as series.
    private(set) var reservedSeries = 0
    /// By ring, and what it takes back, the patients that it names; nil for none.
    private var expected: [Int: [ExpectedName: Set<[UInt8]?>]] = [:]
    /// Where the reading of the present retraction is besides, which was taken out of one series.
    var elsewhere: [RetractedPlace] = []
    /// The ring that readings are taken from.
    var ring = 0
    /// What has kept a reading out the last time.
    private(set) var lastForm = RetractionForm.byID
    /// What is remembered of readings that have not come.
    private var strays = 0
    /// What was added since the archive's was forgotten last.
    private var added = 0
    private var changes: [RetractionChange] = []
    private let keepsChanges: Bool
    /// So much is added before the archive's is forgotten.
    private let most: Int

    /// Knows of nothing. With `keepsChanges`, an archive takes them, and the book keeps `most` itself.
    init(keepsChanges: Bool, most: Int) { (self.keepsChanges, self.most) = (keepsChanges, most) }

    /// Looks at readings from here on.
    mutating func turnOn() { isOn = true }

    // MARK: Devices and series

    /// Whether the retractions of `device` have to be noted first; it is asked once.
    mutating func needs(_ device: [UInt8]) -> Bool { devices.insert(device).inserted }

    /// The device whose retractions have to be noted before a reading of `series` is looked at; nil for none.
    mutating func unrecalledDevice(of series: Int) -> [UInt8]? {
        let group = groupOfSeries[series]
        guard !groups[group].isRecalled else { return nil }
        groups[group].isRecalled = true
        return kinds[group].device
    }

    /// Devices that only retractions have named.
    var reservedDeviceCount: Int { reservedDevices.count }

    /// Whether only retractions have named `device`.
    func isReserved(_ device: [UInt8]) -> Bool { reservedDevices.contains(device) }

    /// Whether `device` and `type` count as a series without having one.
    func isReserved(_ device: [UInt8], type: String) -> Bool {
        numbers[Kind(device: device, type: type)].map { groups[$0].isReserved } ?? false
    }

    /// The group of `device` and `type`; nil when there is none.
    func known(_ device: [UInt8], type: String) -> Int? { numbers[Kind(device: device, type: type)] }

    /// Whether all series of `device` and `type` are noted, or count.
    func knows(_ device: [UInt8], type: String) -> Bool {
        numbers[Kind(device: device, type: type)].map { !groups[$0].series.isEmpty || groups[$0].isReserved } ?? false
    }

    /// Whether the series of earlier runs of `device` and `type` are noted.
    func hasFormer(_ device: [UInt8], type: String) -> Bool {
        numbers[Kind(device: device, type: type)].map { groups[$0].hasFormer } ?? false
    }

    /// Notes that the series of earlier runs are noted. Without any series, `group` counts as one from here on, and its
    /// device, if `isNewDevice`, as a device.
    mutating func settle(_ group: Int, isNewDevice: Bool) {
        groups[group].hasFormer = true
        guard groups[group].series.isEmpty, !groups[group].isReserved else { return }
        groups[group].isReserved = true
        reservedSeries += 1
        if isNewDevice { reservedDevices.insert(kinds[group].device) }
    }

    /// The number of a device and type.
    mutating func group(_ device: [UInt8], type: String) -> Int {
        let kind = Kind(device: device, type: type)
        if let known = numbers[kind] { return known }
        numbers[kind] = groups.count
        kinds.append(kind)
        groups.append(Group())
        return groups.count - 1
    }

    /// Notes series `number`, the next one, of `group`.
    mutating func note(series number: Int, of group: Int) {
        precondition(number == groupOfSeries.count)
        groupOfSeries.append(group)
        groups[group].series.append(number)
        reservedDevices.remove(kinds[group].device)
        guard groups[group].isReserved else { return }
        groups[group].isReserved = false
        reservedSeries -= 1
    }

    /// The series of `group`.
    func series(of group: Int) -> [Int] { groups[group].series }

    /// Whether a reading of `series` may have been taken back.
    func hasAny(_ series: Int) -> Bool { isOn && !groups[groupOfSeries[series]].retracted.isEmpty }

    // MARK: Retractions

    /// Notes one that a store remembers.
    mutating func recall(_ retraction: Retraction) {
        let number = group(retraction.device, type: retraction.type)
        var entry = Entry(patient: retraction.patient, hasTaken: retraction.hasTaken)
        entry.series = retraction.series
        (entry.renewed, entry.came) = (retraction.renewed, retraction.came)
        note(retraction.name, entry, in: number)
    }

    private mutating func note(_ name: RetractionName, _ entry: Entry, in group: Int) {
        var entries = groups[group].retracted[name] ?? []
        strays -= entries.count(where: \.isStray)
        if let place = entries.firstIndex(where: { $0.patient == entry.patient }) {
            let came = [entries[place].came, entry.came].compactMap { $0 }.max()
            if entries[place].renewed == nil {
                entries[place].hasTaken = entries[place].hasTaken || entry.hasTaken
                entries[place].series.formUnion(entry.series)
            } else {
                entries[place] = entry
            }
            entries[place].came = came
        } else {
            entries.append(entry)
        }
        strays += entries.count(where: \.isStray)
        groups[group].retracted[name] = entries
    }

    /// Whether no more are remembered of readings that have not come: a sender may invent any number.
    var isFull: Bool { strays >= 1 << 20 }

    /// Notes one that is not remembered, because it is full: that must not last.
    mutating func noteUnkept() { added += 1 }

    /// Whether it is time to ``forget()``, and the archive was told all.
    var canForget: Bool { keepsChanges && added >= most && changes.isEmpty }

    /// Forgets what the archive remembers: what has expired there is not recalled.
    mutating func forget() {
        for group in groups.indices { (groups[group].retracted, groups[group].isRecalled) = ([:], false) }
        devices.removeAll()
        (strays, added) = (0, 0)
    }

    /// Whether a retraction that names `patient`, received at `received`, has come before: or a document that takes the
    /// same reading back and renews it was received later, as it may be where that came by another lane.
    func isKnown(_ name: RetractionName, _ patient: [UInt8]?, at received: Instant, in group: Int) -> Bool {
        groups[group].retracted[name]?.contains {
            ($0.patient == nil || $0.patient == patient) && $0.isKnown(at: received)
        } ?? false
    }

    /// Whether a retraction that names no patient may mean a reading that one with a patient has taken out.
    func wasTaken(_ name: RetractionName, _ patient: [UInt8]?, at received: Instant, in group: Int) -> Bool {
        guard patient == nil else { return false }
        return groups[group].retracted[name]?.contains { $0.hasTaken && $0.isKnown(at: received) } ?? false
    }

    /// Notes that the present document takes the reading back.
    mutating func expect(_ name: RetractionName, _ patient: [UInt8]?, in group: Int) {
        expected[ring, default: [:]][ExpectedName(group: group, name: name), default: []].insert(patient)
    }

    /// Notes that a document received at `received` takes the reading back, where something keeps it out, or has done
    /// so. Without an archive nothing of the document waits.
    mutating func come(_ name: RetractionName, _ patient: [UInt8]?, at received: Instant, in group: Int) {
        guard keepsChanges, let entries = groups[group].retracted[name] else { return }
        var entry = Entry(patient: patient, hasTaken: false, renewed: .distantPast)
        if let known = entries.first(where: { $0.patient == patient }) {
            if let came = known.came, came >= received { return }
            entry = known
        } else {
            added += 1
        }
        entry.came = received
        var others = entries.filter { $0.patient != patient }
        others.append(entry)
        groups[group].retracted[name] = others
        change(name, entry, .repeated, in: group, RetractionPlace(at: received))
    }

    /// The present document of ring `number` has ended.
    mutating func endDocument(of number: Int) { expected[number] = nil }

    /// Notes a retraction as of `place`, where its reading is.
    mutating func add(
        _ name: RetractionName, _ patient: [UInt8]?, in group: Int, _ place: RetractionPlace, hasTaken: Bool = false
    ) {
        var entry = Entry(patient: patient, hasTaken: hasTaken)
        if hasTaken { entry.series = [place.series] }
        if keepsChanges { entry.came = place.at }
        note(name, entry, in: group)
        added += 1
        change(name, entry, .came, in: group, place)
    }

    private mutating func change(
        _ name: RetractionName, _ entry: Entry, _ event: RetractionChange.Event, in group: Int,
        _ place: RetractionPlace
    ) {
        guard keepsChanges else { return }
        let kind = kinds[group]
        var retraction = Retraction(
            device: kind.device, type: kind.type, name: name, patient: entry.patient, hasTaken: entry.hasTaken)
        (retraction.renewed, retraction.came) = (entry.renewed, entry.came)
        changes.append(
            RetractionChange(retraction: retraction, event, series: place.series, start: place.start, at: place.at))
    }

    /// What happened since the last call.
    mutating func takeChanges() -> [RetractionChange] {
        defer { changes.removeAll() }
        return changes
    }

    // MARK: Readings

    /// The names by which a reading of `series`, filed for `patient` and received at `received`, was taken back.
    func retractions(
        of names: [RetractionName], series: Int, patient: [UInt8]?, at received: Instant
    ) -> [RetractionName] {
        let retracted = groups[groupOfSeries[series]].retracted
        return names.filter { name in
            retracted[name]?.contains { $0.means(name, patient) && $0.keepsOut(received) } ?? false
        }
    }

    /// Whether a reading of these names was renewed by a document that was received later than at `received`.
    func isRenewedLater(_ names: [RetractionName], series: Int, patient: [UInt8]?, at received: Instant) -> Bool {
        let retracted = groups[groupOfSeries[series]].retracted
        return names.contains { name in
            retracted[name]?.contains { entry in
                entry.means(name, patient) && entry.renewed.map { received < $0 } ?? false
            } ?? false
        }
    }

    /// Whether readings of these names, filed for `patient`, were taken out of `series`, which has `number` in the
    /// store.
    func hasTaken(_ names: [RetractionName], from series: Int, _ number: Int, patient: [UInt8]?) -> Bool {
        let retracted = groups[groupOfSeries[series]].retracted
        return names.contains { name in
            retracted[name]?.contains { $0.means(name, patient) && $0.series.contains(number) } ?? false
        }
    }

    /// Whether the present document, which brings the reading, has taken it back.
    func isRenewed(_ names: [RetractionName], series: Int, patient: [UInt8]?) -> Bool {
        guard let expected = expected[ring] else { return false }
        let group = groupOfSeries[series]
        return names.contains { name in
            guard let patients = expected[ExpectedName(group: group, name: name)] else { return false }
            return patients.contains(nil) || patients.contains(patient)
        }
    }

    /// Whether the document that was received at `received` was the last one to take the reading back: no other one has
    /// that time.
    func isOfRetraction(_ names: [RetractionName], series: Int, patient: [UInt8]?, at received: Instant) -> Bool {
        let retracted = groups[groupOfSeries[series]].retracted
        var isOfIt = false
        for name in names {
            for entry in retracted[name] ?? [] where entry.means(name, patient) {
                guard let came = entry.came else { continue }
                guard came <= received else { return false }
                if came == received, entry.patient == nil || entry.patient == patient { isOfIt = true }
            }
        }
        return isOfIt
    }

    /// Lets a reading of `series`, filed for `patient`, in again that was received at the time of `place`, and what
    /// comes later; what was received before stays out: it may wait in a dead letter. Without an archive nothing waits.
    mutating func lift(_ names: [RetractionName], series: Int, patient: [UInt8]?, _ place: RetractionPlace) {
        let group = groupOfSeries[series]
        for name in names {
            var entries = groups[group].retracted[name] ?? []
            strays -= entries.count(where: \.isStray)
            for index in entries.indices where entries[index].renewed == nil && entries[index].means(name, patient) {
                entries[index].renewed = place.at
                change(name, entries[index], .renewed, in: group, place)
            }
            if !keepsChanges { entries.removeAll { $0.renewed != nil } }
            strays += entries.count(where: \.isStray)
            groups[group].retracted[name] = entries.isEmpty ? nil : entries
        }
    }

    /// Notes that a reading of `series`, filed for `patient`, was kept out.
    mutating func touch(_ names: [RetractionName], series: Int, patient: [UInt8]?, _ place: RetractionPlace) {
        let group = groupOfSeries[series]
        lastForm = names.first?.form ?? lastForm
        for name in names {
            for entry in groups[group].retracted[name] ?? [] where entry.means(name, patient) {
                change(name, entry, .keptOut, in: group, place)
            }
        }
    }
}

/// A series with readings that a retraction means.
struct RetractedPlace {
    var series: Int
    var count: Int
    var instant: Instant
}

/// Where a reading that was taken back was, or belongs, and when that was said.
struct RetractionPlace {
    /// The store's number of the series; -1 when that is not known.
    var series = -1
    /// Start of its window in the archive.
    var start = Instant.distantPast
    var at: Instant
}

/// Readings of instance grouping that have been shown and were taken back: their Observations are to be sent as errors.
struct WithdrawnReadings {
    /// One of them.
    struct Entry {
        var series: Int
        var slot: Int
        var instant: Instant
    }

    private var entries: [Entry] = []
    private var first = 0

    @inline(__always)
    var isEmpty: Bool { entries.isEmpty }

    /// The first of them, of which there is one.
    var next: Entry { entries[first] }

    mutating func append(_ entry: Entry) { entries.append(entry) }

    mutating func removeFirst() {
        first += 1
        if first == entries.count {
            entries.removeAll()
            first = 0
        }
    }
}
