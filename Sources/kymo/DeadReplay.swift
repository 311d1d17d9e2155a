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

            Letters that hold only a part of what came, such as a line that was too long or a frame with a wrong \
            checksum, could give a reading that nobody took: they are named and left as they are, unless --parts is \
            given.

            Example: kymo dead replay 17 18 --data /var/lib/kymo --mapping ./my-device/ --out ./observations
            """)

    @OptionGroup var selection: LetterSelection

    @Flag(help: "Letters that hold only a part of what came, too, as if it were all.")
    var parts = false

    @OptionGroup var settings: SettingOptions

    func run() throws {
        let (settings, _, _) = try self.settings.load()
        guard let directory = settings.store.directory, !self.settings.durability.ephemeral else {
            throw StandardError.exit("there is no place for data: name one with --data DIR", code: ExitStatus.config)
        }
        let letters = try selection.letters(try StoreReader.opened(directory))
        var replay = LetterBatch(letters, withParts: parts)
        let isRunning = ControlClient.isRunning(directory)
        if isRunning {
            replay.refuseReadings()
            try send(&replay, directory)
        } else {
            try map(&replay, settings, directory)
        }
        if !replay.payloads.isEmpty { replay.refuse(try change(.noteReplayed, replay.payloads, directory)) }
        if !replay.entries.isEmpty { replay.refuse(try change(.deliver, replay.entries, directory)) }
        StandardError.write("kymo: \(replay.text)\n")
        for refusal in replay.refusals + replay.news {
            StandardError.write("kymo: letter \(refusal.letter): \(refusal.reason)\n")
        }
        try replay.report()
    }

    private func change(
        _ command: ControlRequest.Command, _ letters: [StoredLetter], _ directory: String
    ) throws -> [LetterRefusal] {
        let request = ControlRequest(command, letters: letters.map(\.number))
        do throws(PipelineError) {
            return try DeadLetterChange.make(request, directory) { StandardError.write("kymo: \($0.text)\n") }
        } catch {
            // The others may have been sent by now.
            return letters.map { LetterRefusal($0.number, error.message) }
        }
    }

    /// What goes to one socket.
    private struct Parcel {
        var destination: ReadingDestination
        var letters: [StoredLetter]

        func send() throws {
            var sender = try ReadingSender(to: destination)
            for letter in letters {
                try DeadReplay.message(letter, to: destination)?.withByteView { try sender.send(exactly: $0) }
            }
            try sender.flush()
        }
    }

    /// To the sockets that the letters came from, if these take lines or datagrams. The instance is told before what
    /// comes a second time, and says what it would reject again.
    private func send(_ replay: inout LetterBatch, _ directory: String) throws {
        guard !replay.payloads.isEmpty else { return }
        let sources = ControlClient.ask(ControlRequest(.status), directory)?.status?.sources ?? []
        let framed = sources.filter { $0.framing != nil }.map(\.name)
        replay.refuse(replay.payloads.compactMap { Self.obstacle($0, framed: framed) })
        guard !replay.payloads.isEmpty else { return }
        replay.refuse(try change(.expect, replay.payloads, directory))
        let parcels = Set(replay.payloads.map(\.source)).sorted().compactMap { name in
            Self.destination(name).map { destination in
                Parcel(destination: destination, letters: replay.payloads.filter { $0.source == name })
            }
        }
        for parcel in parcels {
            do {
                try parcel.send()
            } catch {
                replay.refuse(parcel.letters.map { LetterRefusal($0.number, "\(error)") })
            }
        }
    }

    /// Why a letter cannot be sent to a running instance; `framed` are its sources of frames.
    private static func obstacle(_ letter: StoredLetter, framed: [String]) -> LetterRefusal? {
        guard !framed.contains(letter.source), let destination = destination(letter.source) else {
            return LetterRefusal(
                letter.number,
                "letters from \(letter.source) cannot be sent to the running instance: stop it, and replay then")
        }
        guard message(letter, to: destination) == nil else { return nil }
        return LetterRefusal(
            letter.number,
            "it cannot be sent as a line to \(letter.source): its bytes would change; stop the instance, and replay "
                + "then")
    }

    /// Datagrams are sent as they came. What comes by a stream must be a line there; nil when it cannot be.
    private static func message(_ letter: StoredLetter, to destination: ReadingDestination) -> [UInt8]? {
        let bytes = letter.bytes ?? []
        switch destination {
        case .unixStream, .tcp: return LetterLine.line(bytes)
        case .udp, .unixDatagram, .unixSeqpacket, .standardOutput: return bytes
        }
    }

    private static func destination(_ name: String) -> ReadingDestination? {
        switch (IngestKinds.builtIn.address(named: name) as? any RoutedSource)?.route {
        case .udp(let address): .udp(host: address.host, port: address.port)
        case .tcp(let address): .tcp(host: address.host, port: address.port)
        case .unixStream(let path): .unixStream(path: path)
        case .unixDatagram(let path): .unixDatagram(path: path)
        case .unixSeqpacket(let path): .unixSeqpacket(path: path)
        case nil: nil
        }
    }

    /// By a pipeline of its own, which nobody else uses the store besides.
    private func map(_ replay: inout LetterBatch, _ settings: PipelineSettings, _ directory: String) throws {
        guard !replay.payloads.isEmpty || !replay.readings.isEmpty else { return }
        var settings = settings
        settings.store.keeping = .everything
        try StandardError.translating { () throws(PipelineError) in
            let types = try StoreReader(directory: directory).types()
            replay.refuse(try LetterTrial(settings, types: types).refusals(replay.payloads + replay.readings))
            let settlement = try LetterSettlement(directory)
            if !replay.readings.isEmpty {
                replay.refuse(try LetterReturn.run(replay.readings, directory: directory, notes: DeadReplay.write))
            }
            guard !replay.payloads.isEmpty || !replay.readings.isEmpty else { return }
            let letters = replay.payloads + replay.readings
            DeadReplay.run(&replay, settings, directory)
            DeadReplay.settle(&replay, letters, settlement)
        }
    }

    /// Runs the pipeline; whatever becomes of it, other letters go on.
    private static func run(_ replay: inout LetterBatch, _ settings: PipelineSettings, _ directory: String) {
        do throws(PipelineError) {
            let outcome = try LetterReplay.run(replay.payloads, settings, directory: directory, notes: write)
            for line in outcome.summary.lines { write(.info(line)) }
            if outcome.exitCode != ExitStatus.success { replay.fail(outcome.message) }
        } catch {
            replay.fail(error.message)
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
