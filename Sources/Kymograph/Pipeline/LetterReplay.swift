import Glibc
import KymographCore
import KymographTemplates

/// Maps the bytes of dead letters again, in a data directory that no instance uses: a pipeline whose sources are files
/// with the letters of each source, and which has the settings of the sources otherwise.
package enum LetterReplay {
    /// Runs it to its end, with the letters' own receive times. What is rejected again becomes new dead letters.
    /// `settings` are those of `kymo run`. What came from a peer of a list is judged by that list as it is now; what
    /// came from none of it is refused.
    ///
    /// - Throws: ``PipelineError`` when it cannot begin.
    package static func run(
        _ letters: [StoredLetter], _ settings: PipelineSettings, directory: String,
        notes: @escaping LogTaker
    ) throws(PipelineError) -> Pipeline.Outcome {
        var replay = settings
        var files: [Int32] = []
        defer { for file in files { close(file) } }
        replay.sources = []
        replay.isReplay = true
        let reader = try StoreReader(directory: directory)
        let trial = try LetterTrial(settings, reader)
        for letter in letters { letter.expect(replay.returning, isAccounted: trial.givesAll(letter)) }
        for (sender, letters) in senders(of: letters, settings) {
            let name = sender.source.text
            let known = sender.source(of: settings)
            let payloads = letters.compactMap(\.bytes)
            let lineFeed = UInt8(ascii: "\n")
            let comesAsLines = hasLines(name, known, settings)
            // What has a line feed did not come as a line, whatever the source's framing is now.
            let lines = comesAsLines ? payloads.filter { !$0.contains(lineFeed) } : []
            let others = comesAsLines ? payloads.filter { $0.contains(lineFeed) } : payloads
            let parts: [(payloads: [[UInt8]], framing: StreamFraming)] = [(lines, .lines), (others, lengths)]
            for part in parts where !part.payloads.isEmpty {
                let file = try open(part.payloads.flatMap { framed($0, part.framing) }, in: directory)
                files.append(file)
                var source = known ?? PipelineSettings.Source(.standardInput(descriptor: file))
                source.configuration = SourceConfiguration(.standardInput(descriptor: file))
                if let peers = known?.configuration.peers {
                    let former = FormerPeer(name: sender.peer, patient: sender.patient, device: sender.device)
                    (source.configuration.peers, source.configuration.former) = (peers, former)
                }
                source.statedName = name
                if let mapping = sender.mapping { source.choose(mapping, of: settings) }
                source.statedFraming = part.framing
                // By a clock that this machine does not know comes only what has no use for it.
                if let zone = sender.timezone { source.timezone = TimeZoneText.zone(zone) }
                replay.sources.append(source)
                replay.lineBytes = part.payloads.map(\.count).reduce(replay.lineBytes, max)
            }
        }
        if replay.sources.isEmpty {
            // Readings in the journal need no source, and a pipeline has one.
            let file = try open([], in: directory)
            files.append(file)
            var source = PipelineSettings.Source(.standardInput(descriptor: file))
            source.statedName = "dead letters"
            replay.sources.append(source)
        }
        let (set, diagnostics) = ConfigurationLoader.checkMappings(replay)
        guard let set else {
            let text = diagnostics.first { $0.severity == .error }?.text ?? "the mappings have errors"
            throw PipelineError(message: text, exitCode: ExitStatus.config)
        }
        return try Pipeline(replay, set: set, notes: notes).run(signals: nil)
    }

    /// What letters have in common that are mapped together: their source, the mapping that their requests had chosen,
    /// the clock by which they came where the source names none now and, of a source with a list of peers, which of
    /// them brought them, for whom, and by which device's certificate.
    private struct Sender: Hashable {
        var source: IdentifierText
        var mapping: IdentifierText?
        var timezone: String?
        var peer: IdentifierText?
        var patient = FixedPatient.unknown
        var device: CertifiedDevice?

        init(_ letter: StoredLetter, _ settings: PipelineSettings) {
            (source, mapping) = (IdentifierText(letter.source), letter.mappingName)
            let known = source(of: settings)
            if known?.timezone == nil { timezone = letter.context?.timezone }
            guard known?.configuration.peers != nil else { return }
            (peer, patient, device) = (letter.peerName, letter.fixedPatient, letter.certifiedDevice)
        }

        /// Where they came from, if it is there.
        func source(of settings: PipelineSettings) -> PipelineSettings.Source? {
            settings.listeningSources.first { IdentifierText($0.name) == source }
        }
    }

    /// Most senders of one pipeline, each of which has an open file or two.
    private static let mostSenders = 64

    /// `letters` in parts that are to be mapped one after the other: one, which may be empty, or as many as there are
    /// files for.
    package static func parts(_ letters: [StoredLetter], _ settings: PipelineSettings) -> [[StoredLetter]] {
        let senders = senders(of: letters, settings)
        guard senders.count > mostSenders else { return [letters] }
        return stride(from: 0, to: senders.count, by: mostSenders).map { place in
            senders[place..<min(place + mostSenders, senders.count)].flatMap(\.letters)
        }
    }

    private static func senders(
        of letters: [StoredLetter], _ settings: PipelineSettings
    ) -> [(sender: Sender, letters: [StoredLetter])] {
        var found: [Sender: [StoredLetter]] = [:]
        for letter in letters { found[Sender(letter, settings), default: []].append(letter) }
        // In the order of their first letters.
        return found.map { ($0.key, $0.value) }.sorted { $0.letters[0].number < $1.letters[0].number }
    }

    /// Four bytes with the length before each payload, which can hold all bytes then, or none as a datagram can.
    private static let lengths: StreamFraming = {
        var framing = Framing(.length(LengthField(.fixed(width: 4, isBigEndian: false))))
        framing.keepsEmpty = true
        return .frames(framing)
    }()

    /// Whether the payloads of a source came as lines, which a mapping of packets reads in another way than frames and
    /// datagrams. `known` is the source in `settings`, if it is there.
    static func hasLines(
        _ name: String, _ known: PipelineSettings.Source?, _ settings: PipelineSettings
    ) -> Bool {
        if let known {
            return known.configuration.capabilities.contains(.framing) && settings.framing(of: known) == .lines
        }
        let isDatagrams = settings.kinds.sources.contains {
            !$0.capabilities.contains(.framing) && name.hasPrefix("\($0.key) ")
        }
        return !isDatagrams && settings.framing == .lines
    }

    /// `payload` as a file of that framing has it.
    private static func framed(_ payload: [UInt8], _ framing: StreamFraming) -> [UInt8] {
        // A carriage return at the end of the payload is none of the line's end.
        guard framing != .lines else { return payload + Array("\r\n".utf8) }
        return (0..<4).map { UInt8(truncatingIfNeeded: payload.count >> (8 * $0)) } + payload
    }

    /// An open file with `content` that has no name any more.
    private static func open(_ content: [UInt8], in directory: String) throws(PipelineError) -> Int32 {
        if StoreSeal.isSealed(directory) {
            // Letters of an encrypted store do not touch the disk.
            let file = StoreSeal.memoryFile(content)
            guard file >= 0 else {
                throw PipelineError(message: "there is no memory for the letters", exitCode: ExitStatus.osError)
            }
            return file
        }
        let path = "\(directory)/replay-\(getpid())"
        // One that a crash has left.
        FileSystem.remove(path)
        let file = FileSystem.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        guard file >= 0 else { throw unwritten(path, -file) }
        FileSystem.remove(path)
        // Foundation writes the beginning again where the disk takes only a part.
        let count = content.withByteView { FileSystem.writeAll(file, $0) }
        guard count == content.count, lseek(file, 0, SEEK_SET) == 0 else {
            let code = count < 0 ? Int32(-count) : errno
            close(file)
            throw unwritten(path, code)
        }
        return file
    }

    private static func unwritten(_ path: String, _ code: Int32) -> PipelineError {
        PipelineError(
            message: "cannot write \(path): \(ErrorText.of(code)); make room", exitCode: ExitStatus.cannotCreate)
    }
}

extension StoredLetter {
    /// The mapping that its request had chosen, if its source has it no more by `settings`: others could read the
    /// bytes in another way.
    package func missingMapping(_ settings: PipelineSettings) -> String? {
        guard let name = mappingName else { return nil }
        let known = settings.listeningSources.first { $0.name == source }
        let present = settings.mappings(of: known ?? PipelineSettings.Source(.standardInput(descriptor: -1)))
        return present.map { IdentifierText($0) }.contains(name) ? nil : name.text
    }

    /// Why it could be filed under another patient than that of its peer when it came, by the lists of peers of
    /// `settings`, or without regard to them (`anyway`); nil when it could not.
    package func patientObstacle(_ settings: PipelineSettings, anyway: Bool) -> String? {
        guard kind == "payload", let peerName else { return nil }
        let lists = settings.listeningSources.filter { IdentifierText($0.name) == IdentifierText(source) }
        let list = lists.first?.configuration.peers?.current(note: { _ in })
        let peer = list?.peer(named: peerName, device: certifiedDevice)
        if let now = peer?.fixedPatient {
            guard fixedPatient.permits(now) else {
                return "for whom its peer brings readings is not what it was when it came, or that is not known: name "
                    + "a list of peers with the patient of that time"
            }
            return anyway && now != .absent ? "all its peer brings is of one patient: leave out --not-allowed" : nil
        }
        return fixedPatient == .absent || fixedPatient == .unknown && !anyway
            ? nil
            : "its peer had one patient for all its readings, or that is not known: name the configuration whose list "
                + "of peers says so with --config"
    }
}

extension PipelineSettings.Source {
    /// Leaves it only the mapping `name` of those that it has by `settings`.
    fileprivate mutating func choose(_ name: IdentifierText, of settings: PipelineSettings) {
        let chosen = settings.references(of: self).filter { IdentifierText($0.name) == name }
        for case .files(let device, let fhir) in chosen {
            mappings = []
            (namedFiles.device, namedFiles.fhir) = (device, fhir)
            return
        }
        namedFiles = NamedMappingFiles()
        mappings = [name.text]
        for case .named(let path) in chosen { mappings = [path] }
    }
}
