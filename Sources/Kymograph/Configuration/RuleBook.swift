package import KymographCore
import Synchronization

/// The rules of a pipeline, which are read again when their file has changed, and how often each has decided. For any
/// thread.
package final class RuleBook: Sendable {
    /// Reads the file.
    ///
    /// - Throws: ``SettingProblem`` that names its place.
    package typealias Load = @Sendable () throws(SettingProblem) -> [ReadingRule]

    /// Most names that are counted; those beyond, of lists that were read later, are `other`.
    private static let mostNames = 256

    private let file: WatchedFile<[ReadingRule]>
    /// Readings that were not taken, by the name of the rule.
    private let tally = Mutex<[String: Int]>([:])

    /// Reads the rules at `path` by `load`.
    ///
    /// - Throws: ``SettingProblem`` as `load` does.
    package init(_ path: String, _ load: @escaping Load) throws(SettingProblem) {
        file = try WatchedFile(path, load)
    }

    /// Where the rules are.
    package var path: String { file.path }

    /// The rules in use, and the ``generation`` that they have.
    package var current: (rules: [ReadingRule], generation: Int) {
        let (rules, generation) = file.current
        return (rules, generation)
    }

    /// Another number than before when the rules are others.
    var generation: Int { file.generation }

    /// Readings that were not taken, by the name of the rule.
    var counts: [(rule: String, count: Int)] {
        tally.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Notes a reading that `rule` has not let through.
    func count(_ rule: ReadingRule) {
        tally.withLock { counts in
            let isNamed = counts[rule.name] != nil || counts.count < RuleBook.mostNames
            counts[isNamed ? rule.name : "other", default: 0] += 1
        }
    }

    /// Reads the file if it has changed, and stayed as it is for two looks; what to tell the operator then.
    func look() -> LogEntry? { file.hasSettled ? reread() : nil }

    /// Reads the file; what to tell the operator. What cannot be used leaves the former rules in use.
    func reread() -> LogEntry {
        do throws(SettingProblem) {
            let rules = try file.read()
            file.replace(with: rules)
            return .change(
                .info, "rules.loaded", ("file", path), "the rules of \(path) were read again: there are \(rules.count)")
        } catch {
            return .change(
                .error, "rules.refused", ("file", path),
                "the former rules stay in use: \(error.message); \(error.advice)")
        }
    }
}
