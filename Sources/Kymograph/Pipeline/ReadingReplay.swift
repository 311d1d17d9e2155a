import KymographTemplates

/// Takes readings of dead letters again that were mapped before, in a data directory that no instance uses.
package enum ReadingReplay {
    /// Puts them where the next pipeline takes them from; gives those that are left. `settings` are those of
    /// `kymo run`: where a pipeline would refuse the mappings, no letter is touched.
    ///
    /// - Throws: ``PipelineError`` when the mappings have errors or do not fit the store, or the store is in use or
    ///   cannot be written; none was taken then.
    package static func take(
        _ letters: [StoredLetter], _ settings: PipelineSettings, directory: String, notes: @escaping LogTaker
    ) throws(PipelineError) -> [LetterRefusal] {
        try LetterReturn.run(letters, directory: directory, notes: notes) { store throws(PipelineError) in
            let (set, diagnostics) = ConfigurationLoader.checkMappings(settings)
            guard let set else {
                throw PipelineError(
                    message: diagnostics.first { $0.severity == .error }?.text ?? "the mappings have errors",
                    exitCode: ExitStatus.config)
            }
            _ = try PipelineOpening.continuing(store, settings, set, findings: nil)
        }
    }
}
