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

            What is rejected again becomes a new letter. The replayed letters are kept, and marked, until they are \
            discarded. A reading that was rejected after it had been mapped is taken again as it is, which needs an \
            instance that does not run.

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
        guard let directory = settings.store.directory, !self.settings.ephemeral else {
            throw StandardError.exit("there is no place for data: name one with --data DIR", code: ExitStatus.config)
        }
        let letters = try selection.letters(try StoreReader.opened(directory))
        let refused = letters.filter { $0.bytes != nil && $0.isPart && !parts }
        let payloads = letters.filter { $0.kind == "payload" && $0.bytes != nil && (parts || !$0.isPart) }
        let entries = letters.filter { $0.kind == "entry" && $0.bytes != nil }
        let readings = letters.filter(\.hasRecord)
        let isRunning = ControlClient.isRunning(directory)
        if isRunning, let first = readings.first {
            throw StandardError.exit(
                "letter \(first.number) is a reading that was mapped already: stop the instance, and replay then; "
                    + "nothing was sent", code: ExitStatus.failure)
        }
        if !readings.isEmpty { try takeBack(readings, directory) }
        if !payloads.isEmpty || !readings.isEmpty {
            if isRunning { try send(payloads, directory) } else { try map(payloads, settings, directory) }
        }
        if !payloads.isEmpty { try change(.noteReplayed, payloads, directory) }
        if !entries.isEmpty { try change(.deliver, entries, directory) }
        let taken = readings.isEmpty ? "" : ", \(readings.count) readings"
        StandardError.write("kymo: replayed \(payloads.count) payloads\(taken) and \(entries.count) entries\n")
        let others = letters.count - payloads.count - readings.count - entries.count - refused.count
        try report(refused, others: others)
    }

    /// Says which letters were not replayed.
    private func report(_ parts: [StoredLetter], others: Int) throws {
        var reasons: [String] = []
        if !parts.isEmpty {
            reasons.append(
                "\(parts.count) letters hold only a part of what came, and were left: \(Self.names(parts)); --parts "
                    + "replays them as if it were all")
        }
        if others > 0 {
            reasons.append(
                "\(others) letters cannot be replayed: they are damaged, or measurements that a window holds or that "
                    + "an earlier version of kymo kept")
        }
        guard reasons.isEmpty else {
            throw StandardError.exit(reasons.joined(separator: "; "), code: ExitStatus.dataError)
        }
    }

    /// Numbers and reasons of the first letters.
    private static func names(_ letters: [StoredLetter]) -> String {
        let named = letters.prefix(10).map { "\($0.number) (\($0.reason))" }.joined(separator: ", ")
        return letters.count > 10 ? "\(named) and \(letters.count - 10) more" : named
    }

    private func takeBack(_ letters: [StoredLetter], _ directory: String) throws {
        try StandardError.translating { () throws(PipelineError) in
            try LetterReturn.run(letters, directory: directory) { StandardError.write("kymo: \($0)\n") }
        }
    }

    private func change(_ command: ControlRequest.Command, _ letters: [StoredLetter], _ directory: String) throws {
        let request = ControlRequest(command, letters: letters.map(\.number))
        try StandardError.translating { () throws(PipelineError) in
            try DeadLetterChange.make(request, directory) { StandardError.write("kymo: \($0)\n") }
        }
    }

    /// What goes to one socket.
    private struct Parcel {
        var destination: ReadingDestination
        var messages: [[UInt8]]
    }

    /// To the sockets that the letters came from, if these take lines or datagrams. Nothing is sent unless everything
    /// can be.
    private func send(_ letters: [StoredLetter], _ directory: String) throws {
        let sources = ControlClient.ask(ControlRequest(.status), directory)?.status?.sources ?? []
        let framed = sources.filter { $0.framing != nil }.map(\.name)
        let parcels = try Set(letters.map(\.source)).sorted().map { name in
            guard !framed.contains(name), let destination = Self.destination(name) else {
                throw StandardError.exit(
                    "letters from \(name) cannot be sent to the running instance: stop it, and replay then",
                    code: ExitStatus.failure)
            }
            let messages = try letters.filter { $0.source == name }.map { try Self.message($0, to: destination) }
            return Parcel(destination: destination, messages: messages)
        }
        do {
            for parcel in parcels {
                var sender = try ReadingSender(to: parcel.destination)
                for message in parcel.messages { try message.withByteView { try sender.send(exactly: $0) } }
                try sender.flush()
            }
        } catch let error as SendingError {
            throw StandardError.exit(error.description, code: ExitStatus.failure)
        }
    }

    /// Datagrams are sent as they came. What comes by a stream must be a line there.
    private static func message(_ letter: StoredLetter, to destination: ReadingDestination) throws -> [UInt8] {
        let bytes = letter.bytes ?? []
        guard case .unixStream = destination else { return bytes }
        guard let line = LetterLine.line(bytes) else {
            throw StandardError.exit(
                "letter \(letter.number) from \(letter.source) cannot be sent as a line: its bytes would change; "
                    + "nothing was sent; stop the instance, and replay then, or leave it out",
                code: ExitStatus.failure)
        }
        return line
    }

    private static func destination(_ name: String) -> ReadingDestination? {
        let parts = name.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "unix": return .unixStream(path: parts[1])
        case "unixgram": return .unixDatagram(path: parts[1])
        case "seqpacket": return .unixSeqpacket(path: parts[1])
        case "udp":
            guard let kind = try? SourceKind.udp(parsing: parts[1]), case .udp(let host, let port) = kind, port > 0
            else { return nil }
            return .udp(host: host, port: port)
        default: return nil
        }
    }

    private func map(_ letters: [StoredLetter], _ settings: PipelineSettings, _ directory: String) throws {
        var settings = settings
        settings.store.keeping = .everything
        let outcome = try StandardError.translating { () throws(PipelineError) in
            try LetterReplay.run(letters, settings, directory: directory) { StandardError.write("kymo: \($0)\n") }
        }
        for line in outcome.summary.lines { StandardError.write("kymo: \(line)\n") }
        guard outcome.exitCode == ExitStatus.success else {
            throw StandardError.exit(outcome.message, code: outcome.exitCode)
        }
    }
}
