/// The sources of a running lane, each at its place, and which of them end. Of the lane's thread.
final class LaneSources {
    private var all: [LaneSource]
    /// Sources of all lanes.
    private let live: LiveSources
    /// Sources that can still give something.
    private var liveCount: Int
    /// The source that takes what waits for the last time.
    var leaving: Int?
    /// Whether the lane was told to stop.
    var isStopping = false

    /// `sources`, all of which are open; `live` counts those of all lanes.
    init(_ sources: [LaneSource], _ live: LiveSources) {
        (all, self.live, liveCount) = (sources, live, sources.count)
    }

    /// The places of all sources, of those that are gone, too.
    var indices: Range<Int> { all.indices }

    /// Each in its place.
    var list: [LaneSource] { all }

    subscript(index: Int) -> LaneSource {
        @inline(__always) _read { yield all[index] }
        @inline(__always) _modify { yield &all[index] }
    }

    /// Where the source `number` is read.
    func places(of number: Int) -> [Int] {
        indices.filter { all[$0].configuration.number == number && !all[$0].isGone }
    }

    /// Adds `source` behind the others, or at the place `former` of one that is gone, whose counts go on.
    func place(_ source: LaneSource, at former: Int?) -> Int {
        liveCount += 1
        guard let former else {
            all.append(source)
            return all.count - 1
        }
        var source = source
        source.counters = all[former].counters
        all[former] = source
        return former
    }

    /// Closes source `index`, which was removed.
    func close(_ index: Int) {
        all[index].opened.close()
        all[index].isGone = true
        noteEnd()
    }

    /// Notes that a source has come to its end.
    func noteEnd() {
        liveCount -= 1
        live.leave()
    }

    /// Whether nothing can come any more: of others, only where sources may be added.
    var areDone: Bool { liveCount == 0 && (!live.mayGrow || live.isZero) }

    /// Whether source `index` takes what waits for the last time.
    func isLeaving(_ index: Int) -> Bool { isStopping || leaving == index }
}
