import KymographCore
import Synchronization

/// How often rules have decided, and which tags readings got, since the start. For any thread.
package final class RuleCounts: Sendable {
    /// What is told of it.
    package struct Facts: Sendable {
        /// Readings that were not taken, by the name of the rule.
        package var refused: [(name: String, count: Int)] = []
        /// Readings that were rewritten.
        package var rewritten: [(name: String, count: Int)] = []
        /// Versions of resources that were vetoed, patched or kept from deletion.
        package var entries: [(name: String, count: Int)] = []
        /// Readings by tag.
        package var tagged: [(name: String, count: Int)] = []

        /// Nothing.
        package init() {}
    }

    /// Counts by names, of which there are not too many: those beyond are `other`.
    private struct Tally {
        let most: Int
        private var counts: [String: Int] = [:]
        private var beyond = 0
        /// Names that have their places before others.
        private var expected: Set<String> = []
        /// Names that were not expected when they came, and how many of them may be.
        private var strangers = 0
        private var mostStrangers: Int

        init(most: Int) {
            self.most = most
            mostStrangers = most
        }

        /// Has places for `names`, and at most `mostStrangers` for others, from here on. What has a name keeps it.
        mutating func expect(_ names: Set<String>, mostStrangers: Int) {
            expected = names
            self.mostStrangers = min(mostStrangers, max(0, most - names.count))
        }

        mutating func add(_ count: Int, to name: String) {
            if counts[name] == nil, !admit(name) { return beyond += count }
            counts[name, default: 0] += count
        }

        /// Whether `name`, which has no place, may have one.
        private mutating func admit(_ name: String) -> Bool {
            guard counts.count < most else { return false }
            if expected.contains(name) { return true }
            guard strangers < mostStrangers else { return false }
            strangers += 1
            return true
        }

        var sorted: [(name: String, count: Int)] {
            var all = counts
            if beyond > 0 { all["other", default: 0] += beyond }
            return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        }
    }

    private struct State {
        var refused = Tally(most: 256)
        var rewritten = Tally(most: 256)
        var entries = Tally(most: 256)
        var tagged = Tally(most: 32)
    }

    private let state = Mutex(State())

    /// Nothing counted.
    package init() {}

    /// Most tags by what messages say that have a name, since senders choose them.
    private static let mostComputed = 16

    /// Has names for the tags `constants` before others, from here on. Where `isComputed`, senders choose the others.
    func expect(_ constants: Set<String>, isComputed: Bool) {
        state.withLock { state in
            let most = isComputed ? RuleCounts.mostComputed : state.tagged.most
            state.tagged.expect(constants, mostStrangers: most)
        }
    }

    /// Notes a reading that `rule` has not let through.
    func refused(by rule: String) { state.withLock { $0.refused.add(1, to: rule) } }

    /// Notes `count` readings that `rule` has rewritten.
    func rewrote(_ count: Int, by rule: String) { state.withLock { $0.rewritten.add(count, to: rule) } }

    /// Notes `count` resources that `rule` has vetoed, patched or kept from deletion.
    func ruled(_ count: Int, by rule: String) { state.withLock { $0.entries.add(count, to: rule) } }

    /// Notes `count` readings with the tags of `list` (``ReadingTags``).
    func tagged(_ count: Int, with list: [UInt8]) {
        let tags = list.withByteView { ReadingTags.texts($0) }
        state.withLock { state in for tag in tags { state.tagged.add(count, to: tag) } }
    }

    /// What was counted.
    var facts: Facts {
        state.withLock { state in
            var facts = Facts()
            (facts.refused, facts.rewritten) = (state.refused.sorted, state.rewritten.sorted)
            (facts.entries, facts.tagged) = (state.entries.sorted, state.tagged.sorted)
            return facts
        }
    }
}
