@testable import Kymograph
import Synchronization

/// Positions of topics in memory, of which those that are not durable can be lost.
final class MemoryPositions: PositionKeeper {
    private struct State {
        var noted: [TopicPartition: TopicPosition] = [:]
        var durable: [TopicPartition: TopicPosition] = [:]
        var (count, durableCount) = (0, 0)
        var commitsAtOnce = false
    }

    private let state = Mutex(State())

    func positions(of topic: TopicName) -> [Int32: TopicPosition] {
        state.withLock { state in
            state.noted.reduce(into: [:]) { if $1.key.topic == topic { $0[$1.key.number] = $1.value } }
        }
    }

    func knowsOthers(than topic: TopicName) -> Bool {
        state.withLock { state in
            state.noted.keys.contains {
                $0.topic.cluster != topic.cluster && $0.topic.group == topic.group && $0.topic.topic == topic.topic
            }
        }
    }

    func keep(_ positions: [Int32: TopicPosition], of topic: TopicName) -> Int {
        state.withLock { state in
            for (number, position) in positions { state.noted[TopicPartition(topic: topic, number: number)] = position }
            state.count += 1
            if state.commitsAtOnce { (state.durable, state.durableCount) = (state.noted, state.count) }
            return state.count
        }
    }

    func isKept(_ number: Int) -> Bool { state.withLock { $0.durableCount >= number } }

    /// Makes durable what is not yet.
    func commit() { state.withLock { ($0.durable, $0.durableCount) = ($0.noted, $0.count) } }

    /// Whether all is durable at once.
    func commitsAtOnce(_ does: Bool) { state.withLock { $0.commitsAtOnce = does } }

    /// Loses what is not durable.
    func crash() { state.withLock { $0.noted = $0.durable } }

    /// What is durable of `partition`, in whatever topic.
    subscript(partition: Int32) -> TopicPosition? {
        state.withLock { state in state.durable.first { $0.key.number == partition }?.value }
    }
}
