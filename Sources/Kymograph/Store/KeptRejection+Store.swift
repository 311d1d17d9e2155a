import GRDB
import KymographCore

extension StoredDeadLetter {
    /// The letter of a reading that a shard has rejected. The newest `types` know those of all readings before.
    init(_ reading: RejectedReading, _ payload: ByteView, _ types: [MeasurementType]) {
        let type = types[reading.identity.type]
        var text = ByteWriter(capacity: 512)
        if reading.isRetraction {
            MeasurementJSON.append(
                retraction: reading.measurement, content: payload, type: type, identity: reading.identity, to: &text)
        } else {
            MeasurementJSON.append(
                reading.measurement, payload: payload, type: type, identity: reading.identity, to: &text)
        }
        if reading.canComeAgain { StoredDeadLetter.append(reading, payload, to: &text) }
        self.init(
            at: reading.measurement.received, kind: .measurement, reason: reading.reason.name, source: "shard",
            detail: reading.detail(type.name), bytes: text.view.array)
    }

    /// Adds what ``LetterRecord`` reads to the object that `text` ends with.
    private static func append(_ reading: RejectedReading, _ payload: ByteView, to text: inout ByteWriter) {
        let record = LetterRecord(
            series: SeriesKey.encode(reading.identity),
            bytes: JournalRecord.bytes(of: reading.measurement, payload: payload))
        text.truncate(to: text.count - 1)
        text.append(record.members)
    }
}

extension RejectedReading {
    /// Whether it can be taken again. One that a window holds would be a duplicate; one that was taken back is to come
    /// with a new retraction alone; and a retraction is no reading.
    var canComeAgain: Bool {
        !isInWindow && !isRetraction && reason != .retracted
    }

    /// What the letter of a type's reading says beside its bytes.
    package func detail(_ type: String) -> String {
        if isRetraction { return "the bytes are a retraction of type \(type)" }
        let measurement = "the bytes are the normalised measurement of type \(type)"
        switch form {
        case .byID?: return measurement + ", taken back by its id"
        case .byTime?: return measurement + ", taken back by its time"
        case nil: return measurement
        }
    }
}

extension LedgerOutcome {
    /// The hour that a rejected reading is counted in: that of its own time, so that a span names what it lacks,
    /// however late that came. A time that is too far ahead says nothing, and the time of receipt counts.
    static func hour(of reading: Measurement, rejectedFor reason: String) -> Int64 {
        hour(of: reason == Rejection.clockAhead.name ? reading.received : reading.instant)
    }
}

extension KeptRejection {
    /// The rows of the ledger that it belongs to.
    var tallies: [TallyKey] {
        let source = ReadingSource.number(reading.measurement.mark)
        var outcomes = isKnown ? [] : [reading.reason.name]
        if reading.isInWindow { outcomes.append(LedgerOutcome.unwritten) }
        if undoesReplacement {
            let isRetracted = reading.reason == .retracted && isKnown
            outcomes.append(isRetracted ? LedgerOutcome.unretracted : LedgerOutcome.unreplaced)
        }
        let hour = LedgerOutcome.hour(of: reading.measurement, rejectedFor: reading.reason.name)
        return outcomes.map { TallyKey(source: source, series: reading.series, hour: hour, outcome: $0) }
    }

    /// Notes that the journal has it no more, whatever keeps its block there; or that the reading there has taken its
    /// place.
    func withdraw(_ db: Database) throws {
        guard let place else { return }
        try db.cachedStatement(sql: "INSERT OR IGNORE INTO withdrawn VALUES (?, ?, ?)").execute(arguments: [
            place.block, place.index, isReplacedFrom,
        ])
    }
}
