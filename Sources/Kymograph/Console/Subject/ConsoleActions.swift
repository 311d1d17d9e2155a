/// What the console does by the commands that do the same; each is nil where there is no such command.
package struct ConsoleActions: Sendable {
    /// What became of letters that were replayed.
    package struct Replay: Encodable, Sendable {
        /// What was replayed, as `kymo dead replay` says it.
        package var text: String
        /// Letters that are as they were, and new ones.
        package var refusals: [LetterRefusal]

        /// An outcome.
        package init(text: String, refusals: [LetterRefusal]) { (self.text, self.refusals) = (text, refusals) }
    }

    /// An example of a mapping.
    package struct Example: Encodable, Sendable {
        /// Its name.
        package var name: String
        /// What differs from what it expects; empty when it passes.
        package var differences: [String]

        /// A tested example.
        package init(name: String, differences: [String]) { (self.name, self.differences) = (name, differences) }
    }

    /// A mapping whose examples were run.
    package struct Tested: Encodable, Sendable {
        /// What is wrong with its files, as `kymo check` says it.
        package var findings: [String]
        /// Its examples.
        package var examples: [Example]

        /// A tested mapping.
        package init(findings: [String], examples: [Example]) {
            (self.findings, self.examples) = (findings, examples)
        }
    }

    /// Replays letters by their numbers, with those of which only a part is there or without.
    package var replay: (@Sendable ([Int64], Bool) throws(PipelineError) -> Replay)?
    /// Runs the examples of a mapping.
    package var test: (@Sendable (MappingReference) -> Tested)?
    /// Runs the examples of a mapping with files that are not in their place yet.
    package var trial: (@Sendable (MappingFiles) -> Tested)?

    /// None.
    package init() {}
}
