extension WindowShard where Archive: ~Copyable {
    /// Takes a retraction: the reading that it takes out is rejected now. What becomes of that is durable together: the
    /// journal, which says that the reading is gone, its dead letter, and that it is to be kept out.
    @inline(never)
    mutating func retract(_ record: Measurement, input: Int) {
        let payload = inputs[input].ring.payload(of: record)
        let tombstone = Tombstone(record, payload)
        beginBlock()
        machine.retractions.ring = input
        switch machine.retract(tombstone) {
        case .known: settle(record)
        case .taken(let series):
            settle(record)
            rejectRetracted(series: series, tombstone.name.form)
            while let other = machine.takeElsewhere(tombstone) {
                rejectRetracted(series: other, tombstone.name.form)
            }
        case .rejected(let reason):
            inputs[input].outcomes.note(reason)
            reject(reason, tombstone, record, Tombstone.content(of: payload))
        }
    }

    /// Rejects a retraction.
    private mutating func reject(
        _ reason: Rejection, _ tombstone: Tombstone, _ record: Measurement, _ content: ByteView
    ) {
        tally.reject(reason)
        var measurement = record
        measurement.payloadBytes = content.count
        measurement.kind = RecordKind.measurement.rawValue
        var rejected = RejectedReading(
            reason: reason, measurement: measurement, identity: tombstone.series, series: -1, isInWindow: false)
        (rejected.form, rejected.isRetraction) = (tombstone.name.form, true)
        events.rejected(rejected, payload: content)
        pending.append(rejected, content)
    }

    /// Counts a retraction whose reading is out.
    private mutating func settle(_ record: Measurement) {
        tally.retractions += 1
        pending.appendSettled(source: ReadingSource.number(record.mark), received: record.received)
    }

    /// Rejects the reading that was taken out of `series`.
    private mutating func rejectRetracted(series: Int, _ form: RetractionForm) {
        let (former, bytes) = machine.superseded
        // Of an earlier run, which has counted it as accepted; as far as can be told.
        if former.received <= replayedThrough || accepted + tally.accepted <= 0 {
            tally.withdrawn += 1
        } else {
            tally.accepted -= 1
            tally.reject(.retracted)
        }
        let number = machine.archive.number(of: series)
        var rejected = RejectedReading(
            reason: .retracted, measurement: former, identity: machine.identity(of: series), series: number,
            isInWindow: false)
        rejected.form = form
        bytes.withByteView { [rejected] payload in
            events.rejected(rejected, payload: payload)
            guard pending.isJournaled else { return }
            pending.append(rejected, payload)
            pending.journal.append(retracted: former, payload, series: number)
        }
    }
}
