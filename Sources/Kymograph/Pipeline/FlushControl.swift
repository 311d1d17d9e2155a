import KymographCore
import Synchronization

/// Closes windows of a running pipeline as commands ask, and says how far they have come.
final class FlushControl: Sendable {
    /// Where shards look.
    let point: FlushPoint
    /// Of each flush that is known, by its generation.
    private let progress = Mutex<[Int: FlushProgress]>([:])
    /// Stands before the first number: another process begins with another one.
    private let base = Int(WallClock.now().nanoseconds / 1_000)

    /// Milliseconds that an answer waits for shards.
    private static let patience = 2_000

    /// Closes windows of `shards` shards.
    init(shards: Int) { point = FlushPoint(shards: shards) }

    /// Closes the windows that `request` names; nil when too many others have not been done.
    func close(_ request: FlushRequest, _ store: Store) -> FlushAnswer? {
        let began = FlushProgress(store)
        let generation = point.ask(
            WindowSelection(
                types: request.types.map(NamePattern.init), devices: request.devices.map { NamePattern($0.text) }))
        guard let generation else { return nil }
        progress.withLock { progress in
            progress = progress.filter { point.isKnown($0.key) }
            progress[generation] = began
        }
        for _ in 0..<FlushControl.patience where point.closed(for: generation) == nil { Wait.milliseconds(1) }
        return look(FlushLook(number: base + generation, counts: false), store)
    }

    /// How far the windows of a flush are; nil when it is not known.
    func look(_ look: FlushLook, _ store: Store) -> FlushAnswer? {
        let generation = look.number - base
        guard point.isKnown(generation) else { return nil }
        var answer = FlushAnswer(number: look.number, closed: point.closed(for: generation))
        guard answer.closed != nil else { return answer }
        let found = progress.withLock { $0[generation]?.look(store, counts: look.counts) }
        guard let found = found ?? nil else { return answer }
        (answer.isDurable, answer.waiting) = (true, found.waiting)
        (answer.refused, answer.lacking) = (found.refused, found.lacking)
        return answer
    }
}
