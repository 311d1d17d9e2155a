@testable import Kymograph
import Testing

/// Which threads hang.
@Suite struct ProgressWatchTests {
    private let start = ContinuousClock.now

    private func thread(_ name: String, _ rounds: Int?, isWaitingForRoom: Bool = false) -> ThreadProgress {
        ThreadProgress(name: name, rounds: rounds, isWaitingForRoom: isWaitingForRoom)
    }

    /// Those of `threads` that hang, when each look is a second after the one before and a round may take two.
    private func hanging(_ looks: [[ThreadProgress]]) -> [[String]] {
        var watch = ProgressWatch(limit: .seconds(2))
        return looks.enumerated().map { second, threads in watch.hanging(threads, now: start + .seconds(second)) }
    }

    @Test func aThreadHangsThatBeginsNoRoundForLongerThanTheLimit() {
        let looks = [1, 2, 2, 2, 2, 3].enumerated().map { [thread("shard 0", $1), thread("shard 1", $0)] }
        #expect(hanging(looks) == [[], [], [], [], ["shard 0"], []])
    }

    @Test func aThreadThatHasEndedDoesNotHang() {
        #expect(hanging((0..<6).map { _ in [thread("lane 0", nil)] }) == [[], [], [], [], [], []])
    }

    /// The time in which it waits does not count, and what comes after it does.
    @Test func aThreadThatWaitsForRoomDoesNotHang() {
        let waits = [true, true, true, true, false, false, false, false]
        #expect(
            hanging(waits.map { [thread("shard 0", 7, isWaitingForRoom: $0)] })
                == [[], [], [], [], [], [], [], ["shard 0"]])
    }

    @Test func aPulseThatHasEndedHasNoCount() {
        let pulse = Pulse()
        pulse.beat()
        pulse.beat()
        #expect(pulse.count == 2)
        pulse.end()
        #expect(pulse.count == nil)
    }
}

/// What a full queue tells of the shards that wait for it.
@Suite struct WaitingShardTests {
    @Test func theShardIsNamedUntilThereIsRoom() throws {
        let queue = try StoreQueue()
        queue.submit(.made(journal: 1, bytes: 33 << 20))
        #expect(queue.waitingShards.isEmpty)
        let waiting = TestThread { queue.submit(.made(journal: 2)) }
        #expect(Patience.until(seconds: 30) { !queue.waitingShards.isEmpty })
        _ = queue.take()
        waiting.join()
        #expect(queue.waitingShards.isEmpty)
    }
}
