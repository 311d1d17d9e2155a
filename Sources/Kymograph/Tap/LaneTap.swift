import KymographCore
import Synchronization

/// A lane's side of taps: shows payloads and the readings that they give.
///
/// Used by the lane's thread only; the lock, which nobody else takes, is there because what a lane reports to is
/// shared.
final class LaneTap: Sendable {
    fileprivate struct State: Sendable {
        var payloads: [OpenTap] = []
        var measurements: [OpenTap] = []
        var set: MappingSet
        /// What the payload that is being mapped has given so far.
        var outcome = PayloadOutcome()
        /// Which of ``payloads`` want it.
        var isWanted: [Bool] = []
    }

    private let state: Mutex<State>

    /// The lane maps with `set`.
    init(_ set: MappingSet) { state = Mutex(State(set: set)) }

    /// The lane maps with `set` from here on.
    func adopt(_ set: MappingSet) { state.withLock { $0.set = set } }

    /// Shows to `taps` from here on; whether the lane has something to show.
    func adopt(_ taps: [OpenTap]) -> Bool {
        state.withLock { state in
            state.payloads = taps.filter { $0.request.stage == .payload }
            state.isWanted = []
            state.measurements = taps.filter { $0.request.stage == .measurement }
            return !state.payloads.isEmpty || !state.measurements.isEmpty
        }
    }

    // MARK: Payloads

    /// A payload is about to be mapped.
    func payloadBegins() {
        state.withLock { state in
            state.outcome = PayloadOutcome()
            state.isWanted = state.payloads.map(\.wantsAll)
        }
    }

    /// It, or a part of it, was rejected.
    func rejected(_ reason: Rejection) {
        state.withLock { state in
            if state.outcome.rejection == nil { state.outcome.rejection = reason }
        }
    }

    /// The payload of source `source` was mapped.
    func payloadEnded(_ bytes: ByteView, source: Int, received: Instant) {
        state.withLock { state in
            for (tap, isWanted) in zip(state.payloads, state.isWanted) where isWanted {
                tap.offer {
                    let kept = bytes[0..<min(bytes.count, TappedPayload.mostBytes)].array
                    return .payload(
                        TappedPayload(
                            received: received, source: source, size: bytes.count, bytes: kept, outcome: state.outcome))
                }
            }
        }
    }

    // MARK: Readings

    /// A reading of source `source` was mapped; `key` is its ``SeriesKey``.
    func measured(_ measurement: Measurement, payload: ByteView, key: ByteView, source: Int) {
        state.withLock { state in
            let number = SeriesKey.type(of: key)
            guard state.set.types.indices.contains(number) else { return }
            state.note(state.set.types[number].name, SeriesKey.device(of: key))
            for tap in state.measurements {
                guard tap.wants(type: state.set.types[number].name), tap.wants(device: SeriesKey.device(of: key))
                else { continue }
                tap.offer {
                    .measurement(
                        TappedMeasurement(
                            source: source, type: state.set.types[number], measurement: measurement,
                            payload: payload.array, key: key.array))
                }
            }
        }
    }
}

extension LaneTap.State {
    /// Notes that the payload has given a reading.
    fileprivate mutating func note(_ type: String, _ device: ByteView) {
        guard !payloads.isEmpty else { return }
        outcome.readings += 1
        if outcome.types.count < PayloadOutcome.mostTypes, !outcome.types.contains(type) { outcome.types.append(type) }
        for place in isWanted.indices where !isWanted[place] {
            isWanted[place] = payloads[place].wants(type: type) && payloads[place].wants(device: device)
        }
    }
}
