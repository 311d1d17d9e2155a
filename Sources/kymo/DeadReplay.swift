import ArgumentParser
import Kymograph
import KymographCore
import KymographTestKit

/// `kymo dead replay`.
struct DeadReplay: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Map the bytes of dead letters again, and send refused entries again.",
        discussion: """
            While an instance uses the directory, the bytes are sent to the socket they came from, and the instance \
            sends refused entries again. Otherwise a pipeline with the settings given here, which should be those of \
            'kymo run', maps the bytes and delivers what comes of them; refused entries leave when 'kymo run' starts.

            Each letter goes on its own: one that is rejected again, that was superseded, or that holds an older \
            version than the server has, is named and left as it is, counted once, and the command exits with status \
            65; the rest goes on. It exits likewise when a replayed reading is rejected for another reason: that is a \
            new letter, which is named. Readings keep the time at which they were received first, so that an old value \
            replaces no newer one. The replayed letters are kept, and marked, until they are discarded. A reading that \
            was rejected after it had been mapped is taken again as it is, which needs an instance that does not run.

            A letter comes back as what its own source brought, or not at all: where none of the instance, or of the \
            configuration, has the name that the letter's source had, it is left. Another one may have its address. \
            What came by standard input is mapped by the configuration that is given. Where what it holds depends on \
            the defaultDevice, defaultPatient or timezone of its source, it comes only while they are what they were \
            when it came: otherwise the reading would be another's, or of another time.

            Letters that hold only a part of what came, such as a line that was too long or a frame with a wrong \
            checksum, could give a reading that nobody took: they are named and left as they are, unless --parts is \
            given. What comes of letters leaves by the sinks of the last run, which the settings must name, too, \
            unless --other-sinks is given. What came from a peer of a list is judged by that list as it is now, unless \
            --not-allowed is given. Where that list has, or had, one patient for all that a peer brings, it comes only \
            while the list has the same one, and never with --not-allowed. \
            Whose a reading is says the patient map as it is now, at the time of the reading: name the configuration \
            that has it, or --patients.

            Example: kymo dead replay 17 18 --data /var/lib/kymo --mapping ./my-device/ --out ./observations
            """)

    @OptionGroup var selection: LetterSelection

    @Flag(help: "Letters that hold only a part of what came, too, as if it were all.")
    var parts = false

    @Flag(help: "Let all letters bring what they hold, whatever a list of peers says.")
    var notAllowed = false

    @Flag(help: "Deliver by the sinks given here alone: what waits for others of the last run is given up.")
    var otherSinks = false

    @Option(
        name: .customLong("report"),
        help: ArgumentHelp("What became of the letters, for people, or for programs as well.", valueName: "text|json"))
    var report = TextFormat.text

    @OptionGroup var settings: SettingOptions

    func run() throws {
        ProcessPrivacy.keepFilesPrivate()
        let (settings, _, _) = try self.settings.load()
        guard let directory = settings.store.directory, !self.settings.durability.ephemeral else {
            throw StandardError.exit("there is no place for data: name one with --data DIR", code: ExitStatus.config)
        }
        _ = try StandardError.translating { () throws(PipelineError) in try settings.unlockStore() }
        let reader = try StoreReader.opened(directory)
        let letters = try selection.letters(reader)
        AuditNote.write(.deadReplay, letters.audited.map { "kymo dead replay replays \($0)" }, in: directory)
        let used = try StandardError.translating { () throws(PipelineError) in try reader.deciders() }
        var replay = LetterBatch(letters, withParts: parts)
        let isRunning = ControlClient.isRunning(directory)
        if isRunning {
            RunningReplay(directory: directory, notes: Self.write).run(&replay)
        } else {
            refuseStrays(&replay, settings)
            refuseStrangers(&replay, settings)
            replay.refuse(
                replay.payloads.compactMap { letter in
                    letter.patientObstacle(settings, anyway: notAllowed).map { LetterRefusal(letter.number, $0) }
                })
            refuseUndecided(&replay, used, settings.deciders)
            replay.refuse(
                replay.payloads.compactMap { letter in
                    letter.missingMapping(settings).map {
                        LetterRefusal(
                            letter.number,
                            "its request was for the mapping \($0) alone: name the configuration that has it with "
                                + "--config")
                    }
                })
            try checkSinks(replay, settings, reader)
            try map(&replay, settings, directory)
            RunningReplay(directory: directory, notes: Self.write).note(&replay)
        }
        if report == .json { try StandardOutput.write(try PrettyText.pretty(replay.outcome)) }
        StandardError.write("kymo: \(replay.text)\n")
        for refusal in replay.refusals + replay.news {
            StandardError.writeLine("kymo: letter \(refusal.letter): \(refusal.reason)")
        }
        try replay.report()
    }

    /// Leaves letters of sources that the configuration does not have, where it has others: nothing says whose they
    /// are.
    private func refuseStrays(_ replay: inout LetterBatch, _ settings: PipelineSettings) {
        replay.refuse(
            replay.payloads.filter { settings.isStray($0.source) }
                .map { LetterRefusal($0.number, StoredLetter.strayText($0.source)) })
    }

    /// Leaves letters whose list of peers is not at hand: nothing would say whose readings they may bring.
    private func refuseStrangers(_ replay: inout LetterBatch, _ settings: PipelineSettings) {
        let listed = settings.listeningSources.filter { $0.configuration.peers != nil }.map(\.name)
        replay.refuse(
            replay.payloads.filter { $0.needsPeers && !notAllowed && !listed.contains($0.source) }.map {
                LetterRefusal(
                    $0.number,
                    "a list of peers says what its sender may bring: name the configuration that has it with --config, "
                        + "or say --not-allowed")
            })
    }

    /// Leaves letters on which a patient map or rules have to decide that are not at hand: they would be filed for whom
    /// their messages name, for nobody, or against a rule.
    private func refuseUndecided(
        _ replay: inout LetterBatch, _ used: Set<StoreDecider>, _ present: Set<StoreDecider>
    ) {
        replay.refuse(
            (replay.payloads + replay.readings).compactMap { letter in
                switch letter.lacks(used: used, present: present) {
                case .patientMap?:
                    LetterRefusal(
                        letter.number,
                        "a patient map says whose it is: name the configuration that has it with --config, or "
                            + "--patients")
                case .rules?:
                    LetterRefusal(
                        letter.number,
                        "rules say whether it is taken: name the configuration that has them with --config, or --rules")
                case .hook?:
                    LetterRefusal(
                        letter.number,
                        "a program that embeds the engine says whether it is taken: replay it while that runs")
                case nil: nil
                }
            })
    }

    /// Sinks of the last run that are not named would never get what comes of the letters, nor what waits for them.
    private func checkSinks(_ replay: LetterBatch, _ settings: PipelineSettings, _ reader: StoreReader) throws {
        guard !otherSinks, !replay.payloads.isEmpty || !replay.readings.isEmpty else { return }
        let present = Set(settings.outgoingSinks.map { IdentifierText($0.name) })
        let former = try StandardError.translating { () throws(PipelineError) in try reader.sinks() }
        let missing = former.filter { !present.contains(IdentifierText($0)) }
        guard !missing.isEmpty else { return }
        throw StandardError.exit(
            "an earlier run delivered to \(missing.joined(separator: ", ")), which would get nothing of this: name the "
                + "configuration that has them with --config, or say --other-sinks", code: ExitStatus.config)
    }

    /// By a pipeline of its own, which nobody else uses the store besides.
    private func map(_ replay: inout LetterBatch, _ settings: PipelineSettings, _ directory: String) throws {
        guard !replay.payloads.isEmpty || !replay.readings.isEmpty else { return }
        var settings = settings
        settings.store.keeping = .everything
        if notAllowed {
            for place in settings.sources.indices { settings.sources[place].configuration.peers = nil }
        }
        try StandardError.translating { () throws(PipelineError) in
            let reader = try StoreReader(directory: directory)
            replay.refuse(try LetterTrial(settings, reader).refusals(replay.payloads + replay.readings))
            let settlement = try LetterSettlement(directory)
            if !replay.readings.isEmpty {
                replay.refuse(
                    try ReadingReplay.take(replay.readings, settings, directory: directory, notes: DeadReplay.write))
            }
            guard !replay.payloads.isEmpty || !replay.readings.isEmpty else { return }
            let letters = replay.payloads + replay.readings
            DeadReplay.run(&replay, settings, directory)
            DeadReplay.settle(&replay, letters, settlement)
        }
    }

    /// Runs the pipeline; whatever becomes of it, other letters go on.
    private static func run(_ replay: inout LetterBatch, _ settings: PipelineSettings, _ directory: String) {
        for letters in LetterReplay.parts(replay.payloads, settings) {
            do throws(PipelineError) {
                let outcome = try LetterReplay.run(letters, settings, directory: directory, notes: write)
                for line in outcome.summary.lines { write(.info(line)) }
                if outcome.exitCode != ExitStatus.success { replay.fail(outcome.message, of: letters) }
            } catch {
                replay.fail(error.message, of: letters)
            }
        }
    }

    private static func settle(_ replay: inout LetterBatch, _ letters: [StoredLetter], _ settlement: LetterSettlement) {
        do throws(PipelineError) {
            let outcome = try settlement.run(letters, notes: write)
            replay.refuse(outcome.unchanged)
            replay.note(new: outcome.new)
        } catch {
            replay.fail(error.message)
        }
    }

    private static func write(_ note: LogEntry) { StandardError.write("kymo: \(note.text)\n") }
}
