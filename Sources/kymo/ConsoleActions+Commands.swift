import Kymograph

extension ConsoleActions {
    /// What `kymo dead` and `kymo test` do, for the instance that began with `settings` and uses `directory`; without
    /// one nothing is replayed. `notes` takes what an operator should know besides.
    init(directory: String?, _ settings: PipelineSettings, notes: @escaping LogTaker) {
        self.init()
        let trials = MappingTrials(settings)
        test = { trials.tested($0) }
        trial = { trials.run($0) }
        guard let directory else { return }
        replay = { (numbers, parts) throws(PipelineError) in
            let replay = RunningReplay(directory: directory, notes: notes, patience: 10)
            return try ConsoleReplay.run(numbers, withParts: parts, replay)
        }
    }
}
