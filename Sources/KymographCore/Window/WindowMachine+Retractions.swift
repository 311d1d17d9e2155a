/// Readings that their senders take back.
extension WindowMachine where Archive: ~Copyable {
    /// What became of a retraction.
    enum RetractionOutcome {
        /// It has taken a reading out of this series: ``superseded``. It may be in others, too: see
        /// ``takeElsewhere(_:)``.
        case taken(series: Int)
        /// It has come before.
        case known
        /// It takes nothing.
        case rejected(Rejection)
    }

    /// What of a series a retraction may mean.
    private enum Holding {
        /// Nothing.
        case nothing
        /// Readings at this time.
        case readings(Int, at: Instant)
        /// What it may have had is lost for this reason.
        case lost(Rejection)
    }

    // MARK: Series

    /// The limits for series `identity`, if it is new: devices and series that only retractions have named have taken
    /// their places, and keep them for their own readings.
    func limits(for identity: SeriesIdentity) -> WindowLimits {
        var limits = table.limits
        guard retractions.isOn else { return limits }
        let isReserved = retractions.isReserved(identity.device, type: types[identity.type].name)
        limits.maxDevices -= retractions.reservedDeviceCount - (retractions.isReserved(identity.device) ? 1 : 0)
        limits.maxSeries -= retractions.reservedSeries - (isReserved ? 1 : 0)
        // Limits may have come down since a place was taken.
        if retractions.isReserved(identity.device) {
            limits.maxDevices = max(limits.maxDevices, registry.deviceCount + 1)
        }
        if isReserved { limits.maxSeries = max(limits.maxSeries, registry.identities.count + 1) }
        return limits
    }

    /// Notes series `number`, the last one.
    mutating func noteRetractable(_ number: Int) {
        let identity = registry.identities[number]
        recallRetractions(of: identity.device)
        retractions.note(
            series: number, of: retractions.group(identity.device, type: types[identity.type].name))
    }

    /// Notes what earlier runs have taken back of `device`.
    private mutating func recallRetractions(of device: [UInt8]) {
        guard retractions.needs(device) else { return }
        for retraction in archive.retractions(ofDevice: device) { retractions.recall(retraction) }
    }

    /// Looks at all readings from here on.
    private mutating func watchRetractions() {
        guard !retractions.isOn else { return }
        beginRetractions()
        for number in 0..<registry.identities.count { noteRetractable(number) }
    }

    /// The series of `device` and `type` that earlier runs have left, and this one has not met, whoever they are of.
    private mutating func formerSeries(_ device: [UInt8], type: String) -> [SeriesIdentity] {
        archive.series(ofDevice: device).map { $0.withByteView { SeriesKey.identity($0) } }.filter { identity in
            identity.device == device && types.indices.contains(identity.type)
                && types[identity.type].name == type && registry.number(of: identity) == nil
        }
    }

    /// The group of `device` and `type`, with all series in which a reading of theirs may be. Nil when these, or the
    /// device, are beyond the limits, as they would be for a reading: then nothing of them is kept.
    private mutating func meet(_ device: [UInt8], type: String) -> Int? {
        let isNewDevice = !registry.hasDevice(device)
        if isNewDevice, !retractions.isReserved(device),
            registry.deviceCount + retractions.reservedDeviceCount >= table.limits.maxDevices
        {
            registry.refuse(devices: true)
            return nil
        }
        let former = retractions.hasFormer(device, type: type) ? [] : formerSeries(device, type: type)
        let more = retractions.knows(device, type: type) ? former.count : max(1, former.count)
        if more > 0, registry.identities.count + retractions.reservedSeries + more > table.limits.maxSeries {
            registry.refuse(series: true)
            return nil
        }
        recallRetractions(of: device)
        let group = retractions.group(device, type: type)
        for identity in former {
            guard let number = introduceFormer(identity), siblings.isOn else { continue }
            noteSiblings(of: number)
        }
        retractions.settle(group, isNewDevice: isNewDevice && former.isEmpty)
        return group
    }

    // MARK: Retractions

    /// Takes a reading out of its window, wherever it was filed.
    mutating func retract(_ tombstone: Tombstone) -> RetractionOutcome {
        // Several readings with ids may be of one time, one after the other: sent again, it would take the next one.
        if tombstone.name.form == .byTime, ReadingKey(types[tombstone.series.type]).hasIds {
            return .rejected(.ambiguousRetraction)
        }
        watchRetractions()
        let (device, patient) = (tombstone.series.device, tombstone.series.patient)
        let type = types[tombstone.series.type].name
        guard let group = meet(device, type: type) else {
            return isKnownBeyondLimits(tombstone, device, patient, type: type) ? .known : .rejected(.tooManyDevices)
        }
        for series in retractions.series(of: group) { table.windows.settle(series: series) }
        retractions.expect(tombstone.name, patient, in: group)
        let outcome = retract(tombstone, patient, group)
        retractions.come(tombstone.name, patient, at: tombstone.received, in: group)
        return outcome
    }

    /// Takes a reading of `group` out of its window.
    private mutating func retract(_ tombstone: Tombstone, _ patient: [UInt8]?, _ group: Int) -> RetractionOutcome {
        if retractions.isKnown(tombstone.name, patient, at: tombstone.received, in: group) { return .known }
        let wasTaken = retractions.wasTaken(tombstone.name, patient, at: tombstone.received, in: group)
        switch holders(of: tombstone, in: group) {
        case .failure(.reason(.unknownRetraction)):
            if wasTaken { return .known }
            if retractions.isFull {
                retractions.noteUnkept()
                return .rejected(.unknownRetraction)
            }
            retractions.add(tombstone.name, patient, in: group, RetractionPlace(at: tombstone.received))
            return .rejected(.unknownRetraction)
        case .failure(.reason(let reason)): return .rejected(reason)
        // One patient's reading is out, and another one's is there: it may be either.
        case .success(let holders):
            return wasTaken ? .rejected(.ambiguousRetraction) : take(tombstone, from: holders, group)
        }
    }

    /// Whether a retraction that finds no room has come before: it keeps its reading out already, and one that comes
    /// with it comes back.
    private mutating func isKnownBeyondLimits(
        _ tombstone: Tombstone, _ device: [UInt8], _ patient: [UInt8]?, type: String
    ) -> Bool {
        guard registry.hasDevice(device) || retractions.isReserved(device) else { return false }
        recallRetractions(of: device)
        guard let group = retractions.known(device, type: type),
            retractions.isKnown(tombstone.name, patient, at: tombstone.received, in: group)
        else { return false }
        retractions.expect(tombstone.name, patient, in: group)
        retractions.come(tombstone.name, patient, at: tombstone.received, in: group)
        return true
    }

    /// Why a retraction has no reading.
    private enum NoHolder: Error {
        case reason(Rejection)
    }

    /// The series with the one reading that is meant, in the order of the store. What cannot be told takes nothing.
    ///
    /// A reading with an id is one, in whichever series of a patient it was filed: once for each length of windows that
    /// its type has had, or for each encounter.
    private mutating func holders(of tombstone: Tombstone, in group: Int) -> Result<[RetractedPlace], NoHolder> {
        let patient = tombstone.series.patient
        var (own, others, lost) = ([RetractedPlace](), [RetractedPlace](), Rejection?.none)
        for series in retractions.series(of: group) {
            let isOther = patient != nil && registry.identities[series].patient != patient
            switch holding(tombstone.name, series) {
            case .nothing: break
            case .lost(let reason): if !isOther { lost = reason }
            case .readings(let count, let instant):
                let holder = RetractedPlace(series: series, count: count, instant: instant)
                isOther ? others.append(holder) : own.append(holder)
            }
        }
        if let lost { return .failure(.reason(lost)) }
        guard let first = own.first else {
            return .failure(.reason(others.isEmpty ? .unknownRetraction : .patientDeviceMismatch))
        }
        let owner = registry.identities[first.series].patient
        let isOne = own.count == 1 || tombstone.name.form == .byID
        guard isOne, own.allSatisfy({ $0.count == 1 && registry.identities[$0.series].patient == owner }) else {
            return .failure(.reason(.ambiguousRetraction))
        }
        return .success(own.sorted { archive.number(of: $0.series) < archive.number(of: $1.series) })
    }

    /// What a series has of the readings that `name` may mean. No window is opened for that.
    private mutating func holding(_ name: RetractionName, _ series: Int) -> Holding {
        let key = table.windows.series[series].rules.key
        guard let instant = name.instant ?? instant(of: name, series, key) else { return .nothing }
        if let window = table.find(series: series, at: instant) {
            let count = table.places(of: name, at: instant, in: window).count
            return count > 0 ? .readings(count, at: instant) : .nothing
        }
        let start = archiveStart(series: series, at: instant)
        block.removeAll()
        switch archive.load(series: series, windowStart: start, into: &block) {
        case .found:
            guard let count = name.count(in: block.view, by: key) else { return .lost(.archiveDamaged) }
            return count > 0 ? .readings(count, at: instant) : .nothing
        case .damaged: return .lost(.archiveDamaged)
        case .absent:
            let isEvicted = archive.evictedThrough(series: series).map { $0 >= start } ?? false
            return isEvicted ? .lost(.archiveEvicted) : .nothing
        }
    }

    private mutating func instant(of name: RetractionName, _ series: Int, _ key: ReadingKey) -> Instant? {
        guard key.hasIds, let id = name.id else { return nil }
        return id.withByteView { ids.instant(series: series, $0) ?? archive.instant(of: $0, series: series) }
    }

    /// Takes the reading out of all `holders`, or of none.
    private mutating func take(
        _ tombstone: Tombstone, from holders: [RetractedPlace], _ group: Int
    ) -> RetractionOutcome {
        for holder in holders {
            switch window(series: holder.series, at: holder.instant, received: tombstone.received) {
            case .rejected(let reason): return .rejected(reason)
            case .window(let window):
                guard !table.places(of: tombstone.name, at: holder.instant, in: window).isEmpty else {
                    return .rejected(.archiveDamaged)
                }
            }
        }
        take(tombstone, from: holders[0], group)
        retractions.elsewhere = holders.dropFirst().reversed()
        return .taken(series: holders[0].series)
    }

    /// Takes the reading of the last retraction, which was ``RetractionOutcome/taken(series:)``, out of the next series
    /// that has it; nil when there is none. The store gets to know of all of them at once.
    mutating func takeElsewhere(_ tombstone: Tombstone) -> Int? {
        guard let holder = retractions.elsewhere.popLast() else { return nil }
        let type = types[tombstone.series.type].name
        take(tombstone, from: holder, retractions.group(tombstone.series.device, type: type))
        return holder.series
    }

    /// Takes the reading out of `holder`, whose window is open and has it.
    private mutating func take(_ tombstone: Tombstone, from holder: RetractedPlace, _ group: Int) {
        guard let window = table.find(series: holder.series, at: holder.instant),
            let place = table.places(of: tombstone.name, at: holder.instant, in: window).first
        else { preconditionFailure("the reading was found in each of the series") }
        table.retract(at: place, from: window, isReplayed: false)
        table.enqueueIfDue(window)
        let name = nameOfSuperseded(in: holder.series)
        if let id = name.id { id.withByteView { ids.forget(series: holder.series, $0) } }
        retractions.add(
            name, tombstone.series.patient, in: group,
            retractionPlace(in: holder.series, holder.instant, at: tombstone.received), hasTaken: true)
    }

    /// What is remembered of the reading that was taken out last: its id, if it has one, however it was taken back.
    private func nameOfSuperseded(in series: Int) -> RetractionName {
        let (reading, payload) = superseded
        return payload.withByteView { payload in
            let content = ReadingKey.Content(reading: reading, payload: payload)
            let id = table.windows.series[series].rules.key.id(of: content)
            return id.map { RetractionName(id: $0) } ?? RetractionName(instant: reading.instant)
        }
    }

    private func retractionPlace(in series: Int, _ instant: Instant, at received: Instant) -> RetractionPlace {
        RetractionPlace(
            series: archive.number(of: series), start: archiveStart(series: series, at: instant), at: received)
    }

    /// Takes out a reading of an earlier run's journal that was taken back since; false when it is not there.
    mutating func removeRetracted(series: Int, _ reading: Measurement, payload: ByteView) -> Bool {
        guard case .window(let window) = window(series: series, at: reading.instant, received: reading.received),
            let place = table.place(of: .init(reading: reading, payload: payload), in: window)
        else { return false }
        table.retract(at: place, from: window, isReplayed: true)
        table.enqueueIfDue(window)
        if let id = nameOfSuperseded(in: series).id { id.withByteView { ids.forget(series: series, $0) } }
        return true
    }

    // MARK: Readings

    /// Whether a reading of `series` may have been taken back.
    mutating func mayBeRetracted(_ series: Int) -> Bool {
        guard retractions.isOn else { return false }
        if let device = retractions.unrecalledDevice(of: series) { recallRetractions(of: device) }
        return retractions.hasAny(series)
    }

    /// Forgets what the archive remembers of retractions, now and then.
    mutating func forgetRetractions() {
        guard retractions.canForget else { return }
        archive.waitForRetractions()
        retractions.forget()
    }

    /// Adds a reading of a device and type of which some were taken back: if it is none of these, or if its own
    /// document takes it back, too, and so renews it. By a dead letter, it may come without that document.
    @inline(never)
    mutating func addUnlessRetracted(series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        // None goes into a run: each is looked at.
        defer { table.windows.settle(series: series) }
        // What an earlier run has accepted, and taken out, its journal says in order; letters that are taken again come
        // behind all of it.
        if isReplaying, reading.mark & ReadingMark.returned == 0 {
            return addAmongAny(series: series, reading, payload: payload)
        }
        let key = table.windows.series[series].rules.key
        let names = RetractionName.all(of: .init(reading: reading, payload: payload), by: key)
        let patient = registry.identities[series].patient
        let received = reading.received
        let retracted = retractions.retractions(of: names, series: series, patient: patient, at: received)
        if retracted.isEmpty { return addAmongAny(series: series, reading, payload: payload) }
        let place = retractionPlace(in: series, reading.instant, at: received)
        guard
            retractions.isRenewed(names, series: series, patient: patient)
                || retractions.isOfRetraction(names, series: series, patient: patient, at: received),
            !retractions.isRenewedLater(names, series: series, patient: patient, at: received)
        else {
            retractions.touch(retracted, series: series, patient: patient, place)
            return .rejected(.retracted)
        }
        // Another series' Observation may have shown it, and this one's not.
        let number = archive.number(of: series)
        let wasShown = retractions.hasTaken(retracted, from: series, number, patient: patient)
        let outcome = addAmongAny(series: series, reading, payload: payload)
        if case .rejected = outcome { return outcome }
        retractions.lift(retracted, series: series, patient: patient, place)
        if wasShown, let window = table.find(series: series, at: reading.instant) {
            table.noteShown(names[0], at: reading.instant, in: window)
        }
        return outcome
    }
}

extension RetractionName {
    /// How many readings of an archived window it fits; nil when `block` is damaged.
    fileprivate func count(in block: ByteView, by key: ReadingKey) -> Int? {
        guard var decoder = WindowBlockDecoder(block) else { return nil }
        var count = 0
        while let reading = decoder.next() {
            let payload = decoder.payload[0..<reading.payloadBytes]
            if fits(ReadingKey.Content(reading: reading, payload: payload), by: key) { count += 1 }
        }
        return decoder.isComplete ? count : nil
    }
}
