import KymographCore
import KymographTemplates

/// Why an engine cannot be made, or did not end well.
public struct EngineError: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public enum Kind: Hashable, Sendable {
        /// The configuration, or a mapping, is wrong: see ``EngineError/problems``.
        case configuration
        /// An address, a file or the store cannot be had.
        case unavailable
        /// The disk, a sink or the store failed during the run.
        case failed
        /// Delivering what was there took longer than `drain` allows, and was cut. With a store it goes on with the
        /// next run.
        case cut
    }

    /// One thing that is wrong, or doubtful, in a configuration or mapping.
    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        /// Whether nothing can be done with it as it is; a warning otherwise.
        public let isError: Bool
        /// The name of the configuration, the path or catalogue name of a mapping's file, or `parameters` for what the
        /// program has set.
        public let file: String
        /// Line, from 1 on.
        public let line: Int
        /// Column in bytes, from 1 on.
        public let column: Int
        /// What is wrong, in one sentence without final stop.
        public let message: String
        /// What to do, in one sentence without final stop; empty when the message says it.
        public let advice: String

        /// `file:line:column: error: message; advice`, as `kymo check` prints it.
        public var description: String {
            let tail = advice.isEmpty ? "" : "; \(advice)"
            return "\(file):\(line):\(column): \(isError ? "error" : "warning"): \(message)\(tail)"
        }
    }

    /// What went wrong.
    public let kind: Kind
    /// What happened, where, and what to do.
    public let message: String
    /// Everything that is wrong with the configuration and its mappings, warnings too; empty where ``message`` says it
    /// all, as of a store that a newer version wrote, and for other kinds.
    public let problems: [Problem]
    /// What became of everything that was received, of a run that did not end well.
    public let summary: EngineSummary?

    init(_ kind: Kind, _ message: String, problems: [Problem] = [], summary: EngineSummary? = nil) {
        self.kind = kind
        self.message = message
        self.problems = problems
        self.summary = summary
    }

    /// The problems, a line each, or the message.
    public var description: String {
        problems.isEmpty ? message : problems.map(\.description).joined(separator: "\n")
    }
}

extension EngineError {
    /// A configuration with these problems.
    init(_ problems: [Problem]) {
        let errors = problems.count { $0.isError }
        let first = problems.first { $0.isError }?.description ?? ""
        self.init(
            .configuration, errors > 1 ? "\(first) (and \(errors - 1) more)" : first, problems: problems)
    }

    /// A pipeline that cannot be opened; `findings` are what is wrong with the mappings.
    init(_ error: PipelineError, _ findings: [Diagnostic]) {
        self.init(
            error.exitCode == ExitStatus.config ? .configuration : .unavailable, error.message,
            problems: findings.map(Problem.init))
    }

    /// How a run ended that did not end well.
    init(_ outcome: Pipeline.Outcome) {
        self.init(
            outcome.exitCode == ExitStatus.drainCut ? .cut : .failed, outcome.message,
            summary: EngineSummary(outcome.summary))
    }
}

extension EngineError.Problem {
    init(_ diagnostic: Diagnostic) {
        self.init(
            isError: diagnostic.severity == .error,
            file: diagnostic.file == SettingOrigin.commandLine("").file ? Self.parameters : diagnostic.file,
            line: diagnostic.position.line, column: diagnostic.position.column, message: diagnostic.message,
            advice: diagnostic.advice)
    }

    /// An error in what the program has set as `name`.
    init(_ name: String, _ message: String, advice: String) {
        self.init(
            isError: true, file: Self.parameters, line: 1, column: 1, message: "\(name): \(message)", advice: advice)
    }

    private static let parameters = "parameters"
}
