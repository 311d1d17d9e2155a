import KymographCore
import Synchronization

/// A lane's side of `store.keepRaw`: gives the store the payloads that have given readings, as they came.
///
/// Used by the lane's thread only; the lock, which nobody else takes, is there because what a lane reports to is
/// shared.
final class PayloadKeeper: Sendable {
    private struct State: ~Copyable {
        var set: MappingSet
        var isOn = false
        var writer = PayloadSectionWriter()
        /// Whether some of what is in it came of a source that may wait.
        var mayWait = false
    }

    /// Bytes above which a payload is not kept: rows of a database have their limit.
    private static let longest = 64 << 20

    private let state: Mutex<State>
    private let store: Store?
    private let ledger: PipelineLedger
    private let pulse: Pulse

    /// The lane maps with `set`; without a store, nothing is kept.
    init(_ set: MappingSet, store: Store?, ledger: PipelineLedger, pulse: Pulse) {
        state = Mutex(State(set: set))
        (self.store, self.ledger, self.pulse) = (store, ledger, pulse)
    }

    /// Whether payloads are kept.
    var isOn: Bool { state.withLock { $0.isOn } }

    /// The lane maps with `set` from here on.
    func adopt(_ set: MappingSet) { state.withLock { $0.set = set } }

    /// Keeps payloads from here on, or keeps none, by `settings`; by how much the reasons for looking at each payload
    /// grow.
    func follow(_ settings: StoreSettings) -> Int {
        let isWanted = store != nil && settings.keepRaw > 0
        return state.withLock { state in
            defer { state.isOn = isWanted }
            return (isWanted ? 1 : 0) - (state.isOn ? 1 : 0)
        }
    }

    /// A payload is about to be mapped.
    func payloadBegins() { state.withLock { if $0.isOn { $0.writer.begin() } } }

    /// It has given a reading; `key` is its ``SeriesKey``.
    func measured(_ measurement: Measurement, key: ByteView) {
        state.withLock { state in
            let number = SeriesKey.type(of: key)
            guard state.isOn, state.set.types.indices.contains(number) else { return }
            state.writer.note(key, type: state.set.types[number].name, at: measurement.instant)
        }
    }

    /// It is mapped, while payloads are kept. `source` is the source's number in the store; what one that may not wait
    /// (`drops`) has brought is not kept while too much waits for the disk, and what is longer than 64 MiB never is.
    func payloadEnded(_ bytes: ByteView, source: Int, received: Instant, drops: Bool) {
        let isFull = state.withLock { state in
            if bytes.count > Self.longest || drops && store?.queue.hasRoom == false {
                if state.writer.hasReadings { ledger.addLostPayload() }
                return false
            }
            state.writer.end(bytes, source: source, received: received)
            if !drops { state.mayWait = true }
            return state.writer.isFull
        }
        if isFull { handOver() }
    }

    /// Gives the store what there is: before what is acknowledged asks whether it is durable. Senders that may wait do,
    /// while too much waits for the disk.
    func handOver() {
        guard let store else { return }
        let (taken, mayWait) = state.withLock { state -> (PayloadSection?, Bool) in
            // With each batch, also where nothing is kept.
            guard state.isOn else { return (nil, false) }
            defer { state.mayWait = false }
            return (state.writer.take(), state.mayWait)
        }
        guard let section = taken else { return }
        ledger.add(keptPayloads: section.count)
        if mayWait { store.queue.waitForRoom { pulse.beat() } }
        store.queue.add { batch in
            batch.payloads.append(section)
            batch.byteCount += section.weight
        }
    }
}
