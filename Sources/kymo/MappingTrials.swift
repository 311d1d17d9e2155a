import Kymograph
import KymographCore
import KymographTemplates
import Synchronization

/// Results of the examples of mappings, as the instance with given settings would map them. They are kept as long as
/// the files are the same: a page that lists all mappings runs none again.
final class MappingTrials: Sendable {
    private struct Result {
        var files: MappingFiles
        var tested: ConsoleActions.Tested
    }

    private let settings: PipelineSettings
    private let results = Mutex<[String: Result]>([:])

    /// With compatibility and version of `settings`; windows have the default period, for which examples are written.
    init(_ settings: PipelineSettings) { self.settings = settings }

    /// The results for the files that `reference` names as they are now.
    func tested(_ reference: MappingReference) -> ConsoleActions.Tested {
        let files: MappingFiles
        do throws(MappingFilesError) {
            files = try reference.files()
        } catch {
            return ConsoleActions.Tested(findings: [error.description], examples: [])
        }
        if let known = results.withLock({ $0[reference.name] }), known.files == files { return known.tested }
        let tested = run(files)
        results.withLock { $0[reference.name] = Result(files: files, tested: tested) }
        return tested
    }

    /// The results for `files`, wherever they are.
    func run(_ files: MappingFiles) -> ConsoleActions.Tested {
        let version = settings.output.version
        let loaded = MappingSelection.load(
            [files], compatibility: settings.compatibility, fhirVersion: version)
        let findings = loaded.diagnostics.map(\.text)
        guard let set = loaded.set else { return ConsoleActions.Tested(findings: findings, examples: []) }
        let trial = ExampleTrial(set: set, mapping: files.name, version: version)
        return ConsoleActions.Tested(
            findings: findings,
            examples: files.examples.map { ConsoleActions.Example(name: $0.name, differences: trial.differences($0)) })
    }
}
