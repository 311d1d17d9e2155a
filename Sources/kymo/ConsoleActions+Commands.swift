import Kymograph

extension ConsoleActions {
    /// What `kymo dead` and `kymo test` do, for the instance `pipeline`, which began with `settings` and uses
    /// `directory`; without one nothing is replayed. `notes` takes what an operator should know besides.
    init(directory: String?, _ settings: PipelineSettings, _ pipeline: Pipeline, notes: @escaping LogTaker) {
        self.init()
        let trials = MappingTrials(settings)
        test = { trials.tested($0) }
        trial = { trials.run($0) }
        guard let directory else { return }
        replay = { (numbers, parts) throws(PipelineError) in
            // Where sources listen now: another one may have got the address of a former one.
            let replay = RunningReplay(
                directory: directory, notes: notes, patience: 10, settings: pipeline.presentSettings)
            return try ConsoleReplay.run(numbers, withParts: parts, replay)
        }
    }
}
