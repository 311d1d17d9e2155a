/// Readings of devices that are of one patient at a time: what was filed for one is not filed for another, too.
extension WindowMachine where Archive: ~Copyable {
    /// Where a reading may have been filed.
    private enum Finding {
        /// The sibling has no window of its time.
        case nothing
        /// It has, and not the reading.
        case window
        /// It has the reading, or another one of the device at the same time.
        case reading
        /// It may have had it, and what it had is lost for this reason.
        case lost(Rejection)
    }

    /// Notes a series that was introduced last, and those of earlier runs that are like it.
    mutating func noteSiblings(of number: Int) {
        let identity = registry.identities[number]
        let kind = kind(ofType: identity.type)
        let isFirst = siblings.first(like: identity, kind: kind, among: registry.identities) == nil
        siblings.append(number, kind: kind, among: registry.identities)
        lookAtGuard()
        guard isFirst else { return settleSiblings(of: number) }
        for key in archive.series(ofDevice: identity.device) {
            let other = key.withByteView { SeriesKey.identity($0) }
            guard other.device == identity.device, other.correlation == identity.correlation,
                types.indices.contains(other.type), self.kind(ofType: other.type) == kind,
                let number = introduceFormer(other)
            else { continue }
            siblings.append(number, kind: kind, among: registry.identities)
        }
        settleSiblings(of: number)
    }

    /// Lets no reading of `series` and its siblings go by without a look.
    private mutating func settleSiblings(of series: Int) {
        guard siblings.hasAny(series) else { return }
        var sibling = series
        repeat {
            table.windows.settle(series: sibling)
            sibling = siblings.next(sibling)
        } while sibling != series
    }

    /// The first type that is called like type `number`.
    private func kind(ofType number: Int) -> Int { types.firstIndex { $0.name == types[number].name } ?? number }

    /// Follows the guard: from here on, nothing goes by without a look.
    mutating func lookAtGuard() {
        if siblings.refresh(registry.identities) { settleSiblings() }
    }

    /// Lets no reading of a series with siblings go by without a look.
    mutating func settleSiblings() {
        for series in 0..<table.windows.series.count where siblings.hasAny(series) {
            table.windows.settle(series: series)
        }
    }

    /// Adds a reading of a series that has siblings, unless one of these has it.
    ///
    /// Where siblings have windows of one time, all their readings are looked at: none goes into a run.
    @inline(never)
    mutating func addAmongSiblings(series: Int, _ reading: Measurement, payload: ByteView) -> ReadingOutcome {
        lookAtGuard()
        // What an earlier run has accepted stays; letters that are taken again, which need a look each, were not.
        if isReplaying, reading.mark & ReadingMark.returned == 0 {
            defer { table.windows.settle(series: series) }
            return addToItsWindow(series: series, reading, payload: payload)
        }
        var isShared = false
        var sibling = siblings.next(series)
        while sibling != series {
            let isOther = registry.identities[sibling].isOfAnother(than: registry.identities[series])
            switch isOther ? find(reading, payload, in: sibling) : .nothing {
            case .nothing: break
            case .reading where siblings.isGuarded(series): return .rejected(.patientChanged)
            case .lost(let reason) where siblings.isGuarded(series): return .rejected(reason)
            case .window, .reading, .lost:
                isShared = true
                table.windows.settle(series: sibling)
            }
            sibling = siblings.next(sibling)
        }
        let outcome = addToItsWindow(series: series, reading, payload: payload)
        if isShared || isReplaying { table.windows.settle(series: series) }
        return outcome
    }

    /// Where `series` has a reading of the same time or id as `reading`, of a sibling.
    private mutating func find(_ reading: Measurement, _ payload: ByteView, in series: Int) -> Finding {
        let key = table.windows.series[series].rules.key
        if key.hasIds, let id = key.id(of: ReadingKey.Content(reading: reading, payload: payload)),
            has(id, series: series)
        {
            return .reading
        }
        if let window = table.find(series: series, at: reading.instant) {
            return table.hasReading(at: reading.instant, in: window) ? .reading : .window
        }
        return findArchived(reading.instant, of: series) { $0.has(reading.instant) }
    }

    /// Whether `series` has the reading called `id`. Where it was last may be known although it was taken back since:
    /// the window says whether it is there. What nobody can read any more had it.
    private mutating func has(_ id: ByteView, series: Int) -> Bool {
        guard let former = ids.instant(series: series, id) ?? archive.instant(of: id, series: series) else {
            return false
        }
        if let window = table.find(series: series, at: former) {
            return table.received(of: id, at: former, in: window) != nil
        }
        switch findArchived(former, of: series, where: { $0.ids.contains(id.array) }) {
        case .reading, .lost: return true
        case .nothing, .window: return false
        }
    }

    /// What the archive has of the window of `series` at `instant`, with the reading if that `isThere`.
    private mutating func findArchived(
        _ instant: Instant, of series: Int, where isThere: (SeriesSiblings.Filed) -> Bool
    ) -> Finding {
        let start = archiveStart(series: series, at: instant)
        if let filed = siblings.filed, filed.series == series, filed.start == start {
            return isThere(filed) ? .reading : .window
        }
        block.removeAll()
        switch archive.load(series: series, windowStart: start, into: &block) {
        case .found:
            let key = table.windows.series[series].rules.key
            guard let filed = SeriesSiblings.Filed(series, start, block.view, by: key) else {
                return .lost(.archiveDamaged)
            }
            siblings.filed = filed
            return isThere(filed) ? .reading : .window
        case .damaged: return .lost(.archiveDamaged)
        case .absent:
            let isEvicted = archive.evictedThrough(series: series).map { $0 >= start } ?? false
            return isEvicted ? .lost(.archiveEvicted) : .nothing
        }
    }
}

extension SeriesSiblings.Filed {
    /// What is in `block`, the window of `series` at `start`, whose readings `key` tells apart; nil when it is damaged.
    fileprivate init?(_ series: Int, _ start: Instant, _ block: ByteView, by key: ReadingKey) {
        guard var decoder = WindowBlockDecoder(block) else { return nil }
        var (instants, ids) = ([Instant](), Set<[UInt8]>())
        while let reading = decoder.next() {
            instants.append(reading.instant)
            let content = ReadingKey.Content(reading: reading, payload: decoder.payload[0..<reading.payloadBytes])
            if let id = key.id(of: content) { ids.insert(id.array) }
        }
        guard decoder.isComplete else { return nil }
        self.init(series: series, start: start, instants: instants, ids: ids)
    }

    /// Whether there is a reading at `instant`.
    fileprivate func has(_ instant: Instant) -> Bool {
        var (low, high) = (0, instants.count)
        while low < high {
            let middle = (low + high) / 2
            if instants[middle] < instant { low = middle + 1 } else { high = middle }
        }
        return low < instants.count && instants[low] == instant
    }
}
