package import KymographCore
import Synchronization

/// Readings by the mapping that gave them, and their type, as lanes count them. For any thread.
package final class ReadingCounts: Sendable {
    /// Those of one mapping and type.
    package struct Entry: Sendable {
        /// Name of the mapping.
        package var mapping: String
        /// Name of the type, or ``ReadingCounts/otherTypes``.
        package var type: String
        /// Readings.
        package var count = 0
    }

    private struct Name: Hashable {
        var mapping: String
        var type: String
    }

    /// What a lane counts by.
    private struct Lane {
        var set: MappingSet
        var counts: SharedCounts
    }

    private struct State {
        /// By lane.
        var lanes: [Int: Lane] = [:]
        /// What lanes have counted by sets that they no longer use.
        var former: [Name: Int] = [:]
    }

    /// Stands for all types of a mapping that are not shown by themselves.
    package static let otherTypes = "other"
    /// Most pairs of a mapping and a type that are shown by themselves. A mapping can have any number of types.
    private static let mostShown = 500

    private let state = Mutex(State())
    /// Names that have been shown, which go on to be.
    private let shown = Mutex<Set<Name>>([])

    /// Nothing yet.
    package init() {}

    /// Where `lane` counts from here on, by the numbers of the templates of `set`; what it has counted before is kept.
    package func counts(of set: MappingSet, lane: Int) -> SharedCounts {
        let counts = SharedCounts(count: set.templates.count)
        state.withLock { state in
            if let former = state.lanes.updateValue(Lane(set: set, counts: counts), forKey: lane) {
                ReadingCounts.add(former, to: &state.former)
            }
        }
        return counts
    }

    /// Those of mappings and types that have given readings, by name.
    package var entries: [Entry] {
        // Added up behind the lock: a lane may want it.
        var (lanes, totals) = state.withLock { ($0.lanes, $0.former) }
        for lane in lanes.values { ReadingCounts.add(lane, to: &totals) }
        let names = totals.keys.sorted { ($0.mapping, $0.type) < ($1.mapping, $1.type) }
        var entries: [Name: Int] = [:]
        shown.withLock { shown in
            for name in names { entries[ReadingCounts.shown(name, &shown), default: 0] += totals[name] ?? 0 }
        }
        return entries.map { Entry(mapping: $0.mapping, type: $0.type, count: $1) }
            .sorted { ($0.mapping, $0.type) < ($1.mapping, $1.type) }
    }

    /// Under which name `name` is shown: once `shown` has too many, new ones are together.
    private static func shown(_ name: Name, _ shown: inout Set<Name>) -> Name {
        if shown.contains(name) { return name }
        guard shown.count < mostShown else { return Name(mapping: name.mapping, type: otherTypes) }
        shown.insert(name)
        return name
    }

    private static func add(_ lane: Lane, to totals: inout [Name: Int]) {
        for number in 0..<lane.counts.count where lane.counts[number] > 0 {
            let (mapping, type, _) = lane.set.describe(template: number)
            totals[Name(mapping: mapping, type: type), default: 0] += lane.counts[number]
        }
    }
}
