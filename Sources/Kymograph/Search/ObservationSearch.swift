import GRDB
import KymographCore
import KymographTemplates

/// Whose readings a client may see.
struct SearchRights: Sendable {
    let rule: PeerRule

    /// Whether those of `series` are among them.
    func cover(_ series: StoredSeries) -> Bool {
        let (device, patient) = (series.identity.device, series.identity.patient)
        guard rule.devices.isEmpty || matches(rule.devices, device) else { return false }
        if let only = rule.patient, only != patient { return false }
        return rule.patients.isEmpty || patient.map { matches(rule.patients, $0) } ?? false
    }

    private func matches(_ patterns: [IdentifierPattern], _ identifier: [UInt8]) -> Bool {
        identifier.withByteView { bytes in patterns.contains { $0.matches(bytes) } }
    }
}

/// What a search has found.
struct FoundPage {
    var observations: [ServedObservation] = []
    /// How many there are in all; nil when nobody asked.
    var total: Int?
    /// Behind which place the next page begins; nil when there is none.
    var next: WalkPlace?
    /// Damaged windows, which are left out.
    var damaged = 0
    /// Types that no mapping writes, whose windows are left out.
    var unwritable: [String] = []
    /// The store's numbers of the series that were looked at, when the query names whose.
    var series: [Int] = []
}

/// Looks for Observations in a store that may be in use: on a connection of its own, as one state of it, for a limited
/// time.
struct ObservationSearch {
    let query: SearchQuery
    let rights: SearchRights
    /// The types of the store.
    let former: [FormerType]
    /// The mappings, which continue them.
    let set: MappingSet
    let options: ObservationOptions
    /// How long it may look for a page, from when it knows in which series.
    let time: Duration

    /// Most bytes of a page.
    private static let mostBytes = 8 << 20
    /// Most bytes of Observations that are known, and whose turn has not come.
    private static let mostQueued = 64 << 20

    /// The Observations behind `cursor`.
    ///
    /// - Throws: `DatabaseError`; ``SearchRefusal`` when it would take too long; ``WalkLimit``.
    func page(after cursor: WalkPlace?, _ db: Database) throws -> FoundPage {
        let series = try series(former.map(\.type), db)
        let types = Set(series.map(\.identity.type))
        var span = query.span
        // With a length, a reading begins before its time, and perhaps before its window.
        span.open = Set(series.filter { former[$0.identity.type].type.durationSlot != nil }.map(\.number))
        var state = State(search: self, identities: series.reduce(into: [:]) { $0[$1.number] = $1.identity })
        state.page.unwritable = ArchiveEncoder.unwritable(set, stored: former).filter { name in
            types.contains { former[$0].type.name == name }
        }
        state.page.series = query.namesSubject ? series.map(\.number) : []
        var walk = ArchiveWalk(series, query.order, span, after: cursor)
        try state.run(&walk, until: .now + time, db)
        return state.page
    }

    /// The Observation `id` of the window at `place`; nil when it is not there, or not for this client.
    func observation(_ id: String, _ place: SearchedPlaces.Place, _ db: Database) throws -> ServedObservation? {
        guard let head = try WindowHead.read(start: place.start, series: place.series, db),
            let series = try StoredSeries.read(number: place.series, types: former.map(\.type), db),
            rights.cover(series), set.fhirTemplates[series.identity.type] != nil, let window = try head.window(db)
        else { return nil }
        var encoder = ArchiveEncoder(set: set, options: options)
        let place = WalkPlace(rank: 0, start: head.start, series: Int64(head.series), part: 0)
        return (encoder.parts(of: window) ?? []).lazy.compactMap { part in
            ServedObservation(WalkQueue.Entry(place: place, head: head, resource: part.resource), series.identity)
        }.first { $0.id == id }
    }

    private func series(_ types: [MeasurementType], _ db: Database) throws -> [StoredSeries] {
        try StoredSeries.read(devices: query.devices, subjects: query.subjects, types: types, db)
            .filter(rights.cover)
    }

    /// A search that is under way.
    private struct State: ~Copyable {
        let search: ObservationSearch
        let identities: [Int: SeriesIdentity]
        var encoder: ArchiveEncoder
        var page = FoundPage()
        var bytes = 0
        var found = 0
        /// Types whose Observations are not asked for, whatever their readings.
        var unwanted: Set<Int> = []

        init(search: ObservationSearch, identities: [Int: SeriesIdentity]) {
            (self.search, self.identities) = (search, identities)
            encoder = ArchiveEncoder(set: search.set, options: search.options)
        }

        mutating func run(
            _ walk: inout ArchiveWalk, until deadline: ContinuousClock.Instant, _ db: Database
        ) throws {
            while try take(walk.step(db), &walk, db) {
                if walk.queuedBytes > ObservationSearch.mostQueued { return try endFull(walk) }
                // A page that has got no further than the one before would be followed by another of its kind.
                guard ContinuousClock.now < deadline || !walk.hasAdvanced && !search.query.isCountOnly else {
                    return try end(walk)
                }
            }
            if search.query.isCountOnly { page.total = found }
        }

        /// Takes a step; false when it was the last.
        private mutating func take(
            _ step: ArchiveWalk.Step, _ walk: inout ArchiveWalk, _ db: Database
        ) throws -> Bool {
            switch step {
            case .looked: return true
            case .end: return false
            case .window(let head):
                walk.expand(head, try parts(of: head, db))
                return true
            case .part(let entry): return take(entry)
            }
        }

        /// Takes an Observation if it is asked for; false when it belongs to the next page.
        private mutating func take(_ entry: WalkQueue.Entry) -> Bool {
            guard let observation = observation(entry), search.query.matches(observation) else { return true }
            found += 1
            guard !search.query.isCountOnly else { return true }
            let isFull = page.observations.count >= search.query.count || bytes > ObservationSearch.mostBytes
            guard !isFull else {
                page.next = page.observations.last?.place
                return false
            }
            bytes += observation.resource.count
            page.observations.append(observation)
            return true
        }

        private mutating func observation(_ entry: WalkQueue.Entry) -> ServedObservation? {
            guard let identity = identities[entry.head.series] else { return nil }
            let observation = ServedObservation(entry, identity)
            // The code of a template's Observations is one; those of summaries differ.
            let template = search.set.fhirTemplates[identity.type]
            if template?.summary == nil, !(observation.map(search.query.acceptsKind) ?? false) {
                unwanted.insert(identity.type)
            }
            return observation
        }

        private mutating func parts(of head: WindowHead, _ db: Database) throws -> [ArchiveEncoder.Part] {
            guard let type = identities[head.series]?.type, search.set.fhirTemplates[type] != nil,
                !unwanted.contains(type), search.query.acceptsChange(at: head.modified),
                let window = try head.window(db)
            else { return [] }
            guard let parts = encoder.parts(of: window) else {
                page.damaged += 1
                return []
            }
            return parts
        }

        /// Ends for lack of memory, with what was found.
        private mutating func endFull(_ walk: ArchiveWalk) throws {
            guard walk.hasAdvanced else {
                throw SearchRefusal.tooCostly(
                    "there is too much at one time to be sorted: narrow it by patient, device or code")
            }
            try end(walk)
        }

        /// Ends for lack of time: with what was found, and where to go on.
        private mutating func end(_ walk: ArchiveWalk) throws {
            guard !search.query.isCountOnly else {
                throw SearchRefusal.tooCostly("there is too much to be counted: narrow it by patient, code or date")
            }
            page.next = walk.reached
        }
    }
}
