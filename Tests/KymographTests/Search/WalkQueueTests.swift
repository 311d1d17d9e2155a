import GRDB
import KymographTestKit
import Testing
import TrialSupport

@testable import Kymograph

/// Entries leave a queue in their order, whatever that of their coming.
@Suite struct WalkQueueTests {
    @Test(arguments: Trials.seeds(tenthOf: 50)) func order(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let head = WindowHead(
            Row([
                "number": 1, "series": 1, "start": 0, "first": 0, "last": 0, "modified": 0, "revision": 1,
            ]))
        var queue = WalkQueue()
        var model: [WalkPlace] = []
        for _ in 0..<400 {
            if Bool.random(using: &generator), !model.isEmpty {
                model.sort()
                #expect(queue.first?.place == model[0])
                #expect(queue.removeFirst()?.place == model.removeFirst(), "seed \(seed)")
            } else {
                let place = WalkPlace(
                    rank: .random(in: -5...5, using: &generator), start: .random(in: 0...3, using: &generator),
                    series: .random(in: 0...3, using: &generator), part: .random(in: -1...3, using: &generator))
                queue.add(WalkQueue.Entry(place: place, head: head))
                model.append(place)
            }
        }
        for place in model.sorted() { #expect(queue.removeFirst()?.place == place) }
        #expect(queue.first == nil && queue.removeFirst() == nil)
    }
}
