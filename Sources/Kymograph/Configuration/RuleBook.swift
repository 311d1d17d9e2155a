package import KymographCore
import Synchronization

/// What a file of rules has.
package struct RuleList: Sendable {
    /// Rules for readings.
    package var readings: [ReadingRule] = []
    /// Rules for resources.
    package var resources: [EntryRule] = []

    /// No rules.
    package init() {}
}

/// The rules of a pipeline, which are read again when their file has changed. For any thread.
package final class RuleBook: Sendable {
    /// Reads the file.
    ///
    /// - Throws: ``SettingProblem`` that names its place.
    package typealias Load = @Sendable () throws(SettingProblem) -> RuleList

    private let file: WatchedFile<RuleList>
    private let refused = Atomic(false)

    /// Reads the rules at `path` by `load`.
    ///
    /// - Throws: ``SettingProblem`` as `load` does.
    package init(_ path: String, _ load: @escaping Load) throws(SettingProblem) {
        file = try WatchedFile(path, load)
    }

    /// Where the rules are.
    package var path: String { file.path }

    /// The rules in use, and the ``generation`` that they have.
    package var current: (rules: RuleList, generation: Int) {
        let (rules, generation) = file.current
        return (rules, generation)
    }

    /// Whether the file has had errors since: the rules in use are former ones.
    var isRefused: Bool { refused.load(ordering: .relaxed) }

    /// Another number than before when the rules are others.
    var generation: Int { file.generation }

    /// Reads the file if it has changed, and stayed as it is for two looks; what to tell the operator then.
    func look(refusing fault: (RuleList) -> String?) -> LogEntry? {
        file.hasSettled ? reread(refusing: fault) : nil
    }

    /// Reads the file; what to tell the operator. What cannot be used leaves the former rules in use; `fault` says why
    /// a list cannot that has no error in itself.
    func reread(refusing fault: (RuleList) -> String?) -> LogEntry {
        do throws(SettingProblem) {
            let rules = try file.read()
            if let fault = fault(rules) { return refusal(fault) }
            file.replace(with: rules)
            refused.store(false, ordering: .relaxed)
            let resources = rules.resources.isEmpty ? "" : ", and \(rules.resources.count) for resources"
            let text = "the rules of \(path) were read again: there are \(rules.readings.count)\(resources)"
            return .change(.info, DeedKind.rulesLoaded.rawValue, ("file", path), text).audited(as: .rulesLoaded)
        } catch {
            return refusal("\(error.message); \(error.advice)")
        }
    }

    private func refusal(_ text: String) -> LogEntry {
        refused.store(true, ordering: .relaxed)
        return .change(.error, "rules.refused", ("file", path), "the former rules stay in use: \(text)")
    }
}
